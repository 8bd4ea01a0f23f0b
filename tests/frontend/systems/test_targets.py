"""Where the system is asked, tried with one question, and the runs that ask it."""

from __future__ import annotations

from typing import Any

import pytest

from systems.models import Response, Target, TargetRun
from systems.targets.runs import start_run
from tests.annotate.factories import World, make_world
from tests.clients import as_user
from tests.openai_server import OpenAIServer, Reply, error
from tests.systems.targets.building import (
    answering,
    asked,
    endpoint_at,
    make_questions,
    make_target,
    version_named,
    worked,
)

P = "/p/desk/systems/"
FORM = {
    "endpoint": "rag",
    "method": "POST",
    "path": "/ask",
    "headers": "X-Team: search",
    "body": '{"question": "{{question}}"}',
    "reply": "answer = /answer\ncontexts = /hits\ncontext_text = /body",
}


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.answers(answering)
    return openai_server


def text(reply: Any) -> str:
    return str(reply.content.decode())


def test_a_target_is_defined_tried_and_removed(world: World, server: OpenAIServer) -> None:
    alice = as_user(world.alice)
    assert "No endpoints yet" in text(alice.get(P + "target/"))
    endpoint_at(world, server)
    assert "{{question}}" in text(alice.get(P + "target/"))
    assert alice.post(P + "target/try/", {"question": "x"}).status_code == 404
    assert alice.post(P + "target/", FORM).status_code == 302
    target = Target.objects.get()
    assert (target.headers, target.body) == ({"X-Team": "search"}, {"question": "{{question}}"})
    assert target.reply == {"answer": "/answer", "contexts": "/hits", "context_text": "/body"}
    assert "X-Team: search" in text(alice.get(P + "target/"))

    tried = text(alice.post(P + "target/try/", {"question": "Which port?"}))
    assert "This is an answer. Nothing was stored." in tried
    assert "It is Which port?" in tried
    server.answers(lambda request: Reply({"text": "<b>A</b>"}))
    tried = text(alice.post(P + "target/try/", {"question": "Which port?"}))
    assert "The reply has nothing at /answer, where answer should be." in tried
    assert "&lt;b&gt;A&lt;/b&gt;" in tried

    assert "Remove the target?" in text(alice.get(P + "target/remove/"))
    assert alice.post(P + "target/remove/").status_code == 302
    assert not Target.objects.exists()
    assert alice.get(P + "target/remove/").status_code == 404


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"path": "ask"}, "Path: must begin with"),
        ({"body": "{"}, "Body: Not JSON"),
        ({"body": '{"q": 1}'}, "The question is not sent."),
        ({"headers": "X-Team"}, "must be like X-API-Key: {{key}}"),
        ({"headers": "X-API-Key: sk-1"}, "store the secret of “X-API-Key” as the endpoint’s key"),
        ({"reply": "answer /answer"}, "must be like answer = /answer"),
        ({"reply": "answer = answer"}, "answer must be a JSON pointer"),
        ({"endpoint": "none"}, "Select a valid choice"),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    world: World, server: OpenAIServer, changes: dict[str, str], problem: str
) -> None:
    endpoint_at(world, server)
    reply = as_user(world.alice).post(P + "target/", {**FORM, **changes})
    assert reply.status_code == 422
    assert problem in text(reply)
    assert not Target.objects.exists()


def test_a_version_of_its_own(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    version = version_named(world)
    alice, path = as_user(world.alice), f"{P}versions/{version.pk}/target/"
    assert "This version is asked at the project’s target." in text(alice.get(path))
    assert "It is Which port?" in text(alice.post(path + "try/", {"question": "Which port?"}))
    assert alice.post(path, {**FORM, "path": "/own"}).status_code == 302
    assert "This version has a target of its own." in text(alice.get(path))
    assert "Versions with a target of their own" in text(alice.get(P + "target/"))
    alice.post(path + "remove/")
    assert Target.objects.count() == 1


def test_asking_watching_and_asking_again(world: World, server: OpenAIServer) -> None:
    alice = as_user(world.alice)
    make_target(world, server)
    assert "No frozen test set yet" in text(alice.get(P + "asking/"))
    make_questions(world, 3)
    assert 'value="v7"' in text(alice.get(P + "asking/?version=v7&set=support@1"))
    start = {"version": "v7", "test_set": "support@1", "repeats": 1}
    server.answers(lambda request: error(400) if request.json["question"] == "What is 1?" else answering(request))
    started = alice.post(P + "asking/", start)
    run = TargetRun.objects.get()
    assert started.url == f"{P}asking/{run.pk}/"
    assert alice.post(P + "asking/", start).url == started.url
    waiting = text(alice.get(started.url))
    assert "Waiting for the worker." in waiting
    assert "0 of 3 asked" in waiting

    worked(run)
    reply = alice.get(f"{started.url}progress/?state=running&seen=0-0-0-1")
    assert reply.headers["HX-Refresh"] == "true"
    assert alice.get(f"{started.url}progress/?state=done&seen=2-1-3-0").status_code == 204
    done = text(alice.get(started.url))
    assert "Done. Failed requests count as failed until you ask them again." in done
    assert "The endpoint rejected the request (400)." in done
    assert f"Run {run.pk}" in text(alice.get(P + "target/"))

    server.answers(answering)
    again = alice.post(f"{started.url}again/")
    worked(TargetRun.objects.get(only_failed=True))
    assert "Done. Every question was answered." in text(alice.get(again.url))
    assert Response.objects.filter(status="ok").count() == 3


def test_a_reply_that_is_no_answer_is_shown_as_text(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    server.answers(lambda request: Reply(b"<script>alert(1)</script>"))
    run = asked(world, make_questions(world, 1))
    shown = text(as_user(world.alice).get(f"{P}asking/{run.pk}/"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script>alert" not in shown


def test_paused_resumed_with_another_limit_and_cancelled(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    frozen = make_questions(world, 3)
    run = start_run(actor=world.alice, version=version_named(world), frozen_set=frozen).run
    alice, path = as_user(world.alice), f"{P}asking/{run.pk}/"
    alice.post(path + "pause/")
    assert "Paused. Answers are kept." in text(alice.get(path))
    assert alice.post(path + "resume/", {"requests": "0"}).status_code == 422
    assert alice.post(path + "resume/", {"requests": "2"}).status_code == 302
    assert worked(run).state == "stopped"
    assert "This run has sent as many requests as it may." in text(alice.get(path))
    assert "Allow more to resume." in text(alice.post(path + "resume/", {"requests": "2"}))
    assert "1 question will not be asked." in text(alice.get(path + "cancel/"))
    alice.post(path + "cancel/")
    assert "Cancelled. Answers that came are kept." in text(alice.get(path))
    assert alice.get(path + "cancel/").status_code == 302
    assert alice.post(path + "nothing/").status_code == 404


def test_only_admins(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    version, frozen = version_named(world), make_questions(world, 1)
    run = start_run(actor=world.alice, version=version, frozen_set=frozen).run
    paths = [
        "target/",
        "target/remove/",
        f"versions/{version.pk}/target/",
        "asking/",
        f"asking/{run.pk}/",
        f"asking/{run.pk}/progress/",
        f"asking/{run.pk}/cancel/",
    ]
    for path in paths:
        found = [as_user(who).get(P + path).status_code for who in (world.charlie, world.rita, world.ann, world.alice)]
        assert found[:3] == [404, 403, 403], path
        assert found[3] in (200, 404), path
    assert as_user(world.rita).post(P + "target/try/", {"question": "x"}).status_code == 403
    assert "systems/target/" not in text(as_user(world.rita).get(P))
    assert "systems/target/" in text(as_user(world.alice).get(P))
    assert not server.requests
