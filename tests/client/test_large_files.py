"""What is larger than one request goes in parts, over connections that break, and is there once."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pytest
from touchstone_client import Client, Refused, files

from annotate.models import ImportJob, Sample
from annotate.projects.accounts import make_token
from tests.annotate.factories import World, make_world
from tests.processes import LiveApp, Worker

PART = 64 << 10
ROWS = [{"id": f"kb-{n}", "question": f"Which port has {n}?", "answer": f"Port {n}. " + "x" * 990} for n in range(300)]
SIZE = sum(len(json.dumps(row)) + 1 for row in ROWS)


class Breaking:
    """Between client and server. Once so many bytes of requests went by, what comes next breaks: `cut` in the middle of
    the request, `lost` when the server has taken it and replies."""

    def __init__(self, to: int, faults: list[tuple[int, str]]) -> None:
        self._to, self._faults, self._sent = to, faults, 0
        self.met: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://localhost:{self._listening.getsockname()[1]}"
        self._serving = threading.Thread(target=self._serve)
        self._serving.start()

    def close(self) -> None:
        _shut(self._listening)
        self._serving.join()

    def _serve(self) -> None:
        connections = []
        with self._listening:
            while True:
                try:
                    near, _ = self._listening.accept()
                except OSError:
                    break
                connections.append(threading.Thread(target=self._pass_on, args=(near,)))
                connections[-1].start()
        for one in connections:
            one.join()

    def _pass_on(self, near: socket.socket) -> None:
        lost = threading.Event()
        with near, socket.create_connection(("127.0.0.1", self._to)) as far:
            replies = threading.Thread(target=self._replies, args=(near, far, lost))
            replies.start()
            self._requests(near, far, lost)
            replies.join()

    def _requests(self, near: socket.socket, far: socket.socket, lost: threading.Event) -> None:
        try:
            while chunk := near.recv(16384):
                self._sent += len(chunk)
                if self._faults and self._sent > self._faults[0][0]:
                    _, fault = self._faults.pop(0)
                    self.met.append(fault)
                    if fault == "cut":
                        far.sendall(chunk[:100])
                        break
                    lost.set()
                far.sendall(chunk)
        except OSError:
            pass
        _shut(near, far)

    def _replies(self, near: socket.socket, far: socket.socket, lost: threading.Event) -> None:
        try:
            while (chunk := far.recv(16384)) and not lost.is_set():
                near.sendall(chunk)
        except OSError:
            pass
        _shut(near, far)


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def token(world: World) -> str:
    return str(make_token(actor=world.alice, scopes=["push"])[1])


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PART_BYTES", PART)


def test_it_arrives_whole_over_connections_that_break(
    live_app: LiveApp, importer: Worker, world: World, token: str
) -> None:
    faults = [(PART // 2, "cut"), (2 * PART, "lost"), (3 * PART, "cut"), (SIZE, "lost")]
    between = Breaking(live_app.port, faults)
    with Client(between.url, token) as client:
        project = client.project("desk")
        found = project.push_samples("v7", iter(ROWS))
        again = project.push_samples("v7", iter(ROWS))
    between.close()
    assert between.met == ["cut", "lost", "cut", "lost"]
    assert (found["created"], again["created"], again["unchanged"]) == (300, 0, 300)
    assert Sample.objects.filter(project=world.project, external_id="kb-299@v7").count() == 1
    (job, _) = ImportJob.objects.order_by("created_at")
    assert (job.status, job.received, job.size) == ("done", SIZE, SIZE)


def test_rows_that_are_wrong_are_named(
    live_app: LiveApp, importer: Worker, world: World, token: str, tmp_path: Any
) -> None:
    path = tmp_path / "build.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*ROWS[:250], {"id": "kb-x", "answer": "?"}]))
    with Client(live_app.url, token) as client, pytest.raises(Refused) as refused:
        client.project("desk").import_file("samples", path)
    assert [(row["row"], row["field"]) for row in refused.value.rows] == [(251, "question")]
    assert not Sample.objects.filter(project=world.project).exists()
