"""Real threads with connections of their own. A barrier alone forces no race, so where one statement guards something,
the race is forced inside: another transaction holds the lock until the statement is seen waiting for it."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest

from annotate.batches.steps import close_batch
from annotate.core.errors import Conflict, Invalid, Stale
from annotate.labels.consensus import settle_imported
from annotate.models import Label, LabelEvent, Sample, Task, Thread, ThreadMessage, Verdict
from annotate.tasks.labelling import Finished, skip_task, submit_task
from annotate.tasks.threads import ask, write
from annotate.verdicts.adjudication import accept_agreed, decide
from annotate.verdicts.proposals_read import agreed
from annotate.verdicts.read import Queue
from tests.annotate.factories import (
    World,
    concurrently,
    finish,
    label_all,
    make_sample,
    make_samples,
    make_world,
    plain,
    say,
    stored,
    while_holding,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann], overlap=1).tasks.get()


# One label


def test_fifty_times_the_same_request(world: World, task: Task) -> None:
    key = uuid.uuid4()
    results = concurrently(*[lambda: say(world.ann, task, "claim:0", "support", "yes", key=key, comment="c")] * 50)
    assert {plain(result) for result in results} == {plain(results[0])}
    assert results[0]["revision"] == 1
    assert (Label.objects.count(), LabelEvent.objects.count()) == (1, 1)


def test_fifty_times_the_same_edit(world: World, task: Task) -> None:
    say(world.ann, task, "claim:0", "support", "yes")
    key = uuid.uuid4()
    results = concurrently(*[lambda: say(world.ann, task, "claim:0", "support", "no", seen=1, key=key)] * 50)
    assert {plain(result) for result in results} == {plain(results[0])}
    assert results[0]["revision"] == 2
    assert LabelEvent.objects.count() == 2


def test_one_key_for_many_changes_lets_one_through(world: World, task: Task) -> None:
    key = uuid.uuid4()
    values = ["yes", "no", "unsure"] * 5
    results = concurrently(
        *[lambda v=value: say(world.ann, task, "claim:0", "support", v, key=key) for value in values]
    )
    saved = [result for result in results if isinstance(result, dict)]
    refused = [result for result in results if not isinstance(result, dict)]
    assert len({plain(reply) for reply in saved}) == 1
    assert {error.code for error in refused} == {"key_reused"}
    assert len(saved) == 5
    assert (Label.objects.count(), LabelEvent.objects.count()) == (1, 1)


@pytest.mark.parametrize("seen", [0, 1])
def test_of_twenty_stale_edits_one_wins(world: World, task: Task, seen: int) -> None:
    if seen:
        say(world.ann, task, "answer", "grade", 1)
    results = concurrently(
        *[lambda n=n: say(world.ann, task, "answer", "grade", n % 5 + 1, seen=seen, comment=f"c{n}") for n in range(20)]
    )
    winners = [result for result in results if isinstance(result, dict)]
    losers = [result for result in results if isinstance(result, Stale)]
    assert (len(winners), len(losers)) == (1, 19)
    assert all(loser.details["current"] == winners[0] for loser in losers)
    label = Label.objects.get()
    assert (label.comment, label.revision) == (winners[0]["comment"], seen + 1)
    assert LabelEvent.objects.count() == seen + 1


def test_different_labels_of_one_task_do_not_disturb_each_other(world: World) -> None:
    make_sample(world.project, claims=[{"text": f"c{n}", "start": None, "end": None} for n in range(20)])
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    results = concurrently(
        *[lambda n=n: say(world.ann, task, f"claim:{n}", "support", "yes", active_seconds=n + 1) for n in range(20)]
    )
    assert [result["unit"] for result in results] == [f"claim:{n}" for n in range(20)]
    assert (Label.objects.count(), LabelEvent.objects.count()) == (20, 20)
    task.refresh_from_db()
    assert (task.status, task.active_seconds) == ("in_progress", 20)


def test_a_first_save_that_loses_inside(world: World, task: Task) -> None:
    lost = while_holding(
        lambda: say(world.ann, task, "answer", "grade", 1), lambda: say(world.ann, task, "answer", "grade", 2)
    )
    assert isinstance(lost, Stale)
    assert lost.details["current"]["value"] == 1
    assert LabelEvent.objects.count() == 1


def test_a_repeat_that_overlaps_its_first_gets_the_same_reply(world: World, task: Task) -> None:
    key = uuid.uuid4()
    replies: list[Any] = []

    def once() -> Any:
        replies.append(say(world.ann, task, "answer", "grade", 1, key=key))
        return replies[-1]

    assert while_holding(once, once) == replies[0]
    assert LabelEvent.objects.count() == 1


def test_an_edit_that_loses_inside(world: World, task: Task) -> None:
    say(world.ann, task, "answer", "grade", 1)
    lost = while_holding(
        lambda: say(world.ann, task, "answer", "grade", 2, seen=1),
        lambda: say(world.ann, task, "answer", "grade", 3, seen=1),
    )
    assert isinstance(lost, Stale)
    assert (Label.objects.get().value, LabelEvent.objects.count()) == (2, 2)


# Submitting


def test_thirty_times_the_same_submit(world: World, task: Task) -> None:
    label_all(task)
    results = concurrently(*[lambda: submit_task(actor=world.ann, task_id=task.pk, active_seconds=5)] * 30)
    assert results == [Finished(task.pk, task.batch_id, "submitted")] * 30
    assert Verdict.objects.count() == 3
    assert set(Verdict.objects.values_list("state", "method", "revision")) == {("settled", "unanimous", 1)}


def test_submit_against_skip(world: World) -> None:
    make_samples(world.project, 10)
    for task in world.batch(annotators=[world.ann], overlap=1).tasks.all():
        label_all(task)
        results = concurrently(
            lambda task=task: submit_task(actor=world.ann, task_id=task.pk),
            lambda task=task: skip_task(actor=world.ann, task_id=task.pk, reason="No."),
        )
        assert Counter(type(result) for result in results) == {Finished: 1, Conflict: 1}
        task.refresh_from_db()
        assert task.status == next(result.status for result in results if isinstance(result, Finished))
        assert Verdict.objects.filter(sample=task.sample).exists() == (task.status == "submitted")


def test_taking_a_choice_back_inside_a_submit_leaves_it_incomplete(world: World, task: Task) -> None:
    label_all(task)
    result = while_holding(
        lambda: say(world.ann, task, "answer", "grade", None, seen=1),
        lambda: submit_task(actor=world.ann, task_id=task.pk),
    )
    assert isinstance(result, Invalid)
    assert result.details["missing"] == [{"unit": "answer", "criterion": "grade"}]
    task.refresh_from_db()
    assert task.status == "in_progress"
    assert not Verdict.objects.exists()


def test_an_edit_inside_a_submit_is_in_the_verdict(world: World, task: Task) -> None:
    label_all(task, grade=1)
    result = while_holding(
        lambda: say(world.ann, task, "answer", "grade", 5, seen=1),
        lambda: submit_task(actor=world.ann, task_id=task.pk),
    )
    assert isinstance(result, Finished)
    verdict = Verdict.objects.get(unit="answer")
    assert (verdict.value, verdict.votes[0]["revision"]) == (5, 2)


def test_an_autosave_inside_a_submit_is_refused(world: World, task: Task) -> None:
    label_all(task, grade=1)
    result = while_holding(
        lambda: submit_task(actor=world.ann, task_id=task.pk),
        lambda: say(world.ann, task, "answer", "grade", 5, seen=1),
    )
    assert isinstance(result, Conflict)
    assert (result.status, result.code) == (409, "task_submitted")
    task.refresh_from_db()
    assert (task.status, Label.objects.get(unit="answer").value) == ("submitted", 1)


def test_a_submit_of_a_batch_that_closes_meanwhile(world: World) -> None:
    make_samples(world.project, 8)
    for task in world.batch(annotators=[world.ann], overlap=1).tasks.all():
        label_all(task)
    for task in Task.objects.all():
        batch = task.batch
        submitted, closed = concurrently(
            lambda task=task: submit_task(actor=world.ann, task_id=task.pk),
            lambda batch=batch: close_batch(batch=batch),
        )
        assert closed == batch
        task.refresh_from_db()
        assert (task.status == "submitted") == isinstance(submitted, Finished)
        assert isinstance(submitted, Finished) or submitted.code == "batch_not_open"
        type(batch).objects.filter(pk=batch.pk).update(status="open", closed_at=None)


# Two people finish one sample


def test_the_last_two_of_a_sample_in_thirty_rounds(world: World) -> None:
    make_samples(world.project, 30)
    batch = world.batch(annotators=[world.ann, world.ben], overlap=2)
    for sample in Sample.objects.all():
        pair = list(batch.tasks.filter(sample=sample))
        for task in pair:
            label_all(task)
        results = concurrently(*[lambda t=task: submit_task(actor=t.annotator, task_id=t.pk) for task in pair])
        assert all(isinstance(result, Finished) for result in results), results
        verdicts = list(Verdict.objects.filter(sample=sample))
        assert Counter(verdict.unit for verdict in verdicts) == {"claim:0": 1, "claim:1": 1, "answer": 1}
        assert all(verdict.state == "settled" and len(verdict.votes) == 2 for verdict in verdicts)
        assert {verdict.revision for verdict in verdicts} == {1}


def test_the_second_waits_for_the_first_and_sees_it(world: World) -> None:
    sample = make_sample(world.project)
    first, second = world.batch(annotators=[world.ann, world.ben], overlap=2).tasks.all()
    label_all(first)
    label_all(second)
    result = while_holding(
        lambda: submit_task(actor=first.annotator, task_id=first.pk),
        lambda: submit_task(actor=second.annotator, task_id=second.pk),
    )
    assert isinstance(result, Finished)
    assert [len(verdict.votes) for verdict in sample.verdicts.all()] == [2, 2, 2]


def test_one_sample_in_two_batches_finished_at_the_same_moment(world: World) -> None:
    """Each batch settles the sample; the later one must count the earlier one's votes."""
    sample = make_sample(world.project)
    here = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    there = world.batch(annotators=[world.ben], overlap=1).tasks.get()
    label_all(here, grade=4)
    label_all(there, grade=2)
    result = while_holding(
        lambda: submit_task(actor=world.ann, task_id=here.pk), lambda: submit_task(actor=world.ben, task_id=there.pk)
    )
    assert isinstance(result, Finished), result
    verdict = sample.verdicts.get(unit="answer")
    assert [(vote["rater"], vote["value"]) for vote in verdict.votes] == [("ann", 4), ("ben", 2)]
    assert verdict.state == "disputed"


def test_settling_imported_labels_while_an_annotator_submits(world: World) -> None:
    sample = make_sample(world.project)
    grade = world.criteria("grade")[0]
    chen = world.project.raters.get(user=world.chen)
    Label.objects.create(rater=chen, sample=sample, unit="answer", criterion=grade, value=4)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    label_all(task)
    result = while_holding(
        lambda: submit_task(actor=world.ann, task_id=task.pk),
        lambda: settle_imported(project=world.project, criterion=grade, needed=1),
    )
    assert result == 0, "everything was settled already by the submission"
    assert len(sample.verdicts.get(unit="answer").votes) == 2


def test_many_people_drain_a_batch_without_a_hole(world: World) -> None:
    make_samples(world.project, 12)
    batch = world.batch(annotators=world.annotators, overlap=3)

    def drain(person: Any) -> int:
        tasks = list(batch.tasks.filter(annotator=person).select_related("annotator", "sample", "batch"))
        for task in tasks:
            finish(task)
        return len(tasks)

    assert concurrently(*[lambda p=person: drain(p) for person in world.annotators]) == [12, 12, 12]
    assert Verdict.objects.count() == 12 * 3
    assert all(len(verdict.votes) == 3 and verdict.revision == 1 for verdict in Verdict.objects.all())


# Reviewers


def disputed(world: World) -> Verdict:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben], overlap=2)
    finish(batch.tasks.get(annotator=world.ann), grade=1)
    finish(batch.tasks.get(annotator=world.ben), grade=5)
    return Verdict.objects.get(unit="answer")


def test_of_two_reviewers_one_wins(world: World) -> None:
    verdict = disputed(world)

    def decide_as(user: Any, value: int) -> Any:
        return decide(
            reviewer=user, project=world.project, verdict_id=verdict.pk, value=value, reason="So.", expected_revision=1
        )

    results = concurrently(*[lambda n=n: decide_as((world.rita, world.alice)[n % 2], n % 2 + 1) for n in range(10)])
    won = [result for result in results if isinstance(result, Verdict)]
    lost = [result for result in results if isinstance(result, Stale)]
    assert (len(won), len(lost)) == (5, 5), "the winner's repeats are harmless, the other's are stale"
    assert len({(verdict.decided_by_id, verdict.value) for verdict in won}) == 1
    verdict.refresh_from_db()
    assert (verdict.revision, verdict.state, verdict.value) == (2, "settled", won[0].value)
    assert all(error.details["current"].value == verdict.value for error in lost)


def test_a_decision_on_votes_that_change_inside_is_stale(world: World) -> None:
    verdict = disputed(world)
    task = world.batch(annotators=[world.chen], overlap=1).tasks.get()
    label_all(task, grade=5)
    before = stored()["labels"]
    result = while_holding(
        lambda: submit_task(actor=world.chen, task_id=task.pk),
        lambda: decide(
            reviewer=world.rita,
            project=world.project,
            verdict_id=verdict.pk,
            value=3,
            reason="So.",
            expected_revision=1,
        ),
    )
    assert isinstance(result, Stale)
    verdict.refresh_from_db()
    assert (verdict.method, verdict.value, verdict.revision) == ("majority", 5, 2)
    assert stored()["labels"] == before


def test_decisions_against_submissions_at_once(world: World) -> None:
    """Whichever comes first: a decision rests on the votes that its reviewer saw, or it is stale. A vote that comes
    later reopens it, and never changes its value."""
    samples = make_samples(world.project, 12)
    for sample in samples:
        first = world.batch(annotators=[world.ann, world.ben], selection=listed(sample))
        finish(first.tasks.get(annotator=world.ann), grade=1)
        finish(first.tasks.get(annotator=world.ben), grade=5)
        task = world.batch(annotators=[world.chen], overlap=1, selection=listed(sample)).tasks.get()
        label_all(task, grade=5)
        verdict = Verdict.objects.get(sample=sample, unit="answer")
        decision, submission = concurrently(
            lambda verdict=verdict: decide(
                reviewer=world.rita, project=world.project, verdict_id=verdict.pk, value=3, reason="So.",
                expected_revision=1,
            ),
            lambda task=task: submit_task(actor=world.chen, task_id=task.pk),
        )  # fmt: skip
        assert submission.status == "submitted"
        verdict.refresh_from_db()
        assert [vote["value"] for vote in verdict.votes] == [1, 5, 5]
        if isinstance(decision, Stale):
            assert (verdict.state, verdict.value, verdict.method) == ("settled", 5, "majority")
        else:
            assert (verdict.state, verdict.value, verdict.method) == ("reopened", 3, "adjudicated")
            assert [vote["value"] for vote in verdict.decided_votes] == [1, 5]


def test_a_bulk_acceptance_against_submissions_at_once(world: World) -> None:
    """What is settled rests on the votes that were looked at; the rest is left; neither waits for ever."""
    samples = make_samples(world.project, 8)
    for number, sample in enumerate(samples):
        first = world.batch(annotators=[world.ann, world.ben], selection=listed(sample))
        for person in (world.ann, world.ben):
            finish(first.tasks.get(annotator=person), support="yes", grade=4)
        Verdict.objects.filter(sample=sample).update(state="disputed", value=None, method="", confidence=None)
        if number % 2 == 0:
            task = world.batch(annotators=[world.chen], overlap=1, selection=listed(sample)).tasks.get()
            label_all(task, support="yes", grade=4)
    preview = agreed(Queue(world.project, reader=world.rita), agreement=0.9, votes=2)
    seen = [[one.id, one.revision, one.value] for one in preview.proposals]
    assert len(seen) == 24
    tasks = list(Task.objects.filter(annotator=world.chen))
    accepted, *submitted = concurrently(
        lambda: accept_agreed(
            reviewer=world.rita, project=world.project, agreement=0.9, votes=2, seen=seen, reason="All agree."
        ),
        *[lambda task=task: submit_task(actor=world.chen, task_id=task.pk) for task in tasks],
    )
    assert all(done.status == "submitted" for done in submitted)
    assert accepted.settled + accepted.left == 24
    assert accepted.settled >= 12
    in_bulk = Verdict.objects.filter(method="accepted")
    assert in_bulk.count() == accepted.settled
    for verdict in in_bulk:
        assert len(verdict.decided_votes) == 2
        assert verdict.state == ("settled" if len(verdict.votes) == 2 else "reopened")


def test_the_same_question_and_the_same_answer_twice_at_once(world: World) -> None:
    make_sample(world.project)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    key, other = uuid.uuid4(), uuid.uuid4()
    asked = concurrently(*2 * [lambda: ask(actor=world.ann, task_id=task.pk, text="Of what?", idempotency_key=key)])
    assert asked == 2 * [Thread.objects.get()]
    given = {"project": world.project, "thread_id": asked[0].pk, "text": "Of that.", "idempotency_key": other}
    assert concurrently(*2 * [lambda: write(actor=world.rita, **given)]) == asked
    assert list(ThreadMessage.objects.values_list("number", "text")) == [(1, "Of what?"), (2, "Of that.")]
    # One key for two threads at once writes in one of them.
    second = ask(actor=world.ann, task_id=task.pk, text="And of what?", idempotency_key=uuid.uuid4())
    given |= {"idempotency_key": uuid.uuid4()}
    written = concurrently(
        *[
            lambda pk=pk: write(actor=world.rita, **{**given, "thread_id": pk})  # type: ignore[misc]
            for pk in (asked[0].pk, second.pk)
        ]
    )
    assert sorted(getattr(one, "code", "written") for one in written) == ["key_reused", "written"]


def listed(sample: Sample) -> dict[str, Any]:
    return {"method": "list", "samples": [sample.external_id]}
