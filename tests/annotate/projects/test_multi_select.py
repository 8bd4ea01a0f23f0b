"""Multi-select: any number of options, also none of them. The selection as a whole is the vote and the verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.batches.criterion_change_read import Choices, impact
from annotate.batches.gold import gold_from_verdicts, import_gold
from annotate.batches.read import batch_criteria
from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import normalise
from annotate.models import Criterion, GoldAnswer, Label, Project, Task, Verdict
from annotate.projects.criteria import add_criteria, check_spec
from annotate.projects.read import criterion_named, one_rated_criterion, rated_criteria, voted_criteria
from annotate.tasks.labelling import submit_task
from annotate.verdicts.adjudication import accept_agreed, decide
from annotate.verdicts.proposals_read import agreed
from annotate.verdicts.read import Queue
from tests.annotate.factories import World, make_sample, say, stored

FAULTS: dict[str, Any] = {
    "key": "faults",
    "unit": "answer",
    "scale": "multi",
    "prompt": "What is wrong with the answer?",
    "options": [
        {"value": "wrong", "label": "A fact is wrong"},
        {"value": "missing", "label": "Something is missing"},
        {"value": "tone", "label": "The tone, is off"},
    ],
}


def with_faults(project: Project, **more: Any) -> Criterion:
    return add_criteria(project=project, specs=[{**FAULTS, **more}])[0]


@pytest.fixture
def task(world: World) -> Task:
    with_faults(world.project)
    make_sample(world.project)
    return world.batch(criteria=("faults",), annotators=[world.ann, world.ben, world.chen], overlap=3).tasks.get(
        annotator=world.ann
    )


def finish_all(task: Task, *values: Any) -> Verdict:
    for one, value in zip(task.batch.tasks.order_by("annotator__username"), values, strict=True):
        say(one.annotator, one, "answer", "faults", value)
        submit_task(actor=one.annotator, task_id=one.pk)
    return Verdict.objects.get()


def test_it_has_options_and_none_of_them_passes() -> None:
    checked = check_spec(FAULTS)
    assert (len(checked["options"]), checked["pass"], checked["cant_tell"]) == (3, [], True)
    for wrong, code in (({"options": []}, "bad_options"), ({"pass": ["wrong"]}, "bad_pass")):
        with pytest.raises(Invalid) as refused:
            check_spec({**FAULTS, **wrong})
        assert refused.value.code == code


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["tone", "wrong"], ["wrong", "tone"]),
        ([], []),
        ('["missing"]', ["missing"]),
        (" [] ", []),
        (["wrong", "missing", "tone"], ["wrong", "missing", "tone"]),
    ],
)
def test_a_selection_is_kept_in_the_order_of_the_options(world: World, task: Task, given: Any, kept: Any) -> None:
    assert say(world.ann, task, "answer", "faults", given)["value"] == kept
    assert Label.objects.get().value == kept


@pytest.mark.parametrize(
    ("value", "code"),
    [("wrong", "bad_selection"), ("wrong, tone", "bad_selection"), ({"wrong": True}, "bad_selection"),
     (True, "bad_selection"), (0, "bad_selection"), ("[" * 100_000, "bad_selection"),
     (["wrong", "wrong"], "bad_selection"), (["other"], "not_an_option"), ([None], "not_an_option"),
     ([["wrong"]], "not_an_option"), ([[]], "not_an_option"), ('["wrong", 1]', "not_an_option")],
)  # fmt: skip
def test_what_is_no_selection_is_refused(world: World, task: Task, value: Any, code: str) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, "answer", "faults", value)
    assert refused.value.code == code
    assert stored() == before


@pytest.mark.parametrize(
    ("options", "given", "kept"), [([1, 2], ["2", 1.0], [1, 2]), ([True, False], ["false"], [False])]
)
def test_options_keep_their_type(options: list[Any], given: list[Any], kept: list[Any]) -> None:
    criterion = Criterion(key="k", scale="multi", options=[{"value": value} for value in options])
    assert json.dumps(normalise(criterion, given)) == json.dumps(kept)


def test_none_of_these_is_an_answer_and_nothing_is_not(world: World, task: Task) -> None:
    with pytest.raises(Invalid) as refused:
        submit_task(actor=world.ann, task_id=task.pk)
    assert refused.value.code == "incomplete"
    say(world.ann, task, "answer", "faults", [])
    assert submit_task(actor=world.ann, task_id=task.pk).status == "submitted"


@pytest.mark.parametrize(
    ("values", "state", "value", "agreement"),
    [
        ((["wrong", "tone"], ["tone", "wrong"], ["wrong", "tone"]), "settled", ["wrong", "tone"], 1),
        (([], [], []), "settled", [], 1),
        ((["wrong"], ["wrong"], ["wrong", "tone"]), "settled", ["wrong"], 2 / 3),
        # Each option has its majority; the selection of these is nobody's.
        ((["wrong", "missing"], ["missing", "tone"], ["wrong", "tone"]), "disputed", None, 1 / 3),
        (([], ["wrong"], ["tone"]), "disputed", None, 1 / 3),
    ],
)
def test_people_agree_who_selected_the_same(
    world: World, task: Task, values: Any, state: str, value: Any, agreement: float
) -> None:
    verdict = finish_all(task, *values)
    assert (verdict.state, verdict.value) == (state, value)
    assert verdict.agreement == pytest.approx(agreement)
    progress = {row.key: row for row in batch_criteria(task.batch)}["faults"]
    assert (progress.settled, progress.disputed) == ((1, 0) if state == "settled" else (0, 1))


def test_a_reviewer_decides_on_a_selection(world: World, task: Task) -> None:
    verdict = finish_all(task, ["wrong"], ["missing"], [])
    for chosen in (["tone", "missing"], []):
        verdict.refresh_from_db()
        decide(
            reviewer=world.rita, project=world.project, verdict_id=verdict.pk, value=chosen, reason="As said.",
            expected_revision=verdict.revision,
        )  # fmt: skip
        verdict.refresh_from_db()
        assert (verdict.state, verdict.method, verdict.value) == ("settled", "adjudicated", sorted(chosen))
    assert verdict.confidence == pytest.approx(1 / 3)


def test_what_needs_figures_says_why_there_are_none(world: World, task: Task) -> None:
    criterion = Criterion.objects.get(key="faults")
    assert criterion in voted_criteria(world.project)
    assert criterion not in rated_criteria(world.project)
    row = {"sample_id": "s1", "unit": "answer", "criterion": "faults", "value": ["wrong"]}
    for refused_call in (
        lambda: one_rated_criterion(world.project, "faults"),
        lambda: criterion_named(world.project, "faults"),
        lambda: gold_from_verdicts(actor=world.alice, project=world.project, criterion=criterion, n=1),
    ):
        with pytest.raises(Invalid, match="is multi-select"):
            refused_call()
    with pytest.raises(Invalid) as refused:
        import_gold(actor=world.alice, project=world.project, rows=[row])
    assert "is multi-select" in str(refused.value.details)
    assert not GoldAnswer.objects.exists()


def test_it_stays_what_it_is(world: World, task: Task) -> None:
    for spec in (
        {**FAULTS, "scale": "nominal"},
        {**FAULTS, "scale": "text", "options": []},
        {"key": "grade", "unit": "answer", "scale": "multi", "prompt": "How good?", "options": FAULTS["options"]},
    ):
        with pytest.raises(Conflict) as refused:
            add_criteria(project=world.project, specs=[spec])
        assert refused.value.code == "scale_changed"


@pytest.mark.parametrize(
    ("change", "choices", "touched"),
    [
        ({"prompt": "Other words?"}, Choices(True, "The same question."), 0),
        ({"prompt": "Other words?"}, Choices(), 3),
        ({"options": FAULTS["options"][:2]}, Choices(True, "One less."), 3),
        ({"options": [*FAULTS["options"], {"value": "more"}]}, Choices(maybe_new=()), 3),
        ({"options": FAULTS["options"][::-1]}, Choices(), 3),
        ({"name": "Failures"}, Choices(), 0),
    ],
)
def test_what_changes_an_option_touches_every_selection(
    world: World, task: Task, change: dict[str, Any], choices: Choices, touched: int
) -> None:
    finish_all(task, ["wrong"], ["missing"], [])
    spec = check_spec({**FAULTS, **change})
    assert impact(old=Criterion.objects.get(key="faults"), new=spec, choices=choices).touched == touched


def test_selections_are_accepted_in_bulk(world: World, task: Task) -> None:
    disputed = finish_all(task, ["wrong", "tone"], ["wrong", "tone"], [])
    # As resolved by a batch that asks for all to agree.
    Verdict.objects.update(state="disputed", value=None, method="", confidence=None)
    preview = agreed(Queue(world.project, reader=world.rita), agreement=0.66, votes=2)
    seen = [[one.id, one.revision, one.value] for one in preview.proposals]
    assert [value for *_rest, value in seen] == [["wrong", "tone"]]
    given = {"agreement": 0.66, "votes": 2, "reason": "Most agree."}
    with pytest.raises(Invalid, match="must be a list"):
        accept_agreed(reviewer=world.rita, project=world.project, seen=[[seen[0][0], 1, [["wrong"]]]], **given)
    done = accept_agreed(reviewer=world.rita, project=world.project, seen=seen, **given)
    assert (done.settled, done.left) == (1, 0)
    disputed.refresh_from_db()
    assert (disputed.state, disputed.value) == ("settled", ["wrong", "tone"])
