"""Test sets, questions, versions and responses by API: what is told, to whom, and what changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Sample
from systems.models import FrozenSet, Response, SystemVersion
from tests.annotate.api.test_access import ask
from tests.annotate.factories import World, make_sample
from tests.clients import client_of
from tests.systems.building import command, freeze, import_questions

Write = Callable[..., Path]
API = "/api/projects/desk/"

ROWS = [
    {"id": "q1", "question": "Which port?", "type": "simple", "relevant": {"d1": 2}},
    {"id": "q2", "question": "And TLS?", "category": "net"},
]


@pytest.fixture
def asked(world: World, write: Write) -> World:
    import_questions(write("q.jsonl", ROWS))
    return world


def get(user: Any, path: str, code: int = 200, **query: str) -> Any:
    reply = client_of(user).get(API + path, query)
    assert reply.status_code == code, reply.content
    return reply.json()


def post(user: Any, path: str, body: Any = None, method: str = "POST") -> Any:
    return ask(client_of(user), method, API + path, body)


def test_questions_are_listed_and_found(asked: World, write: Write) -> None:
    import_questions(
        write("r.jsonl", [{**ROWS[0], "reference": "8000"}, {"id": "q3", "question": "How fast?"}]), "more"
    )
    listed = get(asked.rita, "questions/")["results"]
    assert [one["id"] for one in listed] == ["q1", "q2", "q3"]
    first = get(asked.rita, f"questions/{listed[0]['pk']}/")
    assert first == listed[0]
    assert [(one["number"], one["reference"], one["relevant"]) for one in first["revisions"]] == [
        (1, None, {"d1": 2}),
        (2, "8000", {"d1": 2}),
    ]
    assert [one["id"] for one in get(asked.rita, "questions/", search="tls")["results"]] == ["q2"]
    assert [one["id"] for one in get(asked.rita, "questions/", set="more")["results"]] == ["q1", "q3"]
    get(asked.rita, "questions/", 404, set="none")


def test_a_set_is_frozen_and_told_with_what_changes(asked: World, write: Write) -> None:
    assert post(asked.rita, "question-sets/support/freeze/").status_code == 403
    assert post(asked.ann, "question-sets/support/freeze/").status_code == 403
    done = post(asked.alice, "question-sets/support/freeze/")
    assert (done.status_code, done.json()["name"], done.json()["is_new"]) == (201, "support@1", True)
    again = post(asked.alice, "question-sets/support/freeze/")
    assert (again.status_code, again.json()["is_new"]) == (200, False)
    import_questions(write("r.jsonl", [{"id": "q3", "question": "How fast?"}]))
    draft = get(asked.rita, "question-sets/support/")
    assert (draft["next_number"], draft["questions"]) == (2, ["q1", "q2", "q3"])
    assert draft["changes"] == {"added": ["q3"], "removed": [], "changed": []}
    (listed,) = get(asked.rita, "question-sets/")["results"]
    assert (listed["name"], listed["questions"], [one["name"] for one in listed["frozen"]]) == (
        "support",
        3,
        ["support@1"],
    )
    whole = get(asked.rita, "question-sets/support/1/")
    assert whole["sha256"] == FrozenSet.objects.get().sha256
    assert whole["manifest"]["added"] == ["q1", "q2"]
    assert whole["frozen_by"] == "alice"
    get(asked.rita, "question-sets/support/2/", 404)
    assert post(asked.alice, "question-sets/none/freeze/").status_code == 404


def test_versions_are_made_described_and_measured(asked: World, write: Write) -> None:
    body = {"name": "v7", "configuration": {"model": "m"}, "baseline": True}
    assert post(asked.rita, "versions/", body).status_code == 403
    made = post(asked.alice, "versions/", body)
    assert made.status_code == 201, made.content
    assert post(asked.alice, "versions/", body).json()["error"]["code"] == "version_exists"
    rows = [
        {"question_id": "q1", "pipeline_version": "v7", "answer": "8000.", "latency_ms": 100, "cost": 0.5},
        {"question_id": "q2", "pipeline_version": "v7", "answer": "Yes.", "latency_ms": 300},
        {"question_id": "q2", "pipeline_version": "v7", "repeat": 1, "status": "failed"},
    ]
    command("import_samples", "desk", write("a.jsonl", rows))
    (listed,) = get(asked.rita, "versions/")["results"]
    assert (listed["name"], listed["baseline"], listed["answered"], listed["failed"]) == ("v7", True, 2, 1)
    told = get(asked.rita, f"versions/{listed['pk']}/")
    figures = told.pop("figures")
    assert told == listed
    assert (figures["questions"], figures["responses"]) == (2, 3)
    measures = {one["name"]: one for one in figures["measures"]}
    assert measures["latency_ms"] == {"name": "latency_ms", "known": 2, "p50": 200, "p95": 290, "total": 400}
    assert (measures["cost"]["known"], measures["cost"]["total"]) == (1, 0.5)
    assert measures["output_tokens"] == {"name": "output_tokens", "known": 0, "p50": None, "p95": None, "total": None}
    changed = post(asked.alice, f"versions/{listed['pk']}/", {"tags": ["rc"], "baseline": False}, "PATCH")
    assert (changed.json()["tags"], changed.json()["baseline"], changed.json()["configuration"]) == (
        ["rc"],
        False,
        {"model": "m"},
    )
    assert post(asked.alice, f"versions/{listed['pk']}/", {"tags": 1}, "PATCH").status_code == 422


def test_responses_are_pushed_listed_and_filtered(asked: World) -> None:
    freeze()
    body = {
        "version": "v7",
        "samples": [{"question_id": "q1", "answer": "8000."}, {"question_id": "q2", "status": "error", "error": "503"}],
    }
    assert post(asked.rita, "responses/", body).status_code == 403
    reply = post(asked.alice, "responses/", body)
    assert (reply.status_code, reply.json()["responses"]) == (201, 2)
    listed = get(asked.rita, "responses/")["results"]
    assert [
        (one["question"], one["version"], one["status"], one["sample_id"], one["error_text"]) for one in listed
    ] == [
        ("q1", "v7", "ok", "q1@v7", ""),
        ("q2", "v7", "failed", None, "503"),
    ]
    for query, count in (
        ({"version": "v7"}, 2),
        ({"version": "v8"}, 0),
        ({"status": "failed"}, 1),
        ({"question": "q1"}, 1),
        ({"set": "support"}, 2),
        ({"set": "support@1"}, 2),
    ):
        assert get(asked.rita, "responses/", **query)["count"] == count, query
    get(asked.rita, "responses/", 404, set="support@9")
    get(asked.rita, "responses/", 422, status="maybe")


def test_who_still_has_to_label_an_answer_is_not_told_its_version(asked: World) -> None:
    post(asked.alice, "responses/", {"version": "v7", "samples": [{"question_id": "q1", "answer": "8000."}]})
    asked.batch(criteria=["grade"], annotators=[asked.rita], overlap=1)
    assert get(asked.rita, "responses/")["count"] == 0
    assert get(asked.alice, "responses/")["count"] == 1


def test_samples_of_the_same_words_become_one_question(asked: World) -> None:
    for number, version in enumerate(("v1", "v2"), start=1):
        make_sample(asked.project, number, question="Which port, please?", pipeline_version=version)
    (proposal,) = get(asked.rita, "questions/unlinked/")["results"]
    assert (proposal["text"], proposal["versions"], proposal["can_be_confirmed"]) == (
        "Which port, please?",
        {"v1": 1, "v2": 1},
        True,
    )
    assert post(asked.rita, "questions/unlinked/", {"keys": [proposal["key"]]}).status_code == 403
    assert post(asked.alice, "questions/unlinked/", {"keys": ["x"]}).status_code == 422
    done = post(asked.alice, "questions/unlinked/", {"keys": [proposal["key"]]})
    assert (done.status_code, done.json()) == (200, {"questions": 1, "responses": 2})
    assert Response.objects.count() == 2
    assert SystemVersion.objects.count() == 2
    assert Sample.objects.exclude(group_key="").count() == 2


def test_another_project_has_questions_of_its_own(asked: World) -> None:
    question = get(asked.rita, "questions/")["results"][0]["pk"]
    for path in ("questions/", "question-sets/", "versions/", "responses/", "questions/unlinked/"):
        assert client_of(asked.dora).get(API + path).status_code == 404
        assert client_of(asked.dora).get(f"/api/projects/next-door/{path}").json()["results"] == []
        assert client_of(asked.ann).get(API + path).status_code == 403
    assert client_of(asked.dora).get(f"/api/projects/next-door/questions/{question}/").status_code == 404
