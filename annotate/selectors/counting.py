"""Which labels count: those made elsewhere, and those of submitted tasks. The one home of that rule."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from annotate.models import Label
from annotate.models.batch import TaskStatus


def counting_labels() -> QuerySet[Label]:
    """Labels with a value that were imported or submitted; a choice in a task still open is nobody's verdict yet."""
    return Label.objects.filter(Q(task__isnull=True) | Q(task__status=TaskStatus.SUBMITTED), value__isnull=False)


def latest_per_rater(labels: QuerySet[Label]) -> Iterable[Label]:
    """One label per (criterion, sample, unit, rater): the latest, when a person met the unit in two batches."""
    return labels.order_by("criterion_id", "sample_id", "unit", "rater_id", "-updated_at", "-id").distinct(
        "criterion_id", "sample_id", "unit", "rater_id"
    )
