"""The figures of progress, against counting by hand on random data."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from annotate.batches.read import Counts, batch_annotators, batch_criteria, counts_of, disputed_units
from annotate.batches.steps import close_batch
from annotate.core.units import units_of
from annotate.models import Batch, Label, Task, Verdict
from annotate.models.label import DECIDED_METHODS
from annotate.tasks.labelling import skip_task, submit_task
from annotate.tasks.read import following_task, next_task, work_progress
from tests.annotate.factories import World, label_all, make_sample, make_world, say
from tests.database import taken_back


@pytest.fixture(scope="module", params=[1, 2, 3])
def _world(module_transaction: None, request: pytest.FixtureRequest) -> Iterator[World]:
    with taken_back():
        world = make_world()
        make_busy(world, request.param)
        yield world


@pytest.fixture
def busy(world: World) -> World:
    return world


def make_busy(world: World, seed: int) -> None:
    """Two batches over overlapping samples, with every task somewhere on its way."""
    rng = random.Random(seed)
    for number in range(8):
        make_sample(
            world.project,
            number,
            claims=[{"text": f"c{n}", "start": None, "end": None} for n in range(rng.randrange(4))],
            contexts=[{"id": None, "text": f"x{n}", "score": None} for n in range(rng.randrange(3))],
        )
    for overlap, n in ((2, 8), (1, 5)):
        world.batch(
            criteria=("support", "grade", "relevance") if overlap == 2 else ("grade", "support"),
            overlap=overlap,
            selection={"method": "random", "n": n, "seed": seed},
            seed=seed,
        )
    world.batch(opened=False)
    for task in Task.objects.select_related("annotator", "sample", "batch"):
        fate = rng.choice(["leave", "begin", "label", "skip", "submit", "submit"])
        if fate == "begin":
            say(task.annotator, task, "answer", "grade", rng.choice([1, None]), active_seconds=rng.randrange(99))
        elif fate in ("label", "skip", "submit"):
            label_all(task, support=lambda unit: rng.choice(["yes", "no"]), grade=lambda unit: rng.choice([1, 5]))
        if fate == "submit":
            submit_task(actor=task.annotator, task_id=task.pk, active_seconds=rng.randrange(99))
        elif fate == "skip":
            skip_task(actor=task.annotator, task_id=task.pk, reason="No.")


def test_annotators(busy: World) -> None:
    for batch in Batch.objects.all():
        rows = {row.name: row for row in batch_annotators(batch)}
        people = {task.annotator.name for task in batch.tasks.select_related("annotator")}
        assert list(rows) == sorted(people)
        for name, row in rows.items():
            mine = [task for task in batch.tasks.select_related("annotator") if task.annotator.name == name]
            statuses = [task.status for task in mine]
            assert row.total == len(mine)
            assert row.done == statuses.count("submitted")
            assert row.skipped == statuses.count("skipped")
            assert row.in_progress == statuses.count("in_progress")
            assert row.left == statuses.count("pending") + statuses.count("in_progress")
            assert row.active_seconds == sum(task.active_seconds for task in mine)


def test_criteria(busy: World) -> None:
    for batch in Batch.objects.all():
        rows = batch_criteria(batch)
        assert disputed_units(batch) == sum(row.disputed for row in rows)
        assert [row.key for row in rows] == [criterion.key for criterion in batch.asked_criteria()]
        for row, criterion in zip(rows, batch.asked_criteria(), strict=True):
            samples = [link.sample for link in batch.batch_samples.select_related("sample")]
            units = [(sample.pk, unit) for sample in samples for unit in units_of(sample, criterion.unit)]
            assert row.expected == len(units) * batch.overlap
            given = [
                label
                for label in Label.objects.filter(task__batch=batch, criterion=criterion).select_related("task")
                if label.value is not None and label.task and label.task.status != "skipped"
            ]
            assert row.given == len(given) <= row.expected
            verdicts = [v for v in Verdict.objects.filter(criterion=criterion) if (v.sample_id, v.unit) in units]
            assert row.settled + row.single == sum(v.state == "settled" for v in verdicts)
            assert row.disputed == len(verdicts) - row.settled - row.single


def test_project(busy: World) -> None:
    counts = counts_of([busy.project, busy.other])
    tasks = list(Task.objects.filter(batch__status="open"))
    done = sum(task.status in ("submitted", "skipped") for task in tasks)
    states = list(Verdict.objects.values_list("state", flat=True))
    alone = Verdict.objects.filter(state="settled", approved_at=None, batch__single_labels_at=None)
    single = sum(len(verdict.votes) == 1 for verdict in alone.exclude(method__in=DECIDED_METHODS))
    assert counts[busy.project.pk] == Counts(
        samples=8,
        criteria=3,
        batches=3,
        open_batches=2,
        draft_batches=1,
        tasks=len(tasks),
        tasks_done=done,
        settled=states.count("settled") - single,
        disputed=len(states) - states.count("settled"),
        has_verdicts=True,
    )
    assert counts[busy.other.pk] == Counts(criteria=1)


def test_ones_own_work(busy: World) -> None:
    for person in busy.annotators:
        for number in (None, 1, 2, 3, 99):
            mine = list(Task.objects.filter(annotator=person, batch__status="open"))
            mine = [task for task in mine if number is None or task.batch.number == number]
            statuses = [task.status for task in mine]
            progress = work_progress(user=person, project=busy.project, batch_number=number)
            assert progress == {
                "total": len(mine),
                "done": statuses.count("submitted"),
                "skipped": statuses.count("skipped"),
                "left": statuses.count("pending") + statuses.count("in_progress"),
            }


def test_walking_through_ones_tasks(busy: World) -> None:
    """With a growing list of tasks held, every open task comes once, in order; following_task within a batch."""
    for person in busy.annotators:
        tasks = list(
            Task.objects.filter(annotator=person, status__in=["pending", "in_progress"]).order_by(
                "batch_id", "position"
            )
        )
        held: list[int] = []
        while (task := next_task(user=person, project=busy.project, exclude=held)) is not None:
            held.append(task["id"])
        assert held == [task.pk for task in tasks]
        for batch in Batch.objects.filter(status="open"):
            held = []
            while (task := following_task(user=person, batch_id=batch.pk, exclude=held)) is not None:
                held.append(task["id"])
            assert held == [task.pk for task in tasks if task.batch_id == batch.pk]
            close_batch(batch=batch)
            assert following_task(user=person, batch_id=batch.pk, exclude=[]) is None
            Batch.objects.filter(pk=batch.pk).update(status="open", closed_at=None)
        assert next_task(user=person, project=busy.other) is None
