"""What people report about samples, and who did what when."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Flag(models.Model):
    """An annotator or reviewer tells the admin that something is wrong with a sample. It stays until it is resolved."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="flags")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="flags")
    # Where it was raised; None: on the sample's own page.
    task = models.ForeignKey("annotate.Task", on_delete=models.SET_NULL, related_name="flags", null=True, blank=True)
    reason = models.TextField()
    raised_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    resolution = models.TextField(blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(resolved_at__isnull=True, resolved_by__isnull=True)
                | Q(resolved_at__isnull=False, resolved_by__isnull=False),
                name="flag_resolved_by_someone",
            ),
        ]
        indexes = [
            # Reader: the admin's list of what waits.
            models.Index(fields=["project", "-id"], condition=Q(resolved_at__isnull=True), name="flag_waiting"),
        ]

    def __str__(self) -> str:
        return f"flag {self.pk} on {self.sample_id}"


class AuditEntry(models.Model):
    """Who did what when, for everything but labels and verdicts, which have logs of their own. Append-only.

    action: what was done, spelled like permissions ("member.role_changed"). subject: what it was done to, as people
    name it. details: what else one needs to understand it; never a secret.
    """

    project = models.ForeignKey(
        "annotate.Project", on_delete=models.PROTECT, related_name="audit_entries", null=True, blank=True
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    action = models.CharField(max_length=60)
    subject = models.TextField()
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            # Reader: the trail, newest first (selectors.audit).
            models.Index(fields=["project", "-created_at", "-id"], name="audit_by_project_and_time"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
