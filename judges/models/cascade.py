"""Looks at the test part with two judges that decide one after the other."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judges.models.judge import Created, JudgeVersion
from judges.models.report import PROMISE


class CascadeLook(Created):
    """One look at the test part of a criterion, with a cheap judge and a dear one: never changed, never taken back.

    number: among all looks at the criterion, of one judge (`Look`) or two. level, promise, fingerprint: as of those.
    result: what both may decide, for each share of agreement (alignment.report.cascades_looked), as plain JSON.
    samples: {"dev": [their own ids], "test": [those that it rests on], "chances": {id: [probability, stratum]}}.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="cascade_looks")
    criterion_key = models.SlugField(max_length=60, db_index=False)
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="cascade_looks")
    cheap = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="cheap_in")
    cheap_dimension = models.CharField(max_length=120)
    dear = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="dear_in")
    dear_dimension = models.CharField(max_length=120)
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
                fields=["project", "criterion_key", "number"], name="cascade_look_number_once_per_criterion_key"
            ),
            models.CheckConstraint(condition=Q(level__gt=0, level__lt=1), name="cascade_look_level_is_share"),
        ]

    def __str__(self) -> str:
        return f"look {self.number} at {self.criterion_id} with {self.cheap_id} and {self.dear_id}"

    @property
    def is_out_of_date(self) -> bool:
        """It rests on what a look no longer promises."""
        return self.promise != PROMISE
