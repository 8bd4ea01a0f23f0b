"""Relevance judgements from TREC qrels: by command, API and page; what is refused, and that nothing is stored then."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import AuditEntry, ImportJob
from systems.models import Relevance
from tests.annotate.factories import World
from tests.clients import as_user, client_of
from tests.systems.building import command, freeze, import_questions, refused

Write = Callable[..., Path]
JUDGED = "q1 0 d1 2\nq1\t0\td2\t0\n\n  q2 x d1 1  \n"


@pytest.fixture
def asked(world: World, write: Write) -> World:
    import_questions(write("q.jsonl", [{"id": "q1", "question": "Which port?"}, {"id": "q2", "question": "And TLS?"}]))
    freeze()
    import_questions(write("q3.jsonl", [{"id": "q3", "question": "How fast?"}]))
    return world


def stored() -> list[tuple[str, str, int]]:
    return sorted(Relevance.objects.values_list("question__external_id", "document_id", "grade"))


def load(path: Path, *options: str, set_name: str = "support@1") -> str:
    return command("import_qrels", "desk", path, "--set", set_name, *options)


def test_judgements_come_in_and_the_same_again_changes_nothing(asked: World, write: Write) -> None:
    path = write("a.qrels", JUDGED)
    printed = "a.qrels: rows 3, created 3, unchanged 0, regraded 0, withdrawn 0, set support@1"
    assert printed in load(path)
    assert stored() == [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d1", 1)]
    before = list(Relevance.objects.values())
    assert "created 0, unchanged 3" in load(path)
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(JUDGED.encode()))
    assert "created 0, unchanged 3" in load(packed)
    assert list(Relevance.objects.values()) == before
    assert AuditEntry.objects.filter(action="import.done", details__kind="qrels").exists()


def test_a_set_without_a_number_is_its_draft(asked: World, write: Write) -> None:
    path = write("a.qrels", "q3 0 d1 1\n")
    told = refused("import_qrels", "desk", path, "--set", "support@1")
    assert "row 1, line 1, field question: unknown_question: “support@1” has no such question." in told
    load(path, set_name="support")
    assert stored() == [("q3", "d1", 1)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q1 0 d1 1\nq9 0 d1 1\n", "row 2, line 2, field question: unknown_question"),
        (
            "q1 0 d1 1\n\nq1 0 d1 1\n",
            "row 2, line 3, field document: duplicate_document: Row 1 has this document for “q1”",
        ),
        ("q1 0 d1 -1\n", "row 1, line 1, field grade: bad_grade: A grade is a whole number from 0 to 1,000. [-1]"),
        ("q1 0 d1 1.5\n", "bad_grade"),
        ("q1 0 d1 nan\n", "bad_grade"),
        ("q1 0 d1 10000\n", "bad_grade"),
        ("q1 0 d1\n", "row 1, line 1: columns: 3 columns, but this format has 4: question iteration document grade."),
        ("q1 Q0 d1 1 0.5 tag\n", "row 1, line 1: columns: 6 columns"),
        ("q1 0 " + "d" * 501 + " 1\n", "field document: too_long"),
        ("q1 0 d\0 1\n", "field document: nul"),
        ("", "file: empty: The file is empty."),
        ("\n \n", "file: empty: The file has no rows."),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(asked: World, write: Write, text: str, told: str) -> None:
    path = write("bad.qrels", text)
    printed = refused("import_qrels", "desk", path, "--set", "support@1")
    assert told in printed
    assert "bad.qrels: 1 error(s). Nothing was imported." in printed
    assert stored() == []


def test_bytes_that_are_no_text_are_refused(asked: World, tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_bytes(b"q1 0 d1 1\nq1 0 \xff 1\n")
    told = refused("import_qrels", "desk", path, "--set", "support@1")
    assert "row 2, line 2: encoding: Not UTF-8: byte 15 of the file is 0xff." in told


@pytest.mark.parametrize("name", ["none", "support@9"])
def test_an_unknown_set_is_named(asked: World, write: Write, name: str) -> None:
    told = refused("import_qrels", "desk", write("a.qrels", JUDGED), "--set", name)
    assert "file: unknown_set: Test set" in told
    assert name in told


def test_another_grade_is_refused_unless_the_file_replaces_all_of_them(asked: World, write: Write) -> None:
    load(write("a.qrels", JUDGED))
    load(write("c.qrels", "q3 0 d1 1\n"), set_name="support")
    other = write("b.qrels", "q1 0 d1 3\nq2 0 d1 1\nq2 0 d3 1\n")
    told = refused("import_qrels", "desk", other, "--set", "support@1")
    assert "row 1, line 1, field grade: conflict: The grade 2 was imported before." in told
    assert stored()[0] == ("q1", "d1", 2)
    assert "created 1, unchanged 1, regraded 1, withdrawn 1" in load(other, "--replace")
    # Of a question that is not in this number nothing is replaced.
    assert stored() == [("q1", "d1", 3), ("q2", "d1", 1), ("q2", "d3", 1), ("q3", "d1", 1)]
    assert "created 0, unchanged 3, regraded 0, withdrawn 0" in load(other, "--replace")


def send(user: Any, text: str, **fields: Any) -> Any:
    file = SimpleUploadedFile("a.qrels", text.encode())
    url = "/api/projects/desk/imports/"
    return client_of(user).post(url, {"file": file, "kind": "qrels", **fields}, format="multipart")


def test_the_api_imports_judgements(asked: World) -> None:
    assert (send(asked.rita, JUDGED, set="support@1").status_code, send(asked.charlie, JUDGED).status_code) == (
        403,
        404,
    )
    assert send(asked.alice, JUDGED).json()["error"]["code"] == "bad_set_name"
    assert send(asked.alice, JUDGED, set="support@1", version="v7").json()["error"]["code"] == "unknown_option"
    assert send(asked.alice, JUDGED, set="support@1", mapping='{"grade": "document"}').status_code == 422
    shown = send(asked.alice, JUDGED, set="support@1", preview="1").json()["preview"]
    assert shown["rows"][0] == {"question": "q1", "iteration": "0", "document": "d1", "grade": "2"}
    assert stored() == []
    reply = send(asked.alice, JUDGED, set="support@1")
    assert (reply.status_code, reply.json()["file_format"], len(stored())) == (201, "trec", 3)
    bad = send(asked.alice, "q1 0 d1 1\nq1 0 d1 1\n", set="support@1")
    assert bad.status_code == 422
    assert [(one["line"], one["code"]) for one in bad.json()["errors"]] == [
        (1, "conflict"),
        (2, "duplicate_document"),
    ]


def test_the_page_imports_judgements(asked: World) -> None:
    path = "/p/desk/systems/import/judgements/"
    assert as_user(asked.charlie).get(path).status_code == 404
    assert as_user(asked.rita).get(path).status_code == 403
    client = as_user(asked.alice)
    assert "support (draft)" in client.get(path + "?set=support@1").content.decode()
    wrong = client.post(path, {"test_set": "support@9", "file": SimpleUploadedFile("a.qrels", b"q1 0 d1 1\n")})
    assert (wrong.status_code, ImportJob.objects.filter(kind="qrels").exists()) == (422, False)
    done = client.post(
        path, {"test_set": "support@1", "replace": "on", "file": SimpleUploadedFile("a.qrels", JUDGED.encode())},
        follow=True,
    )  # fmt: skip
    assert stored() == [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d1", 1)]
    assert "Go to Systems" in done.content.decode()
