"""Rows of samples that are responses: linked, filled in from their question, once per repeat; and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Sample
from systems.models import Response, SystemVersion
from tests.annotate.factories import World
from tests.clients import client_of
from tests.systems.building import command, import_questions, refused

Write = Callable[..., Path]

QUESTION = {
    "id": "q1",
    "question": "Which port?",
    "reference": "8000",
    "key_facts": ["8000"],
    "relevant": {"d1": 2, "d2": 0},
    "group_key": "ports",
}
ANSWER = {"question_id": "q1", "pipeline_version": "v7", "answer": "On 8000."}
FAILED = {"question_id": "q2", "pipeline_version": "v7", "status": "failed", "error": "timeout after 30 s"}


@pytest.fixture
def asked(world: World, write: Write) -> World:
    import_questions(write("questions.jsonl", [QUESTION, {"id": "q2", "question": "And TLS?"}]))
    return world


def load(path: Path, *options: str) -> str:
    return command("import_samples", "desk", path, *options)


def problems(path: Path, *options: str) -> str:
    return refused("import_samples", "desk", path, *options)


def responses() -> list[tuple[str, str, int, str, str | None]]:
    found = Response.objects.select_related("version", "question", "sample")
    return [
        (one.question.external_id, one.version.name, one.repeat, one.status, one.sample and one.sample.external_id)
        for one in found
    ]


def test_a_row_is_a_response_with_what_its_question_says(asked: World, write: Write) -> None:
    measures = {"latency_ms": 812.5, "first_token_ms": 90, "input_tokens": 900, "output_tokens": 40, "cost": 0.002}
    printed = load(write("a.jsonl", [{**ANSWER, **measures, "lang": "en"}]))
    assert "rows 1, created 1, unchanged 0, responses 1" in printed
    assert responses() == [("q1", "v7", 0, "ok", "q1@v7")]
    sample, response = Sample.objects.get(), Response.objects.get()
    assert (sample.question, sample.reference, sample.key_facts) == ("Which port?", "8000", ["8000"])
    assert (sample.relevant_doc_ids, sample.group_key, sample.metadata) == (["d1"], "ports", {"lang": "en"})
    assert {name: getattr(response, name) for name in measures} == measures
    assert response.revision == response.question.revisions.get()


def test_what_the_row_says_itself_stands(asked: World, write: Write) -> None:
    load(write("a.jsonl", [{**ANSWER, "id": "mine", "question": "Which port?", "reference": "9000", "key_facts": []}]))
    sample = Sample.objects.get()
    assert (sample.external_id, sample.reference, sample.key_facts) == ("mine", "9000", [])


def test_repeats_and_failures_are_responses_too(asked: World, write: Write) -> None:
    rows = [ANSWER, {**ANSWER, "repeat": 1, "answer": "8000."}, {**FAILED, "latency_ms": 30000}]
    assert "rows 3, created 3, unchanged 0, responses 3, failed_responses 1" in load(write("a.jsonl", rows))
    assert responses() == [
        ("q1", "v7", 0, "ok", "q1@v7"),
        ("q1", "v7", 1, "ok", "q1@v7#1"),
        ("q2", "v7", 0, "failed", None),
    ]
    failed = Response.objects.get(status="failed")
    assert (failed.error, failed.error_text, failed.latency_ms) == ("reported", "timeout after 30 s", 30000)
    assert "created 0, unchanged 3" in load(write("a.jsonl", rows))
    assert Response.objects.count() == 3


def test_cells_of_csv_say_the_same(asked: World, write: Write) -> None:
    text = (
        "question_id,pipeline_version,answer,status,error,latency_ms,repeat\n"
        "q1,v7,On 8000.,,,812.5,\n"
        "q1,v7,8000.,ok,,,1\n"
        "q2,v7,,error,timeout,,\n"
    )
    load(write("a.csv", text))
    assert [one[2:4] for one in responses()] == [(0, "ok"), (1, "ok"), (0, "failed")]
    assert Response.objects.order_by("id").values_list("latency_ms", flat=True)[0] == 812.5
    assert Sample.objects.get(external_id="q1@v7").key_facts == ["8000"]


def test_the_same_again_changes_nothing_also_after_the_question_was_revised(asked: World, write: Write) -> None:
    path = write("a.jsonl", [{**ANSWER, "latency_ms": 5}])
    load(path)
    import_questions(write("q.jsonl", [{**QUESTION, "question": "Which port is it?", "reference": "8000 or PORT"}]))
    before = list(Sample.objects.values()), list(Response.objects.values())
    assert "created 0, unchanged 1" in load(path)
    assert (list(Sample.objects.values()), list(Response.objects.values())) == before
    load(write("b.jsonl", [{**ANSWER, "pipeline_version": "v8"}]))
    assert Response.objects.get(version__name="v8").revision.number == 2
    load(write("c.jsonl", [{**ANSWER, "pipeline_version": "v9", "question": "Which port?"}]))
    assert Response.objects.get(version__name="v9").revision.number == 1


def test_what_failed_may_be_answered_and_what_was_unknown_become_known(asked: World, write: Write) -> None:
    load(write("a.jsonl", [FAILED, ANSWER]))
    answered = {"question_id": "q2", "pipeline_version": "v7", "answer": "Yes.", "cost": 0.1}
    load(write("b.jsonl", [answered, {**ANSWER, "latency_ms": 7}]))
    assert responses() == [("q2", "v7", 0, "ok", "q2@v7"), ("q1", "v7", 0, "ok", "q1@v7")]
    assert list(Response.objects.values_list("error", "error_text", "cost", "latency_ms")) == [
        ("", "", 0.1, None),
        ("", "", None, 7),
    ]
    assert "field status: conflict: The response of “v7” to “q2” was answered." in problems(write("c.jsonl", [FAILED]))
    assert "field latency_ms: conflict: The response of “v7” to “q1” has 7 there." in problems(
        write("c.jsonl", [{**ANSWER, "latency_ms": 8}])
    )


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"question_id": "q9"}, "field question_id: unknown_question: The project has no such question."),
        ({"question_id": True}, "field question_id: type"),
        ({"question": "Something else?"}, "field question: other_question: “q1” never said this."),
        ({"group_key": "mine"}, "field group_key: other_group: “q1” is in the group “ports”"),
        ({"repeat": -1}, "field repeat: bad_measure: Expected a whole number from 0"),
        ({"latency_ms": -1}, "field latency_ms: bad_measure: Expected a number from 0 to 1,000,000,000,000. [-1]"),
        ({"latency_ms": 1e300}, "field latency_ms: bad_measure: Expected a number from 0 to 1,000,000,000,000."),
        ({"latency_ms": "fast"}, "field latency_ms: type: Expected a number, found text."),
        ({"cost": -0.1}, "field cost: bad_measure"),
        ({"input_tokens": 1.5}, "field input_tokens: bad_measure"),
        ({"latency_ms": 5, "first_token_ms": 6}, "field first_token_ms: bad_measure: The first token comes no later"),
        ({"status": "maybe"}, "field status: unknown_status: Write ok, failed, error."),
        ({"status": "failed"}, "field status: failed_answer: The request failed, and here is an answer to it."),
        ({"error": "timeout"}, "field error: failed_answer: An error of a request that did not fail."),
        ({"answer": ""}, "field answer: missing: Is empty."),
        ({"pipeline_version": 1.5}, "field pipeline_version: type"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_stored(asked: World, write: Write, row: dict[str, Any], told: str) -> None:
    printed = problems(write("a.jsonl", [{**ANSWER, "question_id": "q2"}, {**ANSWER, **row}]))
    assert told in printed
    assert "1 error(s). Nothing was imported." in printed
    assert not Sample.objects.exists()
    assert not Response.objects.exists()
    assert not SystemVersion.objects.exists()


def test_nan_is_refused_in_every_format(asked: World, write: Write) -> None:
    assert "json" in problems(write("a.jsonl", json.dumps({**ANSWER, "latency_ms": float("nan")}) + "\n"))
    text = "question_id,pipeline_version,answer,latency_ms\nq1,v7,On 8000.,NaN\n"
    assert "field latency_ms: type" in problems(write("a.csv", text))


def test_a_version_answers_a_question_once_per_repeat(asked: World, write: Write) -> None:
    rows = [{**ANSWER, "id": "a"}, {**ANSWER, "id": "b"}]
    told = "row 2, line 2, field repeat: duplicate_response: Row 1 has a response of “v7” to this question already"
    assert told in problems(write("a.jsonl", rows))
    load(write("a.jsonl", rows[:1]))
    assert "“b” can't be what “v7” answered to “q1”" in problems(write("b.jsonl", rows[1:]))
    other = {"id": "a", "question_id": "q1", "pipeline_version": "v7", "repeat": 1, "answer": "On 8000."}
    assert "“a” can't be what “v7” answered to “q1”" in problems(write("c.jsonl", [other]))
    assert Response.objects.count() == Sample.objects.count() == 1


def test_everything_that_is_wrong_with_a_row_is_said_at_once(asked: World, write: Write) -> None:
    printed = problems(write("a.jsonl", [{**ANSWER, "question_id": "q9", "cost": -1, "contexts": [7]}]))
    assert {line.split(": ")[1] for line in printed.splitlines()[:3]} == {"unknown_question", "bad_measure", "type"}
    assert "3 error(s)" in printed


def test_without_questions_such_columns_are_metadata_as_before(world: World, write: Write) -> None:
    row = {**ANSWER, "question": "Which port?", "status": "weird", "latency_ms": -1}
    load(write("a.jsonl", [row]))
    sample = Sample.objects.get()
    assert sample.metadata == {"question_id": "q1", "status": "weird", "latency_ms": -1}
    assert not Response.objects.exists()
    assert SystemVersion.objects.get().name == "v7"


def test_a_row_without_question_or_version_stays_a_sample(asked: World, write: Write) -> None:
    rows = [
        {"question": "Which port?", "answer": "8000", "pipeline_version": "v7", "status": "open"},
        {"question": "Which port?", "answer": "8000", "question_id": "q1", "repeat": "often"},
    ]
    load(write("a.jsonl", rows))
    assert [sample.metadata for sample in Sample.objects.order_by("id")] == [
        {"status": "open"},
        {"question_id": "q1", "repeat": "often"},
    ]
    assert not Response.objects.exists()
    assert {one.name for one in SystemVersion.objects.all()} == {"v7"}


def test_a_file_of_yesterday_is_found_again_and_becomes_responses(world: World, write: Write) -> None:
    path = write("a.jsonl", [{**ANSWER, "question": "Which port?", "latency_ms": 5}])
    load(path)
    before = list(Sample.objects.values("external_id", "content_hash", "metadata"))
    import_questions(write("q.jsonl", [QUESTION]))
    assert "created 0, unchanged 0, grouped 1, responses 1" in load(path)
    assert list(Sample.objects.values("external_id", "content_hash", "metadata")) == before
    assert (Sample.objects.get().group_key, Response.objects.get().latency_ms) == ("ports", 5)
    assert "created 0, unchanged 1" in load(path)


def test_a_mapping_says_otherwise(asked: World, write: Write) -> None:
    row = {**ANSWER, "question": "Which port?", "took": 3}
    load(write("a.jsonl", [row]), "--map", "question_id=metadata")
    assert (Sample.objects.get().metadata, Response.objects.exists()) == ({"question_id": "q1", "took": 3}, False)
    load(write("b.jsonl", [{**row, "pipeline_version": "v8"}]), "--map", "took=latency_ms")
    assert Response.objects.get().latency_ms == 3
    plain = {"question": "Which port?", "answer": "8000.", "took": 3}
    load(write("c.jsonl", [plain]), "--map", "took=latency_ms")
    assert Sample.objects.order_by("-id")[0].metadata == {"took": 3}


def push(world: World, *rows: dict[str, Any], version: str = "v7") -> Any:
    body = json.dumps({"version": version, "samples": rows})
    return client_of(world.alice).post("/api/projects/desk/samples/", body, content_type="application/json")


def test_a_pipeline_pushes_the_same_rows(asked: World) -> None:
    row = {"question_id": "q1", "answer": "On 8000.", "cost": 0.5}
    failed = {"question_id": "q2", "status": "failed", "error": "HTTP 500"}
    reply = push(asked, row, failed)
    assert reply.status_code == 201, reply.content
    assert {**reply.json(), "import_id": ""} == {
        "version": "v7", "rows": 2, "created": 2, "unchanged": 0, "responses": 2, "failed_responses": 1,
        "import_id": "",
    }  # fmt: skip
    assert responses() == [("q1", "v7", 0, "ok", "q1@v7"), ("q2", "v7", 0, "failed", None)]
    assert push(asked, row, failed).status_code == 200
    assert push(asked, failed, version="v8").status_code == 201
    assert push(asked, {**row, "id": "kb"}, version="v8").status_code == 201
    assert Sample.objects.get(pipeline_version="v8").external_id == "kb@v8"
    refusal = push(asked, {"question_id": "q9", "answer": "x"})
    assert [(one["field"], one["code"]) for one in refusal.json()["errors"]] == [("question_id", "unknown_question")]


def test_what_is_pushed_under_the_id_of_a_question_and_in_its_words_answers_it(asked: World) -> None:
    row = {"id": "q1", "question": "Which port?", "answer": "On 8000.", "latency_ms": 5}
    assert push(asked, row).status_code == 201
    assert push(asked, {"id": "q2", "question": "Something else?", "answer": "x", "latency_ms": 5}).status_code == 201
    assert responses() == [("q1", "v7", 0, "ok", "q1@v7")]
    assert Response.objects.get().latency_ms == 5
    assert Sample.objects.get(external_id="q2@v7").metadata == {"latency_ms": 5}


def test_the_preview_shows_responses_where_there_are_questions(asked: World, write: Write) -> None:
    def preview(row: dict[str, Any]) -> Any:
        with write("p.jsonl", [row]).open("rb") as file:
            form = {"file": file, "kind": "samples", "preview": "1"}
            reply = client_of(asked.alice).post("/api/projects/desk/imports/", form, format="multipart")
        return reply.json()["preview"]

    shown = preview(ANSWER)
    assert shown["mapping"] == {
        "question_id": "question_id",
        "pipeline_version": "pipeline_version",
        "answer": "answer",
    }
    assert "latency_ms" in shown["targets"]
    assert preview({"question": "q", "status": "open"})["mapping"] == {"question": "question", "status": "metadata"}
