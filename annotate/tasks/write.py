"""What reviewers and admins do with an annotator's tasks: send one back, give it to another annotator, hand all of them
on. And what annotators do: take a submission back, to change an answer while the batch is open.

Nothing that was said is ever deleted or changes its author: a task in which something was said is marked as handed on
and stays, and another annotator gets a new one. Locks are taken in the order of annotate.batches.checks.locked; between
batch and tasks come the annotators' places in the queue, so that no task is taken from it while tasks move.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import execute, first_or_raise
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.models import Batch, Project, Qualification, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, BatchStatus, Purpose, TaskStatus
from annotate.models.label import LessonRead
from annotate.projects.read import active_members
from annotate.qualification.read import require_qualified, who_may_work
from annotate.tasks.labelling import Finished, own_row, require_open_batch
from annotate.tasks.mail import task_returned
from annotate.tasks.moving import lock_takers, move, put_at_the_end, take_seat_back
from annotate.tasks.read import test_is_over

MAX_AT_ONCE = 1000


def return_task(*, actor: User, project: Project, task_id: int, message: str) -> Task:
    """Sends a submitted or skipped task back to its annotator, who reads the message beside it.

    Its labels count for nothing until it is submitted again; verdicts that rest on them stand until then. Repeating it
    changes nothing.
    """
    refusal = Invalid("no_message", _("Briefly explain what the annotator should do."))
    message = words_or_raise(message, refusal)
    with transaction.atomic():
        task = _locked_task(project, task_id)
        if task.status == TaskStatus.RETURNED and (task.return_message, task.returned_by_id) == (message, actor.pk):
            return task
        # First: of a task that waits, a refusal must not tell what it is for.
        if task.status not in (TaskStatus.SUBMITTED, TaskStatus.SKIPPED) or task.annotator is None:
            raise Conflict("task_not_finished", _("Only submitted or skipped tasks can be sent back."))
        _require_label(task)
        if task.annotator_id not in active_members(project):
            said = _("%(name)s is no longer an active member. Reassign the sample.")
            raise Conflict("not_a_member", said % {"name": task.annotator.name})
        require_qualified(task.batch.requires, [task.annotator])
        if task.status == TaskStatus.SKIPPED:
            take_seat_back(task)
        task.status = TaskStatus.RETURNED
        task.return_message, task.returned_by = message, actor
        # It is meant for this person, so it has no lease that could run out.
        task.lease_expires_at = task.submitted_at = None
        task.save(update_fields=["status", "return_message", "returned_by", "lease_expires_at", "submitted_at"])
        _note(actor, project, "task.returned", task, message=message)
        task_returned(task)
    return task


def reassign_tasks(*, actor: User, project: Project, task_ids: Collection[int], to: User) -> list[Task]:
    """Gives tasks that are open, free, or were skipped to another member, all of them or none. Returns the tasks that
    they have now. Repeating it changes nothing."""
    if not task_ids or len(task_ids) > MAX_AT_ONCE:
        raise Invalid("bad_tasks", _("tasks: must be 1 to %(most)d tasks.") % {"most": MAX_AT_ONCE})
    try:
        with transaction.atomic():
            _lock_batches(project, Task.objects.filter(batch__project=project, pk__in=task_ids))
            return [_reassign(actor, project, _locked_task(project, pk), to) for pk in sorted(set(task_ids))]
    except IntegrityError:
        raise _has_it_already(to) from None


def _reassign(actor: User, project: Project, task: Task, to: User) -> Task:
    _require_label(task)
    theirs = Task.objects.filter(batch=task.batch, sample=task.sample, annotator=to, purpose=Purpose.LABEL).first()
    passed_on = task.status in (TaskStatus.RELEASED, TaskStatus.SKIPPED)
    if theirs is not None and theirs.status in OPEN_TASK_STATUSES and (passed_on or theirs.pk == task.pk):
        return theirs
    if task.status in (TaskStatus.SUBMITTED, TaskStatus.RELEASED):
        raise Conflict("task_not_open", _("Only unfinished tasks can be reassigned."))
    tags = active_members(project).get(to.pk)
    if tags is None:
        said = _("%(name)s is not an active member of this project.")
        raise Conflict("not_a_member", said % {"name": to.name})
    require_qualified(task.batch.requires, [to])
    if task.tag and task.tag not in tags:
        said = _("This sample needs the expertise “%(tag)s”, which %(name)s doesn’t have.")
        raise Conflict("wrong_tag", said % {"tag": task.tag[:80], "name": to.name})
    if Task.objects.filter(batch=task.batch, sample=task.sample, annotator=to).exists():
        raise _has_it_already(to)
    if Task.objects.filter(sample=task.sample, annotator=to, batch__qualification__isnull=False).exists():
        said = _("%(name)s had this sample in a training or test.")
        raise Conflict("had_in_training", said % {"name": to.name})
    if task.status == TaskStatus.SKIPPED:
        take_seat_back(task)
    before = task.annotator
    moved = move(task, to=to.pk)
    _note(actor, project, "task.reassigned", moved, of=before.username if before else None, to=to.username)
    return moved


def release_task(*, actor: User, project: Project, task_id: int, to: Sequence[User] | None = None) -> bool:
    """Takes an open task from its annotator; the person with least to do gets it, or the queue. False: no other
    annotator can take it, so the sample gets one label fewer."""
    with transaction.atomic():
        task = _locked_task(project, task_id)
        if task.status not in OPEN_TASK_STATUSES or task.annotator is None:
            raise Conflict("task_not_open", _("Only assigned, unfinished tasks can be released."))
        before = task.annotator
        handed, given_up = put_at_the_end([task], leaving=before, to=to)
        _note(actor, project, "task.released", task, of=before.username, given_up=given_up)
    return handed > 0


def hand_on_tasks(*, actor: User | None, project: Project, user: User, to: Sequence[User] | None = None) -> int:
    """Takes all open tasks of open and paused batches from a person, and returns how many these were.

    to: who gets them, evenly. None: those who label the batch with them, or the queue they came from; where no other
    annotator can take a sample it gets one label fewer. Tasks that measured the person (gold, repeats) end. Repeating
    it changes nothing. A membership is ended before, in the same transaction.
    """
    with transaction.atomic():
        tasks = Task.objects.filter(
            annotator=user,
            batch__project=project,
            batch__status__in=RUNNING_BATCH_STATUSES,
            status__in=OPEN_TASK_STATUSES,
        )
        _lock_batches(project, tasks)
        return _hand_on(actor, project, tasks, user, to).taken


@dataclass(frozen=True)
class HandedOn:
    """taken: tasks that were taken from an annotator. handed_on: those that another one does. given_up: those that no
    other can do. Tasks that measured the annotator are neither."""

    taken: int = 0
    handed_on: int = 0
    given_up: int = 0


def hand_on_of_the_gone(*, actor: User | None, batch: Batch) -> HandedOn:
    """As `hand_on_tasks`, the tasks of an open batch whose annotators can't work in it any more: they left the project,
    or are not qualified any more. The batch is locked by the caller."""
    left = Task.objects.filter(batch=batch, annotator__isnull=False, status__in=OPEN_TASK_STATUSES)
    left = left.exclude(annotator__in=who_may_work(batch))
    lock_takers(batch.pk)
    people = User.objects.filter(pk__in=left.values("annotator")).order_by("pk")
    done = [_hand_on(actor, batch.project, left.filter(annotator=user), user, None) for user in people]
    return HandedOn(
        sum(one.taken for one in done), sum(one.handed_on for one in done), sum(one.given_up for one in done)
    )


def hand_on_of_the_unqualified(*, actor: User | None, qualification: Qualification, user: User) -> int:
    """As `hand_on_tasks`, after a qualification was withdrawn: the person's open tasks of batches that require it."""
    with transaction.atomic():
        tasks = Task.objects.filter(
            annotator=user,
            batch__requires=qualification,
            batch__status__in=RUNNING_BATCH_STATUSES,
            status__in=OPEN_TASK_STATUSES,
        )
        _lock_batches(qualification.project, tasks)
        return _hand_on(actor, qualification.project, tasks, user, None).taken


def _hand_on(
    actor: User | None, project: Project, tasks: QuerySet[Task], user: User, to: Sequence[User] | None
) -> HandedOn:
    held = list(tasks.select_for_update(of=("self",)).select_related("batch").order_by("id"))
    if not held:
        return HandedOn()
    handed, given_up = put_at_the_end(held, leaving=user, to=to)
    note(
        actor=actor, action="tasks.handed_on", subject=user.username, project=project, tasks=len(held),
        handed_on=handed, given_up=given_up, to=None if to is None else [one.username for one in to],
    )  # fmt: skip
    return HandedOn(len(held), handed, given_up)


def _lock_batches(project: Project, tasks: QuerySet[Task]) -> None:
    """The batches of the tasks, each once, and then the places of their annotators."""
    keys = sorted(set(tasks.order_by().values_list("batch_id", flat=True)))
    list(Batch.objects.select_for_update(no_key=True).filter(project=project, pk__in=keys).order_by("id"))
    for key in keys:
        lock_takers(key)


def _locked_task(project: Project, task_id: int) -> Task:
    """The task of an open or paused batch, with everything locked that moving it needs."""
    missing = Http404(_("Task not found in this project."))
    found = first_or_raise(Task.objects.only("batch").filter(pk=task_id, batch__project=project), missing)
    batch = Batch.objects.select_for_update(no_key=True).get(pk=found.batch_id)
    if batch.status not in RUNNING_BATCH_STATUSES:
        said = _("Batch %(number)d is %(status)s. Reopen it first.")
        raise Conflict("batch_not_open", said % {"number": batch.number, "status": batch.get_status_display().lower()})
    lock_takers(batch.pk)
    tasks = Task.objects.select_for_update(of=("self",)).select_related("batch", "sample", "annotator")
    return first_or_raise(tasks.filter(pk=task_id), missing)


def _require_label(task: Task) -> None:
    if task.purpose != Purpose.LABEL:
        said = _("This task is a quality check of its annotator and can’t be reassigned or redone.")
        raise Conflict("task_measures", said)


def _has_it_already(to: User) -> Conflict:
    said = _("%(name)s already has or had this sample in this batch.")
    return Conflict("has_it_already", said % {"name": to.name})


def _note(actor: User, project: Project, action: str, task: Task, **details: object) -> None:
    note(
        actor=actor, action=action, subject=f"{task.batch.name}: {task.sample.external_id}", project=project,
        task=task.pk, **details,
    )  # fmt: skip


# One statement with its guard, as in annotate.tasks.sql. What the task says counts for nothing until it is submitted
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
    """Opens the actor's submitted or skipped task again. Its labels stay as they are. Repeating it changes nothing.

    Raises Http404 (not the actor's), Conflict (batch not open; known answers were shown; handed on; another annotator
    has what was skipped).
    """
    task = own_row(actor, task_id)
    require_open_batch(task)
    if task.status == TaskStatus.RELEASED:
        raise Conflict("task_released", _("This sample was reassigned to another annotator. Nothing was changed."))
    if task.status in OPEN_TASK_STATUSES:
        return Finished(task.id, task.batch_id, task.status)
    if task.purpose == Purpose.GOLD and task.gold_feedback and task.status == TaskStatus.SUBMITTED:
        raise Conflict("answers_shown", _("You have seen the known answers, so you can’t change yours."))
    if Task.objects.filter(test_is_over(), pk=task_id).exists():
        raise Conflict("test_finished", _("Your test is finished, so you can’t change its answers."))
    if LessonRead.objects.filter(user=actor, verdict__sample=task.sample_id).exists():
        raise Conflict(
            "answers_shown",
            _("You have seen the reviewers’ decisions on this sample, so you can’t change your answers."),
        )
    with transaction.atomic():
        row = Task.objects.select_for_update(of=("self",)).select_related("batch").get(pk=task_id)
        if row.status == TaskStatus.SKIPPED and row.purpose == Purpose.LABEL:
            take_seat_back(row)
        execute(
            _REOPEN,
            {
                "task": task.id,
                "in_progress": TaskStatus.IN_PROGRESS.value,
                "finished": _FINISHED,
                "batch_open": BatchStatus.OPEN.value,
            },
        )
    # When nothing changed, another request did the same before, or closed the batch.
    task = own_row(actor, task_id)
    require_open_batch(task)
    return Finished(task.id, task.batch_id, task.status)
