"""Every run ends, whatever a server does."""

from __future__ import annotations

from random import Random

import pytest
from django.utils import timezone

from judges.models import Ask, AskState, Run
from judges.running import queue
from judges.running.at_endpoint import EndpointWork
from judges.running.places import held, place_of
from judges.services.runs import start_run
from tests.annotate.factories import World, make_samples
from tests.judges.running.building import endpoint_at, plain_judge
from tests.openai_server import OpenAIServer, error


def test_what_becomes_due_between_two_looks_is_asked(
    world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing could be taken, and a moment later something is due: that is no sign of an ask that kills."""
    make_samples(world.project, 1)
    openai_server.answers(lambda request: "0.5")
    openai_server.script(error(429, "slowly", retry_after="20"))
    endpoint = endpoint_at(world, openai_server, concurrency=1)
    run = start_run(version=plain_judge(world, endpoint, unit="answer"), scope={"all": True})
    look = queue.left
    looks: list[int] = []

    def becomes_due(run_id: int) -> queue.Left:
        looks.append(run_id)
        Ask.objects.filter(run=run_id, state=AskState.WAITING).update(due_at=timezone.now())
        return look(run_id)

    monkeypatch.setattr(queue, "left", becomes_due)
    monkeypatch.setattr("judges.running.pace.Pace.rest", 0.0)
    with held(place_of(run)):
        EndpointWork(place_of(run), Random(1)).work(lambda: len(looks) > 10)
    assert Run.objects.get(pk=run.pk).state == "done"
    assert len(openai_server.requests) == 2
