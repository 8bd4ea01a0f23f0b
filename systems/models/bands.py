"""What a project calls poor, fair, good and excellent, and what it aims at."""

from django.db import models


class MetricBands(models.Model):
    """Of a project, as an admin stored it; where there is none, the usual ones of systems.experiments.bands_read hold.

    metrics: {metric: {"limits": [where fair, good and excellent begin] | [], "target": number | null}}; what is not in
    it has neither.
    """

    project = models.OneToOneField("annotate.Project", on_delete=models.PROTECT, related_name="metric_bands")
    metrics = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return f"of {self.project_id}"
