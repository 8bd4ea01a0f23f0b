"""What projects hold and what waits in them, for many projects in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Avg, Count, Q, QuerySet

from annotate.models import Batch, Criterion, Flag, Project, Release, Sample, Task, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, Strategy, TaskStatus
from annotate.models.verdict import VerdictState
from annotate.selectors.tasks import free_samples

# From so many finished tasks on their average says something about the next ones.
FEWEST_DONE = 3


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
    done: int = 0
    # At work on a task, on average; None when nothing was measured.
    seconds: float | None = None

    @property
    def minutes_left(self) -> int | None:
        return round(self.waiting * self.seconds / 60) if self.seconds and self.done >= FEWEST_DONE else None


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
    """The open batches, per project id, in which the user still has tasks or could take some from the queue, with what
    they have done in each. Nothing about anybody else."""
    mine: dict[int, dict[str, Any]] = {
        row["batch"]: dict(row)
        for row in Task.objects.filter(annotator=user, batch__project__in=projects, batch__status=BatchStatus.OPEN)
        .exclude(status=TaskStatus.RELEASED)
        .order_by()
        .values("batch")
        .annotate(
            waiting=Count("id", filter=Q(status__in=OPEN_TASK_STATUSES)),
            done=Count("id", filter=Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])),
            seconds=Avg("active_seconds", filter=Q(status=TaskStatus.SUBMITTED, active_seconds__gt=0)),
        )
    }
    queues = set(
        Batch.objects.filter(
            project__in=projects, status=BatchStatus.OPEN, strategy=Strategy.PULL, annotators=user
        ).values_list("pk", flat=True)
    )
    found: dict[int, list[OwnBatch]] = {}
    for batch in Batch.objects.filter(pk__in=mine.keys() | queues).order_by("number"):
        row = mine.get(batch.pk, {"waiting": 0, "done": 0, "seconds": None})
        free = free_samples(user=user, batches=[batch.pk]) if batch.pk in queues else 0
        if row["waiting"] + free:
            found.setdefault(batch.project_id, []).append(
                OwnBatch(
                    number=batch.number,
                    name=batch.name,
                    due_date=batch.due_date,
                    waiting=row["waiting"] + free,
                    done=row["done"],
                    seconds=row["seconds"],
                )
            )
    return found
