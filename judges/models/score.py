"""What a judge said of a unit."""

from django.db import models
from django.db.models import Q

from annotate.models.sample import UNIT_PATTERN
from judges.models.judge import JudgeVersion
from judges.models.run import Run
from judges.models.status import ScoreStatus

# Of a score, either way: squares and products of larger ones have no floating-point number.
LARGEST_SCORE = 1e100


class Score(models.Model):
    """The value a judge version gave a unit. `dimension` is a criterion's key, or the judge's own name for what it
    measures (`overall`), which can be held against any criterion on the same kind of unit.

    A score that is not `ok` has neither number nor label: it is missing, never a value.
    """

    # By the index of `score_once_per_unit_and_repeat`, which begins with it.
    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="scores", db_index=False)
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
