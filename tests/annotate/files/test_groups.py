"""Samples that vary together: the group that a file or a pipeline names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.files.import_samples import SampleBuilder
from annotate.models import Project, Sample, User
from annotate.samples.read import groups_of
from tests.clients import as_user

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]
Send = Callable[..., Any]

ROWS = [{"id": name, "question": "q", "answer": f"{name}."} for name in ("a", "b", "c")]


def _with(*groups: Any) -> list[dict[str, Any]]:
    return [{**row, "group_key": group} for row, group in zip(ROWS, groups, strict=True)]


def _stored() -> dict[str, str]:
    return dict(Sample.objects.values_list("external_id", "group_key"))


def _sent(send: Send, write: Write, rows: Any, name: str = "a.jsonl") -> dict[str, Any]:
    job = send(write(name, rows))
    assert job["status"] == "done", job["errors"]
    return {name: job["result"].get(name) for name in ("created", "unchanged", "grouped")}


def test_a_file_names_groups(project: Project, send: Send, write: Write) -> None:
    assert _sent(send, write, _with("q1", "q1", None)) == {"created": 3, "unchanged": 0, "grouped": None}
    assert _stored() == {"a": "q1", "b": "q1", "c": ""}
    # A sample alone is its own group, whether the file says so or not.
    Sample.objects.filter(external_id="c").update(group_key="c")
    assert groups_of(project) == groups_of(project, ["a", "b", "c"]) == {"a": "q1", "b": "q1"}
    assert groups_of(project, ["b", "nobody"]) == {"b": "q1"}


def test_numbers_and_cells_are_names_too(project: Project, send: Send, write: Write) -> None:
    _sent(send, write, [{**ROWS[0], "Group Key": 7}])
    _sent(send, write, "id,question,answer,group_key\nb,q,b.,7\nc,q,c.,\n", "a.csv")
    assert _stored() == {"a": "7", "b": "7", "c": ""}


def test_the_same_again_may_name_a_group_once(project: Project, send: Send, write: Write) -> None:
    _sent(send, write, ROWS)
    hashes = dict(Sample.objects.values_list("external_id", "content_hash"))
    assert _sent(send, write, _with("q1", "q1", None)) == {"created": 0, "unchanged": 1, "grouped": 2}
    assert _stored() == {"a": "q1", "b": "q1", "c": ""}
    # It is the same content: whoever sends it without a group changes nothing.
    assert dict(Sample.objects.values_list("external_id", "content_hash")) == hashes
    for rows in (ROWS, _with("q1", "q1", None)):
        assert _sent(send, write, rows) == {"created": 0, "unchanged": 3, "grouped": None}
    refused = send(write("b.jsonl", _with("q1", "q2", "q2")))
    assert [(error["row"], error["field"], error["code"]) for error in refused["errors"]] == [
        (2, "group_key", "conflict")
    ]
    assert _stored() == {"a": "q1", "b": "q1", "c": ""}


def test_other_content_is_a_conflict_whatever_the_group(project: Project, send: Send, write: Write) -> None:
    _sent(send, write, ROWS)
    refused = send(write("b.jsonl", [{**ROWS[0], "answer": "Another.", "group_key": "q1"}]))
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [("id", "conflict")]


def test_what_was_imported_yesterday_has_the_hash_that_it_had(project: Project) -> None:
    """As the version before groups wrote it, byte for byte."""
    content = b"\t".join(
        (b"split", b"q", b"a.", b"\\N", b"\\N", b"[]", b"[]", b"[]", b"{}", b"{}", b"", b'{"lang":"en"}')
    )
    built = SampleBuilder(project.pk, {}, typed=True).build({**ROWS[0], "lang": "en", "group_key": "q1"})
    assert built.content_hash == hashlib.blake2b(content, digest_size=16).digest()


@pytest.mark.parametrize("abstained", [None, "no"])
def test_a_column_that_was_metadata_yesterday_names_a_group_today(
    project: Project, send: Send, write: Write, abstained: str | None
) -> None:
    row = {**ROWS[0], "group_key": "q1"} | ({} if abstained is None else {"abstained": abstained})
    before = SampleBuilder(project.pk, {"group_key": "metadata"}, typed=True).build(row)
    _sent(send, write, [ROWS[0] | ({} if abstained is None else {"abstained": abstained})])
    Sample.objects.update(content_hash=before.content_hash, metadata={"group_key": "q1"})
    assert _sent(send, write, [row]) == {"created": 0, "unchanged": 0, "grouped": 1}
    assert _sent(send, write, [row]) == {"created": 0, "unchanged": 1, "grouped": None}
    assert _stored() == {"a": "q1"}


def test_what_a_pipeline_answers_under_one_id_is_a_group(project: Project, admin: User) -> None:
    client = as_user(admin)

    def push(version: str, *rows: dict[str, Any]) -> Any:
        body = json.dumps({"version": version, "samples": rows})
        return client.post("/api/projects/p/samples/", body, content_type="application/json")

    nameless = {"question": "q", "answer": "x"}
    for version in ("v7", "v8"):
        assert push(version, ROWS[0], {**ROWS[1], "group_key": "topic"}, nameless).status_code == 201
    named = {name: group for name, group in _stored().items() if not name.startswith("sample-")}
    assert named == {"a@v7": "a", "a@v8": "a", "b@v7": "topic", "b@v8": "topic"}
    assert [group for name, group in _stored().items() if name.startswith("sample-")] == ["", ""]
    again = push("v8", ROWS[0])
    assert (again.status_code, again.json()["unchanged"], again.json().get("grouped")) == (200, 1, None)
    assert push("v8", {**ROWS[0], "group_key": "other"}).status_code == 422


def test_a_group_is_shown(project: Project, admin: User, send: Send, write: Write) -> None:
    _sent(send, write, _with("the group", None, None))
    client = as_user(admin)
    shown = client.get("/api/projects/p/samples/").json()["results"]
    assert [sample["group_key"] for sample in shown] == ["the group", "", ""]
    page = client.get(f"/p/p/samples/{shown[0]['pk']}/").content.decode()
    assert "the group" in page
