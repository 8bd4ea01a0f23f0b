"""A batch sends samples to annotators; a task is one annotator's copy of one sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from annotate.models.project import Criterion


class BatchStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    OPEN = "open", _("Open")
    ADJUDICATING = "adjudicating", _("Adjudicating")
    CLOSED = "closed", _("Closed")


class Batch(models.Model):
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="batches")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=12, choices=BatchStatus, default=BatchStatus.DRAFT)
    overlap = models.PositiveSmallIntegerField(default=2)
    # How the samples were chosen: {"method": "all" | "filter" | "random" | "list", "filter": {...}, "n": int,
    # "seed": int, "note": why those of a list}.
    selection = models.JSONField(default=dict)
    # Seed of the assignment, so that it can be made again.
    seed = models.BigIntegerField()
    due_date = models.DateField(null=True, blank=True)
    samples = models.ManyToManyField("annotate.Sample", through="BatchSample", related_name="batches")
    criteria = models.ManyToManyField("annotate.Criterion", through="BatchCriterion", related_name="batches")
    annotators = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="batches")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="batch_number_once_per_project"),
            models.CheckConstraint(condition=Q(status__in=BatchStatus.values), name="batch_status_known"),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="batch_overlap_at_least_one"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id}/{self.number}"

    def asked_criteria(self) -> list[Criterion]:
        """The criteria the batch asks, in their order. One query."""
        return [row.criterion for row in self.batch_criteria.select_related("criterion").order_by("position")]


class BatchSample(models.Model):
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="batch_samples")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    # Of a draw whose chances are known: this sample's own, and the stratum that it was drawn from, from 1. None: chosen
    # in any other way, so that it stands for no other sample.
    probability = models.FloatField(null=True, blank=True)
    stratum = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "sample"], name="batch_sample_once"),
            models.CheckConstraint(
                condition=Q(probability__isnull=True, stratum__isnull=True)
                | Q(
                    probability__isnull=False,
                    probability__gt=0,
                    probability__lte=1,
                    stratum__isnull=False,
                    stratum__gte=1,
                ),
                name="batch_sample_chance_with_stratum",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.sample_id}"


class BatchCriterion(models.Model):
    """Pins the version of the criterion that the batch asks."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="batch_criteria")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["batch", "criterion"], name="batch_criterion_once")]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.criterion_id}"


class TaskStatus(models.TextChoices):
    PENDING = "pending", _("Pending")
    IN_PROGRESS = "in_progress", _("In progress")
    SUBMITTED = "submitted", _("Submitted")
    RETURNED = "returned", _("Returned")
    SKIPPED = "skipped", _("Skipped")


OPEN_TASK_STATUSES = (TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.RETURNED)


class Task(models.Model):
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="tasks")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="tasks")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="tasks")
    position = models.PositiveIntegerField()
    status = models.CharField(max_length=12, choices=TaskStatus, default=TaskStatus.PENDING)
    skip_reason = models.TextField(blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "sample", "annotator"], name="task_once_per_annotator"),
            models.CheckConstraint(condition=Q(status__in=TaskStatus.values), name="task_status_known"),
            models.CheckConstraint(
                condition=~Q(status=TaskStatus.SKIPPED) | ~Q(skip_reason=""), name="task_skipped_with_reason"
            ),
            models.CheckConstraint(
                condition=~Q(status=TaskStatus.SUBMITTED) | Q(submitted_at__isnull=False),
                name="task_submitted_has_time",
            ),
        ]
        indexes = [
            # Reader: "my next task" (selectors.tasks.next_task); holds open tasks only, so it stays small.
            models.Index(
                fields=["annotator", "batch", "position"],
                condition=Q(status__in=[s.value for s in OPEN_TASK_STATUSES]),
                name="task_open_by_annotator",
            ),
        ]

    def __str__(self) -> str:
        return f"task {self.pk}"
