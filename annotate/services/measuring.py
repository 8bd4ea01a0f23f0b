"""Tasks that measure whoever does them, mixed into what a person takes from a pull queue.

A balanced batch has them in its lists from the start (services.making_tasks).
"""

from __future__ import annotations

import random
from collections.abc import Collection

from django.db.models import Count

from annotate.models import Task
from annotate.models.batch import Purpose, TaskStatus
from annotate.selectors.gold import gold_for
from annotate.services.making_tasks import end_of_queue

# Nobody is measured against themselves from fewer.
FEWEST_SUBMITTED = 5


def make_it_measure(*, task_id: int, gold_share: float, repeat_share: float, seed: int, tags: Collection[str]) -> None:
    """Turns the task that was just taken into gold or a repeat, if one is due; its sample waits again, at the end.

    The row itself is turned, so that its number and its place say no more about it than those of any other.
    """
    task = Task.objects.select_related("batch").get(pk=task_id)
    counts = Task.objects.filter(batch=task.batch_id, annotator=task.annotator_id).order_by().values_list("purpose")
    has = {**dict.fromkeys(Purpose.values, 0), **dict(counts.annotate(Count("id")))}
    # Without the one at hand.
    labels = has[Purpose.LABEL] - 1
    for purpose, share in ((Purpose.GOLD, gold_share), (Purpose.REPEAT, repeat_share)):
        # Of every 1/share own tasks one comes at a place that only the seed knows.
        rng = random.Random(f"{purpose} {seed} {task.annotator_id} {has[purpose]}")
        if labels * share >= has[purpose] + rng.random():
            sample_id = _gold(task, tags, rng) if purpose == Purpose.GOLD else _repeat(task, rng)
            if sample_id is not None:
                _turn(task, purpose, sample_id)
                return


def _gold(task: Task, tags: Collection[str], rng: random.Random) -> int | None:
    assert task.annotator_id is not None
    known = gold_for(task.batch, task.annotator_id, tags=tags, besides=(task.sample_id,), rng=rng)
    return known[0][0] if known else None


def _repeat(task: Task, rng: random.Random) -> int | None:
    """One from the first half of what the person has submitted, so that as much lies in between."""
    own = Task.objects.filter(batch=task.batch_id, annotator=task.annotator_id)
    submitted = list(
        own.filter(purpose=Purpose.LABEL, status=TaskStatus.SUBMITTED)
        .order_by("submitted_at", "id")
        .values_list("sample", flat=True)
    )
    if len(submitted) < FEWEST_SUBMITTED:
        return None
    again = set(own.filter(purpose=Purpose.REPEAT).values_list("sample", flat=True))
    early = [sample_id for sample_id in submitted[: (len(submitted) + 1) // 2] if sample_id not in again]
    return rng.choice(early) if early else None


def _turn(task: Task, purpose: Purpose, sample_id: int) -> None:
    waiting = Task(batch=task.batch, sample_id=task.sample_id, tag=task.tag, position=end_of_queue(task.batch))
    task.purpose, task.sample_id = purpose, sample_id
    task.save(update_fields=["purpose", "sample"])
    waiting.save()
