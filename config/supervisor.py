"""`python -m config.supervisor`, which is `make run`: services, web and worker together, and together they stop.

What ends by itself once everything was up is started again, PostgreSQL and Redis included; while PostgreSQL is away,
pages and the API answer 503 (config/errors.py). The supervisor holds `DATA_DIR/lock` while it runs. Web and worker are
process groups of their own, so that Ctrl-C in the terminal reaches only the supervisor, which stops them in order;
should it be killed outright, the kernel signals them instead.
"""

import fcntl
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from django.core.exceptions import ImproperlyConfigured

from config import embedded, env

BASE_DIR = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
LOOK_SECONDS = 0.25
GRACE_SECONDS = 10
RESTART_SECONDS = (1, 2, 5, 15, 30)
# What ran this long was healthy: its next end starts counting anew.
HEALTHY_SECONDS = 120
SERVICES = {"postgres": "PostgreSQL", "redis": "Redis"}

WEB = ["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"]


# Celery advises against root at length; the operator who runs all of this as root has decided so.
ROOT_WARNING = "ignore:You're running the worker with superuser privileges"


class CannotRunError(Exception):
    """Why we do not start, or do not go on; the message says what to do."""


class StopRequest(BaseException):
    """Ctrl-C or SIGTERM. Not an Exception, so that no handler of errors takes it for one."""


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
    name: str
    command: list[str]
    death_signal: signal.Signals
    process: subprocess.Popen[bytes] | None = None
    restart: Restart = field(default_factory=Restart)

    @property
    def title(self) -> str:
        return f"The {self.name} process"

    def start(self) -> bool:
        """Whether it has begun."""
        self.process = subprocess.Popen(
            self.command,
            cwd=BASE_DIR,
            env={**os.environ, embedded.LOOKED_AFTER: "true"},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=embedded.die_with_parent(self.death_signal),  # noqa: PLW1509 (no threads here)
        )
        return True

    def end(self) -> str:
        """How it ended; empty while it runs."""
        if self.process is None or (code := self.process.poll()) is None:
            return ""
        self.signal_group(signal.SIGKILL)
        return f"with signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"

    def signal_group(self, sent: int) -> bool:
        """To the whole group, so that grandchildren whose parent was killed are reached as well. Whether it has any."""
        if self.process is None:
            return False
        try:
            os.killpg(self.process.pid, sent)
        except ProcessLookupError:
            return False
        return True

    def group_lives(self) -> bool:
        if self.process is not None:
            self.process.poll()  # reap, or the group would seem to live on as a zombie
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
        say(f"{self.title} is running again.")
        return True

    def end(self) -> str:
        return "" if self.services.runs(self.name) else "by itself"


@dataclass
class Supervisor:
    data: Path
    host: str
    port: int
    services: list[Service] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    signals: int = 0

    def run(self) -> None:
        """Start everything, watch it until asked to stop, and stop everything, whichever way that ends."""
        lock = take_lock(self.data)
        services: embedded.Services | None = None
        try:
            check_port_is_free(self.host, self.port)
            self._listen_to_signals()
            say(
                "Starting PostgreSQL and Redis …" if embedded.wanted_services() else "Using DATABASE_URL and REDIS_URL."
            )
            services = embedded.ensure_services(self.data)
            self.services = [Service(name, services) for name in services.names]
            self._prepare()
            self._start_web_and_worker()
            self._wait_until_ready()
            self._show_demo_table()
            say(f"\nTouchstone is at http://{self._local_name()}:{self.port}/  (Ctrl-C stops it)")
            while True:
                self._look_after(*self.services, *self.children)
                time.sleep(LOOK_SECONDS)
        except StopRequest:
            say("\nStopping …")
        finally:
            self.signals = max(self.signals, 1)  # from here on a signal shortens the wait and interrupts nothing
            self._stop_children()
            if services is not None:
                services.close()
            lock.close()
        say("Stopped.")

    def _listen_to_signals(self) -> None:
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup a hang-up is to be ignored. SIGINT is taken even if a shell's `&` had us ignore it.
            if sent != signal.SIGHUP or signal.getsignal(sent) != signal.SIG_IGN:
                signal.signal(sent, self._on_signal)
        if "MAKELEVEL" in os.environ:
            # Started by `make`, which may be killed without telling us.
            embedded.signal_me_when_parent_dies(signal.SIGTERM)

    def _on_signal(self, signum: int, frame: object) -> None:
        self.signals += 1
        if self.signals == 1:
            raise StopRequest

    def _step(self, name: str, command: list[str]) -> None:
        """Run one command to its end, stoppable like the other children."""
        step = Child(name, command, signal.SIGKILL)
        self.children.append(step)
        step.start()
        assert step.process is not None
        while (code := step.process.poll()) is None:
            self._look_after(*self.services)
            time.sleep(0.05)
        self.children.remove(step)
        if code:
            shown = " ".join(["python", *command[1:]])
            raise CannotRunError(f"`{shown}` failed with exit code {code}; see above.")

    def _prepare(self) -> None:
        """Once more, if a service ended meanwhile."""
        command = [sys.executable, "-m", "config.prepare"]
        try:
            self._step("prepare", command)
        except CannotRunError:
            deadline = time.monotonic() + 4 * LOOK_SECONDS
            while time.monotonic() < deadline or any(service.restart.due for service in self.services):
                self._look_after(*self.services)
                time.sleep(0.05)
            if not any(service.restart.failures for service in self.services):
                raise
            self._step("prepare", command)

    def _show_demo_table(self) -> None:
        """The demo is a welcome, not a condition: without its table the application runs all the same."""
        try:
            self._step("demo_table", [sys.executable, "manage.py", "demo_table"])
        except CannotRunError:
            say("The demo's table can't be shown (see above); everything else is running.")

    def _start_web_and_worker(self) -> None:
        concurrency = env.number("WORKER_CONCURRENCY", 2, low=1, high=64)
        worker = ["config.worker", "--concurrency", str(concurrency)]
        self.children += [
            Child("web", [sys.executable, "-m", *WEB], signal.SIGTERM),
            # SIGKILL: Celery's handlers of other signals wait for its processes and for Redis, perhaps for ever. What
            # the worker had begun PostgreSQL remembers; its processes have asked the kernel to die with it.
            Child("worker", [sys.executable, "-W", ROOT_WARNING, "-m", *worker], signal.SIGKILL),
            Child("importer", [sys.executable, "-m", "config.importer"], signal.SIGKILL),
        ]
        for child in self.children:
            child.start()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while (answer := self._readiness()) != "200":
            for child in self.children:
                if child.name == "web" and (how := child.end()):
                    raise CannotRunError(f"{child.title} ended {how}; see above.")
            self._look_after(*self.services, *(child for child in self.children if child.name != "web"))
            if time.monotonic() > deadline:
                raise CannotRunError(
                    f"http://{self._local_name()}:{self.port}/readyz does not get ready, it answers: {answer}"
                )
            time.sleep(0.1)

    def _local_name(self) -> str:
        """An address that reaches us from this machine: 0.0.0.0 means every address, and is none itself."""
        return "localhost" if self.host in ("0.0.0.0", "::", "127.0.0.1") else self.host  # noqa: S104

    def _readiness(self) -> str:
        address = "127.0.0.1" if self._local_name() == "localhost" else self.host
        connection = http.client.HTTPConnection(address, self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return str(connection.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            return str(error)
        finally:
            connection.close()

    def _look_after(self, *parts: Service | Child) -> None:
        for part in parts:
            self._look_at(part)

    def _look_at(self, part: Service | Child) -> None:
        now = time.monotonic()
        if part.restart.due is None:
            if how := part.end():
                say(f"{part.title} ended {how}; it starts again in {part.restart.plan(now)} s.")
            return
        if now < part.restart.due:
            return
        try:
            if part.start():
                part.restart.began, part.restart.due = now, None
        except (embedded.EmbeddedError, OSError) as error:
            part.restart.began = now
            say(f"{part.title} can't be started. {error} The next attempt is in {part.restart.plan(now)} s.")

    def _stop_children(self) -> None:
        for child in self.children:
            child.signal_group(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        signals = self.signals
        while any(child.group_lives() for child in self.children):
            if time.monotonic() > deadline or self.signals > signals:
                for child in self.children:
                    child.signal_group(signal.SIGKILL)
            time.sleep(0.02)


def take_lock(data: Path) -> IO[str]:
    """Hold DATA_DIR/lock, or say who does. The kernel lets go of it when the holder ends, however that happens."""
    data.mkdir(parents=True, exist_ok=True)
    path = data / "lock"
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise CannotRunError(
            f"Touchstone is already running on {data} (pid {holder}). Stop that one first, or set DATA_DIR to another "
            "folder."
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def check_port_is_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        # As gunicorn does: connections of a previous run that are still winding down are no obstacle.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise CannotRunError(
                f"Cannot listen on {host} port {port}: {error.strerror}. Choose another port with the variable PORT, "
                f"for example: PORT={port + 1 if port < 65_535 else 8001} make run"
            ) from None


def say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    try:
        host = env.text("HOST", "127.0.0.1")
        port = env.number("PORT", 8000, low=1, high=65_535)
        Supervisor(embedded.data_dir(), host, port).run()
    except (CannotRunError, embedded.EmbeddedError, ImproperlyConfigured) as error:
        sys.exit(f"Touchstone: {error}")
    except (StopRequest, KeyboardInterrupt):
        sys.exit(0)


if __name__ == "__main__":
    main()
