"""How much ground truth a project has, and what it could still be made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q

from annotate.batches.read import counts_without_abstentions
from annotate.core.units import without_abstentions
from annotate.labels.settled_read import STANDING, Standing
from annotate.models import Criterion, Label, Project, Verdict
from annotate.models.label import VerdictMethod, VerdictState
from annotate.models.project import Scale


def ground_truth(project: Project) -> list[dict[str, Any]]:
    """Verdicts per criterion and version: settled by each method, approved, and still disputed; `single`: those of one
    label that no reviewer looked at, which releases leave out."""
    settled = Q(state=VerdictState.SETTLED)
    counts = counts_without_abstentions(
        Verdict.objects.filter(criterion__project=project).alias(standing=STANDING),
        "criterion_id",
        waiting=Count("pk", filter=~settled),
        approved=Count("pk", filter=Q(approved_at__isnull=False)),
        single=Count("pk", filter=Q(standing=Standing.SINGLE)),
        settled=Count("pk", filter=settled),
        **{method.value: Count("pk", filter=settled & Q(method=method)) for method in VerdictMethod},
    )
    criteria = Criterion.objects.filter(project=project).exclude(scale=Scale.TEXT).order_by("position", "-version")
    rows = criteria.values("pk", "key", "name", "version", "is_current")
    counted = [{**row, **counts[row["pk"]]} for row in rows]
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
