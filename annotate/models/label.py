"""What a rater said about a unit, and the log of every time it was said."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotate.models.sample import UNIT_PATTERN


class Label(models.Model):
    """The latest value a rater gave to a unit on a criterion. `value` None: not chosen (a comment may stand alone).

    cant_tell: why no value can be given; "" when one can, or when nothing was decided yet. Answers the question without
    being a vote.
    active_ms: how long the rater was at work on it, while the page was in use; None when nobody measured.

    evidence: [{"context": int, "start": int, "end": int, "quote": str}], offsets in Unicode code points.
    """

    # Every choice of the labelling loop writes each index: a foreign key has none where one below begins with it.
    # None: made elsewhere and imported.
    task = models.ForeignKey(
        "annotate.Task", on_delete=models.PROTECT, related_name="labels", null=True, blank=True, db_index=False
    )
    rater = models.ForeignKey("annotate.Rater", on_delete=models.PROTECT, related_name="labels")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="labels")
    unit = models.CharField(max_length=20)
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="labels", db_index=False)
    value = models.JSONField(null=True, blank=True)
    cant_tell = models.TextField(blank=True, db_default="")
    comment = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True, db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "unit", "criterion"], condition=Q(task__isnull=False), name="label_once_per_task"
            ),
            models.UniqueConstraint(
                fields=["rater", "sample", "unit", "criterion"],
                condition=Q(task__isnull=True),
                name="label_imported_once_per_rater",
            ),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="label_unit_is_address"),
            models.CheckConstraint(condition=Q(revision__gte=1), name="label_revision_at_least_one"),
            models.CheckConstraint(condition=Q(cant_tell="") | Q(value__isnull=True), name="label_value_or_cant_tell"),
        ]
        indexes = [
            # Readers: consensus of one unit; all ratings of a criterion.
            models.Index(fields=["criterion", "sample", "unit"], name="label_by_criterion_unit"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id}: {self.value}"


class LabelEvent(models.Model):
    """One saved change of a label. Append-only; also the memory that makes a repeated request give the same reply."""

    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="events", db_index=False)
    revision = models.PositiveIntegerField()
    value = models.JSONField(null=True, blank=True)
    cant_tell = models.TextField(blank=True, db_default="")
    comment = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    # Of a label carried over to a new version of its criterion: the label that it repeats. Nobody looks for it this way
    # round, so it costs the labelling loop no index.
    carried_from = models.ForeignKey(
        Label, on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    idempotency_key = models.UUIDField(default=uuid.uuid4, unique=True)
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label", "revision"], name="label_event_revision_once"),
        ]
        indexes = [
            # Reader: the trail, newest first (selectors.audit).
            models.Index(fields=["-created_at", "-id"], name="label_event_by_time"),
        ]

    def __str__(self) -> str:
        return f"label {self.label_id} r{self.revision}"
