from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from django.conf import settings

from judges.kinds import registry
from tests.annotate.factories import World, make_world
from tests.conftest import Worker, _environment
from tests.judges.running import plain_kind


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain kind, in this process."""
    monkeypatch.setitem(registry._PLACES, plain_kind.NAME, plain_kind.__name__)


@pytest.fixture
def world(transactional_db: None, plain: None) -> World:
    return make_world()


@pytest.fixture(scope="module")
def _plain_worker(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    command = ["celery", "--app", "config", "--quiet", "--skip-checks", "worker", "--concurrency", "2"]
    command += ["--include", "tests.judges.running.plain_in_worker", "--loglevel", "WARNING"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    process = Worker(command, {}, tmp_path_factory.mktemp("worker") / "log")
    yield process
    process.stop()


@pytest.fixture
def plain_worker(_plain_worker: Worker, transactional_db: None) -> Iterator[Worker]:
    """A Celery worker that has the plain kind. It isn't started: a test does that when its runs are there."""
    _plain_worker.environment = _environment()
    yield _plain_worker
    _plain_worker.kill()
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete(settings.CELERY_TASK_DEFAULT_QUEUE, "unacked", "unacked_index")
