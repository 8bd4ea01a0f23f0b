from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.kinds import registry
from tests.annotate.factories import World, make_world
from tests.judges.runs import plain_kind
from tests.openai_server import OpenAIServer
from tests.processes import Worker, environment, forget_messages


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain kind, in this process."""
    monkeypatch.setitem(registry._PLACES, plain_kind.NAME, plain_kind.__name__)


@pytest.fixture
def world(transactional_db: None, plain: None) -> World:
    return make_world()


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    """It answers everything with 0.5, until a test says otherwise."""
    openai_server.answers(lambda request: "0.5")
    return openai_server


COMMAND = ["config.worker", "--include", "tests.judges.runs.plain_in_worker"]


@pytest.fixture
def plain_worker(transactional_db: None, tmp_path: Path) -> Iterator[Worker]:
    """A Celery worker that has the plain kind. It isn't started: a test does that when its runs are there."""
    forget_messages()  # of tests without a worker
    process = Worker(COMMAND, environment(), tmp_path / "log")
    yield process
    process.kill()
    forget_messages()
