"""The dashboard's figures, against counting by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.batches.board_read import FEWEST_UNITS, PersonBoard, forecast, person_boards
from annotate.batches.read import batch_criteria
from annotate.models import Batch, Flag, GoldAnswer, Label, Task
from annotate.models.batch import Purpose
from annotate.tasks.labelling import skip_task
from tests.annotate.factories import World, finish, label_all, make_sample, make_samples, rewriting_history, say
from tests.plans import plan_of, rows_read


def boards(batch: Batch) -> dict[str, PersonBoard]:
    return {board.user.username: board for board in person_boards(batch)}


def spent(task: Task, seconds: int, *, days_ago: float = 0) -> None:
    Task.objects.filter(pk=task.pk).update(
        active_seconds=seconds, submitted_at=timezone.now() - timedelta(days=days_ago)
    )


@pytest.fixture
def batch(world: World) -> Batch:
    """Eight samples of two claims and an answer, each for Ann, Ben and Chen."""
    make_samples(world.project, 8)
    return world.batch(overlap=3)


def test_counts(world: World, batch: Batch) -> None:
    tasks = list(batch.tasks.filter(annotator=world.ann).order_by("position"))
    for task in tasks[:3]:
        finish(task)
    skip_task(actor=world.ann, task_id=tasks[3].pk, reason="No.")
    say(world.ann, tasks[4], "answer", "grade", 3)
    Task.objects.filter(pk=tasks[0].pk).update(status="returned", return_message="Again.")
    Task.objects.filter(pk=tasks[5].pk).update(status="released")
    Flag.objects.create(project=world.project, sample=tasks[4].sample, task=tasks[4], reason="?", raised_by=world.ann)
    ann = boards(batch)["ann"]
    assert (ann.done, ann.skipped, ann.in_progress, ann.returned, ann.left, ann.flagged) == (2, 1, 1, 1, 4, 1)
    assert (ann.total, ann.percent) == (7, 42)
    assert boards(batch)["ben"].flagged == 0


def test_who_has_taken_nothing_yet_is_there(world: World, batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(strategy="pull")
    batch.tasks.filter(annotator=world.ann).delete()
    ann = boards(batch)["ann"]
    assert (ann.total, ann.left, ann.percent) == (0, 0, 0)


def test_time_and_pace(world: World, batch: Batch) -> None:
    tasks = list(batch.tasks.filter(annotator=world.ann).order_by("position"))
    for task, seconds, days in zip(tasks, (60, 120, 600, 60, 0), (0, 1, 6, 8, 0), strict=False):
        finish(task)
        spent(task, seconds, days_ago=days)
    ann = boards(batch)["ann"]
    # The one without a measured second counts for neither; the fourth is too old for the pace.
    assert ann.seconds_per_task == 90
    assert ann.pace == pytest.approx(3600 * 3 / 780)
    assert boards(batch)["ben"].seconds_per_task is None
    assert boards(batch)["ben"].pace is None
    spent(tasks[0], 60, days_ago=8)
    assert boards(batch)["ann"].pace is None, "two tasks are no pace"


def test_time_per_unit_is_measured_else_from_the_log(world: World, batch: Batch) -> None:
    first, second = batch.tasks.filter(annotator=world.ann).order_by("position")[:2]
    finish(first)
    finish(second)
    labels = list(Label.objects.filter(task=first).order_by("id"))
    for label, ms in zip(labels, (2000, 4000, 9000), strict=True):
        Label.objects.filter(pk=label.pk).update(active_ms=ms)
    # The second one's choices follow each other within milliseconds: no hand is so quick, so they say nothing.
    assert boards(batch)["ann"].seconds_per_unit == 4
    Label.objects.update(active_ms=None)
    assert boards(batch)["ann"].seconds_per_unit is None
    start = timezone.now()
    with rewriting_history():
        for n, label in enumerate(Label.objects.filter(task=second).order_by("id")):
            label.events.update(created_at=start + timedelta(seconds=7 * n))
    assert boards(batch)["ann"].seconds_per_unit == pytest.approx(7)
    # Also beside one that was measured.
    Label.objects.filter(pk=Label.objects.filter(task=second).order_by("id")[1].pk).update(active_ms=1000)
    assert boards(batch)["ann"].seconds_per_unit == pytest.approx((1 + 7) / 2)


def test_what_was_said_in_other_batches_is_not_read(world: World, batch: Batch) -> None:
    """PostgreSQL expects few, and would go through all of the project for a batch of many."""
    for task in batch.tasks.all():
        finish(task)
    others = [make_sample(world.project, number) for number in range(20, 24)]
    selection = {"method": "list", "samples": [sample.external_id for sample in others]}
    other = world.batch(overlap=2, selection=selection)
    for task in other.tasks.all():
        finish(task)
    number = Label.objects.filter(task__batch=other).count()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotate_label, annotate_task, annotate_labelevent")
        cursor.execute("SET LOCAL enable_seqscan = off")  # so few rows are read at once
        cursor.execute("SET LOCAL enable_nestloop = off")  # or all is looked up one by one
    with CaptureQueriesContext(connection) as asked:
        [grade, _support] = batch_criteria(other)
        person_boards(other)
    assert grade.given > 0
    told = [one["sql"] for one in asked if "COUNT(" in one["sql"] or "WITH tasks AS" in one["sql"]]
    read = [rows_read(plan_of(sql), "annotate_label") for sql in told if "annotate_label" in sql]
    assert number <= max(read) <= 2 * number


def test_agreement_with_verdicts(world: World, batch: Batch) -> None:
    """Ann says no to the first claim of each sample, the others yes to all: she differs in one unit of three."""
    for task in batch.tasks.select_related("annotator", "sample", "batch"):
        differs = task.annotator == world.ann
        finish(task, support=lambda unit, d=differs: "no" if d and unit == "claim:0" else "yes")
    found = boards(batch)
    assert found["ann"].agreement.value == pytest.approx(16 / 24)
    assert (found["ann"].agreement.n, found["ann"].agreement.clusters) == (24, 8)
    assert found["ben"].agreement.value == 1
    low, high = found["ben"].agreement.low, found["ben"].agreement.high
    assert low is not None
    assert high is not None
    assert low < 1


def test_a_verdict_that_is_ones_own_vote_is_no_agreement(world: World) -> None:
    make_samples(world.project, 8)
    batch = world.batch(overlap=1)
    for task in batch.tasks.select_related("annotator", "sample", "batch"):
        finish(task)
    for board in boards(batch).values():
        assert board.agreement.value is None
        assert board.agreement.n == 0


def test_few_units_are_not_enough(world: World, batch: Batch) -> None:
    for task in batch.tasks.filter(sample=batch.samples.first()).select_related("annotator", "sample", "batch"):
        finish(task)
    ann = boards(batch)["ann"]
    assert ann.agreement.n == 3 < FEWEST_UNITS
    assert ann.agreement.value is None
    assert ann.agreement.reason


def remake(tasks: list[Task], purpose: Purpose) -> list[Task]:
    """A second task of the same person on each sample."""
    return [
        Task.objects.create(
            batch=task.batch, sample=task.sample, annotator=task.annotator, purpose=purpose, position=99
        )
        for task in tasks
    ]


def test_gold_and_repeats_measure_and_are_no_agreement(world: World, batch: Batch) -> None:
    tasks = list(batch.tasks.filter(annotator=world.ann).select_related("annotator", "sample", "batch"))
    for task in tasks:
        finish(task, grade=4)
        for criterion in world.criteria("grade"):
            GoldAnswer.objects.create(sample=task.sample, unit="answer", criterion=criterion, value=4)
    again = remake(tasks, Purpose.REPEAT)
    for n, task in enumerate(again):
        finish(task, grade=4 if n else 1)
    ann = boards(batch)["ann"]
    assert ann.steadiness.value == pytest.approx(23 / 24)
    assert ann.steadiness.n == 24
    assert ann.gold.n == 0
    Task.objects.filter(pk__in=[task.pk for task in again]).update(purpose=Purpose.GOLD)
    ann = boards(batch)["ann"]
    assert ann.steadiness.n == 0
    assert (ann.gold.n, ann.gold.value) == (8, None), "eight units are not enough"
    assert ann.agreement.n == 0
    for task in tasks:
        for unit in ("claim:0", "claim:1"):
            GoldAnswer.objects.create(sample=task.sample, unit=unit, criterion=world.criteria("support")[0], value="no")
    ann = boards(batch)["ann"]
    assert (ann.gold.n, ann.gold.value) == (24, pytest.approx(7 / 24))


def test_the_number_of_statements_is_fixed(world: World, batch: Batch) -> None:
    tasks = list(batch.tasks.select_related("annotator", "sample", "batch").order_by("annotator", "position"))
    # Of one person, so that the second came too fast: of what did, more is asked.
    for task in tasks[:2]:
        finish(task)
    with CaptureQueriesContext(connection) as few:
        person_boards(batch)
        forecast(batch)
    for task in tasks[2:]:
        finish(task)
    with CaptureQueriesContext(connection) as many:
        person_boards(batch)
        forecast(batch)
    assert len(few) == len(many)


# When it will be done


def done(batch: Batch, count: int, **how: Any) -> None:
    for task in batch.tasks.filter(status="pending").select_related("annotator", "sample", "batch")[:count]:
        label_all(task)
        Task.objects.filter(pk=task.pk).update(status="submitted", submitted_at=timezone.now())
        spent(task, **how)


def test_a_forecast_from_the_last_days(batch: Batch) -> None:
    noon = timezone.now().replace(hour=12, minute=0)
    batch.opened_at = noon - timedelta(days=2)
    done(batch, 6, seconds=120)
    seen = forecast(batch, now=noon)
    assert (seen.left, seen.finished, seen.percent) == (18, 6, 25)
    assert seen.work_seconds == 18 * 120
    # Six in two days: eighteen in six.
    assert seen.done_on == noon.date() + timedelta(days=6)
    assert not seen.is_late
    for days, late, overdue in ((5, True, False), (6, False, False), (-1, True, True)):
        batch.due_date = noon.date() + timedelta(days=days)
        seen = forecast(batch, now=noon)
        assert (seen.is_late, seen.is_overdue) == (late, overdue)


def test_no_forecast_from_too_little(batch: Batch) -> None:
    done(batch, 2, seconds=120)
    seen = forecast(batch)
    assert (seen.work_seconds, seen.done_on, seen.is_late) == (None, None, False)
    done(batch, 10, seconds=0, days_ago=8)
    Batch.objects.filter(pk=batch.pk).update(opened_at=timezone.now() - timedelta(days=20))
    batch.refresh_from_db()
    assert forecast(batch).done_on is None, "what was done long ago is no pace"


def test_nothing_left_is_no_forecast(batch: Batch) -> None:
    done(batch, 99, seconds=10)
    batch.due_date = timezone.localdate() - timedelta(days=1)
    seen = forecast(batch)
    assert (seen.left, seen.done_on, seen.work_seconds, seen.is_late) == (0, None, None, False)
    assert seen.percent == 100
