"""The tasks of a batch as the page of tasks shows them: never those that measure somebody."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.models import Batch, Task, User
from annotate.models.batch import Purpose, TaskStatus


def task_rows(batch: Batch, *, username: str | None = None, status: str = "") -> QuerySet[Task]:
    """In the order of people and of their work, each with its sample and annotator. username "": those that wait in
    the queue for whoever asks. What was handed on is left out, unless it is asked for."""
    tasks = Task.objects.filter(batch=batch, purpose=Purpose.LABEL).select_related("sample", "annotator")
    if username is not None:
        tasks = tasks.filter(annotator__username=username) if username else tasks.filter(annotator__isnull=True)
    tasks = tasks.filter(status=status) if status else tasks.exclude(status=TaskStatus.RELEASED)
    return tasks.order_by("annotator__username", "position", "id")


def people_of(batch: Batch) -> QuerySet[User]:
    """Everybody who has, or had, a task of the batch, and those who may take one."""
    had = Q(pk__in=batch.tasks.filter(annotator__isnull=False).values("annotator"))
    return User.objects.filter(had | Q(pk__in=batch.annotators.values("pk"))).order_by("username")


def one_task(batch: Batch, task_id: int) -> Task:
    task = Task.objects.filter(batch=batch, pk=task_id).select_related("sample", "annotator", "batch").first()
    if task is None:
        raise Http404(_("This batch has no such task."))
    return task
