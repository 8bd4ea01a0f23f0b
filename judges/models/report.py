"""Frozen alignment reports; dev and test, looks at test, and the certificates that are based on them."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from judges.models.judge import Created, Judge, JudgeVersion


class AlignmentReport(Created):
    """A frozen comparison of people and judges on one criterion.

    parameters: {"seed", "level", "dev_share", …}; `fingerprint`: hash of every rating and score that went in.
    result: all estimates as plain JSON; plots: {name: SVG text}. evidence: gzipped JSON of everything that went in
    (alignment.report.evidence), from which the figures can be worked out again.
    present_at: when it was last found to be what the data give; of several reports the latest is shown.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="reports")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="reports")
    number = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64)
    parameters = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    plots = models.JSONField(default=dict)
    evidence = models.BinaryField()
    present_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="report_number_once_per_project"),
            models.UniqueConstraint(fields=["criterion", "fingerprint"], name="report_once_per_criterion_and_data"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} report {self.number}"


class ReportLink(Created):
    """An address at which a report can be read without an account. Only a digest of its token is kept.

    It ends when it expires or is revoked, and with its maker's right to share (judges.reports.links).
    """

    report = models.ForeignKey(AlignmentReport, on_delete=models.PROTECT, related_name="links")
    token_digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"link {self.pk} to report {self.report_id}"


class Side(models.TextChoices):
    """dev: thresholds are chosen there. test: they are measured there, at looks. systems: kept for comparing systems;
    no judge is tuned or measured there."""

    DEV = "dev"
    TEST = "test"
    SYSTEMS = "systems"


class GroupSide(models.Model):
    """On which side a group of samples is for a criterion, whatever its version and whichever judge.

    Written once, when people have said something about one of its samples; it never changes sides. group: a sample's
    `group_key`, else its own id. judges.core.split reads it, as a sample may come to a group later.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="group_sides")
    criterion_key = models.SlugField(max_length=60, db_index=False)
    group = models.TextField()
    side = models.CharField(max_length=7, choices=Side)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "criterion_key", "group"], name="group_side_once_per_criterion_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group} on {self.criterion_key}: {self.side}"


#: What a look promises now. Raised by whoever changes that: looks of before are then out of date, and so are their
#: certificates (docs/decisions/0028-sides-groups-and-looks.md).
#: 0: sides and numbers of looks began anew with each version of the criterion, and numbers with each judge.
#: 1: one division and one count of looks per criterion key.
#: 2: a region bounds false passes and false fails each (docs/decisions/0031-regions.md).
#: 3: a decision on the declared endpoint, of drawn labels alone, what was not scored counted as wrong
#: (docs/decisions/0027-one-decision.md); other intervals are at 95 %, each by itself.
#: 4: a group's parts in several strata count as one, a few that stand for most as few, and errors that few labels don't
#: show are allowed for (docs/decisions/0030-intervals.md); test is closed to reports of other criteria, too.
PROMISE = 4


class Look(Created):
    """One look at the test part of a criterion, with one judge: never changed, never taken back.

    number: counts the looks at the criterion, of any version and with any judge, since each may be chosen after the
    looks before. level: the confidence that its endpoint and its region have left (alignment.judging.looks). promise:
    the PROMISE when it was taken. fingerprint: of all that it rests on.
    result: the decision, and all that was fitted on dev and measured on test (alignment.report.looked), as plain JSON;
    and "people", the keys of the raters whose labels it rests on.
    samples: {"dev": [their own ids], "test": {id: [tn, fp, fn, tp]}, "chances": {id: [probability, stratum]}}, the last
    two of drawn ones; looks of before have no chances.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="looks")
    criterion_key = models.SlugField(max_length=60, db_index=False)
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="looks")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="looks")
    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="looks")
    dimension = models.CharField(max_length=120)
    number = models.PositiveIntegerField()
    level = models.FloatField()
    promise = models.PositiveSmallIntegerField()
    fingerprint = models.CharField(max_length=64)
    result = models.JSONField()
    samples = models.JSONField()

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "criterion_key", "number"], name="look_number_once_per_criterion_key"
            ),
            models.CheckConstraint(condition=Q(level__gt=0, level__lt=1), name="look_level_is_share"),
        ]

    @property
    def is_out_of_date(self) -> bool:
        """It rests on what a look no longer promises."""
        return self.promise != PROMISE

    @property
    def decision(self) -> dict[str, Any] | None:
        """What the judge may do by it, as alignment.judging.decision has it; None where it is out of date."""
        return None if self.is_out_of_date else self.result["decision"]

    def __str__(self) -> str:
        return f"look {self.number} at {self.criterion_id} with {self.version_id}"


class Certificate(Created):
    """What may be relied on: this judge version at this threshold, as one look at test measured it. Never changed.

    judge_hash: of the judge version's configuration, so that another prompt under the same name is noticed. noted_end:
    the code of why it has ended, as the audit log last said it; "" while it holds. Only judges.certificates.watch reads
    and writes it: whether the certificate holds now, judges.certificates.decision_read works out.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="certificates")
    number = models.PositiveIntegerField()
    look = models.OneToOneField(Look, on_delete=models.PROTECT, related_name="certificate")
    judge_hash = models.CharField(max_length=64)
    noted_end = models.CharField(max_length=60, blank=True, default="", db_default="")

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="certificate_number_once_per_project"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} certificate {self.number}"
