"""What a judge must show on a criterion before it may decide."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Measure(models.TextChoices):
    KAPPA = "kappa", _("kappa with annotators")
    KAPPA_LESS_PEOPLE = "kappa_less_people", _("kappa difference, judge − person")


class Requirement(models.Model):
    """Of a criterion through all its versions, declared by an admin; where there is none, the defaults hold.

    measure, bar: the declared endpoint, whose lower bound must not be under the bar (alignment.judging.decision). risk:
    where a judge decides alone, the share of what people fail that it may pass at most, and of what they pass that it
    may fail. coverage: the share of the drawn labelled units that it must score.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="requirements")
    criterion_key = models.SlugField(max_length=60)
    measure = models.CharField(max_length=20, choices=Measure.choices, default=Measure.KAPPA)
    bar = models.FloatField(default=0.4)
    risk = models.FloatField(default=0.1)
    coverage = models.FloatField(default=0.9)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "criterion_key"], name="requirement_once_per_criterion"),
            models.CheckConstraint(condition=Q(bar__gt=-1, bar__lt=1), name="requirement_bar_is_kappa"),
            models.CheckConstraint(condition=Q(risk__gt=0, risk__lt=1), name="requirement_risk_is_share"),
            models.CheckConstraint(condition=Q(coverage__gt=0, coverage__lte=1), name="requirement_coverage_is_share"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_key}: {self.measure} from {self.bar}"
