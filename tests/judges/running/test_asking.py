"""Runs of judges that ask a model: a real server on loopback, in this process."""

from __future__ import annotations

import pytest

from judges.models import Reply, Score
from judges.selectors.runs import progress_of
from judges.services.runs import start_run
from tests.annotate.factories import World, make_samples
from tests.judges.running.building import endpoint_at, plain_judge, worked
from tests.openai_server import OpenAIServer


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.answers(lambda request: "0.5")
    return openai_server


def test_every_unit_is_asked_about_once(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 20)
    version = plain_judge(world, endpoint_at(world, server))
    run = worked(start_run(version=version, scope={"all": True}))
    progress = progress_of(run)
    assert (progress.state, progress.planned, progress.by_status) == ("done", 40, {"ok": 40})
    assert (len(server.requests), Reply.objects.count()) == (40, 40)
    assert set(Score.objects.values_list("number", flat=True)) == {0.5}
    assert progress.unpriced == 40
