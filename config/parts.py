"""What the supervisor starts, and starts again when it ends: embedded services, and processes of the application."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from config import embedded
from config.forks import fork, signals_held

RESTART_SECONDS = (1, 2, 5, 15, 30)
# What ran this long was healthy: its next end starts counting anew.
HEALTHY_SECONDS = 120
SERVICES = {"postgres": "PostgreSQL", "redis": "Redis"}


@dataclass
class Restart:
    """When a part that ended by itself starts again: soon, and ever more slowly while it keeps ending."""

    began: float = 0.0
    failures: int = 0
    due: float | None = None

    def plan(self, now: float) -> int:
        """In how many seconds."""
        self.failures = 1 if now - self.began > HEALTHY_SECONDS else self.failures + 1
        delay = RESTART_SECONDS[min(self.failures, len(RESTART_SECONDS)) - 1]
        self.due = now + delay
        return delay


@dataclass
class Child:
    """A fork of us that runs `python -m COMMAND`."""

    name: str
    command: list[str]
    death_signal: signal.Signals
    forget: Callable[[], object]
    pid: int = 0
    code: int | None = None
    restart: Restart = field(default_factory=Restart)

    @property
    def title(self) -> str:
        return f"The {self.name} process"

    def start(self) -> bool:
        """Whether it has begun."""
        with signals_held():
            self.pid, self.code = fork(self.command, self.death_signal, self.forget), None
        return True

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self.code is None and self.pid:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def end(self) -> str:
        """How it ended; empty while it runs."""
        if (code := self.poll()) is None:
            return ""
        self.signal_group(signal.SIGKILL)
        return f"with signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"

    def signal_group(self, sent: int) -> bool:
        """To the whole group, so that grandchildren whose parent was killed are reached as well. Whether it has any."""
        if not self.pid:
            return False
        try:
            os.killpg(self.pid, sent)
        except ProcessLookupError:
            return False
        return True

    def group_lives(self) -> bool:
        self.poll()  # reap, or the group would seem to live on as a zombie
        return self.signal_group(0)


@dataclass
class Service:
    """An embedded service. We alone start it, and wait for nothing: another part may end meanwhile."""

    name: str
    services: embedded.Services
    restart: Restart = field(default_factory=Restart)

    @property
    def title(self) -> str:
        return SERVICES[self.name]

    def start(self) -> bool:
        """Whether it runs by now; to be called until it does."""
        if not self.services.go_on_starting(self.name):
            return False
        print(f"{self.title} is running again.", flush=True)
        return True

    def end(self) -> str:
        return "" if self.services.runs(self.name) else "by itself"
