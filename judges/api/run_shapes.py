"""The shapes of runs and scores, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotate.api.serializers import FreeObject, Value

_SCOPE = 'Which samples: {"all": true}, {"batch": 3}, {"samples": ["kb-1", …]} or {"pipeline": "v7"}.'


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}], "nullable": True})
class Money(s.JSONField):
    """An amount in the endpoint's currency: a number, or its decimal digits as a text."""


class RunPlan(s.Serializer):
    version = s.IntegerField(required=False, allow_null=True, help_text="Its number; else the latest in use.")
    scope = FreeObject(help_text=_SCOPE)
    repeats = s.IntegerField(required=False, help_text="How often each unit is asked about; 1 when left out.")
    again = s.BooleanField(required=False, help_text="Ask for every unit once more, as further repeats.")


class RunStart(RunPlan):
    fresh = s.BooleanField(required=False, help_text="Don't use replies that are kept from earlier.")
    budget = Money(required=False, help_text="At which the run stops by itself; none when left out.")


class RunEstimate(s.Serializer):
    asks = s.IntegerField(help_text="How many units are to be asked about.")
    requests = s.IntegerField()
    tokens_in = s.IntegerField()
    tokens_out = s.IntegerField()
    cost = s.CharField(allow_null=True, help_text="Null when the endpoint's prices aren't known.")
    currency = s.CharField(allow_null=True)
    seconds = s.FloatField(allow_null=True, help_text="Null when nothing is known yet about how fast it is.")
    samples = s.IntegerField(help_text="In the scope.")
    unfit = s.IntegerField(
        help_text="Samples that the judge has nothing to score in: no unit of its kind, or not what its prompt needs."
    )


class Progress(s.Serializer):
    state = s.CharField(help_text="running, paused, stopped (by itself), cancelled or done")
    planned = s.IntegerField(help_text="How many units are to be asked about, as far as they are counted.")
    is_laid = s.BooleanField(help_text="Whether all of them are.")
    to_come = s.IntegerField(
        allow_null=True,
        help_text="About how many are not counted yet; a cancelled run never asks about them. Null when nobody knows.",
    )
    waiting = s.IntegerField()
    under_way = s.IntegerField()
    done = s.IntegerField()
    cancelled = s.IntegerField()
    by_status = s.DictField(child=s.IntegerField(), help_text="Of those that are done; only “ok” has a score.")
    kept = s.IntegerField(help_text="Of those that are done: needed no request.")
    cost = s.CharField(help_text="Of the replies that this run paid for.")
    currency = s.CharField(allow_null=True)
    unpriced = s.IntegerField(help_text="Of how many replies the price isn't known.")
    tokens_in = s.IntegerField()
    tokens_out = s.IntegerField()
    per_second = s.FloatField(allow_null=True)
    eta_seconds = s.FloatField(allow_null=True)
    is_waiting_for_worker = s.BooleanField(help_text="It could go on, and no worker is at it.")


class RunSummary(s.Serializer):
    id = s.IntegerField()
    judge = s.CharField()
    version = s.IntegerField()
    purpose = s.CharField(help_text="scores, trial (in the judge lab), canaries, or claims")
    state = s.CharField()
    scope = FreeObject(help_text=_SCOPE)
    first_repeat = s.IntegerField()
    repeats = s.IntegerField()
    fresh = s.BooleanField()
    budget = s.CharField(allow_null=True)
    cost = s.CharField()
    stop_code = s.CharField(help_text="Why it stopped by itself; empty when it didn't.")
    stop_message = s.CharField()
    created_by = s.CharField(allow_null=True)
    created_at = s.DateTimeField()
    started_at = s.DateTimeField(allow_null=True)
    finished_at = s.DateTimeField(allow_null=True)


class Run(RunSummary):
    progress = Progress()


class RunPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = RunSummary(many=True)


class Resumption(s.Serializer):
    budget = Money(required=False, help_text="A new one, in all; the old one when left out.")


class Failure(s.Serializer):
    sample = s.CharField(help_text="Its own id.")
    unit = s.CharField()
    repeat = s.IntegerField()
    status = s.CharField(help_text="refused, parse_error, truncated, timeout or error")
    detail = s.CharField(help_text="Why, in our words.")
    raw = s.CharField(help_text="What the model said; empty when it said nothing.")
    held_back = s.BooleanField(help_text="You still have this sample to label.")


class FailurePage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Failure(many=True)


class Score(s.Serializer):
    sample = s.CharField(help_text="Its own id.")
    unit = s.CharField()
    dimension = s.CharField(help_text="A criterion's key, or the judge's own name for what it measures.")
    repeat = s.IntegerField()
    status = s.CharField(help_text="ok, refused, parse_error, truncated, timeout or error")
    number = s.FloatField(allow_null=True)
    label = Value(allow_null=True)  # type: ignore[assignment]
    rationale = s.CharField(allow_null=True, help_text="The judge's own words.")
    held_back = s.BooleanField(help_text="You still have this sample to label: what the judge said of it comes later.")


class ScorePage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Score(many=True)
