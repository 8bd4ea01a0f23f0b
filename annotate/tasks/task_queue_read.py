"""What is handed out next, where looking is enough: the order in which people work through their own tasks, and what
waits for them in a queue. task_queue takes a task from there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import connection
from django.db.models import Count, Q

from annotate.models import Batch, Project, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, OPEN_TASK_STATUSES_SQL, BatchStatus, Strategy, TaskStatus
from annotate.tasks.read import read_payload

# The order of work: what a reviewer sent back, then earlier batches first, each in its own order. Two questions, since
# one that sorts by both reads all open tasks of a person to find the first.
_NEXT = f"""
     WHERE t.id = coalesce(
       (SELECT o.id FROM annotate_task o JOIN annotate_batch ob ON ob.id = o.batch_id
         WHERE o.annotator_id = %(annotator)s AND o.status IN {OPEN_TASK_STATUSES_SQL}
           AND NOT o.return_message = ''
           AND ob.status = 'open' AND NOT o.id = ANY(%(exclude)s) AND {{scope}}
         ORDER BY o.batch_id, o.position, o.id LIMIT 1),
       (SELECT o.id FROM annotate_task o JOIN annotate_batch ob ON ob.id = o.batch_id
         WHERE o.annotator_id = %(annotator)s AND o.status IN {OPEN_TASK_STATUSES_SQL}
           AND ob.status = 'open' AND NOT o.id = ANY(%(exclude)s) AND {{scope}}
         ORDER BY o.batch_id, o.position, o.id LIMIT 1))
"""


def next_task(
    *, user: User, project: Project, batch_number: int | None = None, exclude: Collection[int] = ()
) -> dict[str, Any] | None:
    """The user's next open task that the browser doesn't hold yet, or None when nothing is left."""
    scope, given = "ob.project_id = %(project)s", {"project": project.pk}
    if batch_number is not None:
        scope, given = scope + " AND ob.number = %(number)s", {**given, "number": batch_number}
    return read_payload(_NEXT.format(scope=scope), annotator=user.pk, exclude=list(exclude), **given)


def following_task(*, user: User, batch_id: int, exclude: Collection[int]) -> dict[str, Any] | None:
    """The task to prefetch after one was finished: the next open one of the same person and batch."""
    scope = "o.batch_id = %(batch)s"
    return read_payload(_NEXT.format(scope=scope), annotator=user.pk, exclude=list(exclude), batch=batch_id)


def queues_of(*, user: User, project: Project, batch_number: int | None = None) -> list[int]:
    """The open pull batches that the user labels, the earliest first."""
    batches = Batch.objects.filter(
        project=project, status=BatchStatus.OPEN, strategy=Strategy.PULL, annotators=user
    ).order_by("id")
    if batch_number is not None:
        batches = batches.filter(number=batch_number)
    return list(batches.values_list("id", flat=True))


# Behind the person's place there may be a few more, which the queue gives last.
_FREE = """
    WITH tags AS (
        SELECT b.id AS batch, given.tag, coalesce((
                   SELECT max(o.position) FROM annotate_task o
                    WHERE o.annotator_id = m.user_id AND o.batch_id = b.id AND o.tag = given.tag), -1) AS place
          FROM annotate_batch b
          JOIN annotate_membership m ON m.project_id = b.project_id AND m.user_id = %(user)s AND m.is_active
         CROSS JOIN LATERAL unnest(ARRAY[''] || m.tags) AS given (tag)
         WHERE b.id = ANY(%(batches)s)
         GROUP BY b.id, given.tag, m.user_id
    )
    SELECT count(DISTINCT (t.batch, free.sample_id)) FROM tags t CROSS JOIN LATERAL (
        SELECT f.sample_id FROM annotate_task f
         WHERE f.batch_id = t.batch AND f.tag = t.tag AND f.position > t.place
           AND f.annotator_id IS NULL AND f.status = 'pending'
         ORDER BY f.position LIMIT %(most)s) free
     WHERE NOT EXISTS (SELECT FROM annotate_task o WHERE o.batch_id = t.batch AND o.sample_id = free.sample_id
                        AND o.annotator_id = %(user)s)
"""
MOST_COUNTED = 1000


def free_samples(*, user: User, batches: Collection[int]) -> int:
    """How many samples wait in these queues that the user could take, if nobody else did.

    Exact up to a thousand free tasks after the user's place (of each expertise), and not counted beyond.
    """
    if not batches:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_FREE, {"user": user.pk, "batches": list(batches), "most": MOST_COUNTED})
        return int(cursor.fetchone()[0])


# A sample waits in as many copies as people are to label it, and each of them takes one. What somebody had already is
# taken off, so that a queue of a million is gone through once, and not once for each of its annotators.
_TO_TAKE = """
    WITH free AS (
        SELECT DISTINCT f.sample_id, f.tag FROM annotate_task f
         WHERE f.batch_id = %(batch)s AND f.annotator_id IS NULL AND f.status = 'pending'
    ), waiting AS (
        SELECT tag, count(*) AS n FROM free GROUP BY tag
    ), had AS (
        SELECT o.annotator_id, f.tag, count(DISTINCT f.sample_id) AS n
          FROM annotate_task o JOIN free f ON f.sample_id = o.sample_id
         WHERE o.batch_id = %(batch)s AND o.annotator_id IS NOT NULL
         GROUP BY o.annotator_id, f.tag
    )
    SELECT p.user_id, sum(w.n - coalesce(had.n, 0))::bigint
      FROM annotate_batch_annotators p
      JOIN annotate_batch b ON b.id = p.batch_id
      JOIN annotate_membership m ON m.project_id = b.project_id AND m.user_id = p.user_id AND m.is_active
      JOIN waiting w ON w.tag = '' OR w.tag = ANY(m.tags)
      LEFT JOIN had ON had.annotator_id = p.user_id AND had.tag = w.tag
     WHERE p.batch_id = %(batch)s
     GROUP BY p.user_id HAVING sum(w.n - coalesce(had.n, 0)) > 0
"""


def samples_to_take(batch: Batch) -> dict[int, int]:
    """User id -> how many samples of the batch's queue that annotator could take if nobody else did: all are counted,
    so this is for the worker. Who could take none is left out."""
    with connection.cursor() as cursor:
        cursor.execute(_TO_TAKE, {"batch": batch.pk})
        return dict(cursor.fetchall())


def work_progress(*, user: User, project: Project, batch_number: int | None = None) -> dict[str, int]:
    """Counts of the user's tasks in open batches. What they could still take from a queue is left, too."""
    tasks = Task.objects.filter(annotator=user, batch__project=project, batch__status=BatchStatus.OPEN).exclude(
        status=TaskStatus.RELEASED
    )
    if batch_number is not None:
        tasks = tasks.filter(batch__number=batch_number)
    counts = tasks.aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
        skipped=Count("id", filter=Q(status=TaskStatus.SKIPPED)),
        left=Count("id", filter=Q(status__in=OPEN_TASK_STATUSES)),
    )
    free = free_samples(user=user, batches=queues_of(user=user, project=project, batch_number=batch_number))
    return {**counts, "total": counts["total"] + free, "left": counts["left"] + free}
