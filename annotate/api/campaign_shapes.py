"""As annotate.api.schema: the shapes of running a campaign."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotate.api.schema import Batch, Selection
from annotate.api.serializers import Value


class SteppedBatch(Batch):
    handed_on = s.IntegerField(help_text="Open tasks of people who have left, which somebody else does now.")
    given_up = s.IntegerField(help_text="Those that nobody else can do; their samples get one label fewer.")


class BatchExtension(s.Serializer):
    due_date = s.DateField(required=False, allow_null=True, help_text="A later day.")
    selection = Selection(required=False, help_text="More samples; those that the batch has are passed over.")
    annotators = s.ListField(child=s.CharField(), required=False, help_text="User names of more people.")


class Gold(s.Serializer):
    id = s.IntegerField()
    sample_id = s.CharField()
    unit = s.CharField()
    criterion = s.CharField()
    version = s.IntegerField(help_text="Of the criterion.")
    value = Value()
    reason = s.CharField()


class GoldPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Gold(many=True)


class GoldRow(s.Serializer):
    sample_id = s.CharField(help_text="The id of the file it came from.")
    unit = s.CharField(help_text="answer, sample, claim:3, context:2, fact:0 or entity:1")
    criterion = s.CharField()
    value = Value()
    reason = s.CharField(required=False, help_text="Shown to annotators whose batch gives feedback.")


class GoldChanged(s.Serializer):
    changed = s.IntegerField()


class GoldDrawing(s.Serializer):
    criterion = s.CharField()
    n = s.IntegerField(help_text="How many units.")
    seed = s.IntegerField(required=False)


@extend_schema_field(
    {
        "type": "object",
        "properties": {"code": {"type": "string"}},
        "required": ["code"],
        "additionalProperties": {},
        "description": "What is to be said about a figure: a code, and the parameters that go into its words "
        "(docs/remarks.md).",
    }
)
class Remark(s.DictField):
    """A remark (alignment.base.remark)."""


class Estimate(s.Serializer):
    value = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    level = s.FloatField()
    n = s.IntegerField(help_text="Units.")
    clusters = s.IntegerField(help_text="Samples that they come from.")
    method = s.CharField()
    reason = Remark(allow_null=True, help_text="Why the value or the interval is missing.")


class GoldAccuracy(s.Serializer):
    username = s.CharField()
    name = s.CharField()
    right = s.IntegerField()
    answered = s.IntegerField()
    cant_tell = s.IntegerField(help_text="Units of which they said that they can't tell; not counted as answered.")
    accuracy = Estimate()


class Steadiness(s.Serializer):
    username = s.CharField()
    name = s.CharField()
    criterion = s.CharField()
    agreement = Estimate()
    kappa = Estimate()


class BatchQuality(s.Serializer):
    gold = GoldAccuracy(many=True, help_text="Against known answers.")
    repeats = Steadiness(many=True, help_text="Second readings against the first.")
