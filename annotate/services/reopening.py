"""Taking a submission back, to change an answer while the batch is open."""

from __future__ import annotations

from django.db import connection, transaction
from django.utils.translation import gettext as _

from annotate.errors import Conflict
from annotate.models import Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, Purpose, TaskStatus
from annotate.models.verdict import LessonRead
from annotate.services.labelling import Finished, own_row, require_open_batch
from annotate.services.moving import take_seat_back

# One statement with its guard, as in services.loop_rows. What the task says counts for nothing until it is submitted
# again; verdicts that rest on it stay as they are until then.
_REOPEN = """
    UPDATE annotate_task t SET status = %(in_progress)s, submitted_at = NULL, skip_reason = '',
           lease_expires_at = CASE WHEN t.lease_expires_at IS NOT NULL
                                   THEN now() + make_interval(mins => b.lease_minutes) END
      FROM annotate_batch b
     WHERE b.id = t.batch_id AND b.status = %(batch_open)s AND t.id = %(task)s AND t.status = ANY(%(finished)s)
"""
_FINISHED = [TaskStatus.SUBMITTED.value, TaskStatus.SKIPPED.value]


def reopen_task(*, actor: User, task_id: int) -> Finished:
    """Opens one's own submitted or skipped task again. Its labels stay as they are. Repeating it changes nothing.

    Raises Http404 (not one's own), Conflict (batch not open; known answers were shown; handed on; somebody else
    has what was skipped).
    """
    task = own_row(actor, task_id)
    require_open_batch(task)
    if task.status == TaskStatus.RELEASED:
        raise Conflict("task_released", _("This sample was handed on to somebody else; nothing was changed."))
    if task.status in OPEN_TASK_STATUSES:
        return Finished(task.id, task.batch_id, task.status)
    if task.purpose == Purpose.GOLD and task.gold_feedback and task.status == TaskStatus.SUBMITTED:
        raise Conflict("answers_shown", _("You were shown the known answers; yours stay as they are."))
    if LessonRead.objects.filter(user=actor, verdict__sample=task.sample_id).exists():
        raise Conflict(
            "answers_shown",
            _("You were shown what reviewers decided about this sample; your answers stay as they are."),
        )
    with transaction.atomic():
        row = Task.objects.select_for_update(of=("self",)).select_related("batch").get(pk=task_id)
        if row.status == TaskStatus.SKIPPED and row.purpose == Purpose.LABEL:
            take_seat_back(row)
        with connection.cursor() as cursor:
            cursor.execute(
                _REOPEN,
                {
                    "task": task.id,
                    "in_progress": TaskStatus.IN_PROGRESS.value,
                    "finished": _FINISHED,
                    "batch_open": BatchStatus.OPEN.value,
                },
            )
    # Whoever was quicker did the same, or closed the batch.
    task = own_row(actor, task_id)
    require_open_batch(task)
    return Finished(task.id, task.batch_id, task.status)
