"""A qualification: annotators are trained on samples with known answers and tested on others. Those who agree with
these well enough may label batches that require it (decision 47)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from annotate.models.batch import Batch
    from annotate.models.project import Criterion


class Qualification(models.Model):
    """Its samples and what is asked about them are those of two batches (Batch.qualification), whose tasks all have
    known answers: the training, which shows them after each sample, and the test, which doesn't.

    kappa: what has to be reached on each criterion. test_samples: how many each try has. tries: how many each person
    has, unless an admin grants more (Candidate.more_tries).
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="qualifications")
    name = models.CharField(max_length=180)
    kappa = models.FloatField()
    test_samples = models.PositiveSmallIntegerField()
    tries = models.PositiveSmallIntegerField()
    # Of the choice of samples, and of what each try draws.
    seed = models.BigIntegerField()
    created_by = models.ForeignKey(
        "annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(kappa__gt=0, kappa__lte=1), name="qualification_kappa_can_be_reached"),
            models.CheckConstraint(
                condition=Q(test_samples__gte=1, tries__gte=1), name="qualification_tests_something"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project_id}: {self.name}"

    @property
    def training(self) -> Batch:
        return self.rounds.get(gold_feedback=True)

    @property
    def test(self) -> Batch:
        return self.rounds.get(gold_feedback=False)

    def asked_criteria(self) -> list[Criterion]:
        return self.test.asked_criteria()


class How(models.TextChoices):
    """How a person came to be qualified."""

    PASSED = "passed", _("Passed the test")
    WAIVED = "waived", _("Test waived by an admin")


class Candidate(models.Model):
    """A member in a qualification. reason: why an admin waived the test, or withdrew the qualification."""

    qualification = models.ForeignKey(Qualification, on_delete=models.PROTECT, related_name="candidates")
    user = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="candidacies")
    more_tries = models.PositiveSmallIntegerField(default=0)
    # None: not qualified, or not any more.
    qualified_at = models.DateTimeField(null=True, blank=True)
    how = models.CharField(max_length=6, choices=How, blank=True, default="")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["user__username"]
        constraints = [
            models.UniqueConstraint(fields=["qualification", "user"], name="candidate_once_per_qualification"),
            models.CheckConstraint(
                condition=Q(qualified_at__isnull=True, how="")
                | Q(qualified_at__isnull=False, how__in=How.values, withdrawn_at__isnull=True),
                name="candidate_qualified_somehow",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.qualification_id}"


class Try(models.Model):
    """One test of one person. Append-only once it is finished.

    results: of each criterion {"criterion": key, "kappa": an Estimate, "unanswered": units without an answer}.
    """

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="tests", db_index=False)
    number = models.PositiveSmallIntegerField()
    tasks = models.ManyToManyField("annotate.Task", related_name="tests")
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)
    results = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["candidate", "number"], name="try_number_once"),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, passed__isnull=True)
                | Q(finished_at__isnull=False, passed__isnull=False),
                name="try_finished_with_a_result",
            ),
        ]

    def __str__(self) -> str:
        return f"try {self.number} of {self.candidate_id}"
