"""The pull queue, one request at a time; tests/annotate/tasks/test_task_queue_concurrency.py has many at once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.http import Http404
from django.utils import timezone

from annotate.batches.steps import close_batch, pause_batch, resume_batch
from annotate.core.errors import Conflict
from annotate.models import Batch, Membership, Task, Verdict
from annotate.tasks.labelling import keep_task, skip_task, submit_task
from annotate.tasks.read import next_task, work_progress
from annotate.tasks.write import reassign_tasks, reopen_task
from tests.annotate.factories import (
    World,
    finish,
    label_all,
    make_sample,
    make_samples,
    make_world,
    must_take,
    run_out,
    say,
    take,
)


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def pull(world: World, **more: Any) -> Batch:
    return world.batch(strategy="pull", **more)


def seats(batch: Batch) -> Counter[int]:
    """Live tasks per sample: free, taken or done."""
    live = batch.tasks.filter(purpose="label").exclude(status__in=["released", "skipped"])
    return Counter(live.values_list("sample_id", flat=True))


def test_opening_makes_free_tasks_with_copies_side_by_side(world: World) -> None:
    samples = make_samples(world.project, 4)
    batch = pull(world, overlap=3)
    tasks = list(batch.tasks.order_by("position"))
    assert [task.sample_id for task in tasks] == [sample.pk for sample in samples for _copy in range(3)]
    assert {(task.annotator_id, task.status, task.lease_expires_at) for task in tasks} == {(None, "pending", None)}
    assert next_task(user=world.ann, project=world.project) is None, "looking takes nothing"


def test_taking_in_order_each_sample_once(world: World) -> None:
    samples = make_samples(world.project, 4)
    batch = pull(world, overlap=2)
    met = []
    while (task := take(world.ann, batch)) is not None:
        met.append(task.sample_id)
        finish(task)
    assert met == [sample.pk for sample in samples]
    assert seats(batch) == dict.fromkeys(met, 2)
    assert batch.tasks.filter(annotator=None).count() == 4


def test_asking_again_gives_the_same_and_exclude_the_one_after(world: World) -> None:
    make_samples(world.project, 3)
    batch = pull(world, overlap=1)
    first = must_take(world.ann, batch)
    assert take(world.ann, batch) == first
    second = must_take(world.ann, batch, first)
    assert second != first
    assert take(world.ann, batch, first) == second
    assert take(world.ben, batch) not in (None, first, second)


def test_a_lease_begins_with_taking_and_is_renewed(world: World) -> None:
    make_samples(world.project, 1)
    batch = pull(world, overlap=1, lease_minutes=10)
    task = must_take(world.ann, batch)

    def minutes_left() -> float:
        task.refresh_from_db()
        assert task.lease_expires_at is not None
        return (task.lease_expires_at - timezone.now()) / timedelta(minutes=1)

    assert 9 < minutes_left() <= 10
    for renew in (
        lambda: say(world.ann, task, "answer", "grade", 3),
        lambda: keep_task(actor=world.ann, task_id=task.pk),
        lambda: take(world.ann, batch),
    ):
        run_out(task)
        assert minutes_left() < 0
        renew()
        assert 9 < minutes_left() <= 10


def test_a_lease_that_ran_out_stays_until_the_task_is_needed(world: World) -> None:
    make_samples(world.project, 2)
    batch = pull(world, overlap=1)
    task = must_take(world.ann, batch)
    run_out(task)
    assert must_take(world.ben, batch) != task, "a free one comes first"
    finish(task)
    assert Task.objects.get(pk=task.pk).status == "submitted"


def test_taking_over_an_untouched_task(world: World) -> None:
    make_samples(world.project, 1)
    batch = pull(world, overlap=1)
    task = must_take(world.ann, batch)
    assert take(world.ben, batch) is None, "the lease holds"
    run_out(task)
    assert must_take(world.ben, batch) == task
    with pytest.raises(Http404):
        say(world.ann, task, "answer", "grade", 3)
    with pytest.raises(Http404):
        keep_task(actor=world.ann, task_id=task.pk)
    assert batch.tasks.count() == 1


def test_taking_over_a_task_in_which_something_was_said(world: World) -> None:
    make_samples(world.project, 1)
    batch = pull(world, overlap=1)
    task = must_take(world.ann, batch)
    label_all(task, grade=1)
    run_out(task)
    theirs = must_take(world.ben, batch)
    task.refresh_from_db()
    assert (task.status, task.annotator, task.labels.count()) == ("released", world.ann, 3)
    assert (theirs.pk != task.pk, theirs.sample_id, theirs.labels.count()) == (True, task.sample_id, 0)
    for late in (
        lambda: say(world.ann, task, "answer", "grade", 2, seen=1),
        lambda: submit_task(actor=world.ann, task_id=task.pk),
        lambda: keep_task(actor=world.ann, task_id=task.pk),
    ):
        with pytest.raises(Conflict) as refused:
            late()
        assert refused.value.code == "task_released"
    run_out(theirs)
    assert take(world.ann, batch) is None, "she had it already"
    finish(theirs, grade=5)
    verdict = Verdict.objects.get(unit="answer")
    assert ([vote["rater"] for vote in verdict.votes], verdict.value) == (["ben"], 5)


def test_expertise(world: World) -> None:
    make_sample(world.project, 1, metadata={"topic": "law"})
    make_sample(world.project, 2, metadata={"topic": 7})
    make_sample(world.project, 3)
    Membership.objects.filter(user=world.ann).update(tags=["law", "7", "tax"])
    Membership.objects.filter(user=world.ben).update(tags=["law"])
    batch = pull(world, overlap=1, tag_key="topic")
    assert sorted(batch.tasks.values_list("tag", flat=True)) == ["", "7", "law"]
    chens = must_take(world.chen, batch)
    assert chens.tag == ""
    finish(chens)
    assert take(world.chen, batch) is None
    assert must_take(world.ben, batch).tag == "law"
    assert must_take(world.ann, batch).tag == "7"
    # What an annotator learns later is found, though they passed it by.
    make_free = must_take(world.ann, batch)
    run_out(make_free)
    assert take(world.chen, batch) is None
    Membership.objects.filter(user=world.chen).update(tags=["7"])
    assert must_take(world.chen, batch) == make_free


def test_a_skip_lets_another_annotator_have_it(world: World) -> None:
    sample = make_sample(world.project)
    make_sample(world.project, 2)
    batch = pull(world, overlap=1)
    task = must_take(world.ann, batch)
    skip_task(actor=world.ann, task_id=task.pk, reason="Not mine.")
    assert seats(batch)[sample.pk] == 1
    assert must_take(world.ann, batch).sample_id != sample.pk
    assert must_take(world.ben, batch).sample_id == sample.pk, "even after his place in the queue"
    assert not Verdict.objects.exists()


def test_a_sample_that_all_skip_is_not_given_out_for_ever(world: World) -> None:
    make_sample(world.project)
    batch = pull(world, overlap=1)
    for person in (world.ann, world.ben):
        skip_task(actor=person, task_id=must_take(person, batch).pk, reason="No.")
    assert batch.tasks.count() == 2, "twice its overlap"
    assert take(world.chen, batch) is None


def test_the_last_skip_settles_what_the_others_said(world: World) -> None:
    make_sample(world.project)
    batch = pull(world, overlap=3)
    for person in (world.ann, world.ben):
        finish(must_take(person, batch))
    assert not Verdict.objects.exists()
    skip_task(actor=world.chen, task_id=must_take(world.chen, batch).pk, reason="No.")
    assert {verdict.state for verdict in Verdict.objects.all()} == {"disputed"}, "two of three"


def test_taking_a_skip_back_takes_the_free_copy(world: World) -> None:
    sample = make_sample(world.project)
    batch = pull(world, overlap=1)
    task = must_take(world.ann, batch)
    skip_task(actor=world.ann, task_id=task.pk, reason="No.")
    reopen_task(actor=world.ann, task_id=task.pk)
    assert seats(batch) == {sample.pk: 1}
    skip_task(actor=world.ann, task_id=task.pk, reason="No.")
    must_take(world.ben, batch)
    with pytest.raises(Conflict, match="This sample went to another annotator"):
        reopen_task(actor=world.ann, task_id=task.pk)
    assert seats(batch) == {sample.pk: 1}


def test_who_is_not_of_the_batch_takes_nothing(world: World) -> None:
    make_samples(world.project, 2)
    batch = pull(world, overlap=1, annotators=[world.ann])
    assert take(world.ben, batch) is None
    Membership.objects.filter(user=world.ann).update(is_active=False)
    assert take(world.ann, batch) is None


def test_a_paused_queue_gives_nothing_and_goes_on_where_it_was(world: World) -> None:
    make_samples(world.project, 3)
    batch = pull(world, overlap=1)
    task = must_take(world.ann, batch)
    for _twice in range(2):
        pause_batch(actor=world.alice, batch=batch)
    assert take(world.ann, batch) is None
    assert take(world.ben, batch) is None
    for refused in (lambda: say(world.ann, task, "answer", "grade", 1), lambda: finish(task)):
        with pytest.raises(Conflict) as error:
            refused()
        assert error.value.code == "batch_paused"
    for _twice in range(2):
        resume_batch(actor=world.alice, batch=batch)
    assert take(world.ann, batch) == task
    close_batch(batch=batch)
    assert take(world.ben, batch) is None


def test_what_was_sent_back_comes_first_then_earlier_batches(world: World) -> None:
    make_samples(world.project, 3)
    early, late = pull(world, overlap=1), pull(world, overlap=1)
    task = must_take(world.ann, late)
    finish(task)
    held = must_take(world.ann, early)
    Task.objects.filter(pk=task.pk).update(status="returned", return_message="Look again.")
    found = next_task(user=world.ann, project=world.project)
    assert found is not None
    assert (found["id"], found["leased"]) == (task.pk, True)
    after = next_task(user=world.ann, project=world.project, exclude=[task.pk])
    assert after is not None
    assert after["id"] == held.pk


def test_progress_counts_what_is_free_for_one(world: World) -> None:
    for number in range(1, 6):
        make_sample(world.project, number, metadata={"topic": "law"} if number > 3 else {})
    Membership.objects.filter(user=world.ann).update(tags=["law"])
    batch = pull(world, overlap=2, tag_key="topic", annotators=[world.ann, world.ben, world.chen], opened=False)
    Membership.objects.filter(user=world.ben).update(tags=["law"])
    from annotate.batches.steps import open_batch

    batch = open_batch(batch=batch)
    assert work_progress(user=world.ann, project=world.project) == {"total": 5, "done": 0, "skipped": 0, "left": 5}
    assert work_progress(user=world.chen, project=world.project)["left"] == 3
    finish(must_take(world.ann, batch))
    must_take(world.ann, batch)
    assert work_progress(user=world.ann, project=world.project) == {"total": 5, "done": 1, "skipped": 0, "left": 4}
    assert work_progress(user=world.ann, project=world.project, batch_number=batch.number)["left"] == 4


@pytest.mark.parametrize("done", [0, 1])
def test_what_is_given_to_someone_passes_nothing_over(world: World, done: int) -> None:
    """A task that an admin gives says nothing about how far the person has come in the queue."""
    make_samples(world.project, 4)
    batch = pull(world, overlap=1)
    for _time in range(done):
        finish(must_take(world.ann, batch))
    last = batch.tasks.order_by("position").last()
    assert last is not None
    reassign_tasks(actor=world.alice, project=world.project, task_ids=[last.pk], to=world.ann)
    counts = work_progress(user=world.ann, project=world.project)
    assert (counts["total"], counts["done"], counts["left"]) == (4, done, 4 - done)
    own = [must_take(world.ann, batch)]
    for _time in range(3 - done):
        finish(own[-1])
        own.append(must_take(world.ann, batch))
    assert own[0].pk == last.pk
    assert [task.sample.external_id for task in own[1:]] == ["s1", "s2", "s3"][done:]
