"""What a target may say, who may say it, and what becomes of it with its project."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import Http404

from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Project
from annotate.projects.deletion import delete_waiting
from judges.endpoints.duplicate import duplicate_project
from judges.endpoints.write import delete_endpoint
from judges.runs.project_deletion import delete_project
from systems.models import SystemVersion, Target, TargetAsk, TargetReply, TargetRun
from systems.responses.versions import Description, change_version
from systems.targets.read import target_of
from systems.targets.write import TargetTrial, remove_target, set_target, try_target, unsaved_question
from tests.annotate.factories import World
from tests.openai_server import OpenAIServer, Reply, error
from tests.systems.targets.building import (
    BODY,
    REPLY,
    asked,
    endpoint_at,
    make_questions,
    make_target,
    version_named,
)

WHOLE: dict[str, Any] = {"endpoint": "rag", "path": "/ask", "body": BODY, "reply": REPLY}
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "endpoint": ({"endpoint": "none"}, "endpoint", "Endpoint: Endpoint not found"),
    "method": ({"method": "DELETE"}, "method", "Method: must be one of POST, PUT, GET."),
    "path": ({"path": "ask"}, "path", "must begin with “/”"),
    "climbing": ({"path": "/a/../b"}, "path", "dot segments"),
    "another host": ({"path": "//elsewhere.example/x"}, "path", "empty or dot segments"),
    "fragment": ({"path": "/a#b"}, "path", "must not contain"),
    "line break": ({"path": "/a\r\nX: y"}, "path", "must not contain"),
    "no header": ({"headers": ["X"]}, "headers", "names with a text each"),
    "header with lines": ({"headers": {"X-A": "a\r\nX-B: b"}}, "headers", "names with a text each"),
    "header name": ({"headers": {"X A": "a"}}, "headers", "not a valid name"),
    "host": ({"headers": {"Host": "elsewhere"}}, "headers", "set for each request"),
    "secret": ({"headers": {"Authorization": "Bearer sk-1"}}, "headers", "write {{key}} here"),
    "another secret": ({"headers": {"X-Api-Key": "sk-1"}}, "headers", "write {{key}} here"),
    "place in a header": ({"headers": {"X-A": "{{question}}"}}, "headers", "the only place is {{key}}"),
    "twice": ({"headers": {"X-A": "a", "x-a": "b"}}, "headers", "each name once"),
    "place": ({"body": {"q": "{{query}}", "question": "{{question}}"}}, "body", "“{{query}}” is no place"),
    "no question": ({"body": {"q": "hello"}}, "body", "The question is not sent."),
    "get with a body": ({"method": "GET"}, "body", "a GET request has none"),
    "get without a question": ({"method": "GET", "body": None}, "path", "The question is not sent."),
    "nul": ({"body": {"q": "{{question}}\x00"}}, "body", "NUL"),
    "no reply": ({"reply": {}}, "reply.answer", "say where the answer stands"),
    "pointer": ({"reply": {"answer": "answer"}}, "reply.answer", "must be a JSON pointer"),
    "tilde": ({"reply": {"answer": "/a~2"}}, "reply.answer", "must be a JSON pointer"),
    "unknown": ({"reply": {"answer": "/a", "sources": "/b"}}, "reply", "“sources” is not known"),
    "contexts": ({"reply": {"answer": "/a", "context_id": "/id"}}, "reply.contexts", "say where the contexts stand"),
    "more": ({"timeout": 3}, "timeout", "Unknown field “timeout”."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_target_may_not_say(world: World, server: OpenAIServer, name: str) -> None:
    changes, field, words = REFUSED[name]
    endpoint_at(world, server)
    with pytest.raises(Invalid) as refused:
        set_target(actor=world.alice, project=world.project, said={**WHOLE, **changes})
    assert words in refused.value.message
    assert refused.value.details["field"] == field
    assert not Target.objects.exists()


def test_it_is_noted_without_what_it_sends(world: World, server: OpenAIServer) -> None:
    make_target(world, server, headers={"X-Team": "search"})
    make_target(world, server, headers={"X-Team": "search"})
    make_target(world, server, headers={"X-Team": "other"})
    remove_target(actor=world.alice, project=world.project)
    noted = AuditEntry.objects.filter(action__startswith="target.").order_by("pk")
    assert [(one.action, one.details.get("fields")) for one in noted] == [
        ("target.set", ["body", "endpoint", "headers", "method", "path", "reply"]),
        ("target.set", ["headers"]),
        ("target.removed", None),
    ]
    assert "search" not in str(list(noted.values()))
    with pytest.raises(Http404):
        remove_target(actor=world.alice, project=world.project)


def test_an_endpoint_that_a_target_uses_stays(world: World, server: OpenAIServer) -> None:
    target = make_target(world, server)
    with pytest.raises(Conflict, match="a system is asked there"):
        delete_endpoint(endpoint=target.endpoint, actor=world.alice)
    remove_target(actor=world.alice, project=world.project)
    delete_endpoint(endpoint=target.endpoint, actor=world.alice)


def test_a_duplicate_has_the_target_and_no_key(
    world: World, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY_RAG", "sk-1234567890abcdef")
    key = {"key_source": "environment", "key_variable": "JUDGE_KEY_RAG"}
    make_target(world, server, headers={"X-API-Key": "{{key}}"}, at=key)
    make_target(world, server, version=version_named(world), path="/own")
    made = duplicate_project(actor=world.alice, project=world.project, slug="again", name="Again")
    (target,) = Target.objects.filter(project=made)
    assert (target.version, target.path, target.headers) == (None, "/ask", {"X-API-Key": "{{key}}"})
    assert (target.endpoint.project, target.endpoint.name, target.endpoint.key_source) == (made, "rag", "none")


def test_all_of_it_goes_with_its_project(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    asked(world, make_questions(world, 2))
    delete_project(actor=world.alice, project=world.project, name=world.project.name)
    assert delete_waiting(world.project.pk)
    assert not Project.objects.filter(pk=world.project.pk).exists()
    assert not any(model.objects.exists() for model in (Target, TargetRun, TargetReply, TargetAsk))


# Trying it


def tried(world: World, version: SystemVersion) -> TargetTrial:
    target = target_of(version)
    assert target is not None
    return try_target(target=target, version=version, question=unsaved_question("Which port?"))


def test_one_question_shows_the_reply_and_what_it_says(world: World, server: OpenAIServer) -> None:
    make_target(world, server)
    trial = tried(world, version_named(world))
    assert trial.works
    assert trial.mapped is not None
    assert (trial.mapped.answer, trial.mapped.measures.keys()) == ("It is Which port?", {"latency_ms"})
    assert '"answer": "It is Which port?"' in trial.shown_raw
    assert not TargetReply.objects.exists()


@pytest.mark.parametrize(
    ("reply", "message", "raw"),
    [
        (Reply({"text": "A"}), "The reply has nothing at /answer, where answer should be.", '{"text":"A"}'),
        (Reply(b"<p>No"), "The reply is HTML or XML, not JSON.", "<p>No"),
        (error(503), "Endpoint server error (503).", ""),
        (error(401), "The endpoint rejected the key (401).", ""),
    ],
)
def test_what_is_wrong_is_said(world: World, server: OpenAIServer, reply: Reply, message: str, raw: str) -> None:
    make_target(world, server)
    server.answers(lambda request: reply)
    trial = tried(world, version_named(world))
    assert (trial.works, trial.message, trial.raw) == (False, message, raw)


def test_a_configuration_that_lacks_what_is_sent(world: World, server: OpenAIServer) -> None:
    version = version_named(world)
    make_target(world, server, body={"question": "{{question}}", "k": "{{configuration.top_k}}"})
    assert tried(world, version).message == "The configuration of “v7” has no “top_k”, which the target sends."
    change_version(actor=None, version=version, said=Description(configuration={"top_k": 5}))
    assert tried(world, version).works
    with pytest.raises(Invalid):
        unsaved_question("  ")
