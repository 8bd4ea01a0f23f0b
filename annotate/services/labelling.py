"""Labelling one's own tasks: save a label, submit, skip. The one home of a task's state."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.http import Http404
from django.utils import timezone

from annotate.errors import Conflict, Invalid, Stale
from annotate.models import BatchSample, Criterion, Label, LabelEvent, Rater, Task, User
from annotate.models.batch import BatchStatus, TaskStatus
from annotate.scales import normalise
from annotate.services.consensus import settle_sample_if_complete
from annotate.spans import check_evidence
from annotate.units import has_unit, parse_unit, units_of

MAX_COMMENT = 10_000
# A page left open overnight is not a day of work.
MAX_ACTIVE_SECONDS = 24 * 3600


@dataclass(frozen=True)
class LabelInput:
    """What a person said about one unit. `value` None takes the choice back and keeps the comment."""

    unit: str
    criterion: str
    value: Any
    comment: str = ""
    evidence: Any = ()
    active_seconds: int | None = None


def label_as_dict(label: Label) -> dict[str, Any]:
    return {
        "unit": label.unit,
        "criterion": label.criterion.key,
        "value": label.value,
        "comment": label.comment,
        "evidence": label.evidence,
        "revision": label.revision,
    }


def save_label(
    *, actor: User, task_id: int, said: LabelInput, expected_revision: int, idempotency_key: uuid.UUID
) -> dict[str, Any]:
    """Saves one label as its next revision and returns it as it now stands.

    `expected_revision` is the revision the person saw (0: none). Repeating a request with its key returns the same
    reply and changes nothing.

    Raises Http404 (not one's own task), Conflict (task or batch no longer open), Invalid (what was said makes no
    sense here), Stale (somebody saved in between; carries both versions).
    """
    try:
        with transaction.atomic():
            return _save_label(actor, task_id, said, expected_revision, idempotency_key)
    except IntegrityError:
        # Two first saves of one label, or one request sent twice at once: the other was faster.
        with transaction.atomic():
            return _save_label(actor, task_id, said, expected_revision, idempotency_key)


def _save_label(
    actor: User, task_id: int, said: LabelInput, expected_revision: int, idempotency_key: uuid.UUID
) -> dict[str, Any]:
    task = _own_task_locked(actor, task_id)
    criterion = _asked_criterion(task, said)
    value = None if said.value is None else normalise(criterion, said.value)
    comment = _check_comment(said.comment)
    evidence = check_evidence(list(said.evidence), task.sample.contexts)
    label = Label.objects.filter(task=task, unit=said.unit, criterion=criterion).first()
    current_revision = label.revision if label else 0
    if expected_revision != current_revision:
        return _repeated_or_stale(label, criterion, value, comment, evidence, idempotency_key)
    # After the check for a repeat: a repeated request must get its first reply even when the task was submitted since.
    _require_open(task)
    if label is None:
        rater = Rater.objects.only("id").get(project=task.batch.project_id, user=actor)
        label = Label(task=task, rater=rater, sample_id=task.sample_id, unit=said.unit, revision=0)
    label.criterion = criterion
    label.value, label.comment, label.evidence = value, comment, evidence
    label.revision += 1
    label.save()
    LabelEvent.objects.create(
        label=label,
        revision=label.revision,
        value=value,
        comment=comment,
        evidence=evidence,
        actor=actor,
        idempotency_key=idempotency_key,
    )
    _note_work(task, said.active_seconds)
    return label_as_dict(label)


def _repeated_or_stale(
    label: Label | None,
    criterion: Criterion,
    value: Any,
    comment: str,
    evidence: list[dict[str, Any]],
    idempotency_key: uuid.UUID,
) -> dict[str, Any]:
    yours = {"value": value, "comment": comment, "evidence": evidence}
    event = LabelEvent.objects.select_related("label").filter(idempotency_key=idempotency_key).first()
    if event is not None:
        same = event.label_id == (label.pk if label else None) and (event.value, event.comment, event.evidence) == (
            value,
            comment,
            evidence,
        )
        if not same:
            raise Invalid("key_reused", "This Idempotency-Key was used for another change.")
        return {
            "unit": event.label.unit,
            "criterion": criterion.key,
            **yours,
            "revision": event.revision,
        }
    if label is not None:
        label.criterion = criterion
    raise Stale(
        "stale",
        "This label was changed elsewhere in the meantime.",
        current=label_as_dict(label) if label else None,
        yours=yours,
    )


def submit_task(*, actor: User, task_id: int, active_seconds: int | None = None) -> Task:
    """Submits a complete task. Repeating it changes nothing.

    Raises Invalid `incomplete` with the list of what is missing.
    """
    with transaction.atomic():
        task = _own_task_locked(actor, task_id)
        if task.status == TaskStatus.SUBMITTED:
            return task
        _require_open(task)
        missing = _missing(task)
        if missing:
            raise Invalid("incomplete", _missing_sentence(len(missing)), missing=missing)
        _finish(task, TaskStatus.SUBMITTED, active_seconds)
    return task


def skip_task(*, actor: User, task_id: int, reason: str, active_seconds: int | None = None) -> Task:
    """Sets the task aside with a reason. Labels already given stay stored, but count for nothing."""
    reason = reason.strip() if isinstance(reason, str) else ""
    if not reason or len(reason) > MAX_COMMENT or "\x00" in reason:
        raise Invalid("no_reason", "Say in a few words why you skip this sample.")
    with transaction.atomic():
        task = _own_task_locked(actor, task_id)
        if task.status == TaskStatus.SKIPPED:
            return task
        _require_open(task)
        task.skip_reason = reason
        _finish(task, TaskStatus.SKIPPED, active_seconds)
    return task


def _finish(task: Task, status: TaskStatus, active_seconds: int | None) -> None:
    # Two people finishing one sample at the same moment must not both think that the other is still at work.
    BatchSample.objects.select_for_update().get(batch_id=task.batch_id, sample_id=task.sample_id)
    task.status = status
    task.submitted_at = timezone.now() if status == TaskStatus.SUBMITTED else None
    _set_active_seconds(task, active_seconds)
    task.save(update_fields=["status", "skip_reason", "submitted_at", "active_seconds"])
    settle_sample_if_complete(batch=task.batch, sample=task.sample)


def _own_task_locked(actor: User, task_id: int) -> Task:
    """The task, locked. Another person's task does not exist for this one."""
    task = (
        Task.objects.select_for_update(of=("self",))
        .select_related("batch", "sample")
        .filter(pk=task_id, annotator=actor, batch__project__memberships__user=actor)
        .exclude(batch__status=BatchStatus.DRAFT)
        .first()
    )
    if task is None:
        raise Http404("There is no such task for you.")
    return task


def _require_open(task: Task) -> None:
    if task.status == TaskStatus.SUBMITTED:
        raise Conflict("task_submitted", "This task was submitted already; nothing was changed.")
    if task.status == TaskStatus.SKIPPED:
        raise Conflict("task_skipped", "This task was skipped already; nothing was changed.")
    if task.batch.status != BatchStatus.OPEN:
        raise Conflict("batch_not_open", f"Batch “{task.batch.name}” is closed; nothing was changed.")


def _asked_criterion(task: Task, said: LabelInput) -> Criterion:
    criterion = task.batch.criteria.filter(key=said.criterion).first() if isinstance(said.criterion, str) else None
    if criterion is None:
        raise Invalid("criterion_not_asked", f"This batch does not ask for “{str(said.criterion)[:80]}”.")
    try:
        kind, _ = parse_unit(said.unit)
    except ValueError as error:
        raise Invalid("bad_unit", str(error)) from error
    if kind != criterion.unit:
        raise Invalid("wrong_unit", f"“{criterion.key}” is asked about each {criterion.unit}, not about {said.unit}.")
    if not has_unit(task.sample, said.unit):
        raise Invalid("unknown_unit", f"This sample has no {said.unit}.")
    return criterion


def _check_comment(comment: Any) -> str:
    if not isinstance(comment, str) or "\x00" in comment:
        raise Invalid("bad_comment", "The comment must be a text.")
    if len(comment) > MAX_COMMENT:
        raise Invalid("comment_too_long", f"The comment has {len(comment)} characters; at most {MAX_COMMENT} fit.")
    return comment


def _missing(task: Task) -> list[dict[str, str]]:
    given = set(
        Label.objects.filter(task=task, value__isnull=False).values_list("unit", "criterion__key")
    )
    return [
        {"unit": unit, "criterion": criterion.key}
        for criterion in task.batch.criteria.filter(required=True).order_by("position")
        for unit in units_of(task.sample, criterion.unit)
        if (unit, criterion.key) not in given
    ]


def _missing_sentence(count: int) -> str:
    return "One answer is still missing." if count == 1 else f"{count} answers are still missing."


def _note_work(task: Task, active_seconds: int | None) -> None:
    changed = _set_active_seconds(task, active_seconds)
    if task.status != TaskStatus.IN_PROGRESS:
        task.status = TaskStatus.IN_PROGRESS
        task.started_at = task.started_at or timezone.now()
        changed += ["status", "started_at"]
    if changed:
        task.save(update_fields=changed)


def _set_active_seconds(task: Task, active_seconds: int | None) -> list[str]:
    """The browser sends its running total; it never goes back."""
    if active_seconds is None:
        return []
    if isinstance(active_seconds, bool) or not isinstance(active_seconds, int) or active_seconds < 0:
        raise Invalid("bad_active_seconds", "active_seconds: a whole number from 0.")
    seconds = min(active_seconds, MAX_ACTIVE_SECONDS)
    if seconds <= task.active_seconds:
        return []
    task.active_seconds = seconds
    return ["active_seconds"]


def known_task_ids(values: Any) -> Collection[int]:
    """Ids of tasks the browser already holds, from a request."""
    if not isinstance(values, list) or len(values) > 50:
        raise Invalid("bad_exclude", "exclude: a list of at most 50 task ids.")
    if any(isinstance(value, bool) or not isinstance(value, int) for value in values):
        raise Invalid("bad_exclude", "exclude: task ids are whole numbers.")
    return values
