"""Redis goes away and comes back: runs go on meanwhile, and what was started meanwhile begins by itself."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from config import embedded
from config.broker import Alive
from judges.models import Run, RunState, Score
from judges.runs.write import start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import endpoint_at, plain_judge
from tests.openai_server import OpenAIServer
from tests.processes import Worker


class OwnRedis:
    """A Redis server that is not shared."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = str(embedded.redis_program())
        command = [program, "--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        self._process = subprocess.Popen([*command, "--appendonly", "yes", "--save", ""], stdout=subprocess.DEVNULL)
        with redis.Redis.from_url(self.url, retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 200)) as it:
            it.ping()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path)
    server.start()
    yield server
    server.stop()


def _is_done(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == RunState.DONE


def test_runs_need_no_redis(
    world: World, plain_worker: Worker, own_redis: OwnRedis, openai_server: OpenAIServer
) -> None:
    openai_server.answers(lambda request: "0.5")
    make_samples(world.project, 10)
    endpoint = endpoint_at(world, openai_server)
    plain_worker.environment["REDIS_URL"] = own_redis.url
    run = start_run(version=plain_judge(world, endpoint), scope={"all": True})
    with openai_server.held():
        plain_worker.start()
        # One process has a message in hand, the other waits for one and sees that Redis is away.
        openai_server.wait_for(4)
        own_redis.stop()
        plain_worker.wait_for(lambda: "Connection" in plain_worker.log.read_text())
    plain_worker.wait_for(lambda: _is_done(run))

    meanwhile = start_run(version=plain_judge(world, endpoint, name="meanwhile", model="m"), scope={"all": True})
    assert plain_worker.is_running()
    own_redis.start()
    plain_worker.wait_for(lambda: _is_done(meanwhile), seconds=30)
    assert (len(openai_server.requests), Score.objects.count()) == (40, 40)


def test_a_worker_is_seen_to_live_while_redis_is_away(
    plain_worker: Worker, own_redis: OwnRedis, tmp_path: Path, settings: Any
) -> None:
    """Probes look at the file's age: one that asked through Redis would end workers that have runs in hand."""
    alive = tmp_path / "data" / "worker.alive"
    plain_worker.environment |= {"REDIS_URL": own_redis.url, "DATA_DIR": str(alive.parent)}

    def is_touched_again() -> None:
        os.utime(alive, (0, 0))
        plain_worker.wait_for(lambda: alive.stat().st_mtime > 0)

    plain_worker.start()
    plain_worker.wait_for(lambda: _listens(own_redis) and alive.exists())
    for _ in range(2):
        is_touched_again()
    own_redis.stop()
    plain_worker.wait_for(lambda: "Connection" in plain_worker.log.read_text())
    for _ in range(2):
        is_touched_again()
    own_redis.start()
    plain_worker.wait_for(lambda: _listens(own_redis), seconds=30)
    is_touched_again()
    # Never given up, however long it is away.
    assert settings.CELERY_BROKER_CONNECTION_MAX_RETRIES is None


def _listens(server: OwnRedis) -> bool:
    """Whether a worker waits there for messages: from then on only its timer touches the file."""
    with redis.Redis.from_url(server.url) as client:
        return any(one["cmd"] == "brpop" for one in client.client_list())


def test_a_child_does_not_speak_for_its_worker(tmp_path: Path) -> None:
    """It connects to Redis as well, and might go on doing so when the main process hangs."""
    file = tmp_path / "worker.alive"
    alive = Alive(file)
    alive.touch()
    os.utime(file, (0, 0))
    child = os.fork()
    if not child:
        alive.touch()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert file.stat().st_mtime == 0
    alive.touch()
    assert file.stat().st_mtime > 0
