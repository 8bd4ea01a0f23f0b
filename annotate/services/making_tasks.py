"""The tasks of samples that a batch has just got: when it opens, and when it is extended."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from django.db.models import Count, Max

from annotate.models import Batch, BatchSample, Task
from annotate.models.batch import OPEN_TASK_STATUSES, Purpose, Strategy, TaskStatus
from annotate.selectors.gold import gold_for
from annotate.services.assignment import Seats, Turn, assign, turns, who_may


def make_tasks(batch: Batch, samples: Sequence[BatchSample], tags_of: Mapping[int, Collection[str]]) -> int:
    """Returns how many. The batch is locked by the caller."""
    if batch.strategy == Strategy.PULL:
        return _make_free(batch, samples)
    return _share_out(batch, samples, tags_of)


def _make_free(batch: Batch, samples: Sequence[BatchSample]) -> int:
    """The copies of a sample side by side: who has passed one of them has passed them all."""
    first = end_of_queue(batch)
    copies = [row for row in samples for _copy in range(row.overlap)]
    Task.objects.bulk_create(
        (
            Task(batch=batch, sample_id=row.sample_id, tag=row.tag, position=first + index)
            for index, row in enumerate(copies)
        ),
        batch_size=5000,
    )
    return len(copies)


def end_of_queue(batch: Batch) -> int:
    """A position that nobody has come to yet."""
    last = Task.objects.filter(batch=batch).aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def _share_out(batch: Batch, samples: Sequence[BatchSample], tags_of: Mapping[int, Collection[str]]) -> int:
    people_for = {tag: who_may(tag, tags_of) for tag in {row.tag for row in samples}}
    wanted = [Seats(row.overlap, people_for[row.tag]) for row in samples]
    first = samples[0].position if samples else 0
    # The seed alone for the first samples of a batch; something else for each later lot.
    rng = random.Random(batch.seed if first == 0 else f"{batch.seed} {first}")
    plan = assign(wanted, open_load(batch, tags_of), rng)
    own: dict[int, list[Turn]] = defaultdict(list)
    for row, people in zip(samples, plan, strict=True):
        for person in people:
            own[person].append(Turn(row.sample_id, row.tag))
    return append_turns(batch, own, tags_of)


def open_load(batch: Batch, people: Collection[int]) -> dict[int, int]:
    """How many tasks each of them still has to do."""
    tasks = Task.objects.filter(batch=batch, annotator__in=people, status__in=OPEN_TASK_STATUSES, purpose=Purpose.LABEL)
    return dict.fromkeys(people, 0) | dict(tasks.order_by().values_list("annotator").annotate(Count("id")))


def append_turns(batch: Batch, own: Mapping[int, Sequence[Turn]], tags_of: Mapping[int, Collection[str]]) -> int:
    """Puts tasks, and those that measure, at the end of each person's list. Returns how many it made.

    A task that exists already (an untouched one that came from somebody else) is not made again: it only gets its
    place.
    """
    ends = _ends(batch, own)
    theirs = _untouched(batch, own)
    made, placed = [], []
    for person, labels in own.items():
        rng = random.Random(f"turns {batch.seed} {person} {ends[person]}")
        known = _known(batch, person, labels, tags_of[person], rng) if batch.gold_share else []
        listed = turns(labels, known, gold_share=batch.gold_share, repeat_share=batch.repeat_share, rng=rng)
        for position, turn in enumerate(listed, start=ends[person]):
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
    return len(made)


def _known(batch: Batch, person: int, labels: Sequence[Turn], tags: Collection[str], rng: random.Random) -> list[Turn]:
    found = gold_for(batch, person, tags=tags, besides={turn.sample_id for turn in labels}, rng=rng)
    return [Turn(sample_id, tag, Purpose.GOLD) for sample_id, tag in found]


def _ends(batch: Batch, people: Collection[int]) -> dict[int, int]:
    """By person the first position after their list."""
    lasts = Task.objects.filter(batch=batch, annotator__in=people).order_by().values_list("annotator")
    ends = {person: last + 1 for person, last in lasts.annotate(Max("position"))}
    return dict.fromkeys(people, 0) | ends


def _untouched(batch: Batch, own: Mapping[int, Sequence[Turn]]) -> dict[tuple[int, int], Task]:
    tasks = Task.objects.filter(batch=batch, annotator__in=own, purpose=Purpose.LABEL, status=TaskStatus.PENDING)
    return {(task.annotator_id, task.sample_id): task for task in tasks if task.annotator_id is not None}
