"""Trials: a version of a judge held against the one in use, on a few samples of the dev half."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from judges.models.judge import JudgeVersion
from judges.models.run import Run


class Trial(models.Model):
    """One trial: what was changed, what it was held against, and on which samples. Never changed; whether the version
    is kept or dropped is the version's own state.

    base: the version in use when the trial began. dimension: what both call what the criterion asks. samples: their own
    ids, drawn from dev by `seed`; wanted: how many were asked for. base_run: None when the base had scored all of them
    before.
    """

    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="trials")
    base = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="trials_against")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="trials")
    dimension = models.CharField(max_length=120)
    seed = models.PositiveIntegerField()
    wanted = models.PositiveIntegerField()
    samples = ArrayField(models.TextField())
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="trials")
    base_run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="trials_as_base")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(version=F("base")), name="trial_of_two_versions"),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk} of {self.version_id} against {self.base_id}"
