"""A system that is asked over HTTP, and runs of it in this process."""

from __future__ import annotations

from random import Random
from typing import Any

from judges.models import Endpoint
from systems.models import (
    FrozenSet,
    Question,
    QuestionSet,
    QuestionSetEntry,
    Response,
    SystemVersion,
    Target,
    TargetRun,
)
from systems.questions.contents import Content, new_revisions
from systems.questions.write import freeze_set
from systems.responses.versions import versions_named
from systems.targets.runs import start_run
from systems.targets.work import work
from systems.targets.write import set_target
from tests.annotate.factories import World
from tests.openai_server import OpenAIServer, Reply, Request

BODY = {"question": "{{question}}", "repeat": "{{repeat}}"}
REPLY = {
    "answer": "/answer",
    "contexts": "/hits",
    "context_text": "/body",
    "context_id": "/id",
    "context_score": "/score",
    "latency_ms": "/took",
    "input_tokens": "/usage/in",
    "output_tokens": "/usage/out",
    "cost": "/usage/cost",
    "abstained": "/abstained",
}


def said(question: str, **more: Any) -> dict[str, Any]:
    """What the system replies."""
    hits = [{"id": f"doc of {question}", "body": f"A passage on {question}", "score": 0.5}]
    return {"answer": f"It is {question}", "hits": hits, **more}


def answering(request: Request) -> Reply:
    return Reply(said(request.json["question"]))


def make_questions(world: World, count: int, *, name: str = "support", **content: Any) -> FrozenSet:
    """A frozen set of "What is 0?", "What is 1?" …, of the ids q0, q1 …"""
    draft = QuestionSet.objects.create(project=world.project, name=name)
    for number in range(count):
        question = Question.objects.create(project=world.project, external_id=f"q{number}", group_key=f"q{number}")
        (revision,) = new_revisions([(question, 1, Content(f"What is {number}?", **content))])
        QuestionSetEntry.objects.create(question_set=draft, question=question, revision=revision, position=number)
    return freeze_set(actor=None, project=world.project, name=name).frozen


def endpoint_at(world: World, server: OpenAIServer, name: str = "rag", **fields: Any) -> Endpoint:
    fields = {"base_url": server.url, "concurrency": 4, "timeout_seconds": 10, **fields}
    return Endpoint.objects.create(project=world.project, name=name, **fields)


def make_target(world: World, server: OpenAIServer, *, version: SystemVersion | None = None, **more: Any) -> Target:
    """more: fields of the target; `at` those of its endpoint."""
    endpoint = world.project.endpoints.filter(name="rag").first() or endpoint_at(world, server, **more.pop("at", {}))
    whole = {"endpoint": endpoint.name, "path": "/ask", "body": BODY, "reply": REPLY, **more}
    return set_target(actor=world.alice, project=world.project, version=version, said=whole)


def version_named(world: World, name: str = "v7") -> SystemVersion:
    return versions_named(world.project, [name])[name]


def asked(world: World, frozen: FrozenSet, *, version: str = "v7", **terms: Any) -> TargetRun:
    """The run after this process has worked at it."""
    started = start_run(actor=world.alice, version=version_named(world, version), frozen_set=frozen, **terms)
    return worked(started.run)


def worked(run: TargetRun) -> TargetRun:
    work(run.version.project_id, rng=Random(1), in_worker=False)
    run.refresh_from_db()
    return run


def failures() -> dict[str, str]:
    """Question -> why its request failed."""
    return dict(Response.objects.filter(status="failed").values_list("question__external_id", "error_text"))
