"""More of a batch that is under way: a later date, more samples, more people. Nothing is ever taken away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Batch, Label, Task, User
from annotate.models.batch import BatchStatus, Purpose, Strategy, TaskStatus
from annotate.selectors.projects import active_members
from annotate.services import audit, notices
from annotate.services.assignment import Turn, check_tags, who_may
from annotate.services.batch_checks import check_due_date, check_people, locked
from annotate.services.batch_samples import add_samples
from annotate.services.making_tasks import append_turns, make_tasks, open_load
from annotate.services.selection import choose_samples


def extend_batch(
    *,
    actor: User | None,
    batch: Batch,
    due_date: date | None = None,
    selection: Mapping[str, Any] | None = None,
    annotators: Sequence[User] = (),
) -> Batch:
    """Each part is optional. Samples that the batch has, and people who are in it, are passed over.

    The new samples are shared out among everybody by what each still has to do. In a balanced batch people who join
    also take over tasks that nobody has begun, until all have as many left. Repeating it changes nothing, except for a
    random draw without a seed, which draws others.
    """
    with transaction.atomic():
        batch = locked(batch, BatchStatus.OPEN, BatchStatus.PAUSED)
        said: dict[str, Any] = {}
        if due_date is not None and due_date != batch.due_date:
            said["due_date"] = _later(batch, due_date).isoformat()
        newcomers = _newcomers(batch, annotators)
        if newcomers:
            batch.annotators.add(*newcomers)
            said["annotators"] = [user.username for user in newcomers]
        tags_of = _tags_of(batch)
        if selection is not None:
            added = _add(batch, selection, tags_of)
            if added:
                said |= {"samples": added, "selection": batch.selection["extensions"][-1]}
        if newcomers and batch.strategy == Strategy.BALANCED:
            said["taken_over"] = _even_out(batch, [user.pk for user in newcomers], tags_of)
        if newcomers and batch.status == BatchStatus.OPEN:
            notices.batch_opened(batch, newcomers)
        if said:
            audit.note(
                actor=actor, action="batch.extended", subject=batch.name, project=batch.project, number=batch.number,
                **said,
            )  # fmt: skip
    return batch


def _later(batch: Batch, due_date: date) -> date:
    check_due_date(due_date)
    if batch.due_date is not None and due_date < batch.due_date:
        said = _("The batch is due on %(due)s; extending it needs a later day.")
        raise Invalid("earlier_due_date", said % {"due": batch.due_date})
    batch.due_date = due_date
    batch.save(update_fields=["due_date"])
    return due_date


def _newcomers(batch: Batch, annotators: Sequence[User]) -> list[User]:
    there = set(batch.annotators.values_list("id", flat=True))
    joining = [user for user in annotators if user.pk not in there]
    if joining:
        check_people(batch.project, joining, 1)
    return joining


def _tags_of(batch: Batch) -> dict[int, list[str]]:
    """Those of the batch who can still work, with what they know about."""
    active = active_members(batch.project)
    people = batch.annotators.order_by("id").values_list("id", flat=True)
    return {person: active[person] for person in people if person in active}


def _add(batch: Batch, selection: Mapping[str, Any], tags_of: Mapping[int, Collection[str]]) -> int:
    chosen, stored = choose_samples(project=batch.project, selection=selection)
    there = set(batch.batch_samples.values_list("sample_id", flat=True))
    new = [pk for pk in chosen if pk not in there]
    if not new:
        return 0
    rows = add_samples(batch, new)
    if len(tags_of) < batch.overlap:
        said = _("An overlap of %(overlap)d needs at least %(overlap)d people; %(chosen)d are still active here.")
        raise Invalid("too_few_annotators", said % {"overlap": batch.overlap, "chosen": len(tags_of)})
    check_tags(batch, tags_of)
    make_tasks(batch, rows, tags_of)
    batch.selection = {**batch.selection, "extensions": [*batch.selection.get("extensions", []), stored]}
    batch.save(update_fields=["selection"])
    return len(new)


def _even_out(batch: Batch, newcomers: Sequence[int], tags_of: Mapping[int, Collection[str]]) -> int:
    """Moves untouched tasks, the last ones first, from whoever has most left to the newcomer who has least."""
    load = open_load(batch, tags_of)
    givers = set(tags_of) - set(newcomers)
    pending = Task.objects.filter(batch=batch, status=TaskStatus.PENDING, purpose=Purpose.LABEL, annotator__in=givers)
    untouched = list(pending.select_for_update().order_by("id"))
    begun = set(Label.objects.filter(task__in=pending).values_list("task", flat=True))
    stacks: dict[int, list[Task]] = defaultdict(list)
    for task in sorted(untouched, key=lambda task: task.position):
        if task.pk not in begun and task.annotator_id is not None:
            stacks[task.annotator_id].append(task)
    has = set(Task.objects.filter(batch=batch, annotator__in=newcomers).values_list("annotator", "sample"))
    own: dict[int, list[Turn]] = defaultdict(list)
    moved: list[Task] = []
    while any(stacks.values()):
        giver = max((person for person in stacks if stacks[person]), key=lambda person: (load[person], -person))
        if load[giver] - min(load[person] for person in newcomers) < 2:
            break
        task = stacks[giver].pop()
        takers = [
            person
            for person in who_may(task.tag, {one: tags_of[one] for one in newcomers})
            if (person, task.sample_id) not in has and load[giver] - load[person] >= 2
        ]
        if not takers:
            continue
        taker = min(takers, key=lambda person: (load[person], person))
        task.annotator_id = taker
        has.add((taker, task.sample_id))
        load[giver] -= 1
        load[taker] += 1
        own[taker].append(Turn(task.sample_id, task.tag))
        moved.append(task)
    Task.objects.bulk_update(moved, ["annotator"], batch_size=1000)
    append_turns(batch, own, tags_of)
    return len(moved)
