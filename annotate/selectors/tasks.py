"""What an annotator sees: their own tasks, with nothing that another person or a judge said."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.models import Project, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus

# Everything the workspace needs for one task, in one statement: the labelling loop passes here at every submit. Left
# out on purpose: retrieval scores, metadata (they may name the model) and everything that others said.
_PAYLOAD = """
    SELECT json_build_object(
      'id', t.id, 'status', t.status, 'position', t.position, 'active_seconds', t.active_seconds,
      'batch', json_build_object('number', b.number, 'name', b.name, 'due_date', b.due_date),
      'sample', json_build_object(
        'question', s.question, 'answer', s.answer, 'answer_b', s.answer_b, 'reference', s.reference,
        'contexts', (SELECT coalesce(json_agg(json_build_object('id', e -> 'id', 'text', e -> 'text') ORDER BY n), '[]')
                       FROM jsonb_array_elements(s.contexts) WITH ORDINALITY AS listed (e, n)),
        'claims', (SELECT coalesce(json_agg(json_build_object(
                            'text', e -> 'text', 'start', e -> 'start', 'end', e -> 'end') ORDER BY n), '[]')
                     FROM jsonb_array_elements(s.claims) WITH ORDINALITY AS listed (e, n)),
        'key_facts', s.key_facts, 'entities', s.entities),
      'criteria', (
        SELECT json_agg(json_build_object(
                 'key', c.key, 'name', c.name, 'unit', c.unit, 'scale', c.scale, 'prompt', c.prompt, 'help', c.help,
                 'required', c.required, 'options', c.options) ORDER BY bc.position)
          FROM annotate_batchcriterion bc JOIN annotate_criterion c ON c.id = bc.criterion_id
         WHERE bc.batch_id = b.id),
      'labels', (
        SELECT coalesce(json_agg(json_build_object(
                 'unit', l.unit, 'criterion', c.key, 'value', l.value, 'comment', l.comment,
                 'evidence', l.evidence, 'revision', l.revision) ORDER BY l.id), '[]')
          FROM annotate_label l JOIN annotate_criterion c ON c.id = l.criterion_id
         WHERE l.task_id = t.id))::text
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id
      JOIN annotate_sample s ON s.id = t.sample_id
"""
# The order of work: earlier batches first, each in its own order.
_NEXT = (
    _PAYLOAD
    + """
     WHERE t.id = (
        SELECT o.id FROM annotate_task o JOIN annotate_batch ob ON ob.id = o.batch_id
         WHERE o.annotator_id = %(annotator)s AND o.status IN ('pending', 'in_progress', 'returned')
           AND ob.status = 'open' AND NOT o.id = ANY(%(exclude)s) AND {scope}
         ORDER BY o.batch_id, o.position, o.id LIMIT 1)
"""
)
_OWN = (
    _PAYLOAD
    + """
      JOIN annotate_membership m
        ON m.project_id = b.project_id AND m.user_id = t.annotator_id AND m.is_active
     WHERE t.id = %(task)s AND t.annotator_id = %(annotator)s AND b.status <> 'draft'
"""
)


def open_tasks(*, user: User, project: Project) -> QuerySet[Task]:
    """The user's tasks that can be worked on, in working order: earlier batches first."""
    return Task.objects.filter(
        annotator=user, batch__project=project, batch__status=BatchStatus.OPEN, status__in=OPEN_TASK_STATUSES
    ).order_by("batch_id", "position", "id")


def next_task(
    *, user: User, project: Project, batch_number: int | None = None, exclude: Collection[int] = ()
) -> dict[str, Any] | None:
    """The user's next open task that the browser doesn't hold yet, or None when nothing is left."""
    scope, given = "ob.project_id = %(project)s", {"project": project.pk}
    if batch_number is not None:
        scope, given = scope + " AND ob.number = %(number)s", {**given, "number": batch_number}
    return _payload(_NEXT.format(scope=scope), annotator=user.pk, exclude=list(exclude), **given)


def following_task(*, user: User, batch_id: int, exclude: Collection[int]) -> dict[str, Any] | None:
    """The task to prefetch after one was finished: the next open one of the same person and batch."""
    scope = "o.batch_id = %(batch)s"
    return _payload(_NEXT.format(scope=scope), annotator=user.pk, exclude=list(exclude), batch=batch_id)


def own_task(*, user: User, task_id: int) -> dict[str, Any]:
    """One of the user's own tasks. Raises Http404 for anybody else's."""
    task = _payload(_OWN, annotator=user.pk, task=task_id)
    if task is None:
        raise Http404(_("There is no such task for you."))
    return task


def work_progress(*, user: User, project: Project, batch_number: int | None = None) -> dict[str, int]:
    """Counts of the user's tasks in open batches."""
    tasks = Task.objects.filter(annotator=user, batch__project=project, batch__status=BatchStatus.OPEN)
    if batch_number is not None:
        tasks = tasks.filter(batch__number=batch_number)
    counts = tasks.aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
        skipped=Count("id", filter=Q(status=TaskStatus.SKIPPED)),
        left=Count("id", filter=Q(status__in=OPEN_TASK_STATUSES)),
    )
    return dict(counts)


def _payload(sql: str, **given: Any) -> dict[str, Any] | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        row = cursor.fetchone()
    return json.loads(row[0]) if row else None
