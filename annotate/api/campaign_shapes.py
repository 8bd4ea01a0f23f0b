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


class TaskListed(s.Serializer):
    id = s.IntegerField()
    sample_id = s.CharField(help_text="The id of the file it came from.")
    annotator = s.CharField(allow_null=True, help_text="User name; null: waits in the queue.")
    purpose = s.CharField(help_text="label, gold or repeat")
    status = s.CharField(help_text="pending, in_progress, submitted, returned, skipped or released")
    tag = s.CharField(help_text="The expertise it needs; empty: any.")
    position = s.IntegerField()
    lease_expires_at = s.DateTimeField(allow_null=True)
    skip_reason = s.CharField()
    return_message = s.CharField()
    active_seconds = s.IntegerField()
    submitted_at = s.DateTimeField(allow_null=True)


class TaskPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = TaskListed(many=True)


class Reassigning(s.Serializer):
    tasks = s.ListField(child=s.IntegerField(), help_text="At most 1000.")
    to = s.CharField(help_text="A user name.")


class Reassigned(s.Serializer):
    tasks = TaskListed(many=True, help_text="What they have now.")


class Returning(s.Serializer):
    message = s.CharField(help_text="What the annotator should do; they read it.")


class HandingOn(s.Serializer):
    to = s.ListField(
        child=s.CharField(), required=False, help_text="User names; left out: those of the batch, or its queue."
    )


class Released(s.Serializer):
    task_id = s.IntegerField()
    handed_on = s.BooleanField(help_text="False: nobody else can take it; the sample gets one label fewer.")


class HandedOn(s.Serializer):
    username = s.CharField()
    tasks = s.IntegerField(help_text="How many open tasks were taken from them.")


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
