"""Targets and their runs by API."""

from __future__ import annotations

from typing import Any

import pytest

from systems.models import TargetRun
from tests.annotate.factories import World
from tests.clients import client_of
from tests.openai_server import OpenAIServer, error
from tests.systems.targets.building import BODY, REPLY, endpoint_at, make_questions, make_target, version_named, worked

P = "/api/projects/desk/"
WHOLE = {"endpoint": "rag", "path": "/ask", "body": BODY, "reply": REPLY}


def sent(client: Any, method: str, path: str, data: Any = None) -> Any:
    return getattr(client, method)(P + path, data, content_type="application/json")


def test_define_try_and_ask(world: World, server: OpenAIServer) -> None:
    make_questions(world, 3)
    endpoint_at(world, server)
    alice = client_of(world.alice)
    assert alice.get(P + "target/").status_code == 404
    made = sent(alice, "put", "target/", WHOLE)
    assert made.status_code == 200
    assert made.json()["endpoint"] == "rag"
    assert made.json() == alice.get(P + "target/").json()
    refused = sent(alice, "put", "target/", {**WHOLE, "path": "x"})
    assert (refused.status_code, refused.json()["field"]) == (422, "path")

    version = version_named(world)
    trial = sent(alice, "post", f"versions/{version.pk}/target/try/", {"question": "Which port?"}).json()
    assert (trial["works"], trial["mapped"]["answer"]) == (True, "It is Which port?")

    start = {"version": "v7", "set": "support", "repeats": 2, "budget": None}
    started = sent(alice, "post", "target-runs/", start)
    assert started.status_code == 202
    run = started.json()
    assert (run["set"], run["state"], run["progress"]["planned"]) == ("support@1", "running", 6)
    again = sent(alice, "post", "target-runs/", start)
    assert (again.status_code, again.json()["id"]) == (202, run["id"])
    server.answers(lambda request: error(400))
    worked(TargetRun.objects.get())
    progress = alice.get(f"{P}target-runs/{run['id']}/").json()["progress"]
    assert (progress["done"], progress["failed"], progress["left"]) == (6, 6, 0)
    failures = alice.get(f"{P}target-runs/{run['id']}/failures/").json()
    assert failures["count"] == 6
    assert failures["results"][0] == {
        "question": "q0",
        "repeat": 0,
        "detail": "The endpoint rejected the request (400).",
        "raw": None,
    }
    assert alice.get(P + "target-runs/").json()["count"] == 1


def test_pause_resume_and_cancel(world: World, server: OpenAIServer) -> None:
    make_questions(world, 3)
    make_target(world, server)
    alice = client_of(world.alice)
    run = sent(alice, "post", "target-runs/", {"version": "v7", "set": "support@1", "requests": 1}).json()["id"]
    assert sent(alice, "post", f"target-runs/{run}/pause/", {}).json()["state"] == "paused"
    assert sent(alice, "post", f"target-runs/{run}/pause/", {}).status_code == 409
    resumed = sent(alice, "post", f"target-runs/{run}/resume/", {"requests": 2, "budget": "2.5"}).json()
    assert (resumed["state"], resumed["most_requests"], resumed["budget"]) == ("running", 2, "2.500000")
    assert sent(alice, "post", f"target-runs/{run}/cancel/", {}).json()["state"] == "cancelled"


def test_a_version_s_own_target(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    version = version_named(world)
    path = f"versions/{version.pk}/target/"
    alice = client_of(world.alice)
    assert alice.get(P + path).status_code == 404
    assert sent(alice, "put", path, {**WHOLE, "path": "/own"}).json()["version"] == "v7"
    assert alice.delete(P + path).status_code == 204
    assert alice.get(P + path).status_code == 404
    assert alice.delete(P + "target/").status_code == 204
    assert sent(alice, "post", f"versions/{version.pk}/target/try/", {"question": "x"}).status_code == 404


@pytest.mark.parametrize("who", ["rita", "ann", "charlie"])
def test_only_admins(world: World, server: OpenAIServer, who: str) -> None:
    make_questions(world, 1)
    make_target(world, server)
    version = version_named(world)
    run = sent(client_of(world.alice), "post", "target-runs/", {"version": "v7", "set": "support@1"}).json()["id"]
    other = client_of(getattr(world, who))
    expected = 404 if who == "charlie" else 403
    for method, path in [
        ("get", "target/"),
        ("put", "target/"),
        ("delete", "target/"),
        ("get", f"versions/{version.pk}/target/"),
        ("post", f"versions/{version.pk}/target/try/"),
        ("get", "target-runs/"),
        ("post", "target-runs/"),
        ("get", f"target-runs/{run}/"),
        ("post", f"target-runs/{run}/pause/"),
        ("get", f"target-runs/{run}/failures/"),
    ]:
        assert getattr(other, method)(P + path, content_type="application/json").status_code == expected, path
    assert client_of(world.dora).get(f"/api/projects/next-door/target-runs/{run}/").status_code == 404
