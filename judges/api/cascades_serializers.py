"""What the API takes and replies about cascades of two judges."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import FreeObject, Moment, Number, Of, Shape, Text
from judges import models
from judges.api.certificates_serializers import Drift, Ended
from judges.certificates import cascades_read
from judges.certificates.triage_read import Left


class CascadeRequest(Shape):
    criterion = Text()
    cheap = Text(help_text="The name of the judge that decides first.")
    dear = Text(help_text="The name of the judge that decides what is left.")


class CascadeUse(Shape):
    agreement = Number(help_text="One of those that the look certified something for: 0.8, 0.85, 0.9 or 0.95.")
    name = Text(help_text="Of the new judge.")


class CascadeLook(
    Shape,
    of=models.CascadeLook,
    shows="id number criterion criterion_version cheap cheap_version cheap_dimension dear dear_version dear_dimension "
    "level out_of_date fingerprint result created_at created_by",
):
    number = Of("The how-many-eth at this criterion, over its versions and all judges, with one judge or two.")
    criterion = s.CharField(source="criterion.key")
    criterion_version = s.IntegerField(source="criterion.version")
    cheap = s.CharField(source="cheap.judge.name")
    cheap_version = s.CharField(source="cheap.label")
    dear = s.CharField(source="dear.judge.name")
    dear_version = s.CharField(source="dear.label")
    level = Of("What earlier looks have left; the shares of agreement divide it.")
    out_of_date = s.BooleanField(
        source="is_out_of_date", help_text="It was taken before what a look promises changed, and can't be relied on."
    )
    fingerprint = Of("Of what it rests on.")
    result = FreeObject(help_text="What it certified (docs/statistics.md).")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)


class CascadeLooks(Shape):
    results = CascadeLook(many=True)


class Cascade(Shape, of=cascades_read.CascadeStanding, shows="look ended drift"):
    look = s.IntegerField(source="look.number", help_text="Of the look that certified it.")
    ended = Ended(allow_null=True)
    drift = Drift(allow_null=True)

    def get_ended(self, standing: cascades_read.CascadeStanding) -> dict[str, str] | None:
        return None if standing.ended is None else dict(zip(("code", "reason"), standing.ended, strict=True))


class CascadeLeft(Shape, of=Left, shows="samples shown rest unlabelled held_back"):
    samples = Of("How many the cascade was asked about.")
    shown = Of("Of how many of these the rest is said: not of those of the test set, nor of those held back.")
    rest = Of("The ids of those with a unit that it did not decide.")
    unlabelled = Of("Of these, those with such a unit that nobody has labelled yet.")
    held_back = Of("How many you still have to label or to decide about.")
