"""What becomes of a file of questions: every spelling, revisions, the draft of a set, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotate.models import AuditEntry, ImportJob
from systems.models import Question, QuestionRevision, QuestionSet
from tests.annotate.factories import World
from tests.clients import client_of
from tests.systems.building import import_questions, refused

Write = Callable[..., Path]

ONE = {"id": "q1", "question": "Which port?", "reference": "8000"}
TWO = {"id": "q2", "question": "And TLS?"}


def draft(name: str = "support") -> list[tuple[str, int]]:
    entries = QuestionSet.objects.get(name=name).entries.select_related("question", "revision")
    return [(entry.question.external_id, entry.revision.number) for entry in entries]


def said(external_id: str) -> QuestionRevision:
    return QuestionRevision.objects.filter(question__external_id=external_id).order_by("-number")[0]


def test_everything_a_question_can_say(world: World, write: Write) -> None:
    row = {
        "question_id": 7,
        "user_input": "Which port, and why?",
        "reference_answer": "8000.",
        "key_facts": ["8000"],
        "entities": ["port"],
        "relevant": {"doc-1": 2, "doc-2": 0},
        "question_type": "Multi-Hop",
        "difficulty": 3,
        "category": "net",
        "history": [{"role": "user", "content": "Hello"}, {"speaker": "agent", "text": "Hello."}],
        "group_key": "ports",
        "metadata": {"author": "ada"},
        "source": "wiki",
    }
    printed = import_questions(write("a.jsonl", [row]))

    assert "rows 1, created 1, revised 0, unchanged 0, added 1, removed 0, set support" in printed
    question = Question.objects.get()
    revision = question.revisions.get()
    assert (question.external_id, question.group_key, question.project) == ("7", "ports", world.project)
    assert (revision.number, revision.text, revision.reference) == (1, "Which port, and why?", "8000.")
    assert (revision.key_facts, revision.entities) == (["8000"], ["port"])
    assert (revision.relevant, revision.kind) == ({"doc-1": 2, "doc-2": 0}, "multi_hop")
    assert (revision.difficulty, revision.category) == ("3", "net")
    assert revision.earlier_turns == [{"role": "user", "text": "Hello"}, {"role": "agent", "text": "Hello."}]
    assert revision.metadata == {"author": "ada", "source": "wiki"}
    assert draft() == [("7", 1)]


def test_a_golden_set_of_yesterday_comes_in(world: World, write: Write) -> None:
    row = {
        "query": "Which port?",
        "relevant_doc_ids": ["d1", 2],
        "reference_answer": "8000",
        "key_facts": ["8000"],
        "metadata": {"difficulty": "easy"},
    }
    import_questions(write("golden.jsonl", [row]))
    import_questions(write("golden.jsonl", [{**row, "reference_answer": "8000 or PORT"}]))
    question = Question.objects.get()
    assert question.external_id.startswith("question-")
    assert [one.reference for one in question.revisions.all()] == ["8000", "8000 or PORT"]
    assert said(question.external_id).relevant == {"d1": 1, "2": 1}


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.parquet"])
def test_every_format_says_the_same(world: World, write: Write, tmp_path: Path, name: str) -> None:
    row = {"id": "q1", "question": "Which port?", "key_facts": ["8000"], "relevant": ["d1"], "lang": "en"}
    import_questions(write("a.jsonl", [row]))
    path = tmp_path / name
    if name == "a.json":
        path.write_text(json.dumps([row]))
    elif name == "a.csv":
        path.write_text('id,question,key_facts,relevant,lang,difficulty\nq1,Which port?,"[""8000""]","[""d1""]",en,\n')
    else:
        pq.write_table(pa.Table.from_pylist([row]), path)
    assert "created 0, revised 0, unchanged 1" in import_questions(path)


def test_the_same_again_changes_nothing_and_other_words_are_the_next_revision(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", [ONE, TWO]))
    before = list(QuestionRevision.objects.values())
    assert "created 0, revised 0, unchanged 2, added 0" in import_questions(write("a.jsonl", [ONE, TWO]))
    assert list(QuestionRevision.objects.values()) == before
    changed = {**ONE, "reference": "8000, or PORT"}
    assert "created 0, revised 1, unchanged 0, added 0" in import_questions(write("b.jsonl", [changed]))
    assert draft() == [("q1", 2), ("q2", 1)]
    assert [one.reference for one in Question.objects.get(external_id="q1").revisions.all()] == [
        "8000",
        "8000, or PORT",
    ]


def test_a_set_keeps_what_a_file_lacks_unless_it_is_replaced(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", [ONE, TWO]))
    three = {"id": "q3", "question": "How fast?"}
    import_questions(write("b.jsonl", [three]))
    assert [name for name, _number in draft()] == ["q1", "q2", "q3"]
    assert "removed 1" in import_questions(write("c.jsonl", [three, ONE]), "support", "--replace")
    assert [name for name, _number in draft()] == ["q3", "q1"]
    assert Question.objects.count() == 3


def test_sets_share_questions_and_keep_the_revision_they_were_given(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", [ONE]))
    import_questions(write("b.jsonl", [{**ONE, "reference": "9000"}]), "other")
    assert (draft("support"), draft("other")) == ([("q1", 1)], [("q1", 2)])


def test_a_question_that_stands_alone_may_get_a_group_once(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", [ONE]))
    import_questions(write("a.jsonl", [{**ONE, "group_key": "ports"}]))
    assert Question.objects.get().group_key == "ports"
    assert "in the group “ports”. A question never leaves its group" in refused(
        "import_questions", "desk", "support", write("b.jsonl", [{**ONE, "group_key": "other"}])
    )
    assert "unchanged 1" in import_questions(write("a.jsonl", [ONE]))
    assert Question.objects.get().group_key == "ports"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "q1"}, "row 1, line 1, field question: missing: Is missing."),
        ({"id": "", "question": "q"}, "row 1, line 1, field id: missing: Is empty."),
        ({"question": "q", "type": "factoid"}, "field type: unknown_type: A question is one of simple, reasoning"),
        ({"question": "q", "relevant": {"d": -1}}, "field relevant[d]: bad_grade: A grade is a whole number from 0"),
        ({"question": "q", "relevant": {"d": 1.5}}, "bad_grade"),
        ({"question": "q", "relevant": {"": 1}}, "bad_document"),
        ({"question": "q", "key_facts": [1]}, "field key_facts[0]: type"),
        ({"question": "q", "history": "Hello"}, "field history: type: Expected a list of {role, text}, found text."),
        ({"question": "q", "history": [{"text": "Hello"}]}, "field history[0].role: missing"),
        ({"question": "q", "difficulty": True}, "field difficulty: type"),
        ({"question": "q", "metadata": {"a": 1}, "a": 2}, "field a: duplicate_key"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_stored(world: World, write: Write, row: dict[str, Any], told: str) -> None:
    assert told in refused("import_questions", "desk", "support", write("a.jsonl", [row, TWO]))
    assert not Question.objects.exists()
    assert not QuestionSet.objects.exists()


def test_an_id_comes_once_in_a_file(world: World, write: Write) -> None:
    printed = refused("import_questions", "desk", "support", write("a.jsonl", [ONE, TWO, {**ONE, "question": "?"}]))
    assert "row 3, line 3, field id: duplicate_id: The id “q1” was given to row 1 already." in printed
    twins = [{"question": "é", "id": "caf\u00e9"}, {"question": "é", "id": "cafe\u0301"}]
    assert "id_twin" in refused("import_questions", "desk", "support", write("b.jsonl", twins))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("support@1", "“support@1” is frozen and never changes. Import into “support”, for its next number."),
        ("my set", "set: name the test set in a–z"),
        ("x" * 61, "set: name the test set in a–z"),
    ],
)
def test_a_set_has_a_name_that_is_not_frozen(world: World, write: Write, name: str, told: str) -> None:
    assert told in refused("import_questions", "desk", name, write("a.jsonl", [ONE]))
    assert not ImportJob.objects.exists()


def test_the_api_imports_questions(world: World, write: Write) -> None:
    url = "/api/projects/desk/imports/"

    def send(user: Any, **fields: Any) -> Any:
        with write("a.jsonl", [ONE]).open("rb") as file:
            return client_of(user).post(url, {"file": file, "kind": "questions", **fields}, format="multipart")

    assert send(world.alice, set="support@1").json()["error"]["code"] == "frozen_set"
    assert send(world.alice).json()["error"]["code"] == "bad_set_name"
    assert send(world.alice, set="support", replace="maybe").json()["error"]["code"] == "bad_replace"
    assert (send(world.rita, set="support").status_code, send(world.ann, set="support").status_code) == (403, 403)
    assert send(world.charlie, set="support").status_code == 404
    reply = send(world.alice, set="support", replace="1")
    assert reply.status_code == 201, reply.content
    result = reply.json()["result"]
    assert {**result, "seconds": 0} == {
        "rows": 1, "created": 1, "revised": 0, "unchanged": 0, "added": 1, "removed": 0, "set": "support", "seconds": 0,
    }  # fmt: skip
    assert QuestionSet.objects.get().created_by == world.alice
    assert AuditEntry.objects.filter(action="import.done", details__kind="questions").exists()
    with write("b.jsonl", [{"question": "q", "answer": "a"}]).open("rb") as file:
        told = client_of(world.alice).post(url, {"file": file, "kind": "samples", "set": "x"}, format="multipart")
    assert told.json()["error"]["code"] == "unknown_option"
