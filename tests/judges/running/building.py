"""Judges and endpoints for tests of running."""

from __future__ import annotations

from random import Random
from typing import Any

from judges.models import Endpoint, JudgeVersion, Run
from judges.running.places import place_of
from judges.running.working import work
from judges.services.versions import create_judge
from tests.annotate.factories import World
from tests.judges.running import plain_kind
from tests.openai_server import OpenAIServer


def endpoint_at(world: World, server: OpenAIServer, name: str = "loop", **fields: Any) -> Endpoint:
    return Endpoint.objects.create(
        project=world.project, name=name, base_url=server.url, **{"concurrency": 8, "timeout_seconds": 10, **fields}
    )


def plain_judge(world: World, endpoint: Endpoint | None, name: str = "plain", **config: Any) -> JudgeVersion:
    """Of the plain kind, at the endpoint, or asking nobody."""
    config = {"alone": endpoint is None, **config}
    judge = create_judge(
        project=world.project,
        name=name,
        kind=plain_kind.NAME,
        config=config,
        endpoint=None if endpoint is None else endpoint.name,
    )
    return judge.versions.select_related("judge__project", "endpoint").get()


def worked(run: Run, seed: int = 1) -> Run:
    """The run after this process has worked at its place."""
    work(place_of(run), rng=Random(seed), in_worker=False)
    run.refresh_from_db()
    return run
