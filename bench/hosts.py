"""Hosts that share nothing but services, and visitors who go from one to the next."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.label_loop import Client
from bench.stage import Annotator, figure, free_port
from bench.under_faults import SLUG
from config import embedded

PATIENCE_SECONDS = 20.0
DONE_SECONDS = 120.0


class Host:
    """Processes that share nothing with those of another but PostgreSQL, Redis and the store of files."""

    def __init__(self, name: str, folder: Path, environment: dict[str, str]) -> None:
        from tests.processes import AppProcess

        self.port, self.log = free_port(), folder / f"{name}.log"
        own = {**environment, "DATA_DIR": str(folder / name), "PORT": str(self.port), "WEB_WORKERS": "1"}
        command = ["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"]
        self.web = AppProcess(command, own, self.log)
        self.worker = AppProcess(["config.worker", "--concurrency", "1"], own, self.log)
        self.importer = AppProcess(["config.importer"], own, self.log)
        self.processes = [self.worker, self.importer, self.web]

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://localhost:{self.port}/readyz", timeout=5) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def stop(self) -> None:
        for process in self.processes:
            process.stop()


def environment_of_hosts(**more: str) -> dict[str, str]:
    """Where all of them find the services, as those of another machine would be told."""
    from django.conf import settings

    data = embedded.data_dir()
    return {
        **os.environ,
        "DATABASE_URL": embedded.database_url(data),
        "REDIS_URL": embedded.redis_url(data),
        "SECRET_KEY": settings.SECRET_KEY,
        "STATIC_ROOT": str(settings.STATIC_ROOT),
        **more,
    }


@contextmanager
def started(hosts: list[Host]) -> Iterator[None]:
    """Not by a thread: the processes would end with it."""
    try:
        for process in [process for host in hosts for process in host.processes]:
            process.start()
        wait_until("the start", lambda: all(host.is_ready() for host in hosts))
        yield
    finally:
        for host in hosts:
            host.stop()


@dataclass
class Visitor:
    """Sends each request to the next host; what is not answered, to the one after it."""

    ports: Iterator[int]
    person: Annotator
    refused: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    _clients: dict[int, Client] = field(default_factory=dict)

    def ask(self, method: str, path: str, data: Any = None, headers: str = "") -> tuple[int, Any]:
        deadline = time.monotonic() + DONE_SECONDS
        while True:
            status, body = self._send(next(self.ports), method, path, data, headers)
            if 0 < status < 500 and status not in (408, 429):
                if status >= 400:
                    self.refused[f"{status} {method} {'/'.join(path.split('/')[2:6:2])}"] += 1
                return status, json.loads(body or b"null")
            assert time.monotonic() < deadline, f"{method} {path}: {status} {body[:300]!r}"
            self.unanswered += 1
            time.sleep(0.2)

    def _send(self, port: int, method: str, path: str, data: Any, headers: str) -> tuple[int, bytes]:
        try:
            if port not in self._clients:
                self._clients[port] = Client(port, SLUG, self.person, patience=PATIENCE_SECONDS)
            return self._clients[port].send(method, path, data, headers)[:2]
        except OSError as error:
            self._clients.pop(port, None)
            return 0, str(error).encode()


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DONE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            figure("not done in time", what)
            return
        time.sleep(0.3)
