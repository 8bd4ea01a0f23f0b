"""What the worker is asked to do, and has no queue of its own for."""

import uuid

from django.db import models
from django.db.models import Q


class JobKind(models.TextChoices):
    REPORT = "report"
    RELEASE = "release"


class JobStatus(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNDER_WAY = (JobStatus.WAITING, JobStatus.RUNNING)


class Job(models.Model):
    """A report or a release, from the request to its number (annotate.core.jobs).

    asked: what of it, as who makes it reads it. result: its number, once there is one. error_code, error_message: why
    there is none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=10, choices=JobKind)
    status = models.CharField(max_length=10, choices=JobStatus, default=JobStatus.WAITING)
    asked = models.JSONField()
    result = models.PositiveIntegerField(null=True, blank=True)
    error_code = models.CharField(max_length=60, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # Readers: what looks for lost ones, and metrics. Few, however many there were.
            models.Index(fields=["kind", "created_at"], condition=Q(status__in=UNDER_WAY), name="job_to_do"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=JobKind.values), name="job_kind_known"),
            models.CheckConstraint(condition=Q(status__in=JobStatus.values), name="job_status_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
