"""Using the services: claim them, start what does not run, and give them up."""

import fcntl
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Self

from .folders import choose_socket_dir, open_log, prepare_folders
from .locks import keeper_gone, lock_within, try_lock, used_by_others
from .places import START_SECONDS, STOP_SECONDS, EmbeddedError, data_dir, looked_after, wanted_services

KILL_SECONDS = 5

# How the keeper is started: with this package alone, since what stands around it would load Django.
_KEEPER = """
import sys
sys.path.append(sys.argv[1])
from embedded.keeper import main
main()
"""
_AROUND = str(Path(__file__).parents[1])


class Services:
    """This process's claim on the running services. `close()`, or the end of the process, gives it up."""

    def __init__(self, data: Path, linger: float = 0) -> None:
        self._data = data
        self._linger = linger
        self._locks: dict[str, IO[str]] = {}
        self._keepers: dict[str, subprocess.Popen[str]] = {}
        # Those that `go_on_starting` started, and what is held until they have answered.
        self._starting: dict[str, subprocess.Popen[str]] = {}
        self._start_lock: IO[str] | None = None

    @property
    def names(self) -> list[str]:
        return list(self._locks)

    def claim(self, name: str) -> None:
        """Blocked only while a keeper is stopping the service; then a new one is started."""
        self._locks[name] = lock_within(self._data / "run" / f"{name}.users", fcntl.LOCK_SH, STOP_SECONDS)

    def runs(self, name: str) -> bool:
        return not keeper_gone(self._data, name)

    def start(self, *names: str) -> None:
        """Start those of these services that don't run, after a server or its keeper was killed as well. Of two
        processes that are at it, the second finds nothing left to do."""
        with lock_within(self._data / "run" / "start.lock", fcntl.LOCK_EX, START_SECONDS):
            for name in names:
                if self.runs(name):
                    continue
                keeper = self._start_keeper(name)
                self._keepers[name] = _answered(keeper, self._data, name)

    def begin(self, name: str) -> bool:
        """Start it, without waiting, unless it runs. False while another process is at it: to be called again."""
        if name in self._starting:
            return True
        if self._start_lock is None:
            self._start_lock = try_lock(self._data / "run" / "start.lock", fcntl.LOCK_EX)
        if self._start_lock is None:
            return False
        try:
            if not self.runs(name):
                self._starting[name] = self._start_keeper(name)
        finally:
            self._let_others_start()
        return True

    def go_on_starting(self, name: str) -> bool:
        """`start` without waiting: to be called again and again, until it is true or raises."""
        if not self.begin(name):
            return False
        if name not in self._starting:
            return True
        keeper = self._starting[name]
        assert keeper.stdout is not None
        if not select.select([keeper.stdout], [], [], 0)[0]:
            return False
        try:
            self._keepers[name] = _answered(keeper, self._data, name)
        finally:
            del self._starting[name]
            self._let_others_start()
        return True

    def _start_keeper(self, name: str) -> subprocess.Popen[str]:
        if name in self._keepers:
            self._keepers.pop(name).wait(STOP_SECONDS)  # it let go of its lock, and ends
        choose_socket_dir(self._data)
        _write_linger(self._data, name, self._linger)
        return _begin_keeper(self._data, name)

    def _let_others_start(self) -> None:
        if self._start_lock is not None and not self._starting:
            self._start_lock.close()
            self._start_lock = None

    def close(self, *, wait: bool = False) -> None:
        """Give up the claim, and wait for what no other process uses to have stopped, unless it is to linger."""
        for keeper in self._starting.values():
            _stop(keeper)
        self._starting.clear()
        self._let_others_start()
        for lock in self._locks.values():
            lock.close()
        if self._linger and not wait:
            self._locks.clear()
        # A keeper kills a server that does not stop; it gets time for that as well.
        deadline = time.monotonic() + STOP_SECONDS + KILL_SECONDS
        while self._locks and time.monotonic() < deadline:
            for name in list(self._locks):
                if keeper_gone(self._data, name):
                    del self._locks[name]
                    if name in self._keepers:
                        self._keepers.pop(name).wait(STOP_SECONDS)
                elif used_by_others(self._data, name):
                    del self._locks[name]
                else:
                    # Now, not before: until we let go, a command may have come and asked for its own minute.
                    _write_linger(self._data, name, 0)
            if self._locks:
                time.sleep(0.02)
        for name in self._locks:
            if name in self._keepers:  # it was stopped, as by Ctrl-Z; its server is told by the kernel, and ends
                _kill(self._keepers.pop(name))
        self._locks.clear()
        for keeper in self._keepers.values():
            keeper.returncode = 0  # it goes on for others, and is not ours to wait for
        self._keepers.clear()

    def forget(self) -> None:
        """In a fork of the process that claimed them: give up its copies. It claims them for itself."""
        for file in (*self._locks.values(), self._start_lock, *(keeper.stdout for keeper in self._starting.values())):
            if file is not None:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def ensure_services(data: Path | None = None, *, linger: float = 0) -> Services:
    """Make sure that the embedded services we need are up, and claim them until the returned object is closed. Parts of
    `make run` only claim them: its supervisor starts them, and pages say meanwhile what is away.

    linger: for how many seconds those that we start stay when their last user has gone.
    """
    services = claim_services(data, linger=linger)
    try:
        if services.names and not looked_after():
            services.start(*services.names)
    except BaseException:
        services.close(wait=True)
        raise
    return services


def claim_services(data: Path | None = None, *, linger: float = 0) -> Services:
    """The same, but they may not be up."""
    data = data or data_dir()
    services = Services(data, linger)
    try:
        if names := wanted_services():
            prepare_folders(data)
        for name in names:
            services.claim(name)
    except BaseException as error:
        services.close(wait=True)
        if isinstance(error, PermissionError):
            raise EmbeddedError(
                f"{error.filename} belongs to another user. Run as that user, or set DATA_DIR to a folder of your own."
            ) from None
        raise
    return services


def _write_linger(data: Path, name: str, seconds: float) -> None:
    (data / "run" / f"{name}.linger").write_text(f"{seconds}")


def _begin_keeper(data: Path, name: str) -> subprocess.Popen[str]:
    with open_log(data, name) as log:
        return subprocess.Popen(
            # -I: an unrelated module in the current directory cannot get in the way. A session of its own: Ctrl-C in
            # a terminal is for us, and the services stop after we have.
            [sys.executable, "-I", "-c", _KEEPER, _AROUND, name, str(data)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )


def _answered(keeper: subprocess.Popen[str], data: Path, name: str) -> subprocess.Popen[str]:
    """Wait for its one line: `ready`, or what went wrong."""
    assert keeper.stdout is not None
    try:
        with keeper.stdout:
            reply = keeper.stdout.read().strip()
    except BaseException:  # such as Ctrl-C
        _stop(keeper)
        raise
    if reply != "ready":
        keeper.wait()
        raise EmbeddedError(reply or f"The embedded {name} did not start. Its log is {data / 'logs' / f'{name}.log'}")
    return keeper


def _stop(keeper: subprocess.Popen[str]) -> None:
    """It stops what it has started before it ends."""
    keeper.terminate()
    try:
        keeper.wait(2 * STOP_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(keeper)


def _kill(keeper: subprocess.Popen[str]) -> None:
    keeper.kill()
    keeper.wait()
