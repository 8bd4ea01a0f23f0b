"""What an annotator sees: their own tasks, with nothing that another person or a judge said.

What somebody has finished: their submitted and skipped tasks.

The tasks of a batch as those who run it see them.

The tasks of a batch as the page of tasks shows them: never those that measure somebody.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.permissions import no_such_task
from annotate.core.units import indices_sql
from annotate.models import Batch, Project, Task, User
from annotate.models.batch import BatchStatus, Purpose, TaskStatus

# Everything the workspace needs for one task, in one statement: the labelling loop passes here at every submit. Left
# out on purpose: retrieval scores, metadata (they may name the model) and everything that others said.
_PAYLOAD = f"""
    SELECT json_build_object(
      'id', t.id, 'status', t.status, 'position', t.position, 'active_seconds', t.active_seconds,
      'leased', t.lease_expires_at IS NOT NULL,
      'return_message', t.return_message,
      'returned_by', (SELECT coalesce(nullif(u.display_name, ''), u.username) FROM annotate_user u
                        JOIN annotate_project p ON p.id = b.project_id AND p.show_names
                       WHERE u.id = t.returned_by_id AND t.return_message <> ''),
      'batch', json_build_object('number', b.number, 'name', b.name, 'due_date', b.due_date),
      'sample', json_build_object(
        'question', s.question, 'answer', s.answer, 'answer_b', s.answer_b, 'reference', s.reference,
        'contexts', (SELECT coalesce(json_agg(json_build_object('id', e -> 'id', 'text', e -> 'text') ORDER BY n), '[]')
                       FROM jsonb_array_elements(s.contexts) WITH ORDINALITY AS listed (e, n)),
        'claims', (SELECT coalesce(json_agg(json_build_object(
                            'index', i, 'text', s.claims -> i -> 'text',
                            'start', s.claims -> i -> 'start', 'end', s.claims -> i -> 'end') ORDER BY i), '[]')
                     FROM unnest({indices_sql("claim")}) AS listed (i)),
        'key_facts', s.key_facts, 'entities', s.entities),
      'criteria', (
        SELECT json_agg(json_build_object(
                 'key', c.key, 'name', c.name, 'unit', c.unit, 'scale', c.scale, 'prompt', c.prompt, 'help', c.help,
                 'required', c.required, 'cant_tell', c.cant_tell, 'options', c.options) ORDER BY bc.position)
          FROM annotate_batchcriterion bc JOIN annotate_criterion c ON c.id = bc.criterion_id
         WHERE bc.batch_id = b.id),
      'labels', (
        SELECT coalesce(json_agg(json_build_object(
                 'unit', l.unit, 'criterion', c.key, 'value', l.value, 'cant_tell', l.cant_tell,
                 'comment', l.comment, 'evidence', l.evidence, 'active_ms', l.active_ms, 'revision', l.revision)
                 ORDER BY l.id), '[]')
          FROM annotate_label l JOIN annotate_criterion c ON c.id = l.criterion_id
          -- A label carried over to a later version lies in the same task.
          JOIN annotate_batchcriterion bc ON bc.batch_id = b.id AND bc.criterion_id = c.id
         WHERE l.task_id = t.id))::text
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id
      JOIN annotate_sample s ON s.id = t.sample_id
"""


def read_payload(where: str, **given: Any) -> dict[str, Any] | None:
    """The task `t` that this names, as the workspace needs it, or None."""
    with connection.cursor() as cursor:
        cursor.execute(_PAYLOAD + where, given)
        row = cursor.fetchone()
    return json.loads(row[0]) if row else None


_OWN = """
      JOIN annotate_membership m
        ON m.project_id = b.project_id AND m.user_id = t.annotator_id AND m.is_active
     WHERE t.id = %(task)s AND t.annotator_id = %(annotator)s AND b.status <> 'draft'
"""


def own_task(*, user: User, task_id: int) -> dict[str, Any]:
    """One of the user's own tasks. Raises Http404 for anybody else's."""
    task = read_payload(_OWN, annotator=user.pk, task=task_id)
    if task is None:
        raise no_such_task(user, task_id)
    return task


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


def tasks_of(batch: Batch, *, measuring: bool, status: str = "", username: str = "") -> QuerySet[Task]:
    """By sample; of one status, and of one annotator, when they are named. measuring: also gold and second readings,
    which nobody may know of who might have one."""
    if status and status not in TaskStatus.values:
        raise Invalid("bad_status", f"status: one of {', '.join(TaskStatus.values)}.")
    tasks = Task.objects.filter(batch=batch).select_related("sample", "annotator").order_by("sample_id", "id")
    if not measuring:
        tasks = tasks.filter(purpose=Purpose.LABEL)
    if status:
        tasks = tasks.filter(status=status)
    return tasks.filter(annotator__username=username) if username else tasks


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
