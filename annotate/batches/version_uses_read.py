"""What rests on each version of a criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, When

from annotate.batches.read import CountOf, counts_without_abstentions
from annotate.core.units import without_abstentions
from annotate.core.walking import Counted, first, up_to_limit
from annotate.labels.read import counting_labels, votes
from annotate.models import Batch, Criterion, LabelEvent, Verdict
from annotate.models.label import VerdictState
from annotate.projects.read import work_batches


@dataclass(frozen=True, slots=True)
class VersionUse:
    """What rests on a version. carried: of the labels, those that were carried over from an earlier version."""

    criterion: Criterion
    labels: Counted
    carried: Counted
    verdicts: Counted
    waiting: Counted
    batches: list[Batch]
    # The batch in which the labels of this version were given anew for a later one.
    relabelled_in: Batch | None


def version_uses(versions: list[Criterion], *, exactly: bool = True) -> list[VersionUse]:
    """exactly: all labels and verdicts are read; otherwise each number is counted up to a limit."""
    numbers = _all_of(versions) if exactly else _first_of(versions)
    asked: dict[int, list[Batch]] = {criterion.pk: [] for criterion in versions}
    anew: dict[int, Batch] = {}
    batches = work_batches(versions[0].project).filter(criteria__in=versions)
    for batch in batches.order_by("number").prefetch_related("criteria").distinct():
        for criterion in batch.criteria.all():
            if criterion.pk in asked:
                asked[criterion.pk].append(batch)
        if batch.relabels_id is not None:
            anew[batch.relabels_id] = batch
    return [
        VersionUse(
            criterion,
            **numbers[criterion.pk],
            batches=asked[criterion.pk],
            relabelled_in=anew.get(criterion.pk),
        )
        for criterion in versions
    ]


def _all_of(versions: list[Criterion]) -> dict[int, dict[str, Counted]]:
    counting = votes().filter(criterion__in=versions)
    labels = counts_without_abstentions(counting, "criterion_id", labels=Count("pk"))
    carried = counts_without_abstentions(
        counting.filter(events__carried_from__isnull=False), "criterion_id", carried=Count("pk", distinct=True)
    )
    verdicts = counts_without_abstentions(
        Verdict.objects.filter(criterion__in=versions),
        "criterion_id",
        verdicts=Count("pk", filter=Q(state=VerdictState.SETTLED)),
        waiting=Count("pk", filter=~Q(state=VerdictState.SETTLED)),
    )
    return {
        pk: {
            name: Counted(number, is_all=True)
            for of_version in (labels[pk], carried[pk], verdicts[pk])
            for name, number in of_version.items()
        }
        for pk in (one.pk for one in versions)
    }


def _first_of(versions: list[Criterion]) -> dict[int, dict[str, Counted]]:
    rows = {one.pk: _rows_of(one) for one in versions}
    numbers = {
        name: Case(
            *(When(pk=pk, then=CountOf(first(of[name]))) for pk, of in rows.items() if name in of),
            default=0,
            output_field=IntegerField(),
        )
        for name in ("labels", "carried", "verdicts", "waiting")
    }
    counted = Criterion.objects.filter(pk__in=list(rows)).order_by().values_list("pk", *numbers.values())
    return {pk: dict(zip(numbers, map(up_to_limit, found), strict=True)) for pk, *found in counted}


def _rows_of(criterion: Criterion) -> dict[str, QuerySet[Any]]:
    # A range, as of one value PostgreSQL takes the order for given, and looks for the rows in all of the table.
    of_version = Q(criterion__gte=criterion, criterion__lte=criterion)
    labels = counting_labels().filter(of_version).order_by("criterion_id")
    verdicts = without_abstentions(Verdict.objects.filter(of_version)).order_by("criterion_id")
    was_carried = Exists(LabelEvent.objects.filter(label=OuterRef("pk"), carried_from__isnull=False))
    return {
        "labels": labels,
        # Nothing is carried over to the first version, and looking for it would read all of its labels.
        **({"carried": labels.filter(was_carried)} if criterion.version > 1 else {}),
        "verdicts": verdicts.filter(state=VerdictState.SETTLED),
        "waiting": verdicts.exclude(state=VerdictState.SETTLED),
    }
