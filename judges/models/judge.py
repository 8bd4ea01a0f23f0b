"""Judges and their immutable versions."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class JudgeKind(models.TextChoices):
    IMPORTED = "imported", _("Imported")
    LLM = "llm", _("LLM")
    RAGAS = "ragas", _("RAGAS")
    LEXICAL = "lexical", _("Lexical")
    EMBEDDING = "embedding", _("Embedding")
    ENSEMBLE = "ensemble", _("Ensemble")


class Judge(models.Model):
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="judges")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=JudgeKind, default=JudgeKind.IMPORTED)
    description = models.TextField(blank=True)
    higher_is_better = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="judge_name_once_per_project"),
            models.CheckConstraint(condition=Q(kind__in=JudgeKind.values), name="judge_kind_known"),
        ]

    def __str__(self) -> str:
        return self.name


class JudgeVersion(models.Model):
    """One configuration of a judge. Never changes; `label`: the name that a scores file gave it, else "1"."""

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=200)
    config = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "number"], name="judge_version_number_once"),
            models.UniqueConstraint(fields=["judge", "content_hash"], name="judge_version_content_once"),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} v{self.number}"
