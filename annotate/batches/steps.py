"""A batch's steps from state to state (draft, open, paused, adjudicating, closed), and its extension while it is under
way: a later date, more samples, more people. Nothing is ever taken away."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.checks import check_due_date, check_people, locked, note_batch
from annotate.batches.proposing import lay_proposals
from annotate.batches.sample_choice import add_samples, choose_samples
from annotate.core.errors import Conflict, Invalid
from annotate.core.units import answers_asked, with_answers
from annotate.labels.gold_read import gold_for, gold_samples
from annotate.models import Batch, BatchSample, Label, Task, Thread, User, Verdict
from annotate.models.batch import BatchStatus, Came, Purpose, Strategy, TaskStatus
from annotate.projects.read import active_members
from annotate.qualification.read import require_qualified, who_may_work
from annotate.qualification.tries import enrol
from annotate.samples.composed import delete_composed
from annotate.samples.read import asked_by, asked_keys, groups_of, samples_keyed
from annotate.tasks.assignment import (
    Turn,
    append_turns,
    check_tags,
    in_turn,
    make_tasks,
    met_in_rounds,
    open_load,
    who_may,
)
from annotate.tasks.mail import batch_opened
from annotate.tasks.moving import at_work, lock_samples, lock_takers, settle_batch
from annotate.tasks.write import HandedOn, hand_on_of_the_gone


def open_batch(*, batch: Batch, actor: User | None = None, schedule: str = "") -> Batch:
    """Makes the tasks: as many for each sample as its overlap says, for different people; shared out now, or free in
    the queue. schedule: the audit schedule that does it, in place of an actor."""
    with transaction.atomic():
        batch = locked(batch, BatchStatus.DRAFT)
        annotators = list(batch.annotators.order_by("id"))
        check_people(batch.project, annotators, batch.overlap)
        _check_together(batch)
        _admit(batch, annotators)
        members = active_members(batch.project)
        tags_of = {user.pk: members[user.pk] for user in annotators}
        check_tags(batch, tags_of)
        samples = list(batch.batch_samples.order_by("position"))
        _check_has_units(batch, [row.sample_id for row in samples])
        if batch.gold_share:
            _check_gold(batch, tags_of)
        asked = _asked(batch, samples)
        proposed = lay_proposals(batch, asked)
        make_tasks(batch, asked, tags_of)
        _set(batch, status=BatchStatus.OPEN, opened_at=timezone.now())
        batch_opened(batch)
        said: dict[str, Any] = {"schedule": schedule} if schedule else {}
        said |= {"proposals": proposed} if proposed else {}
        note_batch(actor, batch, "opened", tasks=batch.tasks.count(), **said)
    return batch


def _admit(batch: Batch, people: Sequence[User]) -> None:
    """A balanced batch takes only those who are qualified already; of a queue the others take tasks once they are, and
    are given the training."""
    if batch.strategy == Strategy.BALANCED:
        require_qualified(batch.requires, people)
    elif batch.requires is not None:
        enrol(batch.requires, people)


def _is_together(batch: Batch) -> bool:
    return bool(batch.selection.get("came") == Came.EXPERIMENT)


def _check_together(batch: Batch) -> None:
    """Answers that are compared go to the same people, which only lists of their own can promise."""
    if not _is_together(batch):
        return
    if batch.strategy != Strategy.BALANCED or batch.overlap_share < 1 or batch.tag_key:
        raise Conflict(
            "not_together",
            _(
                "This batch was drawn for an experiment: the same people label the answers of all versions to a "
                "question. Choose “Balanced”, label all samples the same number of times, and require no expertise."
            ),
        )


def _check_has_units(batch: Batch, samples: Sequence[int]) -> None:
    """Every criterion must find something to ask about; a batch that asks about nothing is a mistake."""
    for criterion in batch.criteria.all():
        if asked_by(samples_keyed(samples), criterion).exists():
            continue
        said = _("“%(key)s” applies to each %(kind)s, but no sample in this batch has one.")
        asked = answers_asked(criterion.key, criterion.unit)
        if not samples_keyed(samples).filter(with_answers(criterion.key, criterion.unit)).exists():
            said = _("“%(key)s” applies to the answer, but no sample in this batch has one.")
            if asked > 1:
                said = _("“%(key)s” compares two answers, but no sample in this batch has two.")
        given = {"key": criterion.key, "kind": criterion.get_unit_display().lower()}
        raise Conflict("nothing_to_ask", said % given)


def _asked(batch: Batch, rows: Sequence[BatchSample]) -> list[BatchSample]:
    """Those that get tasks: there is no task in which nothing is asked."""
    asked = asked_keys([row.sample_id for row in rows], batch.criteria.all())
    return [row for row in rows if row.sample_id in asked]


def _check_gold(batch: Batch, tags_of: Mapping[int, Collection[str]]) -> None:
    if not gold_samples(batch):
        raise Conflict(
            "no_gold",
            _("No sample has known answers for these criteria. Add some, or set the share with known answers to 0."),
        )
    rng = random.Random(batch.seed)
    if not any(gold_for(batch, person, tags=tags, besides=(), rng=rng) for person, tags in tags_of.items()):
        raise Conflict(
            "no_gold",
            _(
                "No annotator here can be checked by the known answers: they labelled or saw them, or lack the "
                "expertise. Add others, or set the share to 0."
            ),
        )


def pause_batch(*, actor: User | None, batch: Batch) -> Batch:
    """Stops the labelling until the batch is resumed. Repeating it changes nothing."""
    return _switch(actor, batch, BatchStatus.OPEN, BatchStatus.PAUSED, "paused")


def resume_batch(*, actor: User | None, batch: Batch) -> Batch:
    """Continues the labelling where it was. Repeating it changes nothing."""
    return _switch(actor, batch, BatchStatus.PAUSED, BatchStatus.OPEN, "resumed")


def _switch(actor: User | None, batch: Batch, before: BatchStatus, after: BatchStatus, what: str) -> Batch:
    with transaction.atomic():
        batch = locked(batch, before, after)
        if batch.status == before:
            _set(batch, status=after)
            note_batch(actor, batch, what)
    return batch


def start_adjudication(*, batch: Batch, actor: User | None = None) -> Batch:
    """Ends the labelling; disputed units go to the reviewers, also those that fewer people labelled than should have.
    Unfinished tasks stay as they are."""
    with transaction.atomic():
        batch = locked(batch, BatchStatus.OPEN, BatchStatus.PAUSED)
        _set(batch, status=BatchStatus.ADJUDICATING)
        note_batch(actor, batch, "adjudicating", verdicts=_settle_half_labelled(batch))
    return batch


def close_batch(*, batch: Batch, actor: User | None = None) -> Batch:
    """Ends the labelling, if that wasn't done before, and the adjudication. Disputes still wait for the reviewers."""
    with transaction.atomic():
        batch = locked(batch, BatchStatus.OPEN, BatchStatus.PAUSED, BatchStatus.ADJUDICATING)
        _set(batch, status=BatchStatus.CLOSED, closed_at=timezone.now())
        note_batch(actor, batch, "closed", verdicts=_settle_half_labelled(batch))
    return batch


def _settle_half_labelled(batch: Batch) -> int:
    """Samples that people were still at work on: what was submitted is all that there will be. Returns how many
    verdicts changed."""
    samples = list(at_work(batch).order_by().values_list("sample", flat=True).distinct())
    lock_samples(samples)
    return settle_batch(batch, samples)


def reopen_batch(*, batch: Batch, actor: User | None = None) -> HandedOn:
    """Continues the labelling of a batch that was closed or handed to the reviewers too early. Open tasks of people who
    have left meanwhile are handed on, as when a member leaves; returns how many these were.

    A verdict on half of the votes stays, since a reviewer may have decided it, and is worked out anew once its sample
    is labelled; until then no reviewer is asked about it (annotate.verdicts.read).
    """
    with transaction.atomic():
        batch = locked(batch, BatchStatus.ADJUDICATING, BatchStatus.CLOSED)
        _set(batch, status=BatchStatus.OPEN, closed_at=None)
        note_batch(actor, batch, "reopened")
        return hand_on_of_the_gone(actor=actor, batch=batch)


def count_single_labels(*, batch: Batch, actor: User | None = None) -> Batch:
    """By the word of an admin, which reports name, the label of one person settles a unit of this batch
    (annotate.labels.settled_read). Repeating it changes nothing."""
    with transaction.atomic():
        batch = locked(batch)
        if batch.single_labels_at is None:
            _set(batch, single_labels_at=timezone.now(), single_labels_by=actor)
            note_batch(actor, batch, "single_labels_count")
    return batch


def discount_single_labels(*, batch: Batch, actor: User | None = None) -> Batch:
    """Takes that word back. Repeating it changes nothing."""
    with transaction.atomic():
        batch = locked(batch)
        if batch.single_labels_at is not None:
            _set(batch, single_labels_at=None, single_labels_by=None)
            note_batch(actor, batch, "single_labels_discounted")
    return batch


def delete_batch(*, batch: Batch, actor: User | None = None) -> None:
    """Only a batch that carries neither labels nor questions can go; a draft always can. What was composed for it goes
    along."""
    with transaction.atomic():
        batch = locked(batch)
        # Before the tasks, in the order of taking one (annotate.tasks.task_queue); the rows go with the batch.
        lock_takers(batch.pk)
        # A label that is being saved is counted here, or finds its task gone afterwards.
        list(batch.tasks.select_for_update().order_by("id").values_list("id", flat=True))
        labels = Label.objects.filter(task__batch=batch).count()
        if labels:
            said = _("Batch %(number)d has %(labels)d labels and can’t be deleted. Close it instead.")
            raise Conflict("has_labels", said % {"number": batch.number, "labels": labels}, labels=labels)
        if Thread.objects.filter(task__batch=batch).exists():
            said = _("Annotators asked questions in batch %(number)d, so it can’t be deleted. Close it instead.")
            raise Conflict("has_threads", said % {"number": batch.number})
        batch.tasks.all().delete()
        # Verdicts made from labels of elsewhere after its people had skipped: they hold no vote of this batch.
        Verdict.objects.filter(batch=batch).update(batch=None)
        composed = set(batch.samples.filter(composed=True).values_list("pk", flat=True))
        batch.delete()
        delete_composed(composed)
        note_batch(actor, batch, "deleted")


def _set(batch: Batch, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(batch, name, value)
    batch.save(update_fields=list(fields))


def extend_batch(
    *,
    actor: User | None,
    batch: Batch,
    due_date: date | None = None,
    selection: Mapping[str, Any] | None = None,
    annotators: Sequence[User] = (),
) -> Batch:
    """Each part is optional. Samples that the batch has, and people who are in it, are passed over.

    The new samples are shared out among all annotators by what each still has to do. In a balanced batch people who
    join also take over tasks that are not begun, until all have as many left. Repeating it changes nothing, except for
    a random draw without a seed, which draws others.
    """
    with transaction.atomic():
        batch = locked(batch, BatchStatus.OPEN, BatchStatus.PAUSED)
        said: dict[str, Any] = {}
        if due_date is not None and due_date != batch.due_date:
            check_due_date(due_date)
            if batch.due_date is not None and due_date < batch.due_date:
                sentence = _("The batch is due on %(due)s. Choose a later date.")
                raise Invalid("earlier_due_date", sentence % {"due": batch.due_date})
            _set(batch, due_date=due_date)
            said["due_date"] = due_date.isoformat()
        there = set(batch.annotators.values_list("id", flat=True))
        newcomers = [user for user in annotators if user.pk not in there]
        if newcomers:
            check_people(batch.project, newcomers, 1)
            _admit(batch, newcomers)
            batch.annotators.add(*newcomers)
            said["annotators"] = [user.username for user in newcomers]
        active = who_may_work(batch) if batch.strategy == Strategy.BALANCED else active_members(batch.project)
        people = batch.annotators.order_by("id").values_list("id", flat=True)
        tags_of = {person: active[person] for person in people if person in active}
        if selection is not None:
            added = _add(batch, selection, tags_of)
            if added:
                said |= {"samples": added, "selection": batch.selection["extensions"][-1]}
        if newcomers and batch.strategy == Strategy.BALANCED:
            said["taken_over"] = _even_out(batch, [user.pk for user in newcomers], tags_of)
        if newcomers and batch.status == BatchStatus.OPEN:
            batch_opened(batch, newcomers)
        if said:
            note_batch(actor, batch, "extended", **said)
    return batch


def _add(batch: Batch, selection: Mapping[str, Any], tags_of: Mapping[int, Collection[str]]) -> int:
    choice = choose_samples(project=batch.project, selection=selection)
    there = set(batch.batch_samples.values_list("sample_id", flat=True))
    new = [pk for pk in choice.keys if pk not in there]
    if not new:
        return 0
    rows = add_samples(batch, new)
    # With all of them in it every chance is 1. What else is added has none: which of these it would have drawn, had
    # the batch not had them already, is not known. A planned draw is labelled in its own random order, which ends here.
    if choice.chance == 1 and batch.selection["method"] in ("all", "random"):
        batch.batch_samples.update(probability=1, stratum=1)
    if len(tags_of) < batch.overlap:
        said = _("%(overlap)d annotators per sample need at least %(overlap)d annotators; %(chosen)d are active here.")
        raise Invalid("too_few_annotators", said % {"overlap": batch.overlap, "chosen": len(tags_of)})
    check_tags(batch, tags_of)
    asked = _asked(batch, rows)
    lay_proposals(batch, asked)
    make_tasks(batch, asked, tags_of)
    _set(batch, selection={**batch.selection, "extensions": [*batch.selection.get("extensions", []), choice.stored]})
    return len(new)


def _even_out(batch: Batch, newcomers: Sequence[int], tags_of: Mapping[int, Collection[str]]) -> int:
    """Moves untouched tasks, the last ones first, from the annotator with most left to the newcomer with least; of a
    group that the same people label, all or none."""
    load = open_load(batch, tags_of)
    givers = set(tags_of) - set(newcomers)
    stacks = _movable(batch, givers)
    has = set(Task.objects.filter(batch=batch, annotator__in=newcomers).values_list("annotator", "sample"))
    has |= met_in_rounds(newcomers, {task.sample_id for stack in stacks.values() for tasks in stack for task in tasks})
    own: dict[int, list[list[Turn]]] = defaultdict(list)
    moved: list[Task] = []
    while any(stacks.values()):
        giver = max((person for person in stacks if stacks[person]), key=lambda person: (load[person], -person))
        if load[giver] - min(load[person] for person in newcomers) < 2:
            break
        tasks = stacks[giver].pop()
        takers = [
            person
            for person in who_may(tasks[0].tag, {one: tags_of[one] for one in newcomers})
            if load[giver] - load[person] >= 2 * len(tasks)
            and not any((person, task.sample_id) in has for task in tasks)
        ]
        if not takers:
            continue
        taker = min(takers, key=lambda person: (load[person], person))
        for task in tasks:
            task.annotator_id = taker
            has.add((taker, task.sample_id))
        own[taker].append([Turn(task.sample_id, task.tag) for task in tasks])
        load[giver] -= len(tasks)
        load[taker] += len(tasks)
        moved += tasks
    Task.objects.bulk_update(moved, ["annotator"], batch_size=1000)
    rng, is_together = random.Random(f"{batch.seed} {sorted(newcomers)}"), _is_together(batch)
    turns = {one: in_turn(groups, rng) if is_together else [*chain(*groups)] for one, groups in own.items()}
    append_turns(batch, turns, tags_of)
    return len(moved)


def _movable(batch: Batch, givers: Collection[int]) -> dict[int, list[list[Task]]]:
    """Of each giver the tasks that may go to another person, by position; those that stay together in one list. Of a
    group of which one is begun, or done, none may."""
    theirs = Task.objects.filter(batch=batch, purpose=Purpose.LABEL, annotator__in=givers).exclude(
        status=TaskStatus.RELEASED
    )
    tasks = list(theirs.select_for_update(of=["self"]).select_related("sample").only(
        "status", "annotator", "sample", "position", "tag", "batch", "sample__external_id"
    ).order_by("id"))  # fmt: skip
    begun = set(Label.objects.filter(task__in=theirs).values_list("task", flat=True))
    group_of = groups_of(batch.project, [task.sample.external_id for task in tasks]) if _is_together(batch) else {}
    together: dict[tuple[int, str], list[Task]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: task.position):
        assert task.annotator_id is not None
        name = task.sample.external_id
        together[task.annotator_id, group_of.get(name, name)].append(task)
    stacks: dict[int, list[list[Task]]] = defaultdict(list)
    for (giver, _group), bundle in together.items():
        if all(task.status == TaskStatus.PENDING and task.pk not in begun for task in bundle):
            stacks[giver].append(bundle)
    return stacks
