"""Batches drawn with known chances: what was drawn, and what else was known then."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Collate

from annotate.core.units import LISTED_KINDS, UnitCount
from annotate.labels.read import counting_labels
from annotate.models import Batch, BatchSample, Criterion, Sample, Task
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, BatchStatus

_WAITING = (BatchStatus.DRAFT, *RUNNING_BATCH_STATUSES)


def unlabelled_samples(criterion: Criterion) -> QuerySet[Sample]:
    """Samples that have something to label by the criterion, no label that counts, and no place in a batch that is
    still to be labelled."""
    samples = Sample.objects.filter(project_id=criterion.project_id)
    if criterion.unit in LISTED_KINDS:
        samples = samples.alias(units=UnitCount(criterion.unit)).filter(units__gt=0)
    labels = counting_labels().filter(criterion=criterion, sample=OuterRef("pk"))
    waiting = BatchSample.objects.filter(
        sample=OuterRef("pk"), batch__status__in=_WAITING, batch__criteria=criterion.pk
    )
    return samples.filter(~Exists(labels), ~Exists(waiting))


def draws_of(criterion: Criterion) -> QuerySet[Batch]:
    """Batches of the criterion that were drawn with known chances, the latest first."""
    with_chances = BatchSample.objects.filter(batch=OuterRef("pk"), probability__isnull=False)
    return Batch.objects.filter(Exists(with_chances), criteria=criterion.pk).order_by("-number")


def finished_draw(criterion: Criterion) -> Batch | None:
    """The latest one of which nothing is left to label: what figures for all samples rest on."""
    left = Exists(Task.objects.filter(batch=OuterRef("pk"), status__in=OPEN_TASK_STATUSES))
    running = Q(status__in=RUNNING_BATCH_STATUSES)
    over = Q(status__in=[BatchStatus.ADJUDICATING, BatchStatus.CLOSED]) | (running & ~Q(left))
    return draws_of(criterion).filter(over).first()


@dataclass(frozen=True, slots=True)
class DrawProgress:
    """How far a drawn batch has come."""

    batch: Batch
    samples: int
    labelled: int
    is_finished: bool


def draw_progress(criterion: Criterion) -> DrawProgress | None:
    """Of the latest batch that was drawn, finished or not; None when there is none."""
    batch = draws_of(criterion).first()
    if batch is None:
        return None
    labels = counting_labels().filter(criterion=criterion, sample=OuterRef("sample"), task__batch=batch)
    finished = finished_draw(criterion)
    return DrawProgress(
        batch=batch,
        samples=batch.batch_samples.count(),
        labelled=batch.batch_samples.filter(Exists(labels)).count(),
        is_finished=finished is not None and finished.pk == batch.pk,
    )


def chances_of(criterion: Criterion) -> dict[str, tuple[float, int]]:
    """By the sample's own id its probability and stratum: of all samples of the latest finished draw; and 1, in stratum
    0, of those labelled before it was made, by earlier batches and imports. Empty without a finished draw."""
    draw = finished_draw(criterion)
    if draw is None:
        return {}
    drawn = BatchSample.objects.filter(batch=draw, probability__isnull=False)
    before = (
        counting_labels()
        .filter(criterion=criterion)
        .filter(Q(task__batch__number__lt=draw.number) | Q(task__isnull=True, updated_at__lt=draw.created_at))
        .exclude(sample__in=drawn.values("sample"))
        .order_by(Collate("sample__external_id", "C"))
    )
    chances = dict.fromkeys(before.values_list("sample__external_id", flat=True), (1.0, 0))
    rows = drawn.order_by(Collate("sample__external_id", "C"))
    for name, probability, stratum in rows.values_list("sample__external_id", "probability", "stratum"):
        chances[name] = (probability, stratum)  # type: ignore[assignment]  # the constraint: neither is None
    return chances
