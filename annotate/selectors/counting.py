"""Which labels count: those made elsewhere, and those of submitted tasks that were not given to measure the annotator
(gold, repeats). The one home of that rule.

Twice: for Django's queries, and for statements by hand. A test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import Label, LabelEvent
from annotate.models.batch import Purpose, TaskStatus

# Of `annotate_label l`: a value, or "can't tell" with its reason. A comment alone answers nothing.
ANSWERED = "(l.value IS NOT NULL OR l.cant_tell <> '')"
# Of `annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id`.
GIVEN = f"(l.task_id IS NULL OR t.status = '{TaskStatus.SUBMITTED.value}' AND t.purpose = '{Purpose.LABEL.value}')"
COUNTING = f"l.value IS NOT NULL AND {GIVEN}"
# Somebody looked, and said that they can't tell.
UNDECIDED = f"l.cant_tell <> '' AND {GIVEN}"
# Somebody gave it, where it lies: it wasn't carried over from an earlier version of its criterion, to hold on or to be
# found filled in. For figures of what people did.
DONE = (
    "NOT EXISTS (SELECT FROM annotate_labelevent first WHERE first.label_id = l.id AND first.revision = 1"
    " AND first.carried_from_id IS NOT NULL)"
)
# For DISTINCT ON (criterion, sample, unit, rater): the label that comes first is the one.
LATEST_FIRST = "l.criterion_id, l.sample_id, l.unit, l.rater_id, l.updated_at DESC, l.id DESC"


def counting_labels() -> QuerySet[Label]:
    """Labels with a value that were imported or submitted; a choice in a task still open is nobody's verdict yet."""
    return Label.objects.filter(
        Q(task__isnull=True) | Q(task__status=TaskStatus.SUBMITTED, task__purpose=Purpose.LABEL), value__isnull=False
    )


def is_carried() -> Exists:
    """Of labels: the opposite of DONE."""
    return Exists(LabelEvent.objects.filter(label=OuterRef("pk"), revision=1, carried_from__isnull=False))


def undecided_labels() -> QuerySet[Label]:
    """Labels of submitted tasks that say "can't tell". They are no votes, but a reviewer wants to see them."""
    return Label.objects.filter(task__status=TaskStatus.SUBMITTED, task__purpose=Purpose.LABEL).exclude(cant_tell="")


def answering_labels() -> QuerySet[Label]:
    """Both: every answer that somebody gave, a value or that they can't tell."""
    return counting_labels() | undecided_labels()


def latest_per_rater(labels: QuerySet[Label]) -> Iterable[Label]:
    """One label per (criterion, sample, unit, rater): the latest, when a person met the unit in two batches."""
    return labels.order_by("criterion_id", "sample_id", "unit", "rater_id", "-updated_at", "-id").distinct(
        "criterion_id", "sample_id", "unit", "rater_id"
    )
