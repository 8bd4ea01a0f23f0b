"""From labels to verdicts, by rule. The one home of ties and majorities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from django.utils import timezone

from annotate.errors import Invalid
from annotate.models import Batch, Criterion, Label, Project, Sample, Task, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, TaskStatus
from annotate.models.verdict import VerdictMethod, VerdictState
from annotate.selectors.counting import counting_labels, latest_per_rater


@dataclass(frozen=True)
class Outcome:
    """What the rule makes of the votes on one unit."""

    state: VerdictState
    value: Any
    method: str
    confidence: float | None


def outcome(values: Sequence[Any], needed: int) -> Outcome:
    """Unanimous, or more than half; otherwise, and with fewer than `needed` votes, a dispute for a reviewer."""
    disputed = Outcome(VerdictState.DISPUTED, None, "", None)
    if len(values) < needed:
        return disputed
    counts: dict[str, list[Any]] = {}
    for value in values:
        counts.setdefault(repr(value), []).append(value)
    largest = max(counts.values(), key=len)
    share = len(largest) / len(values)
    if len(counts) == 1:
        return Outcome(VerdictState.SETTLED, largest[0], VerdictMethod.UNANIMOUS, 1.0)
    if share > 0.5:
        return Outcome(VerdictState.SETTLED, largest[0], VerdictMethod.MAJORITY, share)
    return disputed


def settle_sample_if_complete(*, batch: Batch, sample: Sample) -> None:
    """Works out the verdicts of a sample once nobody in the batch is at work on it any more.

    The caller holds the lock on the sample's row in the batch.
    """
    if Task.objects.filter(batch=batch, sample=sample, status__in=OPEN_TASK_STATUSES).exists():
        return
    if not Task.objects.filter(batch=batch, sample=sample, status=TaskStatus.SUBMITTED).exists():
        return
    criteria = list(batch.criteria.all())
    labels = counting_labels().filter(sample=sample, criterion__in=criteria)
    _settle(labels, needed=batch.overlap, batch=batch)


def settle_imported(*, project: Project, criterion: Criterion, needed: int) -> int:
    """Verdicts from labels that were made elsewhere, for units with at least `needed` of them. Returns how many.

    Units with fewer labels are left without a verdict; those without a majority go to the reviewers.
    """
    if isinstance(needed, bool) or not isinstance(needed, int) or needed < 1:
        raise Invalid("bad_overlap", "Say how many labels a unit needs: a whole number from 1.")
    if criterion.project_id != project.pk:
        raise Invalid("foreign_criterion", "This criterion belongs to another project.")
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        enough = (
            counting_labels()
            .filter(criterion=criterion, task__isnull=True)
            .values("sample_id")
            .annotate(n=Count("rater", distinct=True))
            .filter(n__gte=needed)
            .values_list("sample_id", flat=True)
        )
        labels = counting_labels().filter(criterion=criterion, sample_id__in=list(enough))
        return _settle(labels, needed=needed, batch=None, only_complete=True)


def _settle(labels: QuerySet[Label], *, needed: int, batch: Batch | None, only_complete: bool = False) -> int:
    """Writes the verdict of every unit the labels are about. Returns how many were written."""
    by_unit: dict[tuple[int, str, int], list[Label]] = {}
    for label in latest_per_rater(labels.select_related("rater")):
        by_unit.setdefault((label.sample_id, label.unit, label.criterion_id), []).append(label)
    if only_complete:
        by_unit = {key: votes for key, votes in by_unit.items() if len(votes) >= needed}
    standing = _standing_verdicts(by_unit)
    fresh, changed = [], []
    for key, votes in by_unit.items():
        verdict = standing.get(key)
        if verdict is None:
            sample_id, unit, criterion_id = key
            verdict = Verdict(sample_id=sample_id, unit=unit, criterion_id=criterion_id, batch=batch, revision=0)
            fresh.append(verdict)
        elif verdict.votes == votes_of(votes):
            continue
        else:
            changed.append(verdict)
        _apply(verdict, votes, needed)
    Verdict.objects.bulk_create(fresh, batch_size=2000)
    Verdict.objects.bulk_update(
        changed, ["state", "value", "method", "confidence", "votes", "revision", "updated_at"], batch_size=500
    )
    return len(fresh) + len(changed)


def _standing_verdicts(keys: Iterable[tuple[int, str, int]]) -> dict[tuple[int, str, int], Verdict]:
    keys = list(keys)
    found = Verdict.objects.select_for_update().filter(
        sample_id__in={key[0] for key in keys}, criterion_id__in={key[2] for key in keys}
    )
    return {(v.sample_id, v.unit, v.criterion_id): v for v in found}


def _apply(verdict: Verdict, labels: Sequence[Label], needed: int) -> None:
    verdict.votes = votes_of(labels)
    verdict.revision += 1
    verdict.updated_at = timezone.now()
    if verdict.method == VerdictMethod.ADJUDICATED:
        # A person decided on other labels than these; the value stands until a reviewer looks again.
        verdict.state = VerdictState.REOPENED
        return
    result = outcome([label.value for label in labels], needed)
    verdict.state, verdict.value = result.state, result.value
    verdict.method, verdict.confidence = result.method, result.confidence


def votes_of(labels: Iterable[Label]) -> list[dict[str, Any]]:
    """The votes as a verdict keeps them: which revision of which label said what."""
    return [
        {"rater": label.rater.name, "value": label.value, "revision": label.revision, "label": label.pk}
        for label in sorted(labels, key=lambda label: label.rater_id)
    ]
