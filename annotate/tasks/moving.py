"""Moving tasks from one person to another, or back to the queue. The callers hold the locks (annotate.tasks.write)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.rows import execute, next_position
from annotate.labels.consensus import settle_samples
from annotate.models import Batch, Label, Sample, Task, Thread, User
from annotate.models.batch import OPEN_TASK_STATUSES, BatchSample, Purpose, Strategy, TaskStatus
from annotate.models.project import Scale
from annotate.qualification.read import require_qualified, who_may_work
from annotate.samples.read import of_samples, samples_keyed
from annotate.tasks.assignment import open_load, who_may

# In one order, as everything that locks several rows.
_LOCK_TAKERS = "SELECT FROM annotate_batch_annotators WHERE batch_id = %s ORDER BY user_id FOR UPDATE"


def lock_takers(batch_id: int) -> None:
    """Until the end of the transaction no task is taken from the batch's queue."""
    execute(_LOCK_TAKERS, [batch_id])


def take_seat_back(task: Task) -> None:
    """A skipped task is to be done after all: by its place in the overlap, or by the free copy that stands in for it.

    Raises Conflict when another annotator has that already.
    """
    # Two who skipped it must not both take the last place.
    Sample.objects.select_for_update(no_key=True).get(pk=task.sample_id)
    copies = Task.objects.filter(batch=task.batch_id, sample=task.sample_id)
    # By people who have it or did it, and by free copies.
    taken = copies.filter(purpose=Purpose.LABEL).exclude(status__in=[TaskStatus.SKIPPED, TaskStatus.RELEASED])
    if BatchSample.objects.get(batch=task.batch_id, sample=task.sample_id).overlap > taken.count():
        return
    free = copies.filter(annotator=None).select_for_update(skip_locked=True).order_by("-position").first()
    if task.batch.strategy != Strategy.PULL or free is None:
        raise Conflict("seat_taken", _("This sample went to another annotator. It has enough annotators now."))
    free.delete()


def move(task: Task, *, to: int | None) -> Task:
    """To a person's list, or (None) to the queue, at its end. Where something was said, a new task takes its place."""
    said = Label.objects.filter(task=task).exists() or Thread.objects.filter(task=task).exists()
    place = _place(task, to)
    if said or task.status == TaskStatus.SKIPPED:
        if task.status != TaskStatus.SKIPPED:
            end(task)
        return Task.objects.create(batch=task.batch, sample=task.sample, tag=task.tag, annotator_id=to, position=place)
    task.annotator_id = to
    task.status = TaskStatus.PENDING
    task.position = place
    task.active_seconds = 0
    task.return_message = ""
    task.returned_by = task.started_at = task.lease_expires_at = None
    task.save()
    return task


def _place(task: Task, to: int | None) -> int:
    """At the end; of those who take from a queue, at the place that they have come to: annotate.tasks.task_queue would
    pass over everything before another one."""
    tasks = Task.objects.filter(batch=task.batch)
    if to is None:
        return next_position(tasks)
    if task.batch.strategy == Strategy.PULL:
        return tasks.filter(annotator=to, tag=task.tag).aggregate(last=Max("position"))["last"] or 0
    return next_position(tasks.filter(annotator=to))


def end(task: Task) -> None:
    """Takes it from its annotator for good; what was said in it stays stored and counts for nothing."""
    task.status = TaskStatus.RELEASED
    task.lease_expires_at = None
    task.save(update_fields=["status", "lease_expires_at"])


def put_at_the_end(tasks: Sequence[Task], *, leaving: User, to: Sequence[User] | None) -> tuple[int, int]:
    """Hands on open tasks of one person. Returns how many others will do, and how many no other can.

    Raises Conflict when people are named and some task can't go to any of them.
    """
    given_up: list[Task] = []
    handed = 0
    for batch in {task.batch_id: task.batch for task in tasks}.values():
        people = _people(batch, leaving, to)
        load = open_load(batch, people)
        for task in tasks:
            if task.batch_id != batch.pk:
                continue
            if task.purpose != Purpose.LABEL:
                end(task)
                continue
            takers = _takers(task, people)
            to_queue = to is None and batch.strategy == Strategy.PULL
            free = Task.objects.filter(batch=batch, sample=task.sample_id, annotator=None).count() if to_queue else 0
            if len(takers) <= free:
                given_up.append(task)
            elif to_queue:
                handed += 1
                move(task, to=None)
            else:
                taker = min(takers, key=lambda person: (load[person], person))
                load[taker] += 1
                handed += 1
                move(task, to=taker)
    if given_up and to is not None:
        said = _(
            "%(tasks)d tasks can’t be reassigned: each annotator already had the sample or lacks the expertise for it."
        )
        raise Conflict("nobody_can_take", said % {"tasks": len(given_up)}, tasks=len(given_up))
    for task in given_up:
        end(task)
    _settle_finished(given_up)
    return handed, len(given_up)


def _people(batch: Batch, leaving: User, to: Sequence[User] | None) -> dict[int, list[str]]:
    """Who may get tasks, with what they know about."""
    active = who_may_work(batch)
    if to is None:
        wanted = set(batch.annotators.values_list("id", flat=True))
    else:
        wanted = {user.pk for user in to}
        for user in to:
            if user.pk not in active or user.pk == leaving.pk:
                require_qualified(batch.requires, [user])
                said = _("%(name)s can’t take these tasks: not an active member.")
                raise Conflict("not_a_member", said % {"name": user.name})
    return {person: tags for person, tags in active.items() if person in wanted and person != leaving.pk}


def _takers(task: Task, people: dict[int, list[str]]) -> list[int]:
    """Those with the expertise who never had the sample in this batch, nor in a training or test."""
    had = Task.objects.filter(sample=task.sample_id)
    met = set(
        had.filter(Q(batch=task.batch_id) | Q(batch__qualification__isnull=False)).values_list("annotator", flat=True)
    )
    return [person for person in who_may(task.tag, people) if person not in met]


def _settle_finished(given_up: Collection[Task]) -> None:
    """Works out the verdicts of samples that have no open task any more."""
    lock_samples(task.sample_id for task in given_up)
    for batch in {task.batch_id: task.batch for task in given_up}.values():
        samples = {task.sample_id for task in given_up if task.batch_id == batch.pk}
        settle_batch(batch, samples - set(at_work(batch).values_list("sample", flat=True)))


def at_work(batch: Batch) -> QuerySet[Task]:
    """What people still have to label in the batch, taken or free."""
    return Task.objects.filter(batch=batch, purpose=Purpose.LABEL, status__in=OPEN_TASK_STATUSES)


def lock_samples(samples: Iterable[int]) -> None:
    """As submissions do, so that no vote is counted before it is given, and none forgotten."""
    rows = samples_keyed(set(samples)).select_for_update(no_key=True)
    list(rows.order_by("id").values_list("id"))


def settle_batch(batch: Batch, samples: Collection[int]) -> int:
    """Works out the verdicts of these samples of the batch, which the caller has locked. Returns how many changed."""
    rows = of_samples(BatchSample.objects.filter(batch=batch), samples)
    return settle_samples(
        criterion_ids=list(batch.criteria.exclude(scale=Scale.TEXT).values_list("id", flat=True)),
        needed=dict(rows.values_list("sample_id", "overlap")),
        batch_id=batch.pk,
    )
