"""Frozen alignment reports."""

from django.conf import settings
from django.db import models


class AlignmentReport(models.Model):
    """A frozen comparison of people and judges on one criterion.

    parameters: {"seed", "level", "dev_share", …}; `fingerprint`: hash of every rating and score that went in.
    result: all estimates as plain JSON; plots: {name: SVG text}. evidence: gzipped JSON of everything that went in
    (alignment.report.evidence), from which the figures can be worked out again.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="reports")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="reports")
    number = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64)
    parameters = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    plots = models.JSONField(default=dict)
    evidence = models.BinaryField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="report_number_once_per_project"),
            models.UniqueConstraint(fields=["criterion", "fingerprint"], name="report_once_per_criterion_and_data"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} report {self.number}"
