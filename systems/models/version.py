"""Builds of a RAG, and what they said to questions."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from systems.models.question import Question, QuestionRevision


class SystemVersion(models.Model):
    """A build of the system. Samples name theirs in `pipeline_version`.

    configuration: free keys (model, chunk_size, top_k, alpha …) with texts, numbers or booleans. price: per million
    tokens, {"input": float, "output": float}; {} where nobody said.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="system_versions")
    name = models.TextField()
    configuration = models.JSONField(default=dict)
    commit = models.TextField(blank=True, default="")
    # The commit that this build follows: its version is the baseline where none is named.
    parent_commit = models.TextField(blank=True, default="")
    price = models.JSONField(default=dict)
    tags = ArrayField(models.TextField(), default=list, blank=True)
    # What other versions are compared with where nothing else is said.
    is_baseline = models.BooleanField(default=False)
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="system_version_name_once_per_project"),
            models.UniqueConstraint(
                fields=["project"], condition=Q(is_baseline=True), name="system_version_one_baseline"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="system_version_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class ResponseStatus(models.TextChoices):
    OK = "ok", _("Answered")
    FAILED = "failed", _("Failed")


class Response(models.Model):
    """What a version said to a question, once; `repeat` counts from 0. A request that failed is one, without a sample.

    revision: what the question said when it was asked. sample: what people and judges look at; None where it failed,
    and where only a ranking is known. ranking: what was retrieved, the best first,
    [{"id": str, "score": float | None}]; None where the sample's contexts say it, or nothing does.
    Times are in milliseconds; NULL is unknown, never 0.
    """

    version = models.ForeignKey(SystemVersion, on_delete=models.PROTECT, related_name="responses", db_index=False)
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="responses")
    revision = models.ForeignKey(QuestionRevision, on_delete=models.PROTECT, related_name="responses")
    repeat = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=6, choices=ResponseStatus)
    # Of what failed: a code and what the other side said, cut.
    error = models.CharField(max_length=40, blank=True, default="")
    error_text = models.TextField(blank=True, default="")
    sample = models.OneToOneField(
        "annotate.Sample", on_delete=models.PROTECT, null=True, blank=True, related_name="response"
    )
    ranking = models.JSONField(null=True, blank=True)
    latency_ms = models.FloatField(null=True, blank=True)
    first_token_ms = models.FloatField(null=True, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["version", "question", "repeat"], name="response_once_per_repeat"),
            models.CheckConstraint(condition=Q(status__in=ResponseStatus.values), name="response_status_known"),
            models.CheckConstraint(
                condition=Q(status=ResponseStatus.FAILED, sample__isnull=True, ranking__isnull=True) & ~Q(error="")
                | Q(status=ResponseStatus.OK, error="", error_text="")
                & (Q(sample__isnull=False) | Q(ranking__isnull=False)),
                name="response_answered_or_failed",
            ),
            # Also refuses NaN, which PostgreSQL takes for greater than any number.
            models.CheckConstraint(
                condition=(Q(latency_ms__isnull=True) | Q(latency_ms__gte=0, latency_ms__lt=float("inf")))
                & (Q(first_token_ms__isnull=True) | Q(first_token_ms__gte=0, first_token_ms__lt=float("inf")))
                & (Q(cost__isnull=True) | Q(cost__gte=0, cost__lt=float("inf"))),
                name="response_measures_finite",
            ),
            models.CheckConstraint(
                condition=Q(latency_ms__isnull=True)
                | Q(first_token_ms__isnull=True)
                | Q(first_token_ms__lte=F("latency_ms")),
                name="response_first_token_before_last",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version_id} to {self.question_id} ({self.repeat})"
