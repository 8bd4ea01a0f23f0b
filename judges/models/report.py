"""Frozen alignment reports; dev and test, looks at test, and the certificates that are based on them."""

from django.db import models
from django.db.models import Q

from judges.models.judge import Created, Judge, JudgeVersion


class AlignmentReport(Created):
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

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="report_number_once_per_project"),
            models.UniqueConstraint(fields=["criterion", "fingerprint"], name="report_once_per_criterion_and_data"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} report {self.number}"


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


class Look(Created):
    """One look at the test part of a criterion, with one judge: never changed, never taken back.

    number: counts the looks with this judge, of any version, since each version may be made after the previous look.
    level: the confidence that its intervals have left (alignment.judging.looks). fingerprint: of all that it rests on.
    result: everything that was fitted on dev and measured on test (alignment.report.looked), as plain JSON.
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

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "judge", "number"], name="look_number_once"),
            models.CheckConstraint(condition=Q(level__gt=0, level__lt=1), name="look_level_is_share"),
        ]

    def __str__(self) -> str:
        return f"look {self.number} at {self.criterion_id} with {self.version_id}"


class Certificate(Created):
    """What may be relied on: this judge version at this threshold, as one look at test measured it. Never changed.

    judge_hash: of the judge version's configuration, so that another prompt under the same name is noticed.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="certificates")
    number = models.PositiveIntegerField()
    look = models.OneToOneField(Look, on_delete=models.PROTECT, related_name="certificate")
    judge_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="certificate_number_once_per_project"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} certificate {self.number}"
