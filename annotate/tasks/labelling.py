"""Annotators label their own tasks: save a label, submit, skip, keep the task while its page is open. The one home of a
task's state."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Conflict, Invalid, Stale, key_reused
from annotate.core.permissions import no_such_task
from annotate.core.scales import normalise, require_changed
from annotate.core.spans import check_evidence
from annotate.core.texts import MAX_COMMENT, is_storable, words_or_raise
from annotate.core.units import LISTED_KINDS, parse_unit
from annotate.labels.consensus import settle_samples
from annotate.models import LabelEvent, Sample, User
from annotate.models.batch import BatchStatus, Purpose, Strategy, TaskStatus
from annotate.qualification.results import finish_test
from annotate.tasks.sql import AskedCriterion, TaskRow, finish_task, read_task, write_label
from annotate.tasks.task_queue import put_back, renew_lease

# A page left open overnight is not a day of work.
MAX_ACTIVE_SECONDS = 24 * 3600
MAX_ACTIVE_MS = MAX_ACTIVE_SECONDS * 1000
# What a label says; the rest is where it says it.
_SAID = ("value", "cant_tell", "comment", "evidence")
# Each try that fails means that another request of the same person succeeded, so a few are plenty.
_TRIES = 5


@dataclass(frozen=True)
class LabelInput:
    """What a person said about one unit. `value` None takes the choice back and keeps the comment.

    cant_tell: why no value can be given; "" when one can. Stands in the place of a value.
    active_ms: the browser's running total for this label.
    guideline_version: of the guidelines that the person was shown; None: nobody knows.
    """

    unit: str
    criterion: str
    value: Any
    comment: str = ""
    evidence: Any = ()
    active_seconds: int | None = None
    cant_tell: Any = ""
    active_ms: int | None = None
    guideline_version: Any = None


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
    unit, key = _text(said.unit, "unit"), _text(said.criterion, "criterion")
    comment = _check_comment(said.comment)
    cant_tell = _check_cant_tell(said.cant_tell)
    active_seconds = _check_active_seconds(said.active_seconds)
    active_ms = _check_active_ms(said.active_ms)
    key_known = False
    for _attempt in range(_TRIES):
        task = own_row(actor, task_id, unit=unit, criterion=key, with_contexts=bool(said.evidence))
        criterion = asked_criterion(task, unit, key)
        guideline_version = _check_guideline_version(said.guideline_version, task.guideline_version)
        value = None if said.value is None else normalise(criterion, said.value)
        if criterion.prefill and value is not None:
            require_changed(criterion, value, Sample.objects.values_list("answer", flat=True).get(pk=task.sample_id))
        _require_one_answer(criterion, value, cant_tell)
        saved = {
            "unit": unit,
            "criterion": key,
            "value": value,
            "cant_tell": cant_tell,
            "comment": comment,
            "evidence": check_evidence(list(said.evidence), task.contexts or []),
        }
        if expected_revision != (task.label.revision if task.label else 0):
            return _repeated_or_stale(task, saved, idempotency_key)
        # Only now: a repeated request gets its first reply even when the task was submitted since.
        require_open(task)
        if key_known:
            raise key_reused()
        # A statement is a transaction of its own, and needs no BEGIN and COMMIT around it: two round trips fewer for
        # every choice. Inside a caller's transaction it needs a savepoint, so that its failure is not theirs.
        savepoint = transaction.atomic() if connection.in_atomic_block else nullcontext()
        try:
            with savepoint:
                revision = write_label(
                    task=task,
                    actor_id=actor.pk,
                    criterion_id=criterion.id,
                    saved=saved,
                    active_seconds=active_seconds,
                    active_ms=active_ms,
                    guideline_version=guideline_version,
                    key=idempotency_key,
                )
        except IntegrityError:
            # The label was made, or the key used, in between or long ago; the next try sees which.
            key_known = LabelEvent.objects.filter(idempotency_key=idempotency_key).exists()
            continue
        if revision is not None:
            return {**saved, "revision": revision}
    raise Conflict("busy", _("This label is being changed elsewhere. Try again."))


def _repeated_or_stale(task: TaskRow, saved: dict[str, Any], idempotency_key: uuid.UUID) -> dict[str, Any]:
    event = LabelEvent.objects.filter(idempotency_key=idempotency_key).first()
    if event is None:
        current = None
        if task.label is not None:
            current = {**saved, **{name: getattr(task.label, name) for name in (*_SAID, "revision")}}
        raise Stale(
            "stale",
            _("This label was changed elsewhere."),
            current=current,
            yours={name: saved[name] for name in _SAID},
        )
    same = all(getattr(event, name) == saved[name] for name in _SAID)
    if task.label is None or event.label_id != task.label.id or not same:
        raise key_reused()
    return {**saved, "revision": event.revision}


def submit_task(*, actor: User, task_id: int, active_seconds: int | None = None) -> Finished:
    """Submits a complete task. Repeating it changes nothing.

    Raises Invalid `incomplete` with the list of what is missing.
    """
    return _finish(actor, task_id, TaskStatus.SUBMITTED, active_seconds)


def skip_task(*, actor: User, task_id: int, reason: str, active_seconds: int | None = None) -> Finished:
    """Sets the task aside with a reason. Labels already given stay stored, but count for nothing."""
    reason = words_or_raise(reason, Invalid("no_reason", _("Briefly explain why you’re skipping this sample.")))
    return _finish(actor, task_id, TaskStatus.SKIPPED, active_seconds, reason)


def _finish(
    actor: User, task_id: int, status: TaskStatus, active_seconds: int | None, skip_reason: str = ""
) -> Finished:
    seconds = _check_active_seconds(active_seconds)
    is_submitted = status == TaskStatus.SUBMITTED
    for _attempt in range(_TRIES):
        task = own_row(actor, task_id, with_given=is_submitted)
        shown = is_submitted and task.purpose == Purpose.GOLD and task.gold_feedback
        if task.status == status:
            return Finished(task.id, task.batch_id, status, shown)
        require_open(task)
        missing = _missing(task) if is_submitted else []
        if missing:
            sentence = ngettext("1 answer is still missing.", "%(n)d answers are still missing.", len(missing))
            raise Invalid("incomplete", sentence % {"n": len(missing)}, missing=missing)
        if _finish_unchanged(actor, task, status, seconds, skip_reason):
            return Finished(task.id, task.batch_id, status, shown)
    raise Conflict("busy", _("This task is being changed elsewhere. Try again."))


def _finish_unchanged(actor: User, task: TaskRow, status: TaskStatus, active_seconds: int, skip_reason: str) -> bool:
    """Ends the task and, when it was the sample's last, works out the verdicts; when it was a test's last, its result.
    False: it changed since it was read."""
    with transaction.atomic():
        others_at_work = finish_task(
            task=task,
            actor_id=actor.pk,
            status=status,
            skip_reason=skip_reason,
            active_seconds=active_seconds,
        )
        if others_at_work is not None and status == TaskStatus.SKIPPED and task.strategy == Strategy.PULL:
            others_at_work += put_back(task.id)
        if others_at_work == 0 and task.purpose == Purpose.LABEL:
            settle_samples(
                criterion_ids=[criterion.id for criterion in task.criteria if not criterion.is_text],
                needed={task.sample_id: task.overlap},
                batch_id=task.batch_id,
            )
        if others_at_work is not None and task.qualification_id is not None and not task.gold_feedback:
            finish_test(qualification_id=task.qualification_id, user_id=actor.pk)
    return others_at_work is not None


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


def asked_criterion(task: TaskRow, unit: str, key: str) -> AskedCriterion:
    criterion = next((criterion for criterion in task.criteria if criterion.key == key), None)
    if criterion is None:
        raise Invalid("criterion_not_asked", _("This task doesn’t ask for “%(key)s”.") % {"key": key[:80]})
    try:
        kind, index = parse_unit(unit)
    except ValueError as error:
        raise Invalid("bad_unit", str(error)) from error
    if kind != criterion.unit:
        raise Invalid(
            "wrong_unit",
            _("“%(key)s” applies to each %(unit)s, not to %(given)s.")
            % {"key": key, "unit": criterion.unit, "given": unit},
        )
    if index is not None and index not in task.unit_indices[kind]:
        raise Invalid("unknown_unit", _("%(unit)s not found in this sample.") % {"unit": unit})
    return criterion


def _text(value: Any, name: str) -> str:
    if not is_storable(value):
        raise Invalid("bad_text", f"{name}: write a text.")
    return value


def _check_comment(comment: Any) -> str:
    if not is_storable(comment):
        raise Invalid("bad_comment", _("comment: must be text."))
    if len(comment) > MAX_COMMENT:
        raise Invalid(
            "comment_too_long",
            _("The comment has %(length)s characters. Shorten it to %(most)s.")
            % {"length": len(comment), "most": MAX_COMMENT},
        )
    return comment


def _check_cant_tell(reason: Any) -> str:
    if not is_storable(reason):
        raise Invalid("bad_cant_tell", _("cant_tell: must be text (the reason), or empty."))
    if len(reason) > MAX_COMMENT:
        raise Invalid(
            "cant_tell_too_long",
            _("The reason has %(n)d characters. Shorten it to %(most)d.") % {"n": len(reason), "most": MAX_COMMENT},
        )
    return reason.strip()


def _require_one_answer(criterion: AskedCriterion, value: Any, cant_tell: str) -> None:
    if cant_tell and value is not None:
        raise Invalid("two_answers", _("Give either a value or “can’t tell”, not both."))
    if cant_tell and not criterion.cant_tell:
        raise Invalid("cant_tell_off", _("“%(key)s” doesn’t allow “can’t tell”.") % {"key": criterion.key})


def _check_active_ms(milliseconds: Any) -> int | None:
    """The browser sends its running total for the label, as it does for the task; a stored total is never lowered."""
    if milliseconds is None:
        return None
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int) or milliseconds < 0:
        raise Invalid("bad_active_ms", _("active_ms: must be a whole number, at least 0."))
    return min(milliseconds, MAX_ACTIVE_MS)


def _check_guideline_version(number: Any, newest: int | None) -> int | None:
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= (newest or 0):
        raise Invalid(
            "bad_guideline_version",
            _("guideline_version: there are versions 1 to %(newest)d, or leave it out.") % {"newest": newest or 0},
        )
    return number


def _check_active_seconds(seconds: Any) -> int:
    if seconds is None:
        return 0
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 0:
        raise Invalid("bad_active_seconds", "active_seconds: a whole number from 0.")
    return min(seconds, MAX_ACTIVE_SECONDS)


def _missing(task: TaskRow) -> list[dict[str, str]]:
    assert task.given is not None
    return [
        {"unit": unit, "criterion": criterion.key}
        for criterion in task.criteria
        if criterion.required
        for unit in _units(task, criterion.unit)
        if (unit, criterion.id) not in task.given
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
