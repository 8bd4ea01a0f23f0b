"""Who labels which sample: loads equal within what expertise allows, and each person's own order of work."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from annotate.errors import Conflict
from annotate.models import Batch
from annotate.models.batch import Purpose


@dataclass(frozen=True, slots=True)
class Seats:
    """How many people label a sample, and who may."""

    overlap: int
    people: Sequence[int]


def assign(wanted: Sequence[Seats], load: Mapping[int, int], rng: random.Random) -> list[list[int]]:
    """For each sample its people: those with the fewest tasks so far, ties in random order.

    load: what everybody has already. Where anybody may label any sample the loads come to differ by at most one, and
    every pair of people comes to share samples, which agreement needs. Where expertise limits who may, no task could
    go to somebody with two tasks fewer, not even by moving others as well.
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
    """Moves tasks along chains of people, from whoever has most, until no chain ends at somebody with two fewer."""
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
    """The shortest (sample, from, to), … from `giver` to somebody with at least two tasks fewer. Breadth first."""
    came: dict[int, tuple[int, int]] = {}
    waiting = deque([giver])
    while waiting:
        source = waiting.popleft()
        for index in sorted(held[source]):
            for target in wanted[index].people:
                if target == giver or target in came or target in plan[index]:
                    continue
                came[target] = (index, source)
                if load[target] <= load[giver] - 2:
                    return _steps(target, giver, came)
                waiting.append(target)
    return []


def _steps(end: int, giver: int, came: Mapping[int, tuple[int, int]]) -> list[tuple[int, int, int]]:
    steps, target = [], end
    while target != giver:
        index, source = came[target]
        steps.append((index, source, target))
        target = source
    return steps[::-1]


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
                "%(samples)d samples need the expertise “%(tag)s” and %(needed)d people each, but only %(people)d of "
                "those who label this batch have that tag. Give the tag to more members, or add people who have it."
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
