"""The keeper: a small process that owns one server and waits until no other process uses it."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from .folders import service_user
from .locks import lock_within
from .parents import die_with_parent
from .places import START_SECONDS, STOP_SECONDS, EmbeddedError, read_lines
from .servers import Postgres, Redis, clean_environment

# Open, locked files that the kernel closes when this process has ended, and not before.
_held: list[IO[str]] = []


def keep(name: str, data: Path) -> None:
    """Run one service until no process uses it. Prints one line as soon as it is known how the start went."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda _signum, _frame: sys.exit(0))
    run = data / "run"
    _held.append(lock_within(run / f"{name}.keeper", fcntl.LOCK_EX, STOP_SECONDS))
    user = service_user(data)
    server = Postgres(data, user) if name == "postgres" else Redis(data, user)
    server.prepare()
    with _started(server, name, data, user) as process:
        _say("ready")
        _wait_until_unused(run, name, process)


@contextmanager
def _started(server: Postgres | Redis, name: str, data: Path, user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    with ExitStack() as running:
        try:
            process = running.enter_context(_running(server, name, data, user))
        except EmbeddedError:
            if (aside := server.set_aside()) is None:
                raise
            process = running.enter_context(_running(server, name, data, user))
            print(f"{name} did not start with what is now in {aside}, and has begun without.", file=sys.stderr)
        yield process


@contextmanager
def _running(server: Postgres | Redis, name: str, data: Path, user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        server.command(),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=sys.stderr,
        user=user,
        cwd="/",
        env=clean_environment(),
        preexec_fn=die_with_parent(server.stop_signal),  # noqa: PLW1509 (no threads here)
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not server.is_ready(process.pid):
            if process.poll() is not None or time.monotonic() > deadline:
                log = data / "logs" / f"{name}.log"
                last = " / ".join(line.strip() for line in read_lines(log)[-4:])
                raise EmbeddedError(f"The embedded {name} did not start: {last} (log: {log})")
            time.sleep(0.02)
        yield process
    finally:
        process.send_signal(server.stop_signal)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_unused(run: Path, name: str, process: subprocess.Popen[bytes]) -> None:
    """Until no process has used the service for as long as it lingers and, as we hold the lock, none can before we are
    gone; or until it ended, or its folder was deleted."""
    path = run / f"{name}.users"
    users = path.open("a")
    _held.append(users)
    last_used = time.monotonic()
    while process.poll() is None and _is_still(users, path):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            last_used = time.monotonic()
        else:
            if time.monotonic() - last_used >= _linger(run / f"{name}.linger"):
                return
            fcntl.flock(users, fcntl.LOCK_UN)
        time.sleep(0.1)


def _is_still(file: IO[str], path: Path) -> bool:
    """False when another file is there by now, whose lock is not ours to take, or none."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _linger(path: Path) -> float:
    try:
        return float(path.read_text() or 0)  # empty: it is just being written
    except FileNotFoundError:
        return 0


def _say(line: str) -> None:
    """Tell the process that started us, which reads to the end of the pipe."""
    print(line, flush=True)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def main() -> None:
    try:
        keep(sys.argv[2], Path(sys.argv[3]))
    except EmbeddedError as error:
        _say(str(error))
        sys.exit(1)
