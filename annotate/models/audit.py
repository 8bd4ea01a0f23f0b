"""Scheduled audits: batches that the worker makes of new samples, drawn at random (decision 45)."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import pgettext_lazy


class ScheduleStatus(models.TextChoices):
    ACTIVE = "active", pgettext_lazy("a schedule", "Active")
    PAUSED = "paused", pgettext_lazy("a schedule", "Paused")
    ENDED = "ended", pgettext_lazy("a schedule", "Ended")


EVERY_WEEKS = (1, 2, 4)


class AuditSchedule(models.Model):
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="audit_schedules")
    name = models.CharField(max_length=180)
    status = models.CharField(max_length=6, choices=ScheduleStatus, default=ScheduleStatus.ACTIVE)
    # Keys: each batch asks them in the version of its day.
    criteria = ArrayField(models.SlugField(max_length=60))
    weeks = models.PositiveSmallIntegerField(default=1)
    # 0 is Monday.
    weekday = models.PositiveSmallIntegerField(default=0)
    samples = models.PositiveIntegerField()
    # Metadata keys and values, as a batch's selection has them.
    conditions = models.JSONField(default=dict, blank=True)
    annotators = models.ManyToManyField("annotate.User", related_name="+")
    # What its batches require (Batch.requires).
    requires = models.ForeignKey(
        "annotate.Qualification", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    overlap = models.PositiveSmallIntegerField(default=2)
    # From the day on which a batch is made until it is due.
    days = models.PositiveSmallIntegerField(default=7)
    # Whether batches are opened at once; otherwise they are drafts.
    opens = models.BooleanField(default=True)
    next_on = models.DateField()
    # Each draw's seed follows from it and from the draw's date, so that who tries again draws the same.
    seed = models.BigIntegerField()
    # The project's newest sample (its primary key) when the last batch was drawn.
    last_sample = models.BigIntegerField(default=0)
    # Why the batch that is due can't be made: {"code", and what goes into its words}; null: nothing is in the way.
    problem = models.JSONField(null=True, blank=True)
    created_by = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=ScheduleStatus.values), name="schedule_status_known"),
            models.CheckConstraint(condition=Q(weeks__in=EVERY_WEEKS), name="schedule_weeks_known"),
            models.CheckConstraint(condition=Q(weekday__lte=6), name="schedule_weekday_known"),
            models.CheckConstraint(
                condition=Q(samples__gte=1, overlap__gte=1, days__gte=1), name="schedule_asks_for_something"
            ),
        ]
        indexes = [
            # Reader: the worker's look (annotate.batches.audits_make.look_for_audits).
            models.Index(fields=["next_on"], condition=Q(status="active"), name="schedule_active_by_date"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id}: {self.name}"


class ScheduledAudit(models.Model):
    """One date of a schedule, and what was made on it."""

    schedule = models.ForeignKey(AuditSchedule, on_delete=models.PROTECT, related_name="audits", db_index=False)
    due_on = models.DateField()
    made_at = models.DateTimeField()
    # Dates before this one on which nothing was made, since nothing ran: they are covered by this one.
    missed = models.PositiveSmallIntegerField(default=0)
    wanted = models.PositiveIntegerField()
    # Of how many samples the draw was made.
    eligible = models.PositiveIntegerField()
    drawn = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    # User names of annotators that the schedule has and who could not be asked any more.
    without = ArrayField(models.TextField(), default=list, blank=True)
    # Keys of criteria that found nothing to ask about in what was drawn: the batch doesn't have them.
    unasked = ArrayField(models.TextField(), default=list, blank=True, db_default=[])
    # None: there was no new sample; or the batch was deleted since.
    batch = models.OneToOneField(
        "annotate.Batch", on_delete=models.SET_NULL, null=True, blank=True, related_name="scheduled_audit"
    )

    class Meta:
        ordering = ["-due_on"]
        constraints = [
            models.UniqueConstraint(fields=["schedule", "due_on"], name="scheduled_audit_once_per_date"),
            models.CheckConstraint(condition=Q(drawn__lte=models.F("eligible")), name="scheduled_audit_of_eligible"),
        ]

    def __str__(self) -> str:
        return f"{self.schedule_id}, {self.due_on}"
