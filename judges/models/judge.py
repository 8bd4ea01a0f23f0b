"""Endpoints, which are OpenAI-compatible servers; judges and their immutable versions."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Created(models.Model):
    """created_by: None for what no user made."""

    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class KeySource(models.TextChoices):
    NONE = "none", _("No key")
    ENVIRONMENT = "environment", _("From the environment")
    STORED = "stored", _("Stored here, encrypted")


class Endpoint(Created):
    """An OpenAI-compatible server: its address, its key, and its limits.

    key_variable: the name of an environment variable of web and worker, which begins with JUDGE_KEY_ (otherwise a
    project's admin could have any secret of the installation sent to a host of theirs). key_encrypted: a token of the
    installation's keys (judges.endpoints.keys); only `key_last4` is ever shown or written to a log or file.
    price_in, price_out: per million tokens, in `currency`; None: unknown, which is not free.
    timeout_seconds: of a whole request.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="endpoints")
    # Versions of judges name it, so it stays.
    name = models.SlugField(max_length=60)
    base_url = models.TextField()
    key_source = models.CharField(max_length=12, choices=KeySource, default=KeySource.NONE)
    key_variable = models.CharField(max_length=100, blank=True, default="")
    key_encrypted = models.BinaryField(null=True, blank=True)
    key_last4 = models.CharField(max_length=4, blank=True, default="")
    concurrency = models.PositiveSmallIntegerField(default=8)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    timeout_seconds = models.PositiveSmallIntegerField(default=60)
    price_in = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=3, default="USD")
    revision = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="endpoint_name_once_per_project"),
            models.CheckConstraint(condition=Q(key_source__in=KeySource.values), name="endpoint_key_source_known"),
            models.CheckConstraint(
                condition=(
                    Q(key_source=KeySource.NONE, key_variable="", key_encrypted__isnull=True)
                    | Q(key_source=KeySource.STORED, key_variable="", key_encrypted__isnull=False)
                    | Q(
                        key_source=KeySource.ENVIRONMENT,
                        key_variable__startswith="JUDGE_KEY_",
                        key_encrypted__isnull=True,
                    )
                ),
                name="endpoint_has_one_key",
            ),
            models.CheckConstraint(
                condition=Q(concurrency__gte=1, concurrency__lte=128), name="endpoint_concurrency_in_range"
            ),
            models.CheckConstraint(
                condition=Q(timeout_seconds__gte=1, timeout_seconds__lte=120), name="endpoint_timeout_in_range"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class JudgeKind(models.TextChoices):
    IMPORTED = "imported", _("Imported")
    LLM = "llm", _("LLM")
    RAGAS = "ragas", _("RAGAS")
    LEXICAL = "lexical", _("Lexical")
    EMBEDDING = "embedding", _("Embedding")
    NLI = "nli", _("NLI")
    ENSEMBLE = "ensemble", _("Ensemble")
    COMPOSITE = "composite", _("Composite")
    CASCADE = "cascade", _("Cascade")


class VersionState(models.TextChoices):
    # Being tried on dev: its scores are compared with people's labels only on the page of its trial.
    TRIAL = "trial", _("Experimental")
    KEPT = "kept", _("Active")
    DROPPED = "dropped", _("Discarded")


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


class JudgeVersion(Created):
    """One configuration of a judge. All but `state` never changes; editing a judge makes its next version.

    label: the name that a scores file gave it, otherwise its number. config: everything that decides what it says, as
    the judge's kind completed it (judges.kinds). code_version: of the kind's code that it was made by, and is to be run
    by. content_hash: of kind, code version and config (judges.versions.identity). endpoint: for kinds that ask a model.
    """

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=200)
    config = models.JSONField(default=dict)
    code_version = models.PositiveIntegerField(default=1, db_default=1)
    content_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=VersionState, default=VersionState.KEPT)
    based_on = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    endpoint = models.ForeignKey(
        "judges.Endpoint", on_delete=models.PROTECT, null=True, blank=True, related_name="versions"
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "number"], name="judge_version_number_once"),
            models.UniqueConstraint(fields=["judge", "content_hash"], name="judge_version_content_once"),
            models.CheckConstraint(condition=Q(state__in=VersionState.values), name="judge_version_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} v{self.number}"
