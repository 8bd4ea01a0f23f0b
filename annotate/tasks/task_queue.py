"""The pull queue: free tasks wait until an annotator asks for one, and a task that was taken and left comes back when
it is needed.

No sample is given out more often than its overlap, nor twice to one annotator, and none is forgotten, however requests
interleave: a free task is claimed by locking its row, passing over rows that others are just claiming; what one person
takes from a batch is taken one after the other; and the unique constraint on (batch, sample, annotator, purpose) is the
last guard.

Tasks that measure the annotator are mixed into what a person takes; a balanced batch has them in its lists from the
start (annotate.tasks.assignment).
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.rounds import MAY_HAVE_TASKS, MET_IN_ROUND
from annotate.core.rows import fetch_one, next_position
from annotate.labels.gold_read import gold_for
from annotate.models import Project, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, Purpose, TaskStatus
from annotate.tasks.read import following_task, next_task, own_task, queues_of

_OPEN = [status.value for status in OPEN_TASK_STATUSES]
_TRIES = 5


def take_task(
    *, user: User, project: Project, batch_number: int | None = None, exclude: Collection[int] = ()
) -> dict[str, Any] | None:
    """The user's next task as the workspace needs it: one of their own, else one from the queue, which is theirs now.

    Asking again gives the same one, until it is finished or named in `exclude`. None: nothing is left for them.
    """
    for _attempt in range(_TRIES):
        task = next_task(user=user, project=project, batch_number=batch_number, exclude=exclude)
        if task is None:
            break
        # Asking for a task renews its lease; if another annotator has it by now, look again.
        if not task["leased"] or renew_lease(task_id=task["id"], annotator_id=user.pk):
            return task
    return _take_from(queues_of(user=user, project=project, batch_number=batch_number), user, exclude)


def take_following(*, user: User, batch_id: int, exclude: Collection[int]) -> dict[str, Any] | None:
    """The task to prefetch after one was finished: the next of the same batch, taken from its queue if need be."""
    task = following_task(user=user, batch_id=batch_id, exclude=exclude)
    return task if task is not None else _take_from([batch_id], user, exclude)


def _take_from(batches: Collection[int], user: User, exclude: Collection[int]) -> dict[str, Any] | None:
    for batch_id in batches:
        while (task_id := _take(user, batch_id, exclude)) is not None:
            try:
                return own_task(user=user, task_id=task_id)
            except Http404:
                # An admin has handed it on meanwhile; there may be others.
                continue
    return None


def _take(user: User, batch_id: int, exclude: Collection[int]) -> int | None:
    for _attempt in range(_TRIES):
        try:
            with transaction.atomic():
                place = _place(user, batch_id)
                if place is None:
                    return None
                # The same request, repeated while the first was under way, gets what the first one took.
                return _held(place, exclude) or _claim(place) or _take_over(place)
        except IntegrityError:
            # The user was given this very sample meanwhile; there are others.
            continue
    raise Conflict("busy", _("The queue is busy. Try again."))


@dataclass(frozen=True)
class Place:
    """A user's place in a queue, locked until the end of the transaction."""

    batch_id: int
    user_id: int
    lease_minutes: int
    seed: int
    gold_share: float
    repeat_share: float
    # What they may take: samples that need no expertise, and those that need one of theirs.
    tags: list[str]

    def given(self, **more: Any) -> dict[str, Any]:
        return {
            "batch": self.batch_id,
            "user": self.user_id,
            "tags": self.tags,
            "lease": self.lease_minutes,
            "open": _OPEN,
            **more,
        }


# The membership first, in the order of ending one: who has left the project takes no task.
_PLACE = f"""
    WITH member AS MATERIALIZED (
        SELECT m.tags FROM annotate_membership m JOIN annotate_batch b ON b.project_id = m.project_id
         WHERE b.id = %(batch)s AND m.user_id = %(user)s AND m.is_active FOR SHARE OF m
    )
    SELECT b.lease_minutes, b.seed, b.gold_share, b.repeat_share, ARRAY[''] || member.tags
      FROM member, annotate_batch_annotators p JOIN annotate_batch b ON b.id = p.batch_id
     WHERE p.batch_id = %(batch)s AND p.user_id = %(user)s AND b.status = 'open' AND b.strategy = 'pull'
       AND {MAY_HAVE_TASKS.format(user="%(user)s")}
       FOR UPDATE OF p
"""


def _place(user: User, batch_id: int) -> Place | None:
    row = fetch_one(_PLACE, {"batch": batch_id, "user": user.pk})
    if row is None:
        return None
    lease_minutes, seed, gold_share, repeat_share, tags = row
    return Place(batch_id, user.pk, lease_minutes, seed, gold_share, repeat_share, sorted(set(tags)))


_HELD = """
    UPDATE annotate_task SET lease_expires_at = now() + make_interval(mins => %(lease)s)
     WHERE id = (SELECT id FROM annotate_task
                  WHERE annotator_id = %(user)s AND batch_id = %(batch)s AND status = ANY(%(open)s)
                    AND lease_expires_at IS NOT NULL AND NOT id = ANY(%(exclude)s)
                  ORDER BY position, id LIMIT 1 FOR UPDATE)
    RETURNING id
"""


def _held(place: Place, exclude: Collection[int]) -> int | None:
    return _id(_HELD, place.given(exclude=list(exclude)))


# Per expertise, from where the person has come to (or from the start), the first free task of a sample that they never
# had. The copies of a sample lie side by side, so that few rows are passed over. The first subquery looks, and orders
# the tags by what is first in each; the second locks, one row.
_CLAIM = f"""
    WITH reached AS (
        SELECT tag, CASE WHEN %(from_start)s THEN -1 ELSE coalesce((
                   SELECT max(o.position) FROM annotate_task o
                    WHERE o.annotator_id = %(user)s AND o.batch_id = %(batch)s AND o.tag = given.tag), -1) END AS place
          FROM unnest(%(tags)s::text[]) AS given (tag)
    ), ahead AS (
        SELECT r.tag, r.place FROM reached r CROSS JOIN LATERAL (
            SELECT f.position FROM annotate_task f
             WHERE f.batch_id = %(batch)s AND f.tag = r.tag AND f.position > r.place
               AND f.annotator_id IS NULL AND f.status = 'pending'
             ORDER BY f.position LIMIT 1) first
         ORDER BY first.position
    )
    UPDATE annotate_task t
       SET annotator_id = %(user)s, lease_expires_at = now() + make_interval(mins => %(lease)s)
     WHERE t.id = (
        SELECT claimed.id FROM ahead a CROSS JOIN LATERAL (
            SELECT f.id FROM annotate_task f
             WHERE f.batch_id = %(batch)s AND f.tag = a.tag AND f.position > a.place
               AND f.annotator_id IS NULL AND f.status = 'pending'
               AND NOT EXISTS (SELECT FROM annotate_task o WHERE o.batch_id = f.batch_id
                                AND o.sample_id = f.sample_id AND o.annotator_id = %(user)s)
               AND NOT {MET_IN_ROUND.format(sample="f.sample_id", user="%(user)s")}
             ORDER BY f.position LIMIT 1 FOR UPDATE SKIP LOCKED) claimed
         LIMIT 1)
    RETURNING t.id
"""


def _claim(place: Place) -> int | None:
    """A free task; now and then one that measures the person takes its place."""
    for from_start in (False, True):
        task_id = _id(_CLAIM, place.given(from_start=from_start))
        if task_id is not None:
            if place.gold_share or place.repeat_share:
                _make_it_measure(task_id, place)
            return task_id
    return None


# Submitted tasks from which the first half can be repeated.
FEWEST_SUBMITTED = 5


def _make_it_measure(task_id: int, place: Place) -> None:
    """Turns the task that was just taken into gold or a repeat, if one is due; its sample waits again, at the end.

    The row itself is turned, so that its number and its place say no more about it than those of any other.
    """
    task = Task.objects.select_related("batch").get(pk=task_id)
    own = Task.objects.filter(batch=place.batch_id, annotator=place.user_id)
    has = {**dict.fromkeys(Purpose.values, 0), **dict(own.order_by().values_list("purpose").annotate(Count("id")))}
    # Without the task that was just taken.
    labels = has[Purpose.LABEL] - 1
    for purpose, share in ((Purpose.GOLD, place.gold_share), (Purpose.REPEAT, place.repeat_share)):
        # Of every 1/share own tasks one comes at a place that only the seed knows.
        rng = random.Random(f"{purpose} {place.seed} {place.user_id} {has[purpose]}")
        if labels * share < has[purpose] + rng.random():
            continue
        if purpose == Purpose.GOLD:
            known = gold_for(task.batch, place.user_id, tags=place.tags, besides=(task.sample_id,), rng=rng)
            sample_id = known[0][0] if known else None
        else:
            sample_id = _repeat(own, rng)
        if sample_id is not None:
            end = next_position(Task.objects.filter(batch=place.batch_id))
            waiting = Task(batch=task.batch, sample_id=task.sample_id, tag=task.tag, position=end)
            task.purpose, task.sample_id = purpose, sample_id
            task.save(update_fields=["purpose", "sample"])
            waiting.save()
            return


def _repeat(own: QuerySet[Task], rng: random.Random) -> int | None:
    """A sample from the first half of what the person has submitted, so that as much lies in between."""
    submitted = list(
        own.filter(purpose=Purpose.LABEL, status=TaskStatus.SUBMITTED)
        .order_by("submitted_at", "id")
        .values_list("sample", flat=True)
    )
    if len(submitted) < FEWEST_SUBMITTED:
        return None
    again = set(own.filter(purpose=Purpose.REPEAT).values_list("sample", flat=True))
    early = [sample_id for sample_id in submitted[: (len(submitted) + 1) // 2] if sample_id not in again]
    return rng.choice(early) if early else None


_RUN_OUT = f"""
    SELECT t.id FROM annotate_task t
     WHERE t.batch_id = %(batch)s AND t.lease_expires_at < now() AND t.status = ANY(%(open)s) AND t.purpose = 'label'
       AND t.annotator_id <> %(user)s AND t.tag = ANY(%(tags)s)
       AND NOT EXISTS (SELECT FROM annotate_task o WHERE o.batch_id = t.batch_id AND o.sample_id = t.sample_id
                        AND o.annotator_id = %(user)s)
       AND NOT {MET_IN_ROUND.format(sample="t.sample_id", user="%(user)s")}
     ORDER BY t.lease_expires_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_CHANGE_HANDS = """
    UPDATE annotate_task t
       SET annotator_id = %(user)s, lease_expires_at = now() + make_interval(mins => %(lease)s), status = 'pending',
           started_at = NULL, active_seconds = 0
     WHERE t.id = %(task)s AND NOT EXISTS (SELECT FROM annotate_label l WHERE l.task_id = t.id)
       AND NOT EXISTS (SELECT FROM annotate_thread th WHERE th.task_id = t.id)
    RETURNING t.id
"""
_REPLACE = """
    WITH old AS (
        UPDATE annotate_task SET status = %(released)s, lease_expires_at = NULL WHERE id = %(task)s
        RETURNING batch_id, sample_id, tag, position
    )
    INSERT INTO annotate_task (batch_id, sample_id, annotator_id, purpose, tag, position, status, lease_expires_at,
                               skip_reason, return_message, active_seconds)
    SELECT batch_id, sample_id, %(user)s, %(label)s, tag, position, %(pending)s,
           now() + make_interval(mins => %(lease)s), '', '', 0
      FROM old
    RETURNING id
"""


def _take_over(place: Place) -> int | None:
    """A task that another annotator took and left. If it has labels or questions it stays theirs, handed on, and a new
    one takes its place; the lock on the task keeps new ones out while a statement looks for them."""
    task_id = _id(_RUN_OUT, place.given())
    if task_id is None:
        return None
    given = place.given(
        task=task_id,
        released=TaskStatus.RELEASED.value,
        pending=TaskStatus.PENDING.value,
        label=Purpose.LABEL.value,
    )
    return _id(_CHANGE_HANDS, given) or _id(_REPLACE, given)


# A sample is given out at most twice as often as its overlap, and only while there is an annotator who could have it.
_PUT_BACK = f"""
    INSERT INTO annotate_task (batch_id, sample_id, purpose, tag, position, status, skip_reason, return_message,
                               active_seconds)
    SELECT t.batch_id, t.sample_id, t.purpose, t.tag,
           (SELECT max(position) + 1 FROM annotate_task WHERE batch_id = t.batch_id), 'pending', '', '', 0
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id AND b.strategy = 'pull'
      JOIN annotate_batchsample s ON s.batch_id = t.batch_id AND s.sample_id = t.sample_id
     WHERE t.id = %s AND t.purpose = 'label'
       AND (SELECT count(*) FROM annotate_task o
             WHERE o.batch_id = t.batch_id AND o.sample_id = t.sample_id AND o.purpose = 'label') < 2 * s.overlap
       AND (SELECT count(*) FROM annotate_batch_annotators p
              JOIN annotate_user u ON u.id = p.user_id AND u.is_active
              JOIN annotate_membership m ON m.user_id = p.user_id AND m.project_id = b.project_id AND m.is_active
             WHERE p.batch_id = t.batch_id AND (t.tag = '' OR t.tag = ANY(m.tags))
               AND NOT EXISTS (SELECT FROM annotate_task o WHERE o.batch_id = t.batch_id
                                AND o.sample_id = t.sample_id AND o.annotator_id = p.user_id)
               AND NOT {MET_IN_ROUND.format(sample="t.sample_id", user="p.user_id")})
         > (SELECT count(*) FROM annotate_task o
             WHERE o.batch_id = t.batch_id AND o.sample_id = t.sample_id AND o.annotator_id IS NULL)
    RETURNING id
"""


def put_back(task_id: int) -> bool:
    """A skipped task of a queue waits again, for another annotator, at the end. False: no other can have it.

    The caller's transaction holds the lock on the sample.
    """
    return _id(_PUT_BACK, [task_id]) is not None


_RENEW = """
    UPDATE annotate_task t SET lease_expires_at = now() + make_interval(mins => b.lease_minutes)
      FROM annotate_batch b
     WHERE b.id = t.batch_id AND t.id = %s AND t.annotator_id = %s AND t.lease_expires_at IS NOT NULL
       AND t.status = ANY(%s)
    RETURNING t.lease_expires_at
"""


def renew_lease(*, task_id: int, annotator_id: int) -> datetime | None:
    """Until when the open task from the queue is the annotator's now; None: it isn't theirs, or has no lease."""
    row = fetch_one(_RENEW, [task_id, annotator_id, _OPEN])
    return row[0] if row else None


def _id(sql: str, given: Any) -> int | None:
    row = fetch_one(sql, given)
    return row[0] if row else None
