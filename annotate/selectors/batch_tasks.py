"""The tasks of a batch, for those who run it."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404

from annotate.models import Batch, Task, User
from annotate.models.batch import Purpose, TaskStatus


def batch_tasks(batch: Batch, *, username: str | None = None, status: str = "") -> QuerySet[Task]:
    """In the order of people and of their work, each with its sample and annotator. username "": those that wait in
    the queue for whoever asks. What was handed on is left out, unless it is asked for."""
    tasks = Task.objects.filter(batch=batch, purpose=Purpose.LABEL).select_related("sample", "annotator")
    if username is not None:
        tasks = tasks.filter(annotator__username=username) if username else tasks.filter(annotator__isnull=True)
    tasks = tasks.filter(status=status) if status else tasks.exclude(status=TaskStatus.RELEASED)
    return tasks.order_by("annotator__username", "position", "id")


def people_of(batch: Batch) -> QuerySet[User]:
    """Everybody who has, or had, a task of the batch, and those who may take one."""
    return (
        User.objects.filter(pk__in=batch.tasks.values("annotator")).union(batch.annotators.all()).order_by("username")
    )


def one_task(batch: Batch, task_id: int) -> Task:
    task = Task.objects.filter(batch=batch, pk=task_id).select_related("sample", "annotator", "batch").first()
    if task is None:
        raise Http404("This batch has no such task.")
    return task
