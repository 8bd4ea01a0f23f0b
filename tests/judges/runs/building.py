"""Judges and endpoints for tests of running."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from threading import Thread
from typing import Any

from django.db import connection

from judges.models import Endpoint, JudgeVersion, Run
from judges.runs.places import place_of
from judges.runs.work import work
from judges.versions.write import create_judge
from tests.annotate.factories import World
from tests.judges.runs import plain_kind
from tests.openai_server import OpenAIServer, Request


def endpoint_at(world: World, server: OpenAIServer, name: str = "loop", **fields: Any) -> Endpoint:
    fields = {"base_url": server.url, "concurrency": 4, "timeout_seconds": 10, **fields}
    return Endpoint.objects.create(project=world.project, name=name, **fields)


def plain_judge(world: World, endpoint: Endpoint | None, name: str = "plain", **config: Any) -> JudgeVersion:
    """Of the plain kind, at the endpoint, or asking no model."""
    config = {"alone": endpoint is None, **config}
    judge = create_judge(
        project=world.project,
        name=name,
        kind=plain_kind.NAME,
        config=config,
        endpoint=None if endpoint is None else endpoint.name,
    )
    return judge.versions.select_related("judge__project", "endpoint").get()


def llm_judge(world: World, name: str = "by prompt", **config: Any) -> JudgeVersion:
    """At the endpoint "main", on whether claims are supported."""
    found = create_judge(
        project=world.project,
        name=name,
        kind="llm",
        endpoint="main",
        config={"criterion": "support", "model": "m", "template": "claim_support", **config},
    )
    return found.versions.select_related("judge__project", "endpoint").get()


def worked(run: Run, seed: int = 1) -> Run:
    """The run after this process has worked at its place."""
    work(place_of(run), rng=Random(seed), in_worker=False)
    run.refresh_from_db()
    return run


@contextmanager
def being_worked(run: Run) -> Iterator[Thread]:
    """Another thread works at the run's place meanwhile; in the end it has stopped by itself."""

    def target() -> None:
        try:
            work(place_of(run), rng=Random(1), in_worker=False)
        finally:
            connection.close()

    thread = Thread(target=target)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()


def asked_of(request: Request) -> str:
    """What the plain kind asked about: "s1 claim:0"."""
    return request.prompt.split(" of ", 1)[1].split(": ", 1)[0]


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)
