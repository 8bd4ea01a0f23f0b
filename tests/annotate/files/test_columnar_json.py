"""JSON that names each column once: {"question": […], "answer": […]}, wherever a list of rows could stand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotate.files import sources
from annotate.files.import_jobs import import_file
from annotate.models import Project, Sample

Write = Callable[..., Path]
Send = Callable[..., Any]

COLUMNS = {
    "id": ["a", "b", "c"],
    "question": ['q"]}\\', "q2", "q3"],
    "answer": ["x", "y", "z[{"],
    "contexts": [["one", "two"], [], [{"id": "d", "text": "three"}]],
    "metadata": [{"turn": 1}, {}, {"tags": ["x"]}],
}
ROWS = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)]


def stored(project: Project) -> list[dict[str, Any]]:
    return list(Sample.objects.filter(project=project).order_by("external_id").values("external_id", "content_hash"))


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("a.json", json.dumps(COLUMNS)),
        ("a.json", json.dumps(COLUMNS, indent=1)),
        ("upload", json.dumps(COLUMNS)),
        ("a.jsonl", json.dumps(COLUMNS)),
        ("a.json", json.dumps({"version": 1, "data": COLUMNS, "note": "x"})),
        ("upload", json.dumps({"samples": COLUMNS})),
    ],
)
def test_columns_are_the_same_samples_as_rows(
    name: str, document: str, send: Send, project: Project, write: Write
) -> None:
    done = send(write(name, document))
    assert (done["status"], done["errors"]) == ("done", [])
    before = stored(project)
    again = send(write("rows.jsonl", ROWS))
    assert again["result"]["unchanged"] == 3
    assert stored(project) == before
    assert {row["external_id"] for row in before} == {"a", "b", "c"}


def test_a_pipeline_pushes_columns(api: APIClient, project: Project) -> None:
    pushed = api.post("/api/projects/p/samples/", {"version": "v7", "samples": COLUMNS}, format="json")
    assert (pushed.status_code, pushed.json().get("errors"), pushed.json().get("created")) == (201, None, 3)


def test_columns_are_cut_right_across_blocks(
    send: Send, project: Project, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources.Stream, "read", lambda self, size=0, read=sources.Stream.read: read(self, 7))
    assert send(write("a.json", json.dumps(COLUMNS, indent=1)))["status"] == "done"
    assert Sample.objects.get(external_id="c").answer == "z[{"


@pytest.mark.parametrize(
    ("document", "code", "field"),
    [
        ({**COLUMNS, "answer": ["x", "y"]}, "columns", "answer"),
        ({**COLUMNS, "answer": []}, "columns", "answer"),
        ({**COLUMNS, "id": ["a"]}, "columns", "id"),
        ({**COLUMNS, "version": "v7"}, "columns", "version"),
        ({"question": [], "answer": []}, "empty", None),
        ({"runs": [{"question": "q", "answer": "x"}]}, "shape", None),
        ({"samples": COLUMNS, "data": ROWS}, "shape", None),
        ({"samples": COLUMNS, "data": COLUMNS}, "shape", None),
    ],
)
def test_what_is_wrong_names_the_column(
    document: dict[str, Any], code: str, field: str | None, send: Send, project: Project, write: Write
) -> None:
    refused = send(write("a.json", json.dumps(document, indent=0)))
    assert refused["status"] == "failed"
    assert [(error["code"], error["field"]) for error in refused["errors"]] == [(code, field)]
    assert not Sample.objects.exists()


def test_a_column_that_comes_twice_is_refused(send: Send, project: Project, write: Write) -> None:
    refused = send(write("a.json", '{"question": ["q"],\n"question": ["r"], "answer": ["x"]}'))
    assert [(error["code"], error["field"]) for error in refused["errors"]] == [("duplicate_column", "question")]


@pytest.mark.parametrize("tail", ["", "]", "}", '], "answer": [nonsense]}', '"x" "y"], "answer": ["x"]}', ",], }"])
def test_broken_columns_are_refused(tail: str, send: Send, project: Project, write: Write) -> None:
    refused = send(write("a.json", '{"question": ["q"' + tail))
    assert refused["status"] == "failed"
    assert {error["code"] for error in refused["errors"]} <= {"json", "truncated", "columns"}


def test_a_bad_row_of_columns_is_named(send: Send, project: Project, write: Write) -> None:
    refused = send(write("a.json", json.dumps({**COLUMNS, "question": ["q", 2, "q3"]})))
    assert [(error["row"], error["code"], error["field"]) for error in refused["errors"]] == [(2, "type", "question")]


def test_columns_have_a_limit_in_bytes(send: Send, project: Project, write: Write) -> None:
    """Its cells can't be read before its last column is there, so a document of columns is kept as a whole."""
    text = "x" * 500_000
    document = {"question": ["q"] * 140, "answer": [text] * 140}
    path = write("a.json", json.dumps(document))
    shown = send(path, preview="1")
    assert [error["code"] for error in shown["preview"]["errors"]] == ["no_preview"]
    refused = import_file(project=project, user=None, kind="samples", path=path, mapping={})
    assert [error["code"] for error in refused.errors] == ["too_large"]
