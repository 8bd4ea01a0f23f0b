"""Samples that a pipeline pushes: all or nothing, by id and version, and the same again changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.models import ImportJob, Sample
from tests.annotate.api.test_access import ask
from tests.annotate.factories import World
from tests.clients import client_of

URL = "/api/projects/desk/samples/"
ONE = {"id": "kb-001", "question": "Which port?", "answer": "8000. Or what PORT says.", "contexts": ["Port 8000."]}
TWO = {"sample_id": "kb-002", "user_input": "And TLS?", "response": "No.", "team": "net"}


def push(world: World, samples: Any = (ONE, TWO), version: Any = "v7", **more: Any) -> Any:
    return ask(client_of(world.alice), "POST", URL, {"version": version, "samples": samples, **more})


def refused(reply: Any) -> list[tuple[int | None, str | None, str]]:
    assert reply.status_code == 422, reply.content
    assert reply.json()["error"]["code"] == "import_failed"
    assert reply.json()["error_count"] == len(reply.json()["errors"])
    assert not Sample.objects.exists()
    return [(error["row"], error["field"], error["code"]) for error in reply.json()["errors"]]


def test_samples_are_named_by_id_and_version(world: World) -> None:
    reply = push(world)
    assert reply.status_code == 201, reply.content
    assert {**reply.json(), "import_id": ""} == {
        "version": "v7", "rows": 2, "created": 2, "unchanged": 0, "import_id": "",
    }  # fmt: skip
    first, second = Sample.objects.order_by("id")
    assert (first.external_id, first.pipeline_version, len(first.claims)) == ("kb-001@v7", "v7", 2)
    assert (second.external_id, second.question, second.metadata) == ("kb-002@v7", "And TLS?", {"team": "net"})
    job = ImportJob.objects.get(pk=reply.json()["import_id"])
    assert (job.status, job.file_name, job.created_by) == ("done", "v7.json", world.alice)


def test_two_versions_answer_the_same_questions(world: World) -> None:
    push(world)
    assert push(world, [{**ONE, "answer": "9000."}], "v8").json()["created"] == 1
    assert set(Sample.objects.values_list("external_id", flat=True)) == {"kb-001@v7", "kb-002@v7", "kb-001@v8"}
    client = client_of(world.rita)
    found = client.get("/api/projects/desk/pipeline-versions/").json()["results"]
    assert [(one["version"], one["samples"]) for one in found] == [("v8", 1), ("v7", 2)]
    assert all(one["first_at"] <= one["last_at"] for one in found)
    listed = client.get(URL, {"pipeline": "v7"}).json()
    assert [sample["id"] for sample in listed["results"]] == ["kb-001@v7", "kb-002@v7"]
    assert client.get(URL, {"pipeline": "v"}).json()["count"] == 0


def test_the_same_again_changes_nothing_and_other_content_is_a_conflict(world: World) -> None:
    assert push(world, [ONE]).status_code == 201
    again = push(world)
    assert (again.status_code, again.json()["created"], again.json()["unchanged"]) == (201, 1, 1)
    before = list(Sample.objects.values())
    third = push(world)
    assert (third.status_code, third.json()["created"], third.json()["unchanged"]) == (200, 0, 2)
    changed = push(world, [{**TWO, "id": "kb-003"}, {**ONE, "answer": "9000."}])
    assert changed.status_code == 422
    assert [(error["row"], error["code"]) for error in changed.json()["errors"]] == [(2, "conflict")]
    assert list(Sample.objects.values()) == before


def test_a_sample_without_an_id_is_named_by_its_content(world: World) -> None:
    row = {"question": "q", "answer": "a"}
    assert push(world, [row]).json()["created"] == 1
    assert push(world, [row]).json()["unchanged"] == 1
    assert push(world, [row], "v8").json()["created"] == 1
    assert all(name.startswith("sample-") for name in Sample.objects.values_list("external_id", flat=True))
    assert {name.rpartition("@")[2] for name in Sample.objects.values_list("external_id", flat=True)} == {"v7", "v8"}


def test_every_error_is_found_at_once(world: World) -> None:
    wrong = [
        ONE,
        {"id": "b", "question": "", "answer": 7},
        {"id": "kb-001", "question": "q", "answer": "a"},
        {"id": "c", "question": "q", "answer": "a", "pipeline_version": "v6"},
        {"id": "x" * 499, "question": "q", "answer": "a"},
    ]
    assert refused(push(world, wrong)) == [
        (2, "question", "missing"),
        (2, "answer", "type"),
        (3, "id", "duplicate_id"),
        (4, "pipeline_version", "other_version"),
        (5, "id", "too_long"),
    ]
    assert push(world, [{**ONE, "pipeline_version": "v7"}]).json()["created"] == 1


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("[]", "empty"),
        ("[null]", "not_object"),
        ("[[]]", "not_object"),
        ('[{"question": "q", "question": "r", "answer": "a"}]', "duplicate_key"),
        ('[{"question": "q", "answer": "a", "m": 18446744073709551616}]', "number"),
        ('[{"question": "q", "answer": "a", "metadata": [true, 1e300]}], "version": "v8"', None),
        (json.dumps([{"question": "q", "answer": "a" * (1 << 20) + "a"}]), "too_long"),
    ],
)
def test_odd_json_is_refused_by_the_importers_rules(world: World, sent: str, code: str | None) -> None:
    text = f'{{"version": "v7", "samples": {sent}}}'
    reply = client_of(world.alice).generic("POST", URL, text, content_type="application/json")
    if code is None:
        assert reply.status_code == 201, reply.content
    else:
        assert [one[2] for one in refused(reply)] == [code]


@pytest.mark.parametrize("samples", [None, {}, "[]", 7, True])
def test_samples_come_in_a_list(world: World, samples: Any) -> None:
    reply = push(world, samples)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "not_a_list")
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("version", [None, 7, True, "", " v7", "v7\n", "a@b", "x" * 101, ["v7"], {}, "v\u200b7"])
def test_a_version_that_is_none_is_refused(world: World, version: Any) -> None:
    reply = push(world, version=version)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "bad_version")
    assert not ImportJob.objects.exists()


def test_no_more_than_16_mib_at_once(world: World) -> None:
    reply = push(world, [{**ONE, "answer": "a" * (1 << 24)}])
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")
