"""What projects hold and what waits in them, for many projects in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotate.models import Batch, Criterion, Flag, Project, Release, Sample, Task, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus
from annotate.models.verdict import VerdictState


@dataclass
class Counts:
    """What a project holds and what waits in it."""

    samples: int = 0
    criteria: int = 0
    draft_batches: int = 0
    open_batches: int = 0
    batches: int = 0
    # Tasks of open batches.
    tasks: int = 0
    tasks_done: int = 0
    settled: int = 0
    disputed: int = 0
    # Flags that nobody has resolved.
    flags: int = 0
    releases: int = 0

    @property
    def tasks_left(self) -> int:
        return self.tasks - self.tasks_done


@dataclass(frozen=True)
class OwnBatch:
    """A batch in which somebody still has tasks."""

    number: int
    name: str
    due_date: date | None
    waiting: int


def counts_of(projects: Sequence[Project]) -> dict[int, Counts]:
    """Counts per project id."""
    found = {project.pk: Counts() for project in projects}
    keys = list(found)
    _fill(found, Sample.objects.filter(project__in=keys), "project_id", samples=Count("id"))
    _fill(found, Criterion.objects.filter(project__in=keys, is_current=True), "project_id", criteria=Count("id"))
    _fill(
        found,
        Batch.objects.filter(project__in=keys),
        "project_id",
        batches=Count("id"),
        open_batches=Count("id", filter=Q(status=BatchStatus.OPEN)),
        draft_batches=Count("id", filter=Q(status=BatchStatus.DRAFT)),
    )
    _fill(
        found,
        Task.objects.filter(batch__project__in=keys, batch__status=BatchStatus.OPEN),
        "batch__project_id",
        tasks=Count("id"),
        tasks_done=Count("id", filter=Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])),
    )
    _fill(
        found,
        Verdict.objects.filter(criterion__project__in=keys),
        "criterion__project_id",
        settled=Count("id", filter=Q(state=VerdictState.SETTLED)),
        disputed=Count("id", filter=~Q(state=VerdictState.SETTLED)),
    )
    _fill(found, Flag.objects.filter(project__in=keys, resolved_at=None), "project_id", flags=Count("id"))
    _fill(found, Release.objects.filter(project__in=keys), "project_id", releases=Count("id"))
    return found


def _fill(found: dict[int, Counts], rows: QuerySet[Any], by: str, **numbers: Count) -> None:
    for row in rows.order_by().values(by).annotate(**numbers):
        for name in numbers:
            setattr(found[row[by]], name, row[name])


def own_batches(user: User, projects: Sequence[Project]) -> dict[int, list[OwnBatch]]:
    """The open batches, per project id, in which the user still has tasks."""
    rows = (
        Task.objects.filter(
            annotator=user, batch__project__in=projects, batch__status=BatchStatus.OPEN, status__in=OPEN_TASK_STATUSES
        )
        .order_by("batch__number")
        .values("batch__project_id", "batch__number", "batch__name", "batch__due_date")
        .annotate(waiting=Count("id"))
    )
    found: dict[int, list[OwnBatch]] = {}
    for row in rows:
        found.setdefault(row["batch__project_id"], []).append(
            OwnBatch(row["batch__number"], row["batch__name"], row["batch__due_date"], row["waiting"])
        )
    return found
