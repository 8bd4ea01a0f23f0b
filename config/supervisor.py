"""`python -m config.supervisor`, which is `make run`: services, web and worker together, and together they stop.

What ends by itself once everything was up is started again, PostgreSQL and Redis included; while PostgreSQL is away,
pages and the API answer 503 (config/errors.py). The supervisor holds `DATA_DIR/lock` while it runs. It loads the
application once, and web, worker and importer are forks of it. They are process groups of their own, so that Ctrl-C in
the terminal reaches only the supervisor, which stops them in order; should it be killed outright, the kernel signals
them instead.
"""

import fcntl
import http.client
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from django.core.exceptions import ImproperlyConfigured

from config import embedded, env
from config.forks import SIGNALS, load_application
from config.parts import Child, Service

READY_SECONDS = 60
LOOK_SECONDS = 0.25
STEP_SECONDS = 0.02
GRACE_SECONDS = 10

WEB = ["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"]


class CannotRunError(Exception):
    """Why we do not start, or do not go on; the message says what to do."""


class StopRequest(BaseException):
    """Ctrl-C or SIGTERM. Not an Exception, so that no handler of errors takes it for one."""


@dataclass
class Supervisor:
    data: Path
    host: str
    port: int
    services: list[Service] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    signals: int = 0
    lock: IO[str] | None = None
    embedded_services: embedded.Services | None = None

    def run(self) -> None:
        """Start everything, watch it until asked to stop, and stop everything, whichever way that ends."""
        self.lock = take_lock(self.data)
        try:
            check_port_is_free(self.host, self.port)
            self._listen_to_signals()
            say(
                "Starting PostgreSQL and Redis …" if embedded.wanted_services() else "Using DATABASE_URL and REDIS_URL."
            )
            self._start_services_and_load()
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
            if self.embedded_services is not None:
                self.embedded_services.close()
            self.lock.close()
        say("Stopped.")

    def _listen_to_signals(self) -> None:
        for sent in SIGNALS:
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

    def _start_services_and_load(self) -> None:
        """Both at once, as each takes a second and more."""
        self.embedded_services = services = embedded.claim_services(self.data)
        for name in services.names:
            while not services.begin(name):
                time.sleep(STEP_SECONDS)
        load_application()
        for name in services.names:
            while not services.go_on_starting(name):
                time.sleep(STEP_SECONDS)
        self.services = [Service(name, services) for name in services.names]

    def _child(self, name: str, command: list[str], death_signal: signal.Signals) -> Child:
        child = Child(name, command, death_signal, self._forget)
        self.children.append(child)
        child.start()
        return child

    def _forget(self) -> None:
        """In a fork: what it holds open would stay locked for as long as it lives."""
        assert self.lock is not None
        assert self.embedded_services is not None
        self.lock.close()
        self.embedded_services.forget()

    def _step(self, name: str, command: list[str]) -> None:
        """Run one command to its end, stoppable like the other children."""
        step = self._child(name, command, signal.SIGKILL)
        while (code := step.poll()) is None:
            self._look_after(*self.services)
            time.sleep(STEP_SECONDS)
        self.children.remove(step)
        if code:
            raise CannotRunError(f"`python -m {' '.join(command)}` failed with exit code {code}; see above.")

    def _prepare(self) -> None:
        """Once more, if a service ended meanwhile."""
        try:
            self._step("prepare", ["config.prepare"])
        except CannotRunError:
            deadline = time.monotonic() + 4 * LOOK_SECONDS
            while time.monotonic() < deadline or any(service.restart.due for service in self.services):
                self._look_after(*self.services)
                time.sleep(STEP_SECONDS)
            if not any(service.restart.failures for service in self.services):
                raise
            self._step("prepare", ["config.prepare"])

    def _show_demo_table(self) -> None:
        """The demo is a welcome, not a condition: without its table the application runs all the same."""
        try:
            self._step("demo_table", ["django", "demo_table"])
        except CannotRunError:
            say("The demo's table can't be shown (see above); everything else is running.")

    def _start_web_and_worker(self) -> None:
        concurrency = env.number("WORKER_CONCURRENCY", 2, low=1, high=64)
        self._child("web", WEB, signal.SIGTERM)
        # SIGKILL: Celery's handlers of other signals wait for its processes and for Redis, perhaps for ever. What the
        # worker had begun PostgreSQL remembers; its processes have asked the kernel to die with it.
        self._child("worker", ["config.worker", "--concurrency", str(concurrency)], signal.SIGKILL)
        self._child("importer", ["config.importer"], signal.SIGKILL)

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
    with suppress(OSError):  # of a file on a disk that is full, or a terminal that is gone: nothing ends for that
        print(line, flush=True)


def main() -> None:
    try:
        host = env.text("HOST", env.OWN_ADDRESS)
        port = env.number("PORT", 8000, low=1, high=65_535)
        Supervisor(embedded.data_dir(), host, port).run()
    except (CannotRunError, embedded.EmbeddedError, ImproperlyConfigured) as error:
        sys.exit(f"Touchstone: {error}")
    except (StopRequest, KeyboardInterrupt):
        sys.exit(0)


if __name__ == "__main__":
    main()
