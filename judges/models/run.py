"""Runs of judges."""

from django.db import models

from judges.models.judge import JudgeVersion


class Run(models.Model):
    """A judge version over a set of samples; for imported scores, one file."""

    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="runs")
    import_job = models.ForeignKey(
        "annotate.ImportJob", on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"run {self.pk}"
