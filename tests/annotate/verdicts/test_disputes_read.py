"""One unit as a reviewer sees it: letters, who could not tell, what changed, the rest of the sample, sending back."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.http import Http404
from django.utils import timezone

from annotate.batches.steps import close_batch
from annotate.core.blindness import still_to_label
from annotate.core.errors import Conflict, Invalid
from annotate.labels.consensus import settle_imported
from annotate.labels.read import was_after_answer
from annotate.models import AuditEntry, Batch, Criterion, Label, Task, Verdict
from annotate.models.batch import TaskStatus
from annotate.tasks.labelling import submit_task
from annotate.tasks.threads import ask as ask_reviewers
from annotate.tasks.threads import write
from annotate.tasks.write import reopen_task
from annotate.verdicts.adjudication import send_back, show_names
from annotate.verdicts.disputes_read import Dispute, Said, letter, one_dispute, people_of
from annotate.verdicts.ratings_read import compared_after_answer
from annotate.verdicts.read import Queue
from tests.annotate.factories import World, decide_unit, finish, make_sample, say
from tests.annotate.labels.test_consensus import imported


@pytest.fixture
def verdict(world: World) -> Verdict:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben])
    for person, grade in ((world.ben, 5), (world.ann, 1)):
        finish(batch.tasks.get(annotator=person), grade=grade)
    return Verdict.objects.select_related("sample", "criterion").get(unit="answer")


def shown_to_rita(world: World, verdict: Verdict) -> Dispute:
    return one_dispute(world.project, verdict.pk, reader=world.rita, named=world.project.show_names)


def test_letters_count_like_columns() -> None:
    assert [letter(n) for n in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        "A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_letters_stay_when_an_annotator_joins(world: World, verdict: Verdict) -> None:
    before = people_of(verdict.sample, named=False)
    assert before.letters == {"ben": "A", "ann": "B"}, "in the order in which they began, not by name"
    imported(world, verdict.sample, "claim:0", world.criteria("support")[0], "no")
    after = people_of(verdict.sample, named=False)
    assert after.letters == {"ben": "A", "ann": "B", "crowd-0": "C"}
    assert after.who("ben") == "Annotator A"
    world.ben.display_name = "Benno"
    world.ben.save()
    assert people_of(verdict.sample, named=True).who("ben") == "Benno"


def test_names_only_where_the_project_shows_them(world: World, verdict: Verdict) -> None:
    def who() -> set[str]:
        return {label.who for label in shown_to_rita(world, verdict).labels}

    assert who() == {"Annotator A", "Annotator B"}
    world.project.show_names = True
    assert who() == {"ann", "ben"}


def test_switching_names_on_is_noted(world: World) -> None:
    show_names(actor=world.alice, project=world.project, shown=True)
    last = AuditEntry.objects.latest("pk")
    assert (last.actor, last.action, last.project) == (world.alice, "adjudication.names_shown", world.project)


def test_a_label_given_after_an_answer_about_it_is_marked(world: World, verdict: Verdict) -> None:
    """Before the answer, of another unit, another criterion or another annotator's task, it is not."""
    task = verdict.sample.tasks.get(annotator=world.ann)
    reopen_task(actor=world.ann, task_id=task.pk)
    later = timezone.now() + timedelta(hours=1)

    def marked() -> dict[str, bool]:
        assert compared_after_answer(verdict.criterion) == sum(label.after_answer for label in of_verdict())
        return {label.letter: label.after_answer for label in of_verdict()}

    def of_verdict() -> list[Said]:
        return Dispute(verdict, people_of(verdict.sample, named=False)).labels

    def answer(**about: str) -> None:
        thread = ask_reviewers(actor=world.ann, task_id=task.pk, text="Sure?", idempotency_key=uuid.uuid4(), **about)
        write(actor=world.rita, project=world.project, thread_id=thread.pk, text="Yes.", idempotency_key=uuid.uuid4())

    with_help = {"unit": "answer", "criterion": "grade"}
    ask_reviewers(actor=world.ann, task_id=task.pk, text="Who?", idempotency_key=uuid.uuid4(), **with_help)
    answer(unit="claim:0", criterion="support")
    labels = Label.objects.filter(unit="answer")
    labels.update(updated_at=later)
    submit_task(actor=world.ann, task_id=task.pk)
    assert marked() == {"A": False, "B": False}, "asked, but answered is only what is about another unit"
    reopen_task(actor=world.ann, task_id=task.pk)
    answer(**with_help)
    submit_task(actor=world.ann, task_id=task.pk)
    assert marked() == {"A": False, "B": True}
    labels.filter(rater__name="ann").update(updated_at=later - timedelta(hours=2))
    assert marked() == {"A": False, "B": False}, "the answer came afterwards"


def test_an_answer_about_the_whole_sample_marks_each_label_of_the_task(world: World, verdict: Verdict) -> None:
    task = verdict.sample.tasks.get(annotator=world.ann)
    reopen_task(actor=world.ann, task_id=task.pk)
    thread = ask_reviewers(actor=world.ann, task_id=task.pk, text="A duplicate?", idempotency_key=uuid.uuid4())
    write(actor=world.rita, project=world.project, thread_id=thread.pk, text="No.", idempotency_key=uuid.uuid4())
    Label.objects.update(updated_at=timezone.now() + timedelta(hours=1))
    submit_task(actor=world.ann, task_id=task.pk)
    marked = Label.objects.filter(was_after_answer()).values_list("rater__name", "unit")
    assert set(marked) == set(Label.objects.filter(task=task).values_list("rater__name", "unit"))


def test_who_could_not_tell_stands_beside_the_votes(world: World, verdict: Verdict) -> None:
    label = Label.objects.get(rater__name="ann", unit="answer")
    Label.objects.filter(pk=label.pk).update(value=None, cant_tell="It is not in English.")
    verdict.votes = [vote for vote in verdict.votes if vote["rater"] == "ben"]
    said = Dispute(verdict, people_of(verdict.sample, named=False)).labels
    assert [(one.letter, one.value, one.cant_tell) for one in said] == [
        ("A", 5, ""),
        ("B", None, "It is not in English."),
    ]


def test_cant_tell_in_an_open_task_is_not_shown_yet(world: World, verdict: Verdict) -> None:
    Label.objects.filter(rater__name="ann", unit="answer").update(value=None, cant_tell="Draft")
    Task.objects.filter(annotator=world.ann).update(status=TaskStatus.IN_PROGRESS)
    verdict.votes = verdict.votes[:1]
    assert len(Dispute(verdict, people_of(verdict.sample, named=False)).labels) == 1


def test_a_decision_pins_the_votes_it_rests_on_and_tells_what_reopened_it(world: World, verdict: Verdict) -> None:
    done = decide_unit(world.rita, verdict, 5, "The second one.")
    assert done.decided_votes == verdict.votes
    assert done.decided_at is not None
    people = people_of(verdict.sample, named=False)
    assert Dispute(done, people).changes == []
    task = Task.objects.get(annotator=world.ann)
    Task.objects.filter(pk=task.pk).update(status=TaskStatus.RETURNED, return_message="Again, please.")
    say(world.ann, task, "answer", "grade", 4, seen=1)
    submit_task(actor=world.ann, task_id=task.pk)
    imported(world, verdict.sample, "answer", world.criteria("grade")[0], 2)
    settle_imported(project=world.project, criterion=world.criteria("grade")[0], needed=1)
    verdict.refresh_from_db()
    assert (verdict.state, verdict.value, verdict.reason) == ("reopened", 5, "The second one.")
    found = Dispute(verdict, people_of(verdict.sample, named=False)).changes
    assert [(one.letter, one.before, one.after) for one in found] == [("B", 1, 4), ("C", None, 2)]
    assert [change.who for change in shown_to_rita(world, verdict).changes] == ["Annotator B", "Annotator C"]
    assert (verdict.decided_by, verdict.decided_at is None) == (world.rita, False)


def test_the_history_of_a_unit_tells_who_decided_and_what_reopened_it(world: World, verdict: Verdict) -> None:
    decide_unit(world.rita, verdict, 5, "The second one.")
    imported(world, verdict.sample, "answer", world.criteria("grade")[0], 2)
    settle_imported(project=world.project, criterion=world.criteria("grade")[0], needed=1)
    verdict.refresh_from_db()
    shown = shown_to_rita(world, verdict).history
    assert [(one.state, one.value, one.actor) for one in shown] == [
        ("reopened", 5, None), ("settled", 5, world.rita), ("disputed", None, None),
    ]  # fmt: skip
    assert shown[1].reason == "The second one."


def test_the_rest_of_the_sample_begins_with_this_unit(world: World) -> None:
    sample = make_sample(world.project)
    truth = Criterion.objects.create(
        project=world.project, key="true", name="True", unit="claim", scale="binary", prompt="True?", position=9,
        options=[{"value": True}, {"value": False}],
    )  # fmt: skip
    support, grade = world.criteria("support", "grade")
    imported(world, sample, "claim:1", support, "yes", "no")
    imported(world, sample, "claim:0", support, "yes", "yes")
    imported(world, sample, "claim:1", truth, True, False)
    imported(world, sample, "answer", grade, 3)
    for criterion in (support, truth):
        settle_imported(project=world.project, criterion=criterion, needed=2)
    verdict = Verdict.objects.select_related("sample").get(unit="claim:1", criterion=support)
    rows = Dispute(verdict, people_of(sample, named=False)).rest
    assert [(row.unit, row.criterion) for row in rows] == [
        ("claim:1", "True"), ("claim:0", support.name), ("answer", grade.name),
    ]  # fmt: skip
    assert [vote["value"] for vote in rows[0].votes] == [True, False]
    assert [row.verdict.state if row.verdict else None for row in rows] == ["disputed", "settled", None]


def test_sending_back(world: World, verdict: Verdict) -> None:
    task = send_back(
        reviewer=world.rita, project=world.project, verdict_id=verdict.pk, letter="B", message="Context 1 says it."
    )
    task.refresh_from_db()
    assert (task.annotator, task.status, task.return_message, task.returned_by) == (
        world.ann, "returned", "Context 1 says it.", world.rita,
    )  # fmt: skip
    said = Dispute(verdict, people_of(verdict.sample, named=False)).labels
    assert [(one.letter, one.returned) for one in said] == [("A", False), ("B", True)]
    with pytest.raises(Conflict):
        send_back(reviewer=world.rita, project=world.project, verdict_id=verdict.pk, letter="B", message="Again.")


@pytest.mark.parametrize("unknown", ["C", "", "ann", None, 1])
def test_sending_back_to_no_annotator(world: World, verdict: Verdict, unknown: Any) -> None:
    with pytest.raises(Invalid) as refused:
        send_back(
            reviewer=world.rita, project=world.project, verdict_id=verdict.pk, letter=unknown, message="Look again."
        )
    assert refused.value.code == "unknown_annotator"


def test_imported_labels_cannot_be_sent_back(world: World) -> None:
    grade = world.criteria("grade")[0]
    imported(world, make_sample(world.project), "answer", grade, 1, 2)
    settle_imported(project=world.project, criterion=grade, needed=2)
    verdict = Verdict.objects.get()
    with pytest.raises(Conflict) as refused:
        send_back(reviewer=world.rita, project=world.project, verdict_id=verdict.pk, letter="A", message="Look again.")
    assert refused.value.code == "imported_label"
    with pytest.raises(Http404):
        send_back(reviewer=world.dora, project=world.other, verdict_id=verdict.pk, letter="A", message="Look again.")


@pytest.mark.parametrize("strategy", ["balanced", "pull"])
def test_who_has_the_sample_to_label_or_could_take_it_is_blind(world: World, strategy: str) -> None:
    sample = make_sample(world.project)
    for task in world.batch(annotators=[world.ann, world.ben]).tasks.select_related("annotator"):
        finish(task, grade=1 if task.annotator == world.ann else 5)
    assert not still_to_label(world.rita, sample)
    assert Queue(world.project, reader=world.rita).count() == 1
    batch = world.batch(annotators=[world.rita, world.chen], overlap=1, strategy=strategy)
    if strategy == "balanced":
        batch.tasks.update(annotator=world.rita)
    for status in ("open", "paused"):
        Batch.objects.filter(pk=batch.pk).update(status=status)
        assert still_to_label(world.rita, sample)
        assert Queue(world.project, reader=world.rita).count() == 0
    assert Queue(world.project, reader=world.alice).count() == 1, "who is not asked sees it"
    if strategy == "pull":
        batch.tasks.update(annotator=world.chen)
        assert not still_to_label(world.rita, sample), "another annotator has it"
    else:
        close_batch(batch=batch)
        assert not still_to_label(world.rita, sample)
