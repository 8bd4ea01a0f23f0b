"""Taking a submission back while the batch is open."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest
from django.http import Http404

from annotate.batches.steps import close_batch
from annotate.core.errors import Conflict, Stale
from annotate.labels.read import counting_labels
from annotate.models import Batch, LabelEvent, Task, Verdict
from annotate.models.batch import Purpose
from annotate.tasks.labelling import Finished, skip_task, submit_task
from annotate.tasks.read import next_task, own_task
from annotate.tasks.write import reopen_task
from tests.annotate.factories import (
    World,
    concurrently,
    decide_unit,
    finish,
    label_all,
    make_sample,
    make_samples,
    make_world,
    say,
    stored,
)


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def test_labels_stay_and_count_again_after_the_next_submission(world: World, task: Task) -> None:
    finish(task)
    before = stored()["labels"]
    assert reopen_task(actor=world.ann, task_id=task.pk) == Finished(task.pk, task.batch_id, "in_progress")
    task.refresh_from_db()
    assert (task.status, task.submitted_at) == ("in_progress", None)
    assert stored()["labels"] == before
    assert not counting_labels().exists()
    assert next_task(user=world.ann, project=world.project) is not None
    say(world.ann, task, "claim:0", "support", "no", seen=1)
    submit_task(actor=world.ann, task_id=task.pk)
    assert counting_labels().get(unit="claim:0").value == "no"
    assert LabelEvent.objects.filter(label__unit="claim:0").count() == 2


def test_repeating_it_changes_nothing(world: World, task: Task) -> None:
    finish(task)
    reopen_task(actor=world.ann, task_id=task.pk)
    before = stored()
    assert reopen_task(actor=world.ann, task_id=task.pk).status == "in_progress"
    assert stored() == before


def test_a_skipped_task_loses_its_reason(world: World, task: Task) -> None:
    skip_task(actor=world.ann, task_id=task.pk, reason="No idea.")
    reopen_task(actor=world.ann, task_id=task.pk)
    task.refresh_from_db()
    assert (task.status, task.skip_reason) == ("in_progress", "")


def test_what_is_refused(world: World, task: Task) -> None:
    finish(task)
    with pytest.raises(Http404):
        reopen_task(actor=world.ben, task_id=task.pk)
    close_batch(batch=task.batch)
    before = stored()
    with pytest.raises(Conflict) as refused:
        reopen_task(actor=world.ann, task_id=task.pk)
    assert refused.value.code == "batch_not_open"
    assert stored() == before
    Task.objects.filter(pk=task.pk).update(status="released")
    Batch.objects.filter(pk=task.batch_id).update(status="open")
    with pytest.raises(Conflict, match="reassigned"):
        reopen_task(actor=world.ann, task_id=task.pk)


@pytest.mark.parametrize("shown", [True, False])
def test_known_answers_that_were_shown_are_not_copied(world: World, task: Task, shown: bool) -> None:
    """Without feedback a gold task is like any other, or one could tell which it was."""
    finish(task)
    Task.objects.filter(pk=task.pk).update(purpose=Purpose.GOLD)
    Batch.objects.filter(pk=task.batch_id).update(gold_feedback=shown)
    if shown:
        with pytest.raises(Conflict, match="known answers"):
            reopen_task(actor=world.ann, task_id=task.pk)
    else:
        assert reopen_task(actor=world.ann, task_id=task.pk).status == "in_progress"


def test_an_adjudicated_verdict_is_reopened_by_a_changed_answer_only(world: World, task: Task) -> None:
    finish(task)
    finish(task.batch.tasks.get(annotator=world.ben), support="no")
    verdict = Verdict.objects.get(unit="claim:0")
    decide_unit(world.rita, verdict, "yes")
    reopen_task(actor=world.ann, task_id=task.pk)
    submit_task(actor=world.ann, task_id=task.pk)
    verdict.refresh_from_db()
    assert (verdict.state, verdict.revision) == ("settled", 2)
    reopen_task(actor=world.ann, task_id=task.pk)
    say(world.ann, task, "claim:0", "support", "unsure", seen=1)
    verdict.refresh_from_db()
    assert verdict.state == "settled", "not before it is submitted"
    submit_task(actor=world.ann, task_id=task.pk)
    verdict.refresh_from_db()
    assert (verdict.state, verdict.value, verdict.revision) == ("reopened", "yes", 3)


def test_what_a_reviewer_sent_back_comes_first_with_the_message(world: World) -> None:
    make_samples(world.project, 4)
    batch = world.batch(annotators=[world.ann], overlap=1)
    last = batch.tasks.order_by("-position")[0]
    finish(last)
    Task.objects.filter(pk=last.pk).update(status="returned", return_message="Look at claim 2.", returned_by=world.rita)
    shown = next_task(user=world.ann, project=world.project)
    assert shown is not None
    assert (shown["id"], shown["return_message"], shown["returned_by"]) == (last.pk, "Look at claim 2.", None)
    # Still first once it was begun; not when the browser holds it already.
    say(world.ann, last, "claim:1", "support", "no", seen=1)
    assert next_task(user=world.ann, project=world.project)["id"] == last.pk  # type: ignore[index]
    assert next_task(user=world.ann, project=world.project, exclude=[last.pk])["id"] != last.pk  # type: ignore[index]
    world.project.show_names = True
    world.project.save(update_fields=["show_names"])
    assert own_task(user=world.ann, task_id=last.pk)["returned_by"] == "rita"
    submit_task(actor=world.ann, task_id=last.pk)
    last.refresh_from_db()
    assert (last.return_message, last.returned_by) == ("", None)
    assert own_task(user=world.ann, task_id=last.pk)["returned_by"] is None


# At the same time


@pytest.mark.django_db(transaction=True)
def test_taking_back_against_deciding(transactional_db: None) -> None:
    """Whatever comes first: the decision stands on the votes it was made of, or is told that they changed."""
    world = make_world()
    make_samples(world.project, 12)
    batch = world.batch(annotators=[world.ann, world.ben])
    for task in batch.tasks.select_related("annotator", "batch", "sample"):
        finish(task, support="yes" if task.annotator == world.ann else "no")
    outcomes: Counter[str] = Counter()
    for task in batch.tasks.filter(annotator=world.ann).select_related("annotator", "batch", "sample"):
        verdict = Verdict.objects.get(sample=task.sample, unit="claim:0")

        def change(task: Task = task) -> Any:
            reopen_task(actor=world.ann, task_id=task.pk)
            say(world.ann, task, "claim:0", "support", "unsure", seen=1)
            return submit_task(actor=world.ann, task_id=task.pk)

        def settle(verdict: Verdict = verdict) -> Any:
            return decide_unit(world.rita, verdict, "no")

        changed, decided = concurrently(change, settle)
        assert isinstance(changed, Finished), changed
        verdict.refresh_from_db()
        outcomes[verdict.state] += 1
        assert {vote["value"] for vote in verdict.votes} == {"unsure", "no"}
        if isinstance(decided, Verdict):
            assert (verdict.state, verdict.value) == ("reopened", "no")
        else:
            assert isinstance(decided, Stale)
            assert (verdict.state, verdict.value) == ("disputed", None)
    assert sum(outcomes.values()) == 12


@pytest.mark.django_db(transaction=True)
def test_taking_back_against_submitting_and_skipping(transactional_db: None) -> None:
    world = make_world()
    make_samples(world.project, 5)
    for task in world.batch(annotators=[world.ann], overlap=1).tasks.select_related("annotator", "batch", "sample"):
        label_all(task)
        results = concurrently(
            *[lambda task=task: submit_task(actor=world.ann, task_id=task.pk)] * 4,
            *[lambda task=task: reopen_task(actor=world.ann, task_id=task.pk)] * 4,
        )
        assert all(isinstance(result, Finished) for result in results), results
        task.refresh_from_db()
        assert task.status in ("submitted", "in_progress")
        assert (task.submitted_at is not None) == (task.status == "submitted")
        # A verdict may rest on what was submitted in between; once submitted again, there is one of each unit.
        submit_task(actor=world.ann, task_id=task.pk)
        assert Verdict.objects.filter(sample=task.sample, state="settled").count() == 3


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_thousand_submissions_each_sent_again_and_again(transactional_db: None) -> None:
    """Every choice twice under its key, every submission twice: two go through the same tasks side by side, and
    twenty-five such pairs at once."""
    world = make_world()
    make_samples(world.project, 500, claims=[{"text": "c", "start": None, "end": None}])
    batch = world.batch(annotators=[world.ann, world.ben])
    tasks = list(batch.tasks.select_related("annotator", "batch", "sample"))
    assert len(tasks) == 1000
    keys = {task.pk: uuid.uuid4() for task in tasks}

    def label(task: Task) -> Any:
        return say(task.annotator, task, "claim:0", "support", "yes", key=keys[task.pk])

    def grade(task: Task) -> Any:
        return say(task.annotator, task, "answer", "grade", 3)

    shares = [tasks[first::25] for first in range(25)]
    concurrently(*[lambda share=share: [(label(task), grade(task)) for task in share] for share in shares])
    results = concurrently(
        *[
            lambda share=share: [(label(task), submit_task(actor=task.annotator, task_id=task.pk)) for task in share]
            for share in [*shares, *shares]
        ]
    )
    assert not [result for result in results if isinstance(result, Exception)]
    assert LabelEvent.objects.filter(label__criterion__key="support").count() == 1000
    assert counting_labels().filter(criterion__key="support").count() == 1000
    assert batch.tasks.filter(status="submitted").count() == 1000
    assert Verdict.objects.filter(state="settled", method="unanimous").count() == 1000
