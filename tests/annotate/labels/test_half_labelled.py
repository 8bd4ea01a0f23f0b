"""Batches that end before all annotators are done, and that go on after all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotate.batches.steps import close_batch, reopen_batch, start_adjudication
from annotate.core.errors import Conflict
from annotate.members.write import deactivate_member
from annotate.models import AuditEntry, Batch, Membership, Sample, Task, Verdict
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import return_task
from annotate.verdicts.read import Queue
from tests.annotate.factories import (
    World,
    concurrently,
    decide_unit,
    finish,
    label_all,
    make_sample,
    make_samples,
    make_world,
    must_take,
)


def task_of(batch: Batch, user: Any, sample: Sample | None = None) -> Task:
    tasks = batch.tasks.select_related("annotator", "sample", "batch").filter(annotator=user)
    return (tasks if sample is None else tasks.filter(sample=sample)).get()


def grade_of(sample: Sample) -> tuple[str, Any, int]:
    verdict = Verdict.objects.get(sample=sample, criterion__key="grade")
    return verdict.state, verdict.value, len(verdict.votes)


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def waiting(world: World, state: str = "") -> list[str]:
    return [verdict.unit for verdict in Queue(world.project, reader=world.rita, state=state)]


@pytest.mark.parametrize("end", [start_adjudication, close_batch])
def test_what_was_submitted_counts_when_a_batch_ends(world: World, end: Callable[..., Any]) -> None:
    few, split = make_samples(world.project, 2)
    batch = world.batch(criteria=["grade"], overlap=3)
    finish(task_of(batch, world.ann, few))
    finish(task_of(batch, world.ben, few))
    finish(task_of(batch, world.ann, split), grade=2)
    # Not submitted: no vote.
    label_all(task_of(batch, world.ben, split), grade=5)
    end(batch=batch, actor=world.alice)
    assert grade_of(few) == ("disputed", None, 2), "two votes that agree, but three were asked for"
    assert grade_of(split) == ("disputed", None, 1)
    assert len(waiting(world, "short")) == 2
    entry = AuditEntry.objects.get(action__in=["batch.adjudicating", "batch.closed"])
    assert entry.details["verdicts"] == 2


def test_ending_twice_counts_once(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    finish(task_of(batch, world.ann))
    start_adjudication(batch=batch)
    before = Verdict.objects.values().get()
    close_batch(batch=batch)
    assert Verdict.objects.values().get() == before
    assert grade_of(sample) == ("disputed", None, 1)


def test_a_free_copy_that_was_not_taken_holds_nothing_up(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben], strategy="pull")
    finish(must_take(world.ann, batch))
    close_batch(batch=batch)
    assert grade_of(sample) == ("disputed", None, 1)


def test_a_batch_that_goes_on_takes_its_half_labelled_samples_from_the_reviewers(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    finish(task_of(batch, world.ann))
    close_batch(batch=batch)
    assert waiting(world) == ["answer"]
    reopen_batch(batch=batch)
    assert waiting(world) == waiting(world, "short") == waiting(world, "disputed") == []
    finish(task_of(batch, world.ben))
    assert grade_of(sample) == ("settled", 4, 2)


def test_what_a_reviewer_decided_meanwhile_stands_and_is_looked_at_again(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    finish(task_of(batch, world.ann))
    close_batch(batch=batch)
    verdict = Verdict.objects.get()
    decide_unit(world.rita, verdict, 5, "It is.")
    reopen_batch(batch=batch)
    assert grade_of(sample) == ("settled", 5, 1)
    finish(task_of(batch, world.ben))
    assert grade_of(sample) == ("reopened", 5, 2)
    assert waiting(world, "reopened") == ["answer"]


def test_what_was_sent_back_and_never_came_waits_for_the_reviewers(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    for user in (world.ann, world.ben):
        finish(task_of(batch, user))
    sent = task_of(batch, world.ben)
    return_task(actor=world.rita, project=world.project, task_id=sent.pk, message="Read it again.")
    assert grade_of(sample) == ("settled", 4, 2)
    close_batch(batch=batch)
    assert grade_of(sample) == ("disputed", None, 1)
    assert (waiting(world), waiting(world, "returned")) == (["answer"], [])
    reopen_batch(batch=batch)
    submit_task(actor=world.ben, task_id=sent.pk)
    assert grade_of(sample) == ("settled", 4, 2)


# People who have left meanwhile


def test_open_tasks_of_who_left_meanwhile_are_handed_on(world: World) -> None:
    make_samples(world.project, 3)
    batch = world.batch(criteria=["grade"], overlap=2, annotators=[world.ann, world.ben, world.chen])
    held = batch.tasks.filter(annotator=world.ben).count()
    close_batch(batch=batch)
    assert deactivate_member(actor=world.alice, project=world.project, user=world.ben) == 0
    moved = reopen_batch(batch=batch, actor=world.alice)
    assert moved.taken == held == moved.handed_on + moved.given_up > 0
    open_tasks = batch.tasks.filter(status__in=["pending", "in_progress", "returned"])
    assert not open_tasks.filter(annotator=world.ben).exists()
    assert open_tasks.count() == 6 - moved.given_up
    entry = AuditEntry.objects.get(action="tasks.handed_on")
    assert (entry.actor, entry.subject, entry.details["tasks"]) == (world.alice, "ben", held)


def test_the_page_and_the_api_say_what_was_handed_on(world: World, client: Client) -> None:
    make_samples(world.project, 2)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben], overlap=1)
    client.force_login(world.alice)
    for user, other in ((world.ben, world.ann), (world.ann, world.ben)):
        close_batch(batch=batch)
        Membership.objects.filter(user=user).update(is_active=False)
        Membership.objects.filter(user=other).update(is_active=True)
        held = batch.tasks.filter(annotator=user).count()
        if user == world.ben:
            shown = client.post("/p/desk/batches/1/reopen/", follow=True).content.decode()
            assert "1 unfinished task of former members was reassigned." in shown
        else:
            reply = client.post("/api/projects/desk/batches/1/reopen/", content_type="application/json").json()
            assert (reply["status"], reply["handed_on"], reply["given_up"]) == ("open", 2, 0)
            assert held == 2


def test_a_sample_that_no_other_annotator_can_label_is_worked_out(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    finish(task_of(batch, world.ann))
    close_batch(batch=batch)
    Membership.objects.filter(user=world.ben).update(is_active=False)
    moved = reopen_batch(batch=batch)
    assert (moved.taken, moved.handed_on, moved.given_up) == (1, 0, 1)
    assert grade_of(sample) == ("disputed", None, 1)
    assert waiting(world, "short") == ["answer"]


def test_free_tasks_and_people_who_stayed_keep_what_they_have(world: World) -> None:
    make_samples(world.project, 2)
    batch = world.batch(criteria=["grade"], overlap=1, strategy="pull")
    held = must_take(world.ann, batch)
    close_batch(batch=batch)
    assert reopen_batch(batch=batch).taken == 0
    held.refresh_from_db()
    assert held.annotator == world.ann
    assert batch.tasks.filter(annotator=None).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_submission_at_the_moment_of_closing_is_counted_or_refused() -> None:
    world = make_world()
    for sample in make_samples(world.project, 4):
        selection = {"method": "list", "samples": [sample.external_id]}
        batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben], selection=selection)
        finish(task_of(batch, world.ann))
        task = task_of(batch, world.ben)
        label_all(task)
        submitted, closed = concurrently(
            lambda task=task: submit_task(actor=world.ben, task_id=task.pk),
            lambda batch=batch: close_batch(batch=batch),
        )
        assert not isinstance(closed, Exception), closed
        assert grade_of(sample) == (("disputed", None, 1) if isinstance(submitted, Conflict) else ("settled", 4, 2))
