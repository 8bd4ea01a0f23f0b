"""`make run`: it says why it does not start, serves, and leaves nothing running, whichever way it ends."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config.supervisor import take_lock
from tests.config.conftest import ROOT, Run
from tests.config.test_embedded import assert_all_gone, kill, processes_on

READY_SECONDS = 120


class Running:
    def __init__(self, bare: dict[str, str], data: Path) -> None:
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", 0))
            self.port = trial.getsockname()[1]
        self.data = data
        self.log = data / "supervisor.log"
        self._environment = {**bare, "PORT": str(self.port)}
        self.start()

    def start(self) -> None:
        self.begin()
        self.wait_until_started()

    def begin(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.supervisor"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_started(self) -> None:
        self.wait_until(lambda: "Touchstone is at" in self.output())
        self.started = self.processes()

    def wait_until(self, met: Callable[[], object]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not met():
            assert self.process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.05)

    def output(self) -> str:
        return self.log.read_text()

    def processes(self) -> list[psutil.Process]:
        return [*psutil.Process(self.process.pid).children(recursive=True), *processes_on(self.data)]

    def children(self, name: str) -> list[psutil.Process]:
        """Those with `name` in their title; what has just ended has none any more."""
        mine = {one.pid for one in psutil.Process(self.process.pid).children()}
        alive = psutil.process_iter(["cmdline"])
        return [one for one in alive if one.pid in mine and name in " ".join(one.info["cmdline"] or ())]

    def child(self, name: str) -> psutil.Process:
        return self.children(name)[0]

    def wait(self) -> int:
        return self.process.wait(60)

    def end(self) -> None:
        """Whatever a failed test has left."""
        left = [*self.started, *processes_on(self.data)]
        self.process.kill()
        self.process.wait()
        kill(left)

    def assert_nothing_is_left(self, seconds: float = 0) -> None:
        _, left = psutil.wait_procs(self.started, timeout=seconds)
        assert not [process for process in left if runs(process)]
        assert_all_gone(self.data, seconds=max(seconds, 1))


def runs(process: psutil.Process) -> bool:
    """A zombie has ended; that it is still listed is between it and the container's first process."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def running(bare: dict[str, str], data: Path) -> Iterator[Running]:
    running = Running(bare, data)
    yield running
    running.end()


def test_it_serves_and_whichever_way_it_ends_nothing_is_left(running: Running, data: Path) -> None:
    """One after the other on the same data, since the first start, which makes them, takes by far the longest."""
    with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/readyz", timeout=10) as reply:
        assert reply.status == 200
    names = {process.name() for process in running.started if runs(process)}
    assert {"postgres", "redis-server"} <= names
    for part in ("gunicorn", "celeryd", "config.importer"):
        held = {file.path for file in running.child(part).open_files()}
        assert str(data / "lock") not in held  # else it would stay locked should only the supervisor be killed
        assert str(data / "run" / "postgres.users") in held
    for sent in (signal.SIGINT, signal.SIGTERM):
        running.process.send_signal(sent)
        assert running.wait() == 0, sent
        running.assert_nothing_is_left()
        assert running.output().endswith("Stopped.\n")
        running.start()

    if sys.platform == "linux":  # elsewhere there is no PR_SET_PDEATHSIG
        running.child("celeryd").suspend()  # as one that waits for something: it handles no signal
        running.process.kill()
        running.wait()
        running.assert_nothing_is_left(seconds=60)


def test_a_port_in_use_names_the_variable(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run("-m", "config.supervisor", PORT=str(port))
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert "variable PORT" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_none_is_refused(run: Run) -> None:
    done = run("-m", "config.supervisor", PORT="http")
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "Touchstone: The environment variable PORT is 'http', but should be a whole number from 1 to 65535."
    )


def test_a_second_start_names_the_first(run: Run, data: Path) -> None:
    with take_lock(data):
        done = run("-m", "config.supervisor")
    assert done.returncode == 1
    assert f"already running on {data} (pid {os.getpid()})" in done.stderr


def test_the_lock_of_a_killed_supervisor_is_free(data: Path) -> None:
    (data / "lock").write_text("999999")
    with take_lock(data):
        assert (data / "lock").read_text() == str(os.getpid())


def test_nothing_ends_because_the_file_it_speaks_to_finds_no_room() -> None:
    program = "import os; from config.supervisor import say; say('x'); os._exit(0)"
    with open("/dev/full", "wb") as full:
        assert subprocess.run([sys.executable, "-c", program], stdout=full, cwd=ROOT).returncode == 0
