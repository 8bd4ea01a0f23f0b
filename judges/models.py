"""What machines say: judges, their immutable versions, runs and scores; frozen alignment reports."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.units import UNIT_PATTERN


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


class Run(models.Model):
    """A judge version over a set of samples; for imported scores, one file."""

    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="runs")
    import_job = models.ForeignKey(
        "annotate.ImportJob", on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"run {self.pk}"


class ScoreStatus(models.TextChoices):
    OK = "ok", _("OK")
    REFUSED = "refused", _("Refused")
    PARSE_ERROR = "parse_error", _("Reply not understood")
    TIMEOUT = "timeout", _("Timed out")
    ERROR = "error", _("Failed")


# Of a score, either way: squares and products of larger ones have no floating-point number.
LARGEST_SCORE = 1e100


class Score(models.Model):
    """The value a judge version gave a unit. `dimension` is a criterion's key, or the judge's own name for what it
    measures (`overall`), which can be held against any criterion on the same kind of unit.

    A score that is not `ok` has neither number nor label: it is missing, never a value.
    """

    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="scores")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="scores")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="scores")
    unit = models.CharField(max_length=20)
    dimension = models.CharField(max_length=120)
    repeat = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=12, choices=ScoreStatus, default=ScoreStatus.OK)
    number = models.FloatField(null=True, blank=True)
    # For judges that answer with one of the criterion's options instead of a number.
    label = models.TextField(null=True, blank=True)
    rationale = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "dimension", "sample", "unit", "repeat"], name="score_once_per_unit_and_repeat"
            ),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="score_unit_is_address"),
            models.CheckConstraint(condition=Q(status__in=ScoreStatus.values), name="score_status_known"),
            models.CheckConstraint(
                condition=(
                    Q(status=ScoreStatus.OK, number__isnull=False, label__isnull=True)
                    | Q(status=ScoreStatus.OK, number__isnull=True, label__isnull=False)
                    | (~Q(status=ScoreStatus.OK) & Q(number__isnull=True, label__isnull=True))
                ),
                name="score_has_one_value_if_ok",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id}: {self.number if self.label is None else self.label}"


class SplitMember(models.Model):
    """On which side a sample is for a criterion: dev, where thresholds are chosen, or test, where they are measured.

    Written once, when people have said something about the sample; it never changes sides.
    """

    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="split_members")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="split_members")
    is_dev = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["criterion", "sample"], name="split_member_once_per_criterion"),
        ]

    def __str__(self) -> str:
        return f"sample {self.sample_id}: {'dev' if self.is_dev else 'test'}"


class Look(models.Model):
    """One look at the test part of a criterion, with one judge: never changed, never taken back.

    number: the how-many-eth look with this judge, of any version, since each may have been made after the one before.
    level: the confidence that its intervals have left (alignment.looks). fingerprint: of all that it rests on.
    result: everything that was fitted on dev and measured on test (alignment.figures.looked), as plain JSON.
    samples: {"dev": [their own ids], "test": {id: [tn, fp, fn, tp]}}.
    """

    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="looks")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="looks")
    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="looks")
    dimension = models.CharField(max_length=120)
    number = models.PositiveIntegerField()
    level = models.FloatField()
    fingerprint = models.CharField(max_length=64)
    result = models.JSONField()
    samples = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "judge", "number"], name="look_number_once"),
            models.CheckConstraint(condition=Q(level__gt=0, level__lt=1), name="look_level_is_share"),
        ]

    def __str__(self) -> str:
        return f"look {self.number} at {self.criterion_id} with {self.version_id}"


class Certificate(models.Model):
    """What may be relied on: this judge version at this threshold, as one look at test measured it. Never changed.

    judge_hash: of the judge version's configuration, so that another prompt under the same name is noticed.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="certificates")
    number = models.PositiveIntegerField()
    look = models.OneToOneField(Look, on_delete=models.PROTECT, related_name="certificate")
    judge_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="certificate_number_once_per_project"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} certificate {self.number}"


class AlignmentReport(models.Model):
    """A frozen comparison of people and judges on one criterion.

    parameters: {"seed", "level", "dev_share", …}; `fingerprint`: hash of every rating and score that went in.
    result: all estimates as plain JSON; plots: {name: SVG text}. evidence: gzipped JSON of everything that went in
    (alignment.figures.files), from which the figures can be worked out again.
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
