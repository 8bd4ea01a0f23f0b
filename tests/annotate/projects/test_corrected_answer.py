"""A field that starts with the answer: what differs from it is a label, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import same_words
from annotate.models import Criterion, Label, LabelEvent, Task, Verdict
from annotate.projects.criteria import add_criteria, check_spec
from annotate.tasks.labelling import submit_task
from annotate.tasks.read import own_task
from annotate.verdicts.disputes_read import one_dispute
from judges.endpoints.duplicate import duplicate_project
from tests.annotate.factories import World, label_all, make_sample, say, stored
from tests.annotate.projects.test_free_text import WORDS

KEY = "corrected_answer"
ANSWER = "It opens at nine.\r\nIt closes at five. "
BETTER = "It opens at nine.\nIt closes at six."


@pytest.fixture
def task(world: World) -> Task:
    add_criteria(project=world.project, specs=[KEY])
    make_sample(world.project, answer=ANSWER, claims=[])
    return world.batch(criteria=("grade", KEY), annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def test_the_built_in_criterion_starts_with_the_answer(task: Task, world: World) -> None:
    asked = own_task(user=world.ann, task_id=task.pk)["criteria"]
    assert [(one["key"], one["prefill"], one["required"]) for one in asked] == [
        ("grade", "", True),
        (KEY, "answer", False),
    ]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"prefill": "question"}, "bad_prefill"), ({"prefill": 1}, "bad_prefill"), ({"prefill": None}, "bad_prefill"),
     ({"unit": "sample", "prefill": "answer"}, "bad_prefill"), ({"unit": "claim", "prefill": "answer"}, "bad_prefill"),
     ({"scale": "interval", "prefill": "answer"}, "bad_prefill"),
     ({"prefill": "answer", "required": True}, "bad_required")],
)  # fmt: skip
def test_only_optional_free_text_about_the_answer_starts_with_it(wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_spec({**WORDS, **wrong})
    assert refused.value.code == code


def test_the_database_holds_it_too(task: Task) -> None:
    for wrong in ({"required": True}, {"unit": "sample"}, {"prefill": "question"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Criterion.objects.filter(key=KEY).update(**wrong)


def test_it_never_changes_what_the_field_starts_with(world: World, task: Task) -> None:
    with pytest.raises(Conflict) as refused:
        add_criteria(project=world.project, specs=[{**WORDS, "key": KEY}])
    assert refused.value.code == "prefill_changed"
    changed = {**WORDS, "key": KEY, "prefill": "answer", "prompt": "What is right?"}
    assert add_criteria(project=world.project, specs=[changed])[0].version == 2


def test_what_was_changed_is_stored_and_logged(world: World, task: Task) -> None:
    assert say(world.ann, task, "answer", KEY, BETTER)["value"] == BETTER
    assert (Label.objects.get().value, LabelEvent.objects.get().value) == (BETTER, BETTER)
    # Back to the original: the correction is taken back, and the log has both.
    assert say(world.ann, task, "answer", KEY, None, seen=1)["value"] is None
    assert [event.value for event in LabelEvent.objects.order_by("revision")] == [BETTER, None]


@pytest.mark.parametrize("value", [ANSWER, ANSWER.replace("\r\n", "\n"), f" \n{ANSWER.strip()}"])
def test_the_answer_as_it_was_is_refused(world: World, task: Task, value: str) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, "answer", KEY, value)
    assert (refused.value.code, stored()) == ("unchanged", before)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("a\r\nb", "a\nb", True), ("a\rb", "a\nb", True), (" a\n", "a", True), ("a\n\nb", "a\nb", False),
     ("a b", "a  b", False), ("A", "a", False)],
)  # fmt: skip
def test_words_are_the_same_whatever_ends_their_lines(one: str, other: str, same: bool) -> None:
    assert same_words(one, other) is same


def test_it_is_submitted_without_a_correction_and_reviewers_read_those_there_are(world: World, task: Task) -> None:
    say(world.ann, task, "answer", KEY, BETTER)
    for one, grade in zip(task.batch.tasks.order_by("annotator"), (1, 5), strict=True):
        label_all(one, grade=grade)
        submit_task(actor=one.annotator, task_id=one.pk)
    verdict = Verdict.objects.get()
    assert verdict.criterion.key == "grade"
    rest = one_dispute(world.project, verdict.pk, reader=world.rita, named=True).rest
    assert [(one.criterion, one.prefill, [vote["value"] for vote in one.votes]) for one in rest] == [
        ("Corrected answer", "answer", [BETTER])
    ]


def test_it_is_not_asked_where_there_is_no_answer(world: World) -> None:
    add_criteria(project=world.project, specs=[KEY])
    make_sample(world.project, 1)
    make_sample(world.project, 2, answer=None, claims=[], abstained=None, abstained_source="")
    batch = world.batch(criteria=("relevance", KEY), annotators=[world.ann], overlap=1)
    task = batch.tasks.get(sample__external_id="s2")
    assert [one["key"] for one in own_task(user=world.ann, task_id=task.pk)["criteria"]] == ["relevance"]
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, "answer", KEY, BETTER)
    assert refused.value.code == "criterion_not_asked"


def test_a_duplicate_of_the_project_asks_it_too(world: World, task: Task) -> None:
    copy = duplicate_project(project=world.project, name="Copy", slug="copy", actor=world.alice)
    assert copy.criteria.get(key=KEY).prefill == "answer"


def imported(path: Path, *values: str) -> None:
    rows = [{"sample_id": "s1", "criterion": KEY, "rater": f"r{n}", "value": value} for n, value in enumerate(values)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    call_command("import_labels", "desk", str(path))


def test_labels_made_elsewhere_correct_something_too(
    world: World, task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(tmp_path / "a.jsonl", "It is shut.")
    assert Label.objects.get().value == "It is shut."
    with pytest.raises(CommandError, match=r"1 error\(s\)"):
        imported(tmp_path / "b.jsonl", "It is shut.", "It opens at nine.\nIt closes at five.")
    assert "row 2, line 2, field value: unchanged" in capsys.readouterr().err
    assert Label.objects.count() == 1
