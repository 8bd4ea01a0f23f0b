"""What an annotator sees: their own tasks, with nothing that another person or a judge said."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import Http404

from annotate.models import Label, Project, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus
from annotate.services.labelling import label_as_dict


def open_tasks(*, user: User, project: Project, batch_number: int | None = None) -> QuerySet[Task]:
    """The user's tasks that can be worked on, in working order: earlier batches first."""
    tasks = Task.objects.filter(
        annotator=user, batch__project=project, batch__status=BatchStatus.OPEN, status__in=OPEN_TASK_STATUSES
    )
    if batch_number is not None:
        tasks = tasks.filter(batch__number=batch_number)
    return tasks.order_by("batch_id", "position", "id")


def next_task(
    *, user: User, project: Project, batch_number: int | None = None, exclude: Collection[int] = ()
) -> dict[str, Any] | None:
    """The next open task that the browser doesn't hold yet, or None when nothing is left."""
    task = (
        open_tasks(user=user, project=project, batch_number=batch_number)
        .exclude(pk__in=exclude)
        .select_related("batch", "sample")
        .first()
    )
    return task_payload(task) if task else None


def following_task(*, task: Task, exclude: Collection[int]) -> dict[str, Any] | None:
    """The task to prefetch after `task` was finished: the next open one of the same person and batch."""
    following = (
        Task.objects.filter(annotator_id=task.annotator_id, batch_id=task.batch_id, status__in=OPEN_TASK_STATUSES)
        .exclude(pk__in=exclude)
        .select_related("batch", "sample")
        .order_by("position", "id")
        .first()
    )
    return task_payload(following) if following else None


def own_task(*, user: User, task_id: int) -> dict[str, Any]:
    task = (
        Task.objects.select_related("batch", "sample")
        .filter(pk=task_id, annotator=user, batch__project__memberships__user=user)
        .exclude(batch__status=BatchStatus.DRAFT)
        .first()
    )
    if task is None:
        raise Http404("There is no such task for you.")
    return task_payload(task)


def work_progress(*, user: User, project: Project, batch_number: int | None = None) -> dict[str, int]:
    """Counts of the user's tasks in open batches."""
    tasks = Task.objects.filter(annotator=user, batch__project=project, batch__status=BatchStatus.OPEN)
    if batch_number is not None:
        tasks = tasks.filter(batch__number=batch_number)
    counts = tasks.aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
        skipped=Count("id", filter=Q(status=TaskStatus.SKIPPED)),
    )
    return {**counts, "left": counts["total"] - counts["done"] - counts["skipped"]}


def task_payload(task: Task) -> dict[str, Any]:
    """Everything the workspace needs for one task, and nothing else.

    Left out on purpose: retrieval scores, metadata (they may name the model) and everything others said.
    """
    batch, sample = task.batch, task.sample
    labels = Label.objects.filter(task=task).select_related("criterion").order_by("id")
    return {
        "id": task.pk,
        "status": task.status,
        "position": task.position,
        "batch": {
            "number": batch.number,
            "name": batch.name,
            "due_date": batch.due_date.isoformat() if batch.due_date else None,
        },
        "active_seconds": task.active_seconds,
        "sample": {
            "question": sample.question,
            "answer": sample.answer,
            "answer_b": sample.answer_b,
            "reference": sample.reference,
            "contexts": [{"id": context.get("id"), "text": context["text"]} for context in sample.contexts],
            "claims": [{key: claim.get(key) for key in ("text", "start", "end")} for claim in sample.claims],
            "key_facts": sample.key_facts,
            "entities": sample.entities,
        },
        "criteria": [
            {
                "key": criterion.key,
                "name": criterion.name,
                "unit": criterion.unit,
                "scale": criterion.scale,
                "prompt": criterion.prompt,
                "help": criterion.help,
                "required": criterion.required,
                "options": criterion.options,
            }
            for criterion in batch.criteria.order_by("batchcriterion__position")
        ],
        "labels": [label_as_dict(label) for label in labels],
    }
