"""Many people at one queue, with real threads and a connection each: never too often, never twice, no hole."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest
from django.http import Http404

from annotate.batches.steps import delete_batch, pause_batch
from annotate.core.errors import Conflict, Stale
from annotate.models import Batch, Label, LabelEvent, Sample, Task, User
from annotate.projects.write import set_member
from annotate.tasks.labelling import Finished, skip_task, submit_task
from annotate.tasks.task_queue import _held, _place, take_following
from annotate.tasks.write import hand_on_tasks, reassign_tasks, return_task
from tests.annotate.factories import (
    World,
    concurrently,
    finish,
    label_all,
    make_samples,
    make_world,
    must_take,
    plain,
    run_out,
    say,
    take,
)
from tests.annotate.tasks.test_concurrency import while_holding

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def crowd(world: World, size: int) -> list[User]:
    people = [User.objects.create_user(f"person{number}") for number in range(size)]
    for person in people:
        set_member(project=world.project, user=person, role="annotator")
    return people


def many_samples(world: World, count: int) -> None:
    Sample.objects.bulk_create(
        Sample(
            project=world.project,
            external_id=f"m{number}",
            question="Q?",
            answer="A.",
            contexts=[{"id": None, "text": "T", "score": None}],
            content_hash=b"0" * 16,
        )
        for number in range(count)
    )


def test_thirty_people_drain_two_thousand_samples_at_overlap_three(world: World) -> None:
    """Scorecard 5. Each sample exactly three times, no annotator twice, no hole. The criterion is optional, so that a
    task takes no label: what is tested is the queue."""
    many_samples(world, 2000)
    people = crowd(world, 30)
    batch = world.batch(criteria=["relevance"], annotators=people, overlap=3, strategy="pull")

    def drain(person: User) -> int:
        done = 0
        while (task := take_following(user=person, batch_id=batch.pk, exclude=())) is not None:
            submit_task(actor=person, task_id=task["id"])
            done += 1
        return done

    results = concurrently(*[lambda p=person: drain(p) for person in people])
    assert sum(results) == 6000, results
    rows = list(Task.objects.values_list("sample_id", "annotator_id", "status"))
    assert len(rows) == 6000
    assert {status for _sample, _person, status in rows} == {"submitted"}
    assert set(Counter(sample for sample, _person, _status in rows).values()) == {3}
    assert len({(sample, person) for sample, person, _status in rows}) == 6000
    # No annotator was left out: all were at it to the end.
    assert min(results) > 0


def test_a_batch_is_deleted_while_an_annotator_takes_a_task(world: World) -> None:
    """Who takes has their place locked first, then a task; who deletes does it in that order, too: no ring of waits."""
    make_samples(world.project, 2)
    batch = world.batch(strategy="pull", overlap=1)
    task = must_take(world.ann, batch)
    taken: list[int | None] = []

    def asks_again() -> None:
        place = _place(world.ann, batch.pk)
        assert place is not None
        taken.append(_held(place, ()))

    result = while_holding(
        lambda: _place(world.ann, batch.pk),
        lambda: delete_batch(batch=batch, actor=world.alice),
        then=asks_again,
    )
    assert (result, taken) == (None, [task.pk])
    assert not Batch.objects.filter(pk=batch.pk).exists()
    assert take(world.ann, batch) is None


def live(batch: Any) -> Counter[int]:
    """How often each sample is free, taken, or done."""
    tasks = batch.tasks.filter(purpose="label").exclude(status__in=["released", "skipped"])
    return Counter(tasks.values_list("sample_id", flat=True))


def test_thirty_times_the_same_request_takes_one_task(world: World) -> None:
    make_samples(world.project, 40)
    batch = world.batch(strategy="pull")
    results = concurrently(*[lambda: take(world.ann, batch)] * 30)
    assert len({task.pk for task in results}) == 1, results
    assert batch.tasks.filter(annotator=world.ann).count() == 1


def test_two_takers_of_the_last_task(world: World) -> None:
    make_samples(world.project, 1)
    for _round in range(8):
        batch = world.batch(strategy="pull", overlap=1)
        results = concurrently(lambda b=batch: take(world.ann, b), lambda b=batch: take(world.ben, b))
        assert [result is None for result in results].count(True) == 1, results
        assert batch.tasks.count() == 1


def test_two_takers_of_a_task_whose_lease_ran_out(world: World) -> None:
    make_samples(world.project, 1)
    for touched in (False, True) * 4:
        batch = world.batch(strategy="pull", overlap=1)
        task = must_take(world.ann, batch)
        if touched:
            say(world.ann, task, "answer", "grade", 1)
        run_out(task)
        results = concurrently(lambda b=batch: take(world.ben, b), lambda b=batch: take(world.chen, b))
        assert [result is None for result in results].count(True) == 1, results
        assert set(live(batch).values()) == {1}
        assert batch.tasks.count() == 1 + touched


def test_a_save_against_a_takeover(world: World) -> None:
    """The first wins, and no label ever lands in another annotator's task."""
    make_samples(world.project, 1)
    seen: Counter[bool] = Counter()
    for _round in range(12):
        batch = world.batch(strategy="pull", overlap=1)
        task = must_take(world.ann, batch)
        run_out(task)
        saved, taken = concurrently(
            lambda t=task: say(world.ann, t, "answer", "grade", 1), lambda b=batch: take(world.ben, b)
        )
        assert set(live(batch).values()) == {1}
        labels = Label.objects.filter(task__batch=batch).select_related("task", "rater")
        assert all(label.rater.user_id == label.task.annotator_id for label in labels)
        if isinstance(saved, dict):
            # Ben came later: he got nothing, as the save renewed the lease, or a new task.
            assert labels.count() == 1
            assert taken is None or taken.pk != task.pk
        else:
            assert isinstance(saved, Http404 | Conflict), saved
            assert (labels.count(), taken.pk) == (0, task.pk)
        seen[isinstance(saved, dict)] += 1
    assert sum(seen.values()) == 12


def test_a_save_inside_a_takeover_is_refused(world: World) -> None:
    make_samples(world.project, 1)
    batch = world.batch(strategy="pull", overlap=1)
    task = must_take(world.ann, batch)
    run_out(task)
    late = while_holding(lambda: take(world.ben, batch), lambda: say(world.ann, task, "answer", "grade", 1))
    assert isinstance(late, Http404)
    assert not Label.objects.exists()


def test_a_save_inside_a_reassignment_is_refused(world: World) -> None:
    make_samples(world.project, 1)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    say(world.ann, task, "answer", "grade", 1)
    late = while_holding(
        lambda: reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=world.ben)[0],
        lambda: say(world.ann, task, "answer", "grade", 2, seen=1),
    )
    assert isinstance(late, Conflict)
    assert (late.code, Label.objects.get().value) == ("task_released", 1)


def test_a_reassignment_inside_a_save_sees_what_was_said(world: World) -> None:
    make_samples(world.project, 1)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    moved = while_holding(
        lambda: say(world.ann, task, "answer", "grade", 1),
        lambda: reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=world.ben)[0],
    )
    assert isinstance(moved, Task), moved
    assert moved.pk != task.pk
    task.refresh_from_db()
    assert (task.status, task.annotator, task.labels.count()) == ("released", world.ann, 1)


def test_pausing_against_submitting(world: World) -> None:
    make_samples(world.project, 8)
    batch = world.batch(annotators=[world.ann], overlap=1)
    for task in batch.tasks.select_related("annotator", "sample", "batch"):
        label_all(task)
        submitted, paused = concurrently(
            lambda t=task: submit_task(actor=world.ann, task_id=t.pk),
            lambda: pause_batch(actor=world.alice, batch=batch),
        )
        assert paused == batch
        task.refresh_from_db()
        assert (task.status == "submitted") == isinstance(submitted, Finished)
        assert isinstance(submitted, Finished) or submitted.code == "batch_paused"
        type(batch).objects.filter(pk=batch.pk).update(status="open")


def test_returning_against_handing_on(world: World) -> None:
    make_samples(world.project, 6)
    batch = world.batch(annotators=[world.ann, world.ben], overlap=1)
    mine = list(batch.tasks.filter(annotator=world.ann).select_related("annotator", "sample", "batch"))
    for task in mine:
        finish(task)
    for task in mine:
        results = concurrently(
            lambda t=task: return_task(actor=world.rita, project=world.project, task_id=t.pk, message="Again."),
            lambda: hand_on_tasks(actor=world.alice, project=world.project, user=world.ann),
        )
        assert not [result for result in results if isinstance(result, Exception)], results
    assert set(live(batch).values()) == {1}


def test_people_come_and_go_while_others_drain_the_queue(world: World) -> None:
    """Skips, leases that run out, tasks handed on: no annotator twice, never more than the overlap, and no hole."""
    many_samples(world, 60)
    people = crowd(world, 8)
    batch = world.batch(criteria=["relevance"], annotators=people, overlap=2, strategy="pull")

    def drain(person: User, number: int) -> int:
        done = 0
        while (found := take_following(user=person, batch_id=batch.pk, exclude=())) is not None:
            done += 1
            if (done + number) % 7 == 0:
                run_out(Task(pk=found["id"]))
            try:
                if (done + number) % 5 == 0:
                    skip_task(actor=person, task_id=found["id"], reason="No.")
                else:
                    submit_task(actor=person, task_id=found["id"])
            except (Http404, Conflict):
                continue
        return done

    def hand_on() -> None:
        for person in people * 3:
            hand_on_tasks(actor=world.alice, project=world.project, user=person)

    results = concurrently(*[lambda p=p, n=n: drain(p, n) for n, p in enumerate(people)], hand_on)
    assert not [result for result in results if isinstance(result, Exception)], results
    # What was handed back when an annotator had just gone home is there for one who comes again.
    for number, person in enumerate(people):
        drain(person, number)
    rows = list(Task.objects.values_list("sample_id", "annotator_id").exclude(annotator=None))
    assert len(set(rows)) == len(rows), "no annotator twice"
    assert set(Task.objects.values_list("status", flat=True)) <= {"submitted", "skipped", "released"}
    done = Counter(Task.objects.filter(status="submitted").values_list("sample_id", flat=True))
    assert max(done.values()) == 2
    for sample_id in Sample.objects.values_list("id", flat=True):
        tries = Task.objects.filter(sample=sample_id).count()
        assert done[sample_id] == 2 or tries == 4 or done[sample_id] + tries >= 4, (done[sample_id], tries)


def test_five_hundred_stale_edits_of_a_hundred_labels(world: World) -> None:
    """Scorecard 7. Every label has moved on since the edits' pages were opened: all are refused, with both versions."""
    make_samples(world.project, 25, claims=[{"text": f"c{n}", "start": None, "end": None} for n in range(4)])
    tasks = list(world.batch(criteria=["support"], annotators=[world.ann], overlap=1).tasks.all())
    places = [(task, f"claim:{number}") for task in tasks for number in range(4)]
    for task, unit in places:
        say(world.ann, task, unit, "support", "yes")
        say(world.ann, task, unit, "support", "no", seen=1, comment="now")
    before = list(Label.objects.order_by("id").values_list("value", "comment", "revision"))
    edits = [(task, unit, seen) for task, unit in places for seen in (0, 0, 1, 1, 3)]

    def stale(part: list[tuple[Task, str, int]]) -> list[Any]:
        refused = []
        for task, unit, seen in part:
            try:
                refused.append(say(world.ann, task, unit, "support", "unsure", seen=seen))
            except Stale as error:
                refused.append((error.status, error.details["current"]["value"], error.details["yours"]["value"]))
        return refused

    results = concurrently(*[lambda n=n: stale(edits[n::20]) for n in range(20)])
    assert Counter(result for part in results for result in part) == {(412, "no", "unsure"): 500}
    assert list(Label.objects.order_by("id").values_list("value", "comment", "revision")) == before
    assert LabelEvent.objects.count() == 200


def test_a_thousand_labels_that_are_sent_twice(world: World) -> None:
    """Scorecard 6. Of each the second comes while the first is under way, or right after it."""
    make_samples(world.project, 250, claims=[{"text": f"c{n}", "start": None, "end": None} for n in range(4)])
    tasks = list(world.batch(criteria=["support"], annotators=[world.ann], overlap=1).tasks.all())
    labels = [(task, f"claim:{number}", uuid.uuid4()) for task in tasks for number in range(4)]
    twice = [label for label in labels for _ in range(2)]

    def send(part: list[tuple[Task, str, uuid.UUID]]) -> list[Any]:
        return [(key, plain(say(world.ann, task, unit, "support", "yes", key=key))) for task, unit, key in part]

    results = concurrently(*[lambda n=n: send(twice[n::20]) for n in range(20)])
    replies = Counter(result for part in results for result in part)
    assert len(replies) == 1_000, "both replies to a label are equal"
    assert set(replies.values()) == {2}
    assert set(LabelEvent.objects.values_list("idempotency_key", flat=True)) == {key for _, _, key in labels}
    assert (Label.objects.count(), LabelEvent.objects.count()) == (1_000, 1_000)


def test_a_claim_whose_reply_was_lost_is_found_again_or_taken_over(world: World) -> None:
    make_samples(world.project, 1)
    batch = world.batch(strategy="pull", overlap=1)
    lost = must_take(world.ann, batch)
    assert take(world.ann, batch) == lost, "she asks again"
    assert take(world.ben, batch) is None
    run_out(lost)
    assert take(world.ben, batch) == lost, "she never did"
