"""How much ground truth a project has, and what it could still be made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q

from annotate.batches.read import counts_without_abstentions
from annotate.core.units import without_abstentions
from annotate.labels.settled_read import SINGLE
from annotate.models import Criterion, Label, Project, Verdict
from annotate.models.label import VerdictMethod, VerdictState
from annotate.models.project import Scale


def ground_truth(project: Project) -> list[dict[str, Any]]:
    """Verdicts per criterion and version: settled by each method, approved, and still disputed; `single`: those of one
    label that no reviewer looked at, which releases leave out."""
    settled = Q(state=VerdictState.SETTLED)
    # Each kind of figures in an index that has it, and in a list of versions: no verdict itself is read.
    verdicts = Verdict.objects.filter(criterion__in=list(project.criteria.values_list("pk", flat=True)))
    counts = counts_without_abstentions(
        verdicts,
        "criterion_id",
        waiting=Count("state", filter=~settled),
        settled=Count("state", filter=settled),
        **{method.value: Count("state", filter=settled & Q(method=method)) for method in VerdictMethod},
    )
    approved = counts_without_abstentions(
        verdicts.filter(approved_at__isnull=False), "criterion_id", approved=Count("criterion_id")
    )
    single = counts_without_abstentions(verdicts.filter(SINGLE), "criterion_id", single=Count("criterion_id"))
    criteria = Criterion.objects.filter(project=project).exclude(scale=Scale.TEXT).order_by("position", "-version")
    rows = criteria.values("pk", "key", "name", "version", "is_current")
    counted = [{**row, **counts[row["pk"]], **approved[row["pk"]], **single[row["pk"]]} for row in rows]
    return [row for row in counted if row["is_current"] or row["settled"] or row["waiting"]]


def imported_labels(project: Project) -> Sequence[Mapping[str, Any]]:
    """Labels that were made elsewhere, per criterion that can have verdicts."""
    return list(
        without_abstentions(
            Label.objects.filter(criterion__project=project, criterion__is_current=True, task__isnull=True)
        )
        .exclude(criterion__scale=Scale.TEXT)
        .values("criterion__name")
        .annotate(labels=Count("id"), raters=Count("rater", distinct=True))
        .order_by("criterion__position")
    )
