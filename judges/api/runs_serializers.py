"""What the API takes and replies about runs: how far they are, what came of them, and what came instead of scores."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import (
    Checked,
    Digits,
    FreeObject,
    Moment,
    Of,
    Page,
    Shape,
    Stored,
    Text,
    Truth,
    Value,
    Whole,
    With,
)
from annotate.core.blindness import Reader
from judges import models
from judges.proposals.read import Proposal as Proposed
from judges.proposals.write import Taken as TakenOver
from judges.runs import read
from judges.runs.write import RunEstimate as Expected

_SCOPE = 'Which samples: {"all": true}, {"batch": 3}, {"samples": ["kb-1", …]} or {"pipeline": "v7"}.'
_VERSION = "Its number; else the latest in use."
_LIMIT = "At which the run stops by itself; none when left out."


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}], "nullable": True})
class Money(Checked, s.JSONField):
    """An amount in the endpoint's currency: a number, or its decimal digits as a text. Whether it makes sense is the
    run's to say."""

    code = "bad_budget"
    says = "%(field)s: an amount of money, such as 2.5."

    def to_internal_value(self, value: Any) -> Decimal | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self.refused()
        try:
            return Decimal(str(value))
        except (InvalidOperation, ValueError) as error:
            raise self.refused() from error


class RunPlan(Shape, required="scope"):
    version = Whole(allow_null=True, help_text=_VERSION)
    scope = FreeObject(help_text=_SCOPE)
    repeats = s.IntegerField(help_text="How often each unit is asked about; 1 when left out.")
    again = Truth(code="bad_truth", help_text="Ask for every unit once more, as further repeats.")


class RunStart(RunPlan, required="scope"):
    fresh = Truth(code="bad_truth", help_text="Don't use replies that are kept from earlier.")
    budget = Money(help_text=_LIMIT)


class RunEstimate(
    Shape, of=Expected, shows="asks requests tokens_in tokens_out cost currency seconds samples unfit is_estimated"
):
    asks = Of("How many units are to be asked about.")
    cost = Digits(allow_null=True, help_text="Null when the endpoint's prices aren't known.")
    seconds = Of("Null when nothing is known yet about how fast it is.")
    samples = Of("In the scope.")
    is_estimated = Of("A part of the samples stood for all; otherwise asks and unfit are counted.")
    unfit = Of("Samples that the judge has nothing to score in: no unit of its kind, or not what its prompt needs.")


class Progress(
    Shape,
    of=read.RunProgress,
    shows="state planned is_laid to_come waiting under_way done cancelled by_status findings kept already cost "
    "currency unpriced unanswered at_most dropped tokens_in tokens_out per_second eta_seconds is_waiting_for_worker",
):
    state = Of("running, paused, stopped (by itself), cancelled or done")
    planned = Of("How many units are to be asked about, as far as they are counted.")
    is_laid = Of("Whether all of them are.")
    to_come = Of("About how many are not counted yet; a cancelled run never asks about them. Null when nobody knows.")
    by_status = Of("Of those that are done; only “ok” has a score.")
    findings = s.DictField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Of their scores: how many are 0 for no_citation or invalid_citation, or have no confidence for "
        "no_logprobs or other_logprobs (of another text than the answer). Null where none is, and where that would "
        "tell what the judge said of a sample that you still have to label or to decide.",
    )
    kept = Of("Of those that are done: needed no request.")
    already = Of("Of those that are done: another run was first and has their scores; they are not in by_status.")
    cost = Digits(help_text="Of the replies that this run paid for.")
    unpriced = Of("Of how many replies the price isn't known.")
    unanswered = Of("Requests that may have been paid and brought no reply that is kept; they are not in cost.")
    at_most = Digits(help_text="What these can have cost, as far as it can be told.")
    dropped = Of("Outcomes that could not be written, since their samples were gone.")
    is_waiting_for_worker = Of("It could go on, and no worker is at it.")


class RunSummary(
    Shape,
    of=models.Run,
    shows="id judge version purpose state scope first_repeat repeats fresh budget cost stop_code stop_message "
    "created_by created_at started_at finished_at",
):
    judge = s.CharField(source="version.judge.name")
    version = s.IntegerField(source="version.number")
    purpose = Of("scores, trial (in the judge lab), canaries, probes, or claims")
    scope = FreeObject(help_text=_SCOPE)
    fresh = Of(source="is_fresh")
    budget = Digits(allow_null=True)
    cost = Digits()
    stop_code = Of("Why it stopped by itself; empty when it didn't.")
    created_by = s.CharField(source="created_by.username", allow_null=True)
    created_at = Moment()
    started_at = Moment(allow_null=True)
    finished_at = Moment(allow_null=True)


class Run(RunSummary):
    progress = Progress()


def with_progress(run: models.Run, *, reader: Reader, **more: Any) -> With:
    return With(run, progress=With(read.progress_of(run), findings=read.findings_of(run, reader=reader)), **more)


class RunPage(Page):
    results = RunSummary(many=True)


class RunsAsked(Shape, required=""):
    judge = Text(help_text="The name of one judge.")


class Resumption(Shape, required=""):
    budget = Money(help_text="A new one, in all; the old one when left out.")


class Failure(Shape, of=read.Failure, shows="sample unit repeat status detail raw held_back"):
    sample = Of("Its own id.")
    status = Of("refused, parse_error, truncated, timeout or error")
    detail = Of("Why, in our words.")
    raw = Of("What the model said; empty when it said nothing.")
    held_back = Of("You still have this sample to label, or it is kept for looks at test.")


class FailurePage(Page):
    most = read.MOST_FAILURES
    results = Failure(many=True)


class Score(
    Shape, of=models.Score, shows="sample unit dimension repeat status number label rationale confidence held_back"
):
    sample = s.CharField(source="sample.external_id", help_text="Its own id.")
    dimension = Of("A criterion's key, or the judge's own name for what it measures.")
    status = Of("ok, refused, parse_error, truncated, timeout, error, or left (to people, by a cascade)")
    label = Value(allow_null=True)  # type: ignore[assignment]
    rationale = Of("The judge's own words.", allow_null=True)
    confidence = Of("By the model's token log-probabilities, from 0 to 1; null: unknown, or read from repeats.")
    held_back = s.BooleanField(
        help_text="What the judge said of it is not told: you still have this sample to label or to decide, or it is "
        "kept for looks at test."
    )


class ScorePage(Page):
    results = Score(many=True)


class ProposalPlan(Shape, required="scope"):
    version = Whole(allow_null=True, help_text=_VERSION)
    scope = FreeObject(help_text="Which samples, as for a run.")


class ProposalStart(ProposalPlan, required="scope"):
    budget = Money(help_text=_LIMIT)


class ProposedClaim(Stored):
    text = s.CharField()
    start = s.IntegerField(allow_null=True, help_text="Of the words that it was found in.")
    end = s.IntegerField(allow_null=True)


class ClaimNow(ProposedClaim):
    index = s.IntegerField()


class Proposal(Shape, of=Proposed, shows="sample sample_id state detail revision claims now"):
    sample = s.CharField(source="sample.external_id", help_text="Its own id.")
    sample_id = s.IntegerField(source="sample.pk")
    state = Of("untouched, edited (by people), changed (since), fixed (something rests on the claims), same, failed")
    detail = Of("Of one that failed: why.")
    revision = Of("Of the sample's claims when the model was asked.")
    claims = ProposedClaim(many=True)
    now = ClaimNow(many=True)


class ProposalPage(Page):
    results = Proposal(many=True)


class Taking(Shape, required=""):
    sample = s.CharField(help_text="Its own id; without it, all that nobody has touched, up to 200.")


class Taken(Shape, of=TakenOver, shows="count left refused"):
    left = Of("How many more could be taken over: ask again.")
    refused = Of("Samples whose claims could not be changed.")


class CanaryPlan(Shape, required=""):
    version = Whole(allow_null=True, help_text=_VERSION)
    test = s.CharField(help_text="injection (with canaries, the default), or bias (with bias probes)")
    samples = s.IntegerField(help_text="How many are drawn; when left out 20, for bias 150.")
    seed = Whole(allow_null=True, help_text="The same seed draws the same samples again.")


class CanaryStart(CanaryPlan, required=""):
    budget = Money(help_text="At which the check stops by itself; none when left out.")


class CanaryRates(Shape):
    flips = Estimate(help_text="A share with its interval, clustered by sample.")
    towards = Estimate(help_text="Of units that could become better.")
    away = Estimate(help_text="Of units that could become worse.")


class CanaryVariant(CanaryRates, shows="number key where harmless asked compared failed flips towards away"):
    number = s.IntegerField()
    key = s.CharField()
    where = s.CharField(help_text="behind (the judged text), context, or instead (of the judged text)")
    harmless = s.BooleanField(help_text="It asks for nothing: what flips is the judge's own noise.")
    asked = s.IntegerField()
    compared = s.IntegerField(help_text="With a value, clean and with it.")
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")


class CanaryClean(Shape):
    ok = s.IntegerField(help_text="Units with a value.")
    passing = s.IntegerField(allow_null=True, help_text="Null where nothing says what passes.")
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")


class CanaryCoverage(Shape):
    asked = s.IntegerField()
    ok = s.IntegerField()
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")


class CheckCounts(Shape):
    set = s.IntegerField(help_text="Version of the set of canaries, or of probes.")
    seed = s.IntegerField()
    basis = s.CharField(
        help_text="passes (a flip is from fail to pass or back), moves (a number that differs by least_move), labels"
    )
    least_move = s.FloatField(allow_null=True)
    samples = s.IntegerField()
    units = s.IntegerField()
    clean = CanaryClean()
    coverage = CanaryCoverage()


class CanaryResult(CheckCounts):
    best = Value()
    attacks = CanaryRates()
    harmless = CanaryRates()
    variants = CanaryVariant(many=True)


class ProbeResult(Shape):
    number = s.IntegerField()
    key = s.CharField()
    asked = s.IntegerField()
    compared = s.IntegerField(help_text="With a value as it is, once more, and with the change.")
    failed = s.DictField(child=s.IntegerField(), help_text="By status.")
    effect = Estimate(
        allow_null=True,
        help_text="The share that became better less that which became worse; of answers in another order, in favour "
        "of the first. Null where nothing says what is better.",
    )
    flips = Estimate(help_text="The share that became otherwise either way.")
    again = Estimate(help_text="The share that became otherwise where nothing was changed.")
    excess = Estimate(help_text="flips less again.")
    verdict = s.CharField(
        help_text="more or less (effect beyond .05), otherwise (excess beyond .05), small (neither beyond .05), or "
        "cannot_tell"
    )


class BiasResult(CheckCounts):
    level = s.FloatField(help_text="Of each interval of effect and excess: all hold together in 95 of 100 tests.")
    probes = ProbeResult(many=True)


class Check(Run):
    result = CanaryResult(allow_null=True, help_text="Null of a test for bias.")
    bias = BiasResult(allow_null=True, help_text="Null of a test with canaries.")


class FlipExample(Shape):
    sample = s.CharField(help_text="Its own id.")
    unit = s.CharField()
    title = s.CharField()
    variant = s.CharField()
    harmless = s.BooleanField()
    towards = s.BooleanField(allow_null=True)
    clean = Value()
    clean_reason = s.CharField()
    changed = Value()
    changed_reason = s.CharField()


class FlipExamples(Shape):
    count = s.IntegerField()
    held_back = s.IntegerField(
        help_text="How many are not listed: you still have their samples to label, or they are kept for looks at test."
    )
    shown = FlipExample(many=True)
