"""Who labels which sample: loads equal within what expertise allows, each annotator's own order of work, and the tasks
that a batch gets for new samples, when it opens and when it is extended."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Conflict
from annotate.core.rows import execute, next_position
from annotate.labels.gold_read import gold_for
from annotate.models import Batch, BatchSample, Task
from annotate.models.batch import OPEN_TASK_STATUSES, Came, Purpose, Strategy, TaskStatus
from annotate.samples.read import groups_of, of_samples, samples_keyed


@dataclass(frozen=True, slots=True)
class Seats:
    """How many people label a sample, and who may."""

    overlap: int
    people: Sequence[int]


def assign(wanted: Sequence[Seats], load: Mapping[int, int], rng: random.Random) -> list[list[int]]:
    """For each sample its people: those with the fewest tasks so far, ties in random order.

    load: how many tasks each person has already. Where all may label every sample the loads come to differ by at most
    one, and every pair of people comes to share samples, which agreement needs. Where expertise limits who may, no task
    could go to a person with two tasks fewer, not even by moving others as well.
    """
    load = dict(load)
    plan: list[list[int]] = [[] for _ in wanted]
    # Those with the least choice first: the others can still make up for what they do to the loads.
    for index in sorted(range(len(wanted)), key=lambda index: len(wanted[index].people)):
        order = sorted(wanted[index].people, key=lambda person: (load[person], rng.random()))
        plan[index] = order[: wanted[index].overlap]
        for person in plan[index]:
            load[person] += 1
    if len({tuple(seats.people) for seats in wanted}) > 1:
        _even_out(wanted, plan, load)
    return plan


def _even_out(wanted: Sequence[Seats], plan: list[list[int]], load: dict[int, int]) -> None:
    """Moves tasks along chains of people, from the one who has most, until no chain ends at a person with two fewer."""
    held: dict[int, set[int]] = defaultdict(set)
    for index, people in enumerate(plan):
        for person in people:
            held[person].add(index)
    while True:
        for giver in sorted(load, key=lambda person: -load[person]):
            chain = _chain(giver, wanted, plan, load, held)
            if chain:
                break
        else:
            return
        for index, source, target in chain:
            plan[index][plan[index].index(source)] = target
            held[source].remove(index)
            held[target].add(index)
        load[giver] -= 1
        load[chain[-1][2]] += 1


def _chain(
    giver: int,
    wanted: Sequence[Seats],
    plan: Sequence[Collection[int]],
    load: Mapping[int, int],
    held: Mapping[int, Collection[int]],
) -> list[tuple[int, int, int]]:
    """The shortest (sample, from, to), … from `giver` to a person with at least two tasks fewer. Breadth first."""
    came: dict[int, tuple[int, int]] = {}
    waiting = deque([giver])
    while waiting:
        source = waiting.popleft()
        for index in sorted(held[source]):
            for target in wanted[index].people:
                if target == giver or target in came or target in plan[index]:
                    continue
                came[target] = (index, source)
                if load[target] > load[giver] - 2:
                    waiting.append(target)
                    continue
                steps, end = [], target
                while end != giver:
                    moved, holder = came[end]
                    steps.append((moved, holder, end))
                    end = holder
                return steps[::-1]
    return []


# Expertise


def who_may(tag: str, tags_of: Mapping[int, Collection[str]]) -> list[int]:
    """Of these people those who may label a sample with the tag; without one, all."""
    return [person for person, tags in tags_of.items() if not tag or tag in tags]


def check_tags(batch: Batch, tags_of: Mapping[int, Collection[str]]) -> None:
    """Raises Conflict when too few of the people have an expertise that samples of the batch need."""
    rows = batch.batch_samples.exclude(tag="").values_list("tag").annotate(samples=Count("id"), needed=Max("overlap"))
    for tag, samples, needed in rows.order_by("tag"):
        people = len(who_may(tag, tags_of))
        if people < needed:
            said = _(
                "%(samples)d samples need %(needed)d annotators with the expertise “%(tag)s”, but only %(people)d "
                "have it. Add it to more members, or add annotators."
            )
            given = {"samples": samples, "tag": tag[:80], "needed": needed, "people": people}
            raise Conflict("too_few_with_tag", said % given, **{**given, "tag": tag})


# The order of one person's work


@dataclass(frozen=True, slots=True)
class Turn:
    """One task of a person's list, before it is stored."""

    sample_id: int
    tag: str
    purpose: str = Purpose.LABEL


def turns(
    own: Iterable[Turn], gold: Sequence[Turn], *, gold_share: float, repeat_share: float, rng: random.Random
) -> list[Turn]:
    """A person's tasks with those that measure them mixed in, so that nothing tells which they are.

    gold: what can be drawn from, the best first. A repeated task comes again at least half of the list later; so only
    what lies in the first half is repeated, and at most half of everything.
    """
    mixed = list(own)
    labels = len(mixed)
    for turn in gold[: round(labels * gold_share)]:
        mixed.insert(rng.randint(0, len(mixed)), turn)
    half = (len(mixed) + 1) // 2
    early = [index for index, turn in enumerate(mixed[: len(mixed) - half + 1]) if turn.purpose == Purpose.LABEL]
    again = rng.sample(early, min(round(labels * repeat_share), len(early)))
    # From the back, so that places in front keep their numbers.
    places = sorted(((rng.randint(index + half, len(mixed)), index) for index in again), reverse=True)
    repeats = [(place, Turn(mixed[index].sample_id, mixed[index].tag, Purpose.REPEAT)) for place, index in places]
    for place, turn in repeats:
        mixed.insert(place, turn)
    return mixed


# Among so many groups at a time a person takes turns.
IN_TURN = 4


def in_turn(groups: Iterable[Sequence[Turn]], rng: random.Random) -> list[Turn]:
    """A person's tasks where each group is the answers of several versions to one question: the groups in their order,
    a few at a time, the answers of each in random order, and no two of one group next to each other, unless there is
    nothing to put between them."""
    waiting = deque(enumerate(rng.sample(list(group), len(group)) for group in groups))
    found: list[tuple[int, Turn]] = []
    hand: list[tuple[int, list[Turn]]] = []
    while waiting or hand:
        while waiting and len(hand) < IN_TURN:
            hand.append(waiting.popleft())
        last = found[-1][0] if found else None
        others = [one for one in hand if one[0] != last]
        number, left = max(others or hand, key=lambda one: len(one[1]))
        turn = (number, left.pop())
        found.insert(len(found) if others else _place_between(found, number), turn)
        hand = [one for one in hand if one[1]]
    return [turn for _number, turn in found]


def _place_between(found: Sequence[tuple[int, Turn]], number: int) -> int:
    """The last place where neither neighbour is of the group; the end where there is none."""
    for place in range(len(found) - 1, -1, -1):
        if found[place][0] != number and (place == 0 or found[place - 1][0] != number):
            return place
    return len(found)


# With this many new tasks the planner needs new statistics of the table.
MANY = 5_000


def make_tasks(batch: Batch, samples: Sequence[BatchSample], tags_of: Mapping[int, Collection[str]]) -> None:
    """Free ones for a pull queue; else each person's share, at the end of their list. The batch is locked by the
    caller."""
    if batch.strategy == Strategy.PULL:
        _make_free(batch, samples)
    else:
        append_turns(batch, _shared_out(batch, samples, tags_of), tags_of)


def _make_free(batch: Batch, samples: Sequence[BatchSample]) -> None:
    """The copies of a sample side by side: who has passed one of them has passed them all. From 1: at 0 stands what is
    given to a person who has taken nothing yet."""
    first = max(1, next_position(Task.objects.filter(batch=batch)))
    copies = [row for row in samples for _copy in range(row.overlap)]
    Task.objects.bulk_create(
        (
            Task(batch=batch, sample_id=row.sample_id, tag=row.tag, position=first + index)
            for index, row in enumerate(copies)
        ),
        batch_size=5000,
    )
    if len(copies) >= MANY:
        # PostgreSQL measures the table by itself, but only after a while; until then it plans for the one it knew.
        execute("ANALYZE annotate_task")


def _shared_out(
    batch: Batch, samples: Sequence[BatchSample], tags_of: Mapping[int, Collection[str]]
) -> dict[int, list[Turn]]:
    people_for = {tag: who_may(tag, tags_of) for tag in {row.tag for row in samples}}
    met = met_in_rounds(tags_of, [row.sample_id for row in samples])
    wanted = [
        Seats(row.overlap, [one for one in people_for[row.tag] if (one, row.sample_id) not in met]) for row in samples
    ]
    _require_seats(samples, wanted)
    first = samples[0].position if samples else 0
    # The seed alone for the first samples of a batch; something else for each later lot.
    rng = random.Random(batch.seed if first == 0 else f"{batch.seed} {first}")
    load = open_load(batch, tags_of)
    if batch.selection.get("came") == Came.EXPERIMENT:
        return _shared_out_together(samples, wanted, load, rng)
    plan = assign(wanted, load, rng)
    own: dict[int, list[Turn]] = defaultdict(list)
    for row, people in zip(samples, plan, strict=True):
        for person in people:
            own[person].append(Turn(row.sample_id, row.tag))
    return own


def _shared_out_together(
    samples: Sequence[BatchSample], wanted: Sequence[Seats], load: Mapping[int, int], rng: random.Random
) -> dict[int, list[Turn]]:
    """All samples of a group to the same people, each in turn with others."""
    names = dict(samples_keyed([row.sample_id for row in samples]).values_list("id", "external_id"))
    group_of = groups_of(samples[0].batch.project, names.values()) if samples else {}
    groups: dict[str, list[tuple[BatchSample, Seats]]] = defaultdict(list)
    for row, seats in zip(samples, wanted, strict=True):
        name = names[row.sample_id]
        groups[group_of.get(name, name)].append((row, seats))
    together = []
    for rows in groups.values():
        people = set.intersection(*(set(seats.people) for _row, seats in rows))
        together.append(Seats(rows[0][1].overlap, sorted(people)))
        _require_seats([row for row, _seats in rows], together[-1:] * len(rows))
    own: dict[int, list[list[Turn]]] = defaultdict(list)
    for rows, takers in zip(groups.values(), assign(together, load, rng), strict=True):
        for person in takers:
            own[person].append([Turn(row.sample_id, row.tag) for row, _seats in rows])
    return {person: in_turn(theirs, rng) for person, theirs in own.items()}


def met_in_rounds(people: Collection[int], samples: Collection[int]) -> set[tuple[int, int]]:
    """(person, sample) of what they had in the training or the test of a qualification, and so never label."""
    had = Task.objects.filter(annotator__in=people, batch__qualification__isnull=False)
    return set(of_samples(had, samples).values_list("annotator_id", "sample_id"))


def _require_seats(samples: Sequence[BatchSample], wanted: Sequence[Seats]) -> None:
    short = [row.sample_id for row, seats in zip(samples, wanted, strict=True) if len(seats.people) < seats.overlap]
    if short:
        names = list(samples_keyed(short).order_by("external_id").values_list("external_id", flat=True))
        said = ngettext(
            "Sample %(first)s needs more annotators: some here had it in a training or test. Remove it, or add "
            "annotators.",
            "%(n)d samples (%(first)s …) need more annotators: some here had them in a training or test. Remove them, "
            "or add annotators.",
            len(names),
        )
        raise Conflict("met_in_training", said % {"n": len(names), "first": names[0][:80]}, samples=names)


def open_load(batch: Batch, people: Collection[int]) -> dict[int, int]:
    """How many tasks each of them still has to do."""
    tasks = Task.objects.filter(batch=batch, annotator__in=people, status__in=OPEN_TASK_STATUSES, purpose=Purpose.LABEL)
    return dict.fromkeys(people, 0) | dict(tasks.order_by().values_list("annotator").annotate(Count("id")))


def append_turns(batch: Batch, own: Mapping[int, Sequence[Turn]], tags_of: Mapping[int, Collection[str]]) -> None:
    """Puts tasks, and those that measure, at the end of each person's list.

    A task that exists already (an untouched one that was another person's) is not made again: it only gets its place.
    """
    held = Task.objects.filter(batch=batch, annotator__in=own)
    lasts = dict(held.order_by().values_list("annotator").annotate(Max("position")))
    untouched = held.filter(purpose=Purpose.LABEL, status=TaskStatus.PENDING)
    theirs = {(task.annotator_id, task.sample_id): task for task in untouched}
    made, placed = [], []
    for person, labels in own.items():
        first = lasts.get(person, -1) + 1
        rng = random.Random(f"turns {batch.seed} {person} {first}")
        known: list[Turn] = []
        if batch.gold_share:
            besides = {turn.sample_id for turn in labels}
            found = gold_for(batch, person, tags=tags_of[person], besides=besides, rng=rng)
            known = [Turn(sample_id, tag, Purpose.GOLD) for sample_id, tag in found]
        listed = turns(labels, known, gold_share=batch.gold_share, repeat_share=batch.repeat_share, rng=rng)
        for position, turn in enumerate(listed, start=first):
            task = theirs.get((person, turn.sample_id)) if turn.purpose == Purpose.LABEL else None
            if task is None:
                made.append(
                    Task(
                        batch=batch,
                        annotator_id=person,
                        sample_id=turn.sample_id,
                        tag=turn.tag,
                        purpose=turn.purpose,
                        position=position,
                    )
                )
            else:
                task.position = position
                placed.append(task)
    Task.objects.bulk_create(made, batch_size=5000)
    Task.objects.bulk_update(placed, ["position"], batch_size=1000)
