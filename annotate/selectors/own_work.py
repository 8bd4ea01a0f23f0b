"""What somebody has finished: their submitted and skipped tasks."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from annotate.models import Project, Task, User
from annotate.models.batch import BatchStatus, Purpose, TaskStatus


def finished_tasks(*, user: User, project: Project, words: str = "") -> QuerySet[Task]:
    """The latest first; `words` is looked for in the question and the answer."""
    tasks = (
        Task.objects.filter(
            annotator=user, batch__project=project, status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED]
        )
        .exclude(batch__status=BatchStatus.DRAFT)
        .select_related("batch", "sample")
        .only(
            "status", "skip_reason", "submitted_at", "purpose",
            "batch__name", "batch__number", "batch__status", "batch__gold_feedback", "sample__question",
        )
        # A skipped task has no time of its own but that of its beginning.
        .order_by(Coalesce("submitted_at", "started_at").desc(nulls_last=True), "-id")
    )  # fmt: skip
    if words:
        tasks = tasks.filter(Q(sample__question__icontains=words) | Q(sample__answer__icontains=words))
    return tasks


def may_change(task: Task) -> bool:
    """Whether its annotator may take it back (services.reopening)."""
    shown = task.purpose == Purpose.GOLD and task.batch.gold_feedback and task.status == TaskStatus.SUBMITTED
    return task.batch.status == BatchStatus.OPEN and not shown


def is_own_task(user: User, project: Project, task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, annotator=user, batch__project=project).exists()
