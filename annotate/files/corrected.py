"""The better answer that annotators gave, beside the samples of a file: of each the correction that was submitted last,
whoever wrote it. Who left the answer as it was has corrected nothing, and takes no correction back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Coalesce

from annotate.labels.read import counting_labels
from annotate.models import Criterion, Project, Sample
from annotate.models.project import Prefill

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Correction:
    """rater: as labels name them. at: submitted, or imported."""

    sample_id: int
    answer: str
    rater: str
    at: datetime


def asks_for_corrections(project: Project, keys: Collection[str] | None = None) -> bool:
    """Whether annotators are, or were, asked for them. keys: of criteria; None: all."""
    asked = Criterion.objects.filter(project=project, prefill=Prefill.ANSWER)
    return (asked if keys is None else asked.filter(key__in=keys)).exists()


def corrections(project: Project, keys: Collection[str] | None = None) -> Iterator[Correction]:
    """In the order of sample ids."""
    labels = counting_labels().filter(sample__project=project, criterion__prefill=Prefill.ANSWER)
    if keys is not None:
        labels = labels.filter(criterion__key__in=keys)
    labels = labels.annotate(at=Coalesce("task__submitted_at", F("updated_at")))
    latest = labels.order_by("sample_id", "-at", "-id").distinct("sample_id")
    for label in latest.select_related("rater").iterator(chunk_size=_CHUNK):
        yield Correction(label.sample_id, str(label.value), label.rater.name, label.at)


def with_corrections(
    samples: Iterable[Sample], corrected: Iterator[Correction]
) -> Iterator[tuple[Sample, Correction | None]]:
    """Both in the order of sample ids."""
    ahead = next(corrected, None)
    for sample in samples:
        while ahead is not None and ahead.sample_id < sample.pk:
            ahead = next(corrected, None)
        yield sample, ahead if ahead is not None and ahead.sample_id == sample.pk else None
