"""How much ground truth a project has, and what it could still be made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q

from annotate.models import Criterion, Label, Project
from annotate.models.verdict import VerdictMethod, VerdictState


def ground_truth(project: Project) -> list[dict[str, Any]]:
    """Verdicts per criterion and version: settled by each method, approved, and still disputed."""
    settled = Q(verdicts__state=VerdictState.SETTLED)
    by_method = {
        method.value: Count("verdicts", filter=settled & Q(verdicts__method=method)) for method in VerdictMethod
    }
    rows = (
        Criterion.objects.filter(project=project)
        .annotate(
            waiting=Count("verdicts", filter=~settled),
            approved=Count("verdicts", filter=Q(verdicts__approved_at__isnull=False)),
            **by_method,
        )
        .order_by("position", "-version")
        .values("key", "name", "version", "is_current", "waiting", "approved", *by_method)
    )
    counted = [{**row, "settled": sum(row[method] for method in by_method)} for row in rows]
    return [row for row in counted if row["is_current"] or row["settled"] or row["waiting"]]


def imported_labels(project: Project) -> Sequence[Mapping[str, Any]]:
    """Labels that were made elsewhere, per criterion."""
    return list(
        Label.objects.filter(criterion__project=project, criterion__is_current=True, task__isnull=True)
        .values("criterion__name")
        .annotate(labels=Count("id"), raters=Count("rater", distinct=True))
        .order_by("criterion__position")
    )
