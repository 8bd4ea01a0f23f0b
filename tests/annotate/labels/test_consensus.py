from __future__ import annotations

from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.labels.consensus import settle_imported
from annotate.models import Criterion, Label, Rater, Sample, Task, Verdict
from annotate.tasks.labelling import skip_task, submit_task
from tests.annotate.factories import World, decide_unit, finish, label_all, make_sample, make_samples, say


def votes(world: World, *values: Any, overlap: int | None = None, sample: Sample | None = None) -> Verdict | None:
    """One sample, labelled by Ann, Ben, Chen …; None skips."""
    sample = sample or make_sample(world.project)
    people = world.annotators[: len(values)]
    batch = world.batch(
        annotators=people, overlap=overlap or len(values), selection={"method": "all"}, criteria=("support", "grade")
    )
    for person, value in zip(people, values, strict=True):
        task = batch.tasks.get(annotator=person, sample=sample)
        if value is None:
            label_all(task, grade=5)
            skip_task(actor=person, task_id=task.pk, reason="Unclear.")
        else:
            finish(task, grade=value)
    return Verdict.objects.filter(sample=sample, unit="answer").first()


@pytest.mark.parametrize(
    ("given", "state", "value", "method", "confidence"),
    [
        ((4,), "settled", 4, "unanimous", 1.0),
        ((4, 4), "settled", 4, "unanimous", 1.0),
        ((4, 4, 4), "settled", 4, "unanimous", 1.0),
        ((4, 4, 2), "settled", 4, "majority", 2 / 3),
        ((2, 4, 4), "settled", 4, "majority", 2 / 3),
        ((4, 2), "disputed", None, "", None),
        ((1, 2, 3), "disputed", None, "", None),
        ((4, None), "disputed", None, "", None),  # the overlap was not met
        ((4, 4, None), "disputed", None, "", None),
        ((None, 2, 2), "disputed", None, "", None),
    ],
)
def test_the_rule(
    world: World, given: tuple[Any, ...], state: str, value: Any, method: str, confidence: float | None
) -> None:
    verdict = votes(world, *given)
    assert verdict is not None
    assert (verdict.state, verdict.value, verdict.method, verdict.confidence) == (state, value, method, confidence)
    assert verdict.revision == 1
    # What was said in a skipped task is no vote.
    names = [name for name, said in zip(("ann", "ben", "chen"), given, strict=False) if said is not None]
    assert [(vote["rater"], vote["value"]) for vote in verdict.votes] == list(
        zip(names, [said for said in given if said is not None], strict=True)
    )
    for vote in verdict.votes:
        label = Label.objects.get(pk=vote["label"])
        assert (label.value, label.revision, label.rater.name) == (vote["value"], vote["revision"], vote["rater"])


def test_no_task_submitted(world: World) -> None:
    assert votes(world, None, None) is None


def test_nothing_is_settled_while_an_annotator_is_at_work(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(overlap=3)
    finish(batch.tasks.get(annotator=world.ann))
    finish(batch.tasks.get(annotator=world.ben))
    label_all(batch.tasks.get(annotator=world.chen))
    assert not Verdict.objects.exists()
    submit_task(actor=world.chen, task_id=batch.tasks.get(annotator=world.chen).pk)
    assert Verdict.objects.count() == 3


def test_each_unit_and_criterion_is_settled_by_itself(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann), support=lambda unit: "yes", grade=1)
    finish(batch.tasks.get(annotator=world.ben), support=lambda unit: "yes" if unit == "claim:0" else "no", grade=1)
    states = {(v.criterion.key, v.unit): (v.state, v.value) for v in Verdict.objects.select_related("criterion")}
    assert states == {
        ("support", "claim:0"): ("settled", "yes"),
        ("support", "claim:1"): ("disputed", None),
        ("grade", "answer"): ("settled", 1),
    }


def test_an_optional_answer_that_one_left_out(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben], criteria=("relevance", "grade"))
    for person, contexts in ((world.ann, ("context:0", "context:1")), (world.ben, ("context:0",))):
        task = batch.tasks.get(annotator=person)
        for unit in contexts:
            say(person, task, unit, "relevance", 0.5)
        finish(task)
    states = dict(Verdict.objects.filter(criterion__key="relevance").values_list("unit", "state"))
    assert states == {"context:0": "settled", "context:1": "disputed"}


def test_the_latest_of_a_person_counts_across_batches(world: World) -> None:
    sample = make_sample(world.project)
    first = votes(world, 1, 2, sample=sample)
    assert first is not None
    assert first.state == "disputed"
    again = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    finish(again, grade=2)
    verdict = Verdict.objects.get(unit="answer")
    assert verdict.pk == first.pk
    assert [(vote["rater"], vote["value"]) for vote in verdict.votes] == [("ann", 2), ("ben", 2)]
    assert (verdict.state, verdict.value, verdict.method, verdict.revision) == ("settled", 2, "unanimous", 2)


@pytest.mark.parametrize(
    ("given", "state", "agreement"), [((4, 4, 4), "settled", 1), ((4, 4, 2), "disputed", 2 / 3), ((4,), "settled", 1)]
)
def test_a_batch_may_ask_for_unanimity(world: World, given: tuple[int, ...], state: str, agreement: float) -> None:
    sample = make_sample(world.project)
    people = world.annotators[: len(given)]
    batch = world.batch(annotators=people, overlap=len(given))
    batch.consensus = "unanimous"
    batch.save()
    for person, value in zip(people, given, strict=True):
        finish(batch.tasks.get(annotator=person, sample=sample), grade=value)
    verdict = Verdict.objects.get(unit="answer")
    assert (verdict.state, verdict.agreement) == (state, pytest.approx(agreement))
    assert verdict.confidence == (1 if state == "settled" else None)


def test_imported_labels_are_settled_by_majority(world: World) -> None:
    grade = world.criteria("grade")[0]
    imported(world, make_sample(world.project), "answer", grade, 4, 4, 2)
    settle_imported(project=world.project, criterion=grade, needed=3)
    verdict = Verdict.objects.get()
    assert (verdict.state, verdict.method, verdict.agreement) == ("settled", "majority", pytest.approx(2 / 3))


def adjudicated(world: World) -> Verdict:
    verdict = votes(world, 1, 5)
    assert verdict is not None
    return decide_unit(world.rita, verdict, 5, "The second claim decides.")


def test_new_votes_reopen_a_decision_and_leave_its_value(world: World) -> None:
    decided = adjudicated(world)
    assert (decided.state, decided.confidence) == ("settled", 0.5)
    finish(world.batch(annotators=[world.chen], overlap=1).tasks.get(), grade=1)
    verdict = Verdict.objects.get(unit="answer")
    assert (verdict.state, verdict.value, verdict.method) == ("reopened", 5, "adjudicated")
    assert (verdict.reason, verdict.decided_by) == ("The second claim decides.", world.rita)
    assert [vote["value"] for vote in verdict.votes] == [1, 5, 1]
    assert verdict.confidence == pytest.approx(1 / 3), "the share of the votes that gave the value"
    assert verdict.revision == 3


def test_the_same_votes_again_reopen_nothing(world: World) -> None:
    decided = adjudicated(world)
    make_sample(world.project, 2)
    assert settle_imported(project=world.project, criterion=decided.criterion, needed=1) == 0
    decided.refresh_from_db()
    assert (decided.state, decided.revision) == ("settled", 2)


# Imported labels


def imported(world: World, sample: Sample, unit: str, criterion: Criterion, *values: Any) -> None:
    for number, value in enumerate(values):
        rater, _ = Rater.objects.get_or_create(project=world.project, name=f"crowd-{number}")
        Label.objects.create(rater=rater, sample=sample, unit=unit, criterion=criterion, value=value)


def test_settling_imported_labels(world: World) -> None:
    grade, support = world.criteria("grade", "support")
    samples = make_samples(world.project, 5)
    imported(world, samples[0], "answer", grade, 4, 4)
    imported(world, samples[1], "answer", grade, 4, 2)
    imported(world, samples[2], "answer", grade, 4)
    imported(world, samples[3], "answer", grade, 1, 3, 3)
    imported(world, samples[4], "claim:0", support, "yes", "yes")
    assert settle_imported(project=world.project, criterion=grade, needed=2) == 3
    states = {
        v.sample.external_id: (v.state, v.value, v.method, v.batch_id) for v in Verdict.objects.select_related("sample")
    }
    assert states == {
        "s1": ("settled", 4, "unanimous", None),
        "s2": ("disputed", None, "", None),
        "s4": ("settled", 3, "majority", None),
    }
    assert settle_imported(project=world.project, criterion=grade, needed=2) == 0, "again: nothing new"
    assert settle_imported(project=world.project, criterion=grade, needed=1) == 1
    assert settle_imported(project=world.project, criterion=support, needed=2) == 1


def test_only_units_with_enough_labels(world: World) -> None:
    support = world.criteria("support")[0]
    sample = make_sample(world.project)
    imported(world, sample, "claim:0", support, "yes", "yes")
    imported(world, sample, "claim:1", support, "no")
    assert settle_imported(project=world.project, criterion=support, needed=2) == 1
    assert list(Verdict.objects.values_list("unit", flat=True)) == ["claim:0"]


def test_imported_labels_and_those_made_here_are_votes_together(world: World) -> None:
    grade = world.criteria("grade")[0]
    sample = make_sample(world.project)
    imported(world, sample, "answer", grade, 4)
    finish(world.batch(annotators=[world.ann], overlap=1).tasks.get(), grade=4)
    verdict = Verdict.objects.get(unit="answer")
    assert sorted(vote["rater"] for vote in verdict.votes) == ["ann", "crowd-0"]


def test_a_label_of_a_task_at_work_is_not_settled_by_the_import(world: World) -> None:
    grade = world.criteria("grade")[0]
    sample = make_sample(world.project)
    imported(world, sample, "answer", grade, 4)
    task: Task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    label_all(task, grade=1)
    settle_imported(project=world.project, criterion=grade, needed=1)
    assert [vote["rater"] for vote in Verdict.objects.get(unit="answer").votes] == ["crowd-0"]


@pytest.mark.parametrize("needed", [0, -1, True, 1.0, "2", None, 2**70])
def test_a_bad_number(world: World, needed: Any) -> None:
    with pytest.raises(Invalid):
        settle_imported(project=world.project, criterion=world.criteria("grade")[0], needed=needed)


def test_a_criterion_of_another_project(world: World) -> None:
    with pytest.raises(Invalid, match="another project"):
        settle_imported(project=world.other, criterion=world.criteria("grade")[0], needed=1)
