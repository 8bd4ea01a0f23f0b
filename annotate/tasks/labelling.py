"""Annotators label their own tasks: save a label, submit, skip, keep the task while its page is open. The one home of a
task's state."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.dispatch import Signal
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Conflict, Invalid
from annotate.core.permissions import no_such_task
from annotate.core.texts import words_or_raise
from annotate.core.units import LISTED_KINDS
from annotate.labels.consensus import settle_samples
from annotate.models import User
from annotate.models.batch import BatchStatus, Purpose, Strategy, TaskStatus
from annotate.qualification.results import finish_test
from annotate.tasks.label_changes import (
    MAX_ACTIVE_SECONDS,
    LabelChange,
    LabelInput,
    check_changes,
    labels_named,
    used_keys,
)
from annotate.tasks.sql import NewRevision, TaskRow, finish_task, read_task, write_labels
from annotate.tasks.task_queue import put_back, renew_lease

# For who counts (config.metrics): sent once it is stored, the first with `count`.
labels_saved, task_submitted = Signal(), Signal()

# Each try that fails means that another request of the same person succeeded, so a few are plenty.
_TRIES = 5


@dataclass(frozen=True)
class Finished:
    """A task that was submitted, skipped or taken back."""

    id: int
    batch_id: int
    status: str
    # Whether the annotator may see the known answers now.
    answers_shown: bool = False


def save_label(
    *, actor: User, task_id: int, said: LabelInput, expected_revision: int, idempotency_key: uuid.UUID
) -> dict[str, Any]:
    """Saves one label as its next revision and returns it as it now stands.

    `expected_revision` is the revision the person saw (0: none). Repeating a request with its key returns the same
    reply and changes nothing.

    Raises Http404 (not the actor's task), Conflict (task or batch no longer open), Invalid (what was said makes no
    sense here), Stale (the label was saved elsewhere in between; carries both versions).
    """
    change = LabelChange(said, expected_revision, idempotency_key)
    (saved,) = save_labels(actor=actor, task_id=task_id, changes=[change])
    return saved


def save_labels(*, actor: User, task_id: int, changes: Sequence[LabelChange]) -> list[dict[str, Any]]:
    """As `save_label` for several labels of a task: all of them or none. Raises Invalid with `problems` where one of
    several can't be stored."""
    named, seconds = labels_named(changes), _active_seconds(one.said.active_seconds for one in changes)
    used: set[uuid.UUID] = set()
    for _attempt in range(_TRIES):
        task = own_row(actor, task_id, **named)
        checked = check_changes(task, changes, used)
        if not checked.new:
            return checked.labels
        # Only now: a repeated request gets its first reply even when the task was submitted since.
        require_open(task)
        try:
            if _write(actor, task, checked.new, seconds):
                labels_saved.send(None, count=len(checked.new))
                return checked.labels
        except IntegrityError:
            # A key was used, in between or long ago; the next try sees which.
            used = used_keys(changes)
    raise Conflict("busy", _("This label is being changed elsewhere. Try again."))


def _write(actor: User, task: TaskRow, new: Sequence[NewRevision], seconds: int) -> bool:
    """All of them or none."""
    # A statement is a transaction of its own, and needs no BEGIN and COMMIT around it: two round trips fewer for
    # every choice. Inside a caller's transaction it needs a savepoint, so that its failure is not theirs.
    if len(new) == 1 and not connection.in_atomic_block:
        return write_labels(task=task, actor_id=actor.pk, said=new, active_seconds=seconds)
    with transaction.atomic():
        if written := write_labels(task=task, actor_id=actor.pk, said=new, active_seconds=seconds):
            return written
        transaction.set_rollback(True)
    return False


def submit_task(
    *, actor: User, task_id: int, active_seconds: int | None = None, changes: Sequence[LabelChange] = ()
) -> Finished:
    """Submits a complete task. Repeating it changes nothing. changes: labels to save before, in the same transaction.

    Raises Invalid `incomplete` with the list of what is missing; else as `save_labels`.
    """
    return _finish(actor, task_id, TaskStatus.SUBMITTED, active_seconds, changes=changes)


def skip_task(*, actor: User, task_id: int, reason: str, active_seconds: int | None = None) -> Finished:
    """Sets the task aside with a reason. Labels already given stay stored, but count for nothing."""
    reason = words_or_raise(reason, Invalid("no_reason", _("Briefly explain why you’re skipping this sample.")))
    return _finish(actor, task_id, TaskStatus.SKIPPED, active_seconds, reason)


def _finish(
    actor: User,
    task_id: int,
    status: TaskStatus,
    active_seconds: int | None,
    skip_reason: str = "",
    changes: Sequence[LabelChange] = (),
) -> Finished:
    named = labels_named(changes)
    seconds = _active_seconds([active_seconds, *(one.said.active_seconds for one in changes)])
    is_submitted = status == TaskStatus.SUBMITTED
    used: set[uuid.UUID] = set()
    for _attempt in range(_TRIES):
        task = own_row(actor, task_id, with_given=is_submitted, **named)
        new = check_changes(task, changes, used).new
        shown = is_submitted and task.purpose == Purpose.GOLD and task.gold_feedback
        if task.status == status and not new:
            return Finished(task.id, task.batch_id, status, shown)
        require_open(task)
        given = _given(task, new) if is_submitted else None
        missing = [] if given is None else _missing(task, given)
        if missing:
            sentence = ngettext("1 answer is still missing.", "%(n)d answers are still missing.", len(missing))
            raise Invalid("incomplete", sentence % {"n": len(missing)}, missing=missing)
        try:
            if _finish_unchanged(actor, task, status, seconds, skip_reason, new, given):
                if new:
                    labels_saved.send(None, count=len(new))
                if is_submitted:
                    task_submitted.send(None)
                return Finished(task.id, task.batch_id, status, shown)
        except IntegrityError:
            used = used_keys(changes)
    raise Conflict("busy", _("This task is being changed elsewhere. Try again."))


def _finish_unchanged(
    actor: User,
    task: TaskRow,
    status: TaskStatus,
    active_seconds: int,
    skip_reason: str,
    new: Sequence[NewRevision],
    given: Collection[Any] | None,
) -> bool:
    """Saves the new labels and ends the task. When it was the sample's last, works out the verdicts; when it was a
    test's last, its result. False: the task changed since it was read, and nothing was stored."""
    with transaction.atomic():
        others_at_work = None
        if not new or write_labels(task=task, actor_id=actor.pk, said=new, active_seconds=active_seconds):
            others_at_work = finish_task(
                task=task,
                actor_id=actor.pk,
                status=status,
                skip_reason=skip_reason,
                active_seconds=active_seconds,
                given=None if given is None else len(given),
            )
        if others_at_work is None:
            transaction.set_rollback(True)
            return False
        if status == TaskStatus.SKIPPED and task.strategy == Strategy.PULL:
            others_at_work += put_back(task.id)
        if others_at_work == 0 and task.purpose == Purpose.LABEL:
            settle_samples(
                criterion_ids=[criterion.id for criterion in task.criteria if not criterion.is_text],
                needed={task.sample_id: task.overlap},
                batch_id=task.batch_id,
            )
        if task.qualification_id is not None and not task.gold_feedback:
            finish_test(qualification_id=task.qualification_id, user_id=actor.pk)
    return True


def own_row(actor: User, task_id: int, **wanted: Any) -> TaskRow:
    """wanted: what `read_task` is to bring along."""
    task = read_task(annotator_id=actor.pk, task_id=task_id, **wanted)
    if task is None:
        raise no_such_task(actor, task_id)
    return task


def require_open(task: TaskRow) -> None:
    if task.status == TaskStatus.SUBMITTED:
        raise Conflict("task_submitted", _("This task was already submitted. Nothing was changed."))
    if task.status == TaskStatus.SKIPPED:
        raise Conflict("task_skipped", _("This task was already skipped. Nothing was changed."))
    if task.status == TaskStatus.RELEASED:
        raise Conflict("task_released", _("This sample was reassigned to another annotator. Nothing was changed."))
    require_open_batch(task)


def require_open_batch(task: TaskRow) -> None:
    if task.batch_status == BatchStatus.PAUSED:
        raise Conflict(
            "batch_paused",
            _("Batch “%(name)s” is paused. Nothing was changed.") % {"name": task.batch_name},
        )
    if task.batch_status != BatchStatus.OPEN:
        raise Conflict(
            "batch_not_open",
            _("Batch “%(name)s” is closed. Nothing was changed.") % {"name": task.batch_name},
        )


def _active_seconds(totals: Iterable[int | None]) -> int:
    """The browser sends its running total; the largest counts."""
    most = 0
    for seconds in totals:
        if seconds is None:
            continue
        if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 0:
            raise Invalid("bad_active_seconds", "active_seconds: a whole number from 0.")
        most = max(most, min(seconds, MAX_ACTIVE_SECONDS))
    return most


def _given(task: TaskRow, new: Iterable[NewRevision]) -> set[tuple[str, int]]:
    """(unit, criterion id) of every label that answers once the new ones are stored."""
    given = set(task.given or ())
    for one in new:
        at = (one.unit, one.criterion.id)
        given = given | {at} if one.answers else given - {at}
    return given


def _missing(task: TaskRow, given: Collection[tuple[str, int]]) -> list[dict[str, str]]:
    return [
        {"unit": unit, "criterion": criterion.key}
        for criterion in task.criteria
        if criterion.required
        for unit in _units(task, criterion.unit)
        if (unit, criterion.id) not in given
    ]


def _units(task: TaskRow, kind: str) -> list[str]:
    return [f"{kind}:{index}" for index in task.unit_indices[kind]] if kind in LISTED_KINDS else [kind]


def known_task_ids(values: Any) -> Collection[int]:
    """Ids of tasks the browser already holds, from a request."""
    if not isinstance(values, list) or len(values) > 50:
        raise Invalid("bad_exclude", "exclude: a list of at most 50 task ids.")
    if any(isinstance(value, bool) or not isinstance(value, int) for value in values):
        raise Invalid("bad_exclude", "exclude: task ids are whole numbers.")
    return values


def keep_task(*, actor: User, task_id: int) -> datetime | None:
    """Renews the lease of a task from a pull queue, and returns until when it holds. None: the task needs none.

    Raises Http404 and Conflict as a save would, so that the page learns that there is nothing to save any more.
    """
    expires = renew_lease(task_id=task_id, annotator_id=actor.pk)
    if expires is None:
        require_open(own_row(actor, task_id))
    return expires
