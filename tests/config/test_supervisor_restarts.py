"""`make run` starts PostgreSQL, Redis, their keepers, web and worker again when they end; pages say so meanwhile."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from config import embedded
from config.parts import HEALTHY_SECONDS, RESTART_SECONDS, Restart
from tests.config.test_embedded import keepers_on
from tests.config.test_supervisor import Running, runs

READY_SECONDS = 120


@pytest.fixture
def running(bare: dict[str, str], data: Path) -> Iterator[Running]:
    running = Running(bare, data)
    yield running
    running.end()


def get(running: Running, path: str, **headers: str) -> tuple[int, Any, bytes]:
    request = urllib.request.Request(f"http://127.0.0.1:{running.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def health(running: Running) -> dict[str, Any]:
    try:
        return json.loads(get(running, "/readyz")[2])
    except (OSError, ValueError):
        return {}


WELL = {"status": "ok", "database": True, "migrations": True, "redis": True, "files": True}


def server(data: Path, name: str) -> psutil.Process:
    """The server itself; PostgreSQL's other processes are its children."""
    alive = psutil.process_iter(["name", "cmdline"])  # what ends meanwhile is left out
    return next(one for one in alive if one.info["name"] == name and str(data) in " ".join(one.info["cmdline"] or ()))


def said(running: Running, text: str, times: int = 1) -> None:
    running.wait_until(lambda: running.output().count(text) >= times)


def well(running: Running) -> None:
    running.wait_until(lambda: health(running) == WELL)


def busy_session(data: Path) -> tuple[psutil.Process, threading.Thread]:
    """A session that is at a statement without an end, and so does not notice that its main process is gone."""
    connection = psycopg.connect(embedded.database_url(data), autocommit=True)

    def count() -> None:
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT count(*) FROM generate_series(1, 1000000000000)")
        connection.close()

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    return psutil.Process(connection.info.backend_pid), thread


def test_what_ends_starts_again_and_pages_say_so_meanwhile(running: Running, data: Path) -> None:
    """One after the other on the same data, since the first start takes by far the longest."""
    # Redis: pages and labels need it not, so nothing but the worker's work waits.
    server(data, "redis-server").kill()
    said(running, "Redis ended by itself; it starts again in 1 s.")
    said(running, "Redis is running again.")
    well(running)

    # PostgreSQL, by kill -9 of its main process, with a session that outlives it.
    session, thread = busy_session(data)
    with embedded.lock_within(data / "run" / "start.lock", fcntl.LOCK_EX, READY_SECONDS):  # so nothing starts it yet
        server(data, "postgres").kill()
        said(running, "PostgreSQL ended by itself; it starts again in 1 s.")
        assert session.is_running()
        running.wait_until(lambda: health(running).get("database") is False)
        assert get(running, "/readyz")[0] == 503
        cookie = f"touchstone-session={'a' * 32}"
        status, headers, page = get(running, "/", Cookie=cookie, Accept="text/html")
        assert (status, headers["Retry-After"]) == (503, "5")
        assert "The database is not responding" in page.decode()
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        cookie += "; touchstone-language=zh-hans"
        assert "数据库" in get(running, "/", Cookie=cookie)[2].decode()
        status, headers, reply = get(running, "/api/projects/", Authorization=f"Token ts_{'a' * 64}")
        assert (status, headers["Retry-After"], headers["Content-Type"]) == (503, "5", "application/json")
        assert json.loads(reply)["error"]["code"] == "unavailable"
        said(running, "PostgreSQL can't answer judges.tasks.look_for_runs")  # the worker, too, in one line
        assert "Traceback" not in running.output()
    said(running, "PostgreSQL is running again.")
    well(running)
    thread.join(READY_SECONDS)
    assert not runs(session)
    for _ in range(8):  # more than there are threads to keep a connection
        assert get(running, "/api/projects/", Authorization=f"Token ts_{'a' * 64}")[0] == 401

    # A keeper, which takes its server with it.
    next(keeper for keeper in keepers_on(data) if "postgres" in keeper.cmdline()).kill()
    said(running, "PostgreSQL is running again.", times=2)
    well(running)

    worker = running.child("celeryd")
    worker.kill()
    said(running, "The worker process ended with signal SIGKILL; it starts again in 1 s.")
    running.wait_until(lambda: any(other != worker for other in running.children("celeryd")))
    running.child("gunicorn").kill()
    said(running, "The web process ended with signal SIGKILL; it starts again in 1 s.")
    well(running)

    # One that can't start is tried again and again, and says why.
    settings = data / "postgres" / "postgresql.conf"
    kept = settings.read_text()
    settings.write_text("nonsense = 1\n")
    server(data, "postgres").kill()
    said(running, "PostgreSQL can't be started.")
    assert "nonsense" in running.output()

    # And Ctrl-C in the middle of a start leaves nothing: its keeper waits here for what is written into a pipe.
    pipe = data / "postgres" / "postmaster.pid"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    settings.write_text(kept)
    writer: list[int] = []

    def keeper_reads() -> bool:
        try:
            writer.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    running.wait_until(keeper_reads)
    running.started = running.processes()
    running.process.send_signal(signal.SIGINT)
    assert running.wait() == 0
    os.close(writer[0])
    assert running.output().endswith("Stopped.\n")
    running.assert_nothing_is_left()


def test_nothing_is_waited_for_that_stands_still_or_is_damaged(running: Running, data: Path) -> None:
    # One that outlives its keeper, as it was stopped, or is slow: it ends before the next begins. On its own end, it
    # would take that one's socket away.
    for name, title in (("redis-server", "Redis"), ("postgres", "PostgreSQL")):
        left = server(data, name)
        left.suspend()
        next(one for one in keepers_on(data) if name.partition("-")[0] in one.cmdline()).kill()
        said(running, f"{title} is running again.")
        assert not runs(left)
        well(running)

    # What Redis had written can't be read.
    kept = data / "redis" / "appendonly.aof"
    kept.write_bytes(b"damaged\n" * 100)
    server(data, "redis-server").kill()
    said(running, "Redis is running again.", times=2)
    well(running)
    assert kept.with_name("appendonly.aof.damaged").exists()

    # PostgreSQL takes long for its start, here as long as nobody writes into the pipe that its keeper reads: the web
    # process and Redis start again all the same.
    pipe = data / "postgres" / "postmaster.pid"
    pipe.unlink()
    os.mkfifo(pipe)
    server(data, "postgres").kill()
    said(running, "PostgreSQL ended by itself")
    running.child("gunicorn").kill()
    said(running, "The web process ended with signal SIGKILL; it starts again in 1 s.")
    running.wait_until(lambda: health(running).get("database") is False)
    status, headers, _ = get(running, "/api/projects/", Authorization=f"Token ts_{'a' * 64}")
    assert (status, headers["Retry-After"]) == (503, "5")
    server(data, "redis-server").kill()
    running.wait_until(lambda: (health(running).get("database"), health(running).get("redis")) == (False, True))
    pipe.write_text("")
    well(running)


def test_a_service_that_ends_during_the_start_starts_again(running: Running, data: Path) -> None:
    running.process.send_signal(signal.SIGTERM)
    assert running.wait() == 0
    with embedded.lock_within(data / "run" / "migrate.lock", fcntl.LOCK_EX, READY_SECONDS):  # so the start waits here
        running.begin()
        running.wait_until(lambda: running.children("config.prepare"))
        for name in ("postgres", "redis-server"):
            server(data, name).kill()
        said(running, "PostgreSQL is running again.")
        said(running, "Redis is running again.")
    running.wait_until_started()
    well(running)


def test_the_wait_grows_and_begins_anew_after_health() -> None:
    restart, now = Restart(), 0.0
    waits = []
    for _ in range(len(RESTART_SECONDS) + 1):
        waits.append(restart.plan(now))
        restart.began = now
    assert waits == [*RESTART_SECONDS, RESTART_SECONDS[-1]]
    assert restart.plan(now + HEALTHY_SECONDS + 1) == RESTART_SECONDS[0]
