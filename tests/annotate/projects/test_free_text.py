"""Free text: a label of the annotator's own words, which is shown and exported, and has no vote, verdict or figure."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.batches.gold import gold_from_verdicts, import_gold
from annotate.batches.read import batch_criteria
from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import MAX_TEXT
from annotate.labels.consensus import settle_imported
from annotate.labels.gold_read import self_consistency
from annotate.models import Criterion, GoldAnswer, Label, LabelEvent, Project, Task, Verdict
from annotate.projects.criteria import add_criteria, check_spec
from annotate.projects.read import criterion_named, current_criteria, one_rated_criterion, rated_criteria
from annotate.tasks.labelling import submit_task
from annotate.tasks.read import own_task
from annotate.verdicts.disputes_read import one_dispute
from tests.annotate.factories import World, label_all, make_sample, say, stored

WORDS = {"key": "missing", "unit": "answer", "scale": "text", "prompt": "What is missing?", "required": False}


def with_text(project: Project, **more: Any) -> Criterion:
    return add_criteria(project=project, specs=[{**WORDS, **more}])[0]


@pytest.fixture
def task(world: World) -> Task:
    with_text(world.project)
    make_sample(world.project)
    return world.batch(criteria=("grade", "missing"), annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def test_it_has_neither_options_nor_cant_tell() -> None:
    checked = check_spec(WORDS)
    assert (checked["options"], checked["pass"], checked["cant_tell"]) == ([], [], False)
    for wrong, code in (
        ({"options": [{"value": 1}, {"value": 2}]}, "bad_options"),
        ({"pass": ["x"]}, "bad_pass"),
        ({"cant_tell": True}, "bad_cant_tell"),
    ):
        with pytest.raises(Invalid) as refused:
            check_spec({**WORDS, **wrong})
        assert refused.value.code == code


def test_words_are_stored_as_they_are_and_logged(world: World, task: Task) -> None:
    words = " The opening hours\nof 日曜日 😀 "
    assert say(world.ann, task, "answer", "missing", words)["value"] == words
    assert (Label.objects.get().value, LabelEvent.objects.get().value) == (words, words)
    shown = own_task(user=world.ann, task_id=task.pk)
    assert shown["labels"][0]["value"] == words
    assert [one["scale"] for one in shown["criteria"]] == ["ordinal", "text"]
    assert say(world.ann, task, "answer", "missing", None, seen=1)["value"] is None


@pytest.mark.parametrize(
    ("value", "code"),
    [("", "bad_text"), (" \n", "bad_text"), (3, "bad_text"), (["x"], "bad_text"), ("\x00", "bad_text"),
     ("x" * (MAX_TEXT + 1), "text_too_long")],
)  # fmt: skip
def test_what_is_no_text_or_too_long_is_refused(world: World, task: Task, value: Any, code: str) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, "answer", "missing", value)
    assert refused.value.code == code
    assert stored() == before


def test_the_longest_text_is_taken(world: World, task: Task) -> None:
    assert len(say(world.ann, task, "answer", "missing", "語" * MAX_TEXT)["value"]) == MAX_TEXT


def test_it_is_missing_only_where_it_is_required(world: World) -> None:
    with_text(world.project, required=True)
    make_sample(world.project)
    task = world.batch(criteria=("missing",), annotators=[world.ann], overlap=1).tasks.get()
    with pytest.raises(Invalid) as refused:
        submit_task(actor=world.ann, task_id=task.pk)
    assert refused.value.details["missing"] == [{"unit": "answer", "criterion": "missing"}]
    say(world.ann, task, "answer", "missing", "Nothing.")
    assert submit_task(actor=world.ann, task_id=task.pk).status == "submitted"
    assert not Verdict.objects.exists()


def test_no_verdict_comes_of_it_and_reviewers_read_it(world: World, task: Task) -> None:
    for one, grade, words in zip(task.batch.tasks.order_by("annotator"), (1, 5), ("Hours", "Prices"), strict=True):
        say(one.annotator, one, "answer", "missing", words)
        label_all(one, grade=grade)
        submit_task(actor=one.annotator, task_id=one.pk)
    verdict = Verdict.objects.get()
    assert verdict.criterion.key == "grade"
    rest = one_dispute(world.project, verdict.pk, reader=world.rita, named=True).rest
    assert [(one.criterion, [vote["value"] for vote in one.votes]) for one in rest] == [
        ("Missing", ["Hours", "Prices"])
    ]
    progress = {row.key: row for row in batch_criteria(task.batch)}
    assert (progress["missing"].given, progress["missing"].settled, progress["missing"].disputed) == (2, 0, 0)
    assert progress["missing"].is_text


def test_lists_of_criteria_for_figures_leave_it_out(world: World) -> None:
    with_text(world.project)
    assert "missing" in current_criteria(world.project).values_list("key", flat=True)
    assert "missing" not in rated_criteria(world.project).values_list("key", flat=True)


def test_what_needs_a_verdict_says_why_there_is_none(world: World, task: Task) -> None:
    criterion = Criterion.objects.get(key="missing")
    row = {"sample_id": "s1", "unit": "answer", "criterion": "missing", "value": "Hours"}
    for refused_call in (
        lambda: one_rated_criterion(world.project, "missing"),
        lambda: criterion_named(world.project, "missing"),
        lambda: settle_imported(project=world.project, criterion=criterion, needed=1),
        lambda: gold_from_verdicts(actor=world.alice, project=world.project, criterion=criterion, n=1),
    ):
        with pytest.raises(Invalid, match="free text"):
            refused_call()
    with pytest.raises(Invalid) as refused:
        import_gold(actor=world.alice, project=world.project, rows=[row])
    assert "free text" in str(refused.value.details)
    assert not GoldAnswer.objects.exists()


def test_it_stays_what_it_is(world: World, task: Task) -> None:
    for spec in (
        {**WORDS, "scale": "interval"},
        {"key": "grade", "unit": "answer", "scale": "text", "prompt": "How good?"},
    ):
        with pytest.raises(Conflict) as refused:
            add_criteria(project=world.project, specs=[spec])
        assert refused.value.code == "scale_changed"


def test_another_question_makes_another_version(world: World, task: Task) -> None:
    assert with_text(world.project, prompt="What else is missing?").version == 2


def test_words_that_were_read_twice_have_no_steadiness(world: World) -> None:
    with_text(world.project)
    for number in range(6):
        make_sample(world.project, number)
    batch = world.batch(criteria=("missing",), annotators=[world.ann], overlap=1, repeat_share=0.5, seed=2)
    for task in batch.tasks.select_related("annotator"):
        say(world.ann, task, "answer", "missing", "The hours.")
        submit_task(actor=world.ann, task_id=task.pk)
    assert batch.tasks.filter(purpose="repeat", status="submitted").exists()
    assert self_consistency(batch) == []
