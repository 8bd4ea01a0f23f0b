"""What a server that was killed, or its keeper, has left behind: lock files, and processes that go on."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .places import STOP_SECONDS, EmbeddedError, read_lines

if TYPE_CHECKING:
    import psutil

# Their keeper's end has told them to stop, which takes far less.
ORPHAN_SECONDS = 5


def clear_leftovers(data: Path, socket_path: Path, cluster: str) -> None:
    """End a server that outlived its keeper, and remove what one that was killed has left.

    PostgreSQL itself believes a lock file whenever a process of that number exists, be it an unrelated one or, in a
    container whose first process reaps no children, the killed server's zombie. We know better: we hold the keeper's
    lock, so no other keeper is at work in this directory.
    """
    lines = read_lines(data / "postmaster.pid")
    if lines:
        _stop_orphan(lines[0], data)
    _end_sessions(cluster)
    for left in (data / "postmaster.pid", socket_path, socket_path.with_name(f"{socket_path.name}.lock")):
        left.unlink(missing_ok=True)


def _stop_orphan(pid: str, data: Path) -> None:
    import psutil

    try:
        process = psutil.Process(int(pid))
        if "postgres" not in process.name() or str(data) not in process.cmdline():
            return
        process.send_signal(signal.SIGINT)  # fast shutdown
        end_within(ORPHAN_SECONDS, [process])
    except (ValueError, psutil.Error):
        return  # no such process any more, a zombie, or no number


def stop_orphaned_redis(socket_path: Path) -> None:
    """One that is slow to stop, or was stopped as by Ctrl-Z, would write into the same file as the next, and on its end
    take that one's socket away."""
    import psutil

    title = f"unixsocket:{socket_path}"
    left = [one for one in psutil.process_iter(["cmdline"]) if title in " ".join(one.info["cmdline"] or ())]
    end_within(ORPHAN_SECONDS, left)


def end_within(seconds: float, left: list[psutil.Process]) -> None:
    """They were asked to stop. What has not by then is killed: both servers go on from what they have written."""
    import psutil

    if not (left := _wait(left, seconds)):
        return
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    if left := _wait(left, STOP_SECONDS):
        pids = ", ".join(str(process.pid) for process in left)
        raise EmbeddedError(f"Processes of an earlier run do not end, which is for the operating system to do: {pids}.")


def _wait(left: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    deadline = time.monotonic() + seconds
    while (left := [process for process in left if _lives(process)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _lives(process: psutil.Process) -> bool:
    """A zombie has ended, and in a container whose first process reaps no children remains."""
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _end_sessions(cluster: str) -> None:
    """When its main process is killed, a session of PostgreSQL ends with the statement that it is at, however long that
    takes, and until then no new server may start: it still has the shared memory. Its client has an error already."""
    import psutil

    title = f"postgres: {cluster}: "
    left = [one for one in psutil.process_iter(["cmdline"]) if (one.info["cmdline"] or [""])[0].startswith(title)]
    end_within(0, left)
