"""Which criteria answer what the tree of diagnosis asks."""

from django.db import models


class DiagnosisMapping(models.Model):
    """Of a project, as an admin stored it; where there is none, what systems.diagnosis.mapping_read proposes holds.

    questions: {question: {"criterion": key, "yes": "passes" | "fails"}}, for "failure" {"criterion": key, "stages":
    {value as text: stage}}; what is not in it no criterion asks.
    """

    project = models.OneToOneField("annotate.Project", on_delete=models.PROTECT, related_name="diagnosis_mapping")
    questions = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return f"of {self.project_id}"
