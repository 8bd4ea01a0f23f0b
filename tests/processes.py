"""Real processes on the tests' database: a Celery worker and gunicorn; and a server of models.

Fixtures: `worker` and `live_app`, which imply `transactional_db`, since the other processes must see what a test wrote;
`standing_app`, `collected_static` and `openai_server`.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psutil
import pytest
import redis
from django.conf import settings
from django.db import connection

from config import embedded
from tests.clients import as_user
from tests.database import READY_SECONDS, empty_database
from tests.openai_server import OpenAIServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

_DATA = embedded.data_dir()
# Where web and worker leave the mails that they send. Each xdist worker has its own, which its tests empty.
MAILS = _DATA / f"mails{os.environ.get('PYTEST_XDIST_WORKER', '')}"


def environment() -> dict[str, str]:
    """For a process of the application that works on this test run's database."""
    database = quote(str(connection.settings_dict["NAME"]))
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "DATABASE_URL": embedded.database_url(_DATA).rsplit("/", 1)[0] + f"/{database}",
        "REDIS_URL": settings.REDIS_URL,
        "EMAIL_URL": f"file://{MAILS}",
        "PYTHONUNBUFFERED": "1",
    }


@dataclass
class AppProcess:
    """A process group of the application, with its output in a file. `wait_for(condition)` returns once what it was to
    do is done."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None, "not started"
        return self.process.pid

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *self.command],
                cwd=settings.BASE_DIR,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=embedded.die_with_parent(signal.SIGKILL),  # noqa: PLW1509 (no threads here)
            )

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """`kill -9` for the process and all its children, as an out-of-memory killer or a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        if self.is_running():
            assert self.process is not None
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        self._end(signal.SIGKILL)

    def _end(self, sent: signal.Signals) -> None:
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, sent)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process = None

    def wait_for(self, condition: Callable[[], bool], seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if not self.is_running():
                self.fail("It has ended while there is work.")
            if time.monotonic() > deadline:
                self.fail(f"It is not done after {seconds} s.")
            time.sleep(0.02)

    def growth_until(self, condition: Callable[[], bool], seconds: float = READY_SECONDS) -> int:
        """By how many bytes the largest of its forks grew above it meanwhile."""
        own, most = psutil.Process(self.pid), 0

        def look() -> bool:
            nonlocal most
            for child in own.children():
                with suppress(psutil.NoSuchProcess):
                    most = max(most, child.memory_info().rss - own.memory_info().rss)
            return condition()

        self.wait_for(look, seconds)
        return most

    def fail(self, what: str) -> None:
        pytest.fail(f"{what}\n{self.log.read_text(errors='replace')[-4000:]}")


@dataclass
class Worker(AppProcess):
    """A real Celery worker."""

    def wait_idle(self) -> None:
        """Until the queue is empty. A message on its way from the queue to a process is seen nowhere for a moment, so
        a test that needs a result waits for that; this is for clearing up."""
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            # With late acknowledgement a message is in `unacked` until its task is done.
            self.wait_for(lambda: not client.llen(settings.CELERY_TASK_DEFAULT_QUEUE) and not client.hlen("unacked"))


def mails() -> list[str]:
    """The mails that web and worker have sent, as text; the files' names begin with the time."""
    return [path.read_text() for path in sorted(MAILS.glob("*.log"))] if MAILS.is_dir() else []


@pytest.fixture(autouse=True)
def _no_mails_left() -> Iterator[None]:
    yield
    shutil.rmtree(MAILS, ignore_errors=True)


@dataclass
class LiveApp(AppProcess):
    """A real gunicorn. `kill()` and `start()` again gives the same address."""

    port: int = 0

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        super().start()
        deadline = time.monotonic() + READY_SECONDS
        while not self._healthy():
            if not self.is_running() or time.monotonic() > deadline:
                self.fail("The application did not get ready.")
            time.sleep(0.05)

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as reply:
                return reply.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def session_cookie(self, user: Any) -> dict[str, str]:
        """A cookie that logs this user in, in Playwright's form. For API clients: `{name: value}` of it."""
        client = as_user(user)
        name = settings.SESSION_COOKIE_NAME
        return {"name": name, "value": client.cookies[name].value, "url": self.url}

    def sign_in(self, context: "BrowserContext", user: Any) -> None:
        context.add_cookies([self.session_cookie(user)])  # type: ignore[list-item]


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@pytest.fixture(scope="session")
def _worker_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    command = ["celery", "--app", "config", "--quiet", "worker", "--concurrency", "2", "--loglevel", "WARNING"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    process = Worker(command, {}, tmp_path_factory.mktemp("worker") / "log")
    _workers.append(process)
    yield process
    process.stop()


# The one that tests share, once a test has asked for it.
_workers: list[Worker] = []


@pytest.fixture
def worker(_worker_process: Worker, transactional_db: None) -> Iterator[Worker]:
    """A running Celery worker on this test's database. Afterwards it is idle again, before the tables are emptied."""
    _worker_process.environment = environment()
    if not _worker_process.is_running():
        forget_messages()  # of tests without a worker
        _worker_process.start()
    yield _worker_process
    if _worker_process.is_running():
        _worker_process.wait_idle()
    else:
        # Killed by the test: what it had not finished must not reach the next one.
        forget_messages()


@pytest.fixture
def importer(transactional_db: None, tmp_path: Path) -> Iterator[Worker]:
    """A running process for imports on this test's database, without a Redis."""
    nowhere = f"unix://{tmp_path}/nowhere.sock?db=0"
    process = Worker(["config.importer"], {**environment(), "REDIS_URL": nowhere}, tmp_path / "importer.log")
    process.start()
    yield process
    process.stop()


@pytest.fixture(autouse=True)
def _no_worker_of_earlier_tests(request: pytest.FixtureRequest) -> None:
    """Where a test commits, the worker of earlier tests would do its work before it can."""
    marker = request.node.get_closest_marker("django_db")
    commits = "transactional_db" in request.fixturenames or bool(marker and marker.kwargs.get("transaction"))
    if commits and "worker" not in request.fixturenames:
        for process in _workers:
            process.kill()


def forget_messages() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete(settings.CELERY_TASK_DEFAULT_QUEUE, "unacked", "unacked_index")


@pytest.fixture(scope="session")
def _web_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveApp]:
    port = free_port()
    log = tmp_path_factory.mktemp("web") / "log"
    process = LiveApp(["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"], {}, log, port=port)
    yield process
    process.stop()


@pytest.fixture
def live_app(_web_process: LiveApp, collected_static: Path, transactional_db: None) -> LiveApp:
    """The application as gunicorn serves it, on this test's database, with hashed static files."""
    _web_process.environment = {**environment(), "PORT": str(_web_process.port), "WEB_WORKERS": "2"}
    if not _web_process.is_running():
        _web_process.start()
    return _web_process


@pytest.fixture(scope="session")
def collected_static() -> Path:
    """Where the hashed static files are, made once for all xdist workers."""
    with embedded.lock_within(_DATA / "static.lock", fcntl.LOCK_EX, READY_SECONDS):
        command = [
            sys.executable,
            "-c",
            "import django; django.setup(); from config.prepare import *; collect_static()",
        ]
        done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return _DATA / "static"


@pytest.fixture(scope="module")
def standing_app(
    browser: "Browser", _web_process: LiveApp, collected_static: Path, django_db_blocker: Any
) -> Iterator[LiveApp]:
    """Like `live_app`, for all tests of a module that only look: what its own module fixture makes stays until the
    module ends.

    Its tests are marked `django_db`, or pytest-django makes no database; but it would take back what they wrote, and
    the application doesn't see it, so they only look.
    """
    with django_db_blocker.unblock():
        _web_process.environment = {**environment(), "PORT": str(_web_process.port), "WEB_WORKERS": "2"}
        if not _web_process.is_running():
            _web_process.start()
        yield _web_process
        empty_database()


@pytest.fixture(scope="session")
def _openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def openai_server(_openai_server: OpenAIServer) -> Iterator[OpenAIServer]:
    """A server that speaks the OpenAI protocol, as new for each test: see tests/openai_server."""
    _openai_server.forget()
    yield _openai_server
    _openai_server.forget()
