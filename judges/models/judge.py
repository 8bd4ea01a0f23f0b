"""Judges and their immutable versions."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class JudgeKind(models.TextChoices):
    IMPORTED = "imported", _("Imported")
    LLM = "llm", _("LLM")
    RAGAS = "ragas", _("RAGAS")
    LEXICAL = "lexical", _("Lexical")
    EMBEDDING = "embedding", _("Embedding")
    NLI = "nli", _("NLI")
    ENSEMBLE = "ensemble", _("Ensemble")
    COMPOSITE = "composite", _("Composite")


class VersionState(models.TextChoices):
    # Being tried on dev: its scores are held against people only on the page of its trial.
    TRIAL = "trial", _("On trial")
    KEPT = "kept", _("In use")
    DROPPED = "dropped", _("Dropped")


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
    """One configuration of a judge. All but `state` never changes; editing a judge makes its next version.

    label: the name that a scores file gave it, else its number. config: everything that decides what it says, as the
    judge's kind made it complete (judges.kinds). content_hash: of kind, code version and config
    (judges.versions.write). endpoint: the one that config names, for kinds that ask a model.
    """

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=200)
    config = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=VersionState, default=VersionState.KEPT)
    based_on = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    endpoint = models.ForeignKey(
        "judges.Endpoint", on_delete=models.PROTECT, null=True, blank=True, related_name="versions"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "number"], name="judge_version_number_once"),
            models.UniqueConstraint(fields=["judge", "content_hash"], name="judge_version_content_once"),
            models.CheckConstraint(condition=Q(state__in=VersionState.values), name="judge_version_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} v{self.number}"
