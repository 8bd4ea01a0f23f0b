"""Rankings from TREC runs: by command, API and page; what is refused, and that nothing is stored then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from systems.models import Response, SystemVersion
from tests.annotate.factories import World
from tests.clients import as_user, client_of
from tests.systems.building import command, freeze, import_questions, refused

Write = Callable[..., Path]
RUN = "q2 Q0 d7 1 9 bm25\nq1 Q0 d2 2 1.5 bm25\nq1 Q0 d1 1 1.5e0 bm25\nq1 Q0 d3 9 -2 bm25\n"


@pytest.fixture
def asked(world: World, write: Write) -> World:
    import_questions(write("q.jsonl", [{"id": "q1", "question": "Which port?"}, {"id": "q2", "question": "And TLS?"}]))
    freeze()
    return world


def load(path: Path, version: str = "v7") -> str:
    return command("import_run", "desk", version, path, "--set", "support@1")


def rankings() -> dict[tuple[str, str, int], list[str] | None]:
    found = Response.objects.select_related("version", "question").order_by("question", "version", "repeat")
    return {
        (one.version.name, one.question.external_id, one.repeat): one.ranking and [entry["id"] for entry in one.ranking]
        for one in found
    }


def test_a_run_makes_responses_and_the_same_again_changes_nothing(asked: World, write: Write) -> None:
    path = write("a.run", RUN)
    assert "rows 4, created 2, ranked 0, unchanged 0, set support@1, version v7" in load(path)
    assert rankings() == {("v7", "q1", 0): ["d1", "d2", "d3"], ("v7", "q2", 0): ["d7"]}
    made = Response.objects.get(question__external_id="q1")
    assert (made.status, made.sample, made.revision.number) == ("ok", None, 1)
    assert made.ranking == [{"id": "d1", "score": 1.5}, {"id": "d2", "score": 1.5}, {"id": "d3", "score": -2}]
    before = list(Response.objects.values())
    assert "created 0, ranked 0, unchanged 2" in load(path)
    assert list(Response.objects.values()) == before


def test_a_response_without_a_ranking_gets_it_and_may_be_answered_later(asked: World, write: Write) -> None:
    row = {"question_id": "q1", "pipeline_version": "v7", "answer": "On 8000."}
    command("import_samples", "desk", write("a.jsonl", [row, {**row, "repeat": 1}]))
    assert "created 1, ranked 1" in load(write("a.run", RUN))
    assert rankings() == {("v7", "q1", 0): ["d1", "d2", "d3"], ("v7", "q1", 1): None, ("v7", "q2", 0): ["d7"]}
    assert Response.objects.get(question__external_id="q1", repeat=0).sample is not None
    command("import_samples", "desk", write("b.jsonl", [{**row, "question_id": "q2"}]))
    answered = Response.objects.get(question__external_id="q2")
    assert (answered.sample.external_id, answered.ranking) == ("q2@v7", [{"id": "d7", "score": 9}])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q9 Q0 d1 1 1 t\n", "row 1, line 1, field question: unknown_question: “support@1” has no such question."),
        (
            "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n",
            "row 2, line 2, field document: duplicate_document: Row 1 has this document",
        ),
        ("q1 Q0 d1 1 2 t\nq1 Q0 d2 1 1 t\n", "row 2, line 2, field rank: duplicate_rank: Row 1 has rank 1 for “q1”"),
        (
            "q1 Q0 d2 2 2.5 t\nq1 Q0 d1 1 2 t\n",
            "row 1, line 1, field score: score_against_rank: The score 2.5 at rank 2 is higher than 2 at rank 1.",
        ),
        ("q1 Q0 d1 -1 1 t\n", "field rank: bad_rank: A rank is a whole number from 0. [-1]"),
        ("q1 Q0 d1 1.0 1 t\n", "field rank: bad_rank"),
        ("q1 Q0 d1 1 nan t\n", "field score: bad_score: A score is a finite number. [nan]"),
        ("q1 Q0 d1 1 inf t\n", "field score: bad_score"),
        ("q1 Q0 d1 1 1_0 t\n", "field score: bad_score"),
        ("q1 0 d1 1\n", "row 1, line 1: columns: 4 columns, but this format has 6"),
        ("\n", "file: empty: The file has no rows."),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(asked: World, write: Write, text: str, told: str) -> None:
    path = write("bad.run", text + "q2 Q0 d1 1 1 t\n" if text.strip() else text)
    printed = refused("import_run", "desk", "v7", path, "--set", "support@1")
    assert told in printed
    assert "bad.run: 1 error(s). Nothing was imported." in printed
    assert rankings() == {}
    assert not SystemVersion.objects.exists()


def test_another_ranking_and_one_of_a_request_that_failed_are_refused(asked: World, write: Write) -> None:
    load(write("a.run", "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"))
    other = write("b.run", "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d1 1 1 t\n")
    told = refused("import_run", "desk", "v7", other, "--set", "support@1")
    assert "row 1, line 1, field question: conflict: “v7” has another ranking for “q1” already." in told
    assert rankings() == {("v7", "q1", 0): ["d1", "d2"]}
    load(other, "v8")
    failed = {"question_id": "q2", "pipeline_version": "v7", "status": "failed", "error": "timeout"}
    command("import_samples", "desk", write("f.jsonl", [failed]))
    told = refused("import_run", "desk", "v7", write("c.run", "q2 Q0 d1 1 1 t\n"), "--set", "support@1")
    assert "conflict: The request of “v7” for “q2” failed. Leave the question out." in told


@pytest.mark.parametrize(
    ("version", "told"), [("v@7", "version: must be 1 to 100 characters"), (" v7", "version: must be 1 to 100")]
)
def test_a_version_has_a_name(asked: World, write: Write, version: str, told: str) -> None:
    assert told in refused("import_run", "desk", version, write("a.run", RUN), "--set", "support@1")


def test_the_api_imports_rankings(asked: World) -> None:
    def send(text: str, **fields: str) -> int:
        file = SimpleUploadedFile("a.run", text.encode())
        given = {"file": file, "kind": "run", **fields}
        return client_of(asked.alice).post("/api/projects/desk/imports/", given, format="multipart").status_code

    assert send(RUN, set="support@1") == 422
    assert send(RUN, version="v7") == 422
    assert send(RUN, set="support@1", version="v7") == 201
    assert rankings() == {("v7", "q1", 0): ["d1", "d2", "d3"], ("v7", "q2", 0): ["d7"]}
    (first, _second) = client_of(asked.rita).get("/api/projects/desk/responses/").json()["results"]
    assert first["ranking"] == [{"id": "d7", "score": 9}]


def test_the_page_imports_rankings(asked: World) -> None:
    path = "/p/desk/systems/import/rankings/"
    assert as_user(asked.charlie).get(path).status_code == 404
    assert as_user(asked.rita).get(path).status_code == 403
    client = as_user(asked.alice)
    file = SimpleUploadedFile("a.run", RUN.encode())
    wrong = client.post(path, {"test_set": "support@1", "version": "v@7", "file": file})
    assert wrong.status_code == 422
    assert "version: must be 1 to 100 characters" in wrong.content.decode()
    file.seek(0)
    client.post(path, {"test_set": "support@1", "version": "v7", "file": file})
    assert rankings() == {("v7", "q1", 0): ["d1", "d2", "d3"], ("v7", "q2", 0): ["d7"]}
    assert "v7" in client.get(path + "?set=support@1&version=v7").content.decode()
    version = SystemVersion.objects.get()
    assert "Import rankings" in client.get(f"/p/desk/systems/versions/{version.pk}/").content.decode()
    assert "Import rankings" not in as_user(asked.rita).get(f"/p/desk/systems/versions/{version.pk}/").content.decode()
