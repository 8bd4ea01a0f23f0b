"""The versions of a criterion, and what rests on each."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.models import Batch, Criterion, Label, Project, Verdict
from annotate.models.verdict import VerdictState
from annotate.selectors.counting import counting_labels


@dataclass(frozen=True, slots=True)
class VersionUse:
    """carried: of the labels, those that were carried over from an earlier version."""

    criterion: Criterion
    labels: int
    carried: int
    verdicts: int
    waiting: int
    batches: list[Batch]
    # The batch in which the labels of this version were given anew for a later one.
    relabelled_in: Batch | None


def versions_of(project: Project, key: str) -> list[Criterion]:
    """The latest first. Raises Http404 where there are none."""
    versions = list(Criterion.objects.filter(project=project, key=key).order_by("-version"))
    if not versions:
        raise Http404(_("This project has no criterion “%(key)s”.") % {"key": key})
    return versions


def version_uses(versions: list[Criterion]) -> list[VersionUse]:
    labels = _counted(counting_labels().filter(criterion__in=versions))
    carried = _counted(counting_labels().filter(criterion__in=versions, events__carried_from__isnull=False))
    verdicts = {
        criterion: (settled, waiting)
        for criterion, settled, waiting in Verdict.objects.filter(criterion__in=versions)
        .values_list("criterion_id")
        .annotate(
            settled=Count("pk", filter=Q(state=VerdictState.SETTLED)),
            waiting=Count("pk", filter=~Q(state=VerdictState.SETTLED)),
        )
    }
    asked: dict[int, list[Batch]] = {criterion.pk: [] for criterion in versions}
    anew: dict[int, Batch] = {}
    for batch in Batch.objects.filter(criteria__in=versions).order_by("number").prefetch_related("criteria").distinct():
        for criterion in batch.criteria.all():
            if criterion.pk in asked:
                asked[criterion.pk].append(batch)
        if batch.relabels_id is not None:
            anew[batch.relabels_id] = batch
    return [
        VersionUse(
            criterion,
            labels.get(criterion.pk, 0),
            carried.get(criterion.pk, 0),
            *verdicts.get(criterion.pk, (0, 0)),
            asked[criterion.pk],
            anew.get(criterion.pk),
        )
        for criterion in versions
    ]


def _counted(labels: QuerySet[Label]) -> dict[int, int]:
    return dict(labels.order_by().values_list("criterion_id").annotate(n=Count("pk", distinct=True)))
