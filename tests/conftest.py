"""The tests' own PostgreSQL and Redis, and real web, worker and browser processes for those that ask.

Fixtures: `worker`, `live_app`, `browser`, `new_page`, `page`. All but `browser` imply `transactional_db`, since the
other processes must see what a test wrote.
"""

import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
# A role of the tests' database that owns nothing.
ONLY_READS = "only_reads"

# Services and settings come before Django. pytest-xdist's workers inherit the environment of the process that starts
# them, so that one only starts the services, and the workers find them.

_XDIST_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
_SETTINGS = (
    "ALLOWED_HOSTS",
    "DATABASE_URL",
    "DEBUG",
    "DEFAULT_FROM_EMAIL",
    "EMAIL_URL",
    "HOST",
    "JUDGE_MODELS_DIR",
    "JUDGE_SECRET_KEYS",
    "PORT",
    "PUBLIC_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "TOUCHSTONE_ENV",
)

if not _XDIST_WORKER:
    # A developer's or a server's settings are none of the tests' business, and its database even less.
    for _name in _SETTINGS:
        os.environ.pop(_name, None)
    os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="ts-")  # short, for the sockets in it
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
os.environ["JUDGE_PRIVATE_HOSTS"] = "127.0.0.1"  # where `openai_server` is

# Thousands of tests are objects that stay: to look through all of them again and again takes a good part of the time.
gc.set_threshold(100_000, 50, 100)

from config import embedded  # noqa: E402

_DATA = embedded.data_dir()
_services = embedded.ensure_services() if not _XDIST_WORKER else None
# Each xdist worker has a Redis database of its own as well; pytest-django gives it a PostgreSQL database.
_REDIS_NUMBER = int(_XDIST_WORKER.removeprefix("gw")) + 1 if _XDIST_WORKER else 0
os.environ["REDIS_URL"] = embedded.redis_url(_DATA).replace("db=0", f"db={_REDIS_NUMBER}")

from frontend.translation.catalogue import compile_catalogues  # noqa: E402

compile_catalogues()

import django  # noqa: E402
import hypothesis  # noqa: E402
from django.conf import settings  # noqa: E402

# The same examples in every run, and no opinion on how fast a busy machine makes them.
hypothesis.settings.register_profile(
    "touchstone", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("touchstone")

# Slow on purpose, which tests that make users have no use for.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# In this process no hashed names and no manifest; `live_app` serves the real ones.
settings.STORAGES = {
    **settings.STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# And none of its files: every new test client starts WhiteNoise, which looks at each of hundreds.
settings.STATIC_ROOT = _DATA / "no-static"
settings.STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns of one that isn't there, and a warning is an error here
django.setup()

from django.test import Client, TransactionTestCase  # noqa: E402

from tests.emptying import empty_database  # noqa: E402
from tests.logging_in import log_in  # noqa: E402
from tests.openai_server.fixture import _openai_server, openai_server  # noqa: E402, F401 (fixtures of all tests)

TransactionTestCase._fixture_teardown = empty_database
Client._login = log_in


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pytest-django has tests without a database come last, and of those this one file takes two minutes: all other
    workers would wait for it. In the middle of the run it has company, and is not beside what a run begins with."""
    long = [item for item in items if item.path.name == "test_supervisor.py"]
    others = [item for item in items if item.path.name != "test_supervisor.py"]
    middle = len(others) // 2
    items[:] = [*others[:middle], *long, *others[middle:]]


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()


def pytest_sessionstart(session: pytest.Session) -> None:
    if not _XDIST_WORKER:
        _prepare_database()


# The process that migrates the database that the xdist workers copy, and what it locks meanwhile.
_migration: subprocess.Popen[bytes] | None = None
_MIGRATING = _DATA / "migrating.lock"
MIGRATED_SECONDS = 300


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    # A worker that inherits this would read the settings before it has chosen its Redis database, and share ours.
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    _start_migrating()


def _start_migrating() -> None:
    """Migrates the application's own database, which no test uses, while the workers are still collecting."""
    global _migration
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    with embedded.lock_within(_MIGRATING, embedded.fcntl.LOCK_EX, READY_SECONDS) as lock:
        # It inherits the lock, which is free when it has ended. Should it fail, so will the workers, and they say why:
        # each still migrates its copy as far as that is behind.
        _migration = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[lock.fileno()])


def pytest_unconfigure(config: pytest.Config) -> None:
    if _migration is not None:
        _migration.kill()
        _migration.wait()
    if _services is not None:
        _services.close()
        shutil.rmtree(_DATA, ignore_errors=True)


def _prepare_database() -> None:
    """What tests may, and the application may not."""
    import psycopg

    with psycopg.connect(
        host=str(embedded.socket_dir(_DATA)), user="postgres", dbname="postgres", autocommit=True
    ) as db:
        # A power cut may take the test databases; waiting for the disk at every commit is a large part of the time.
        db.execute("ALTER SYSTEM SET fsync = off")
        db.execute("SELECT pg_reload_conf()")
        # For tests.annotate.factories.rewriting_history.
        db.execute("GRANT SET ON PARAMETER session_replication_role TO touchstone")
        # For tests.config.test_gets.
        db.execute(f"CREATE ROLE {ONLY_READS}")
        db.execute(f"GRANT {ONLY_READS} TO touchstone")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """An xdist worker's database begins as a copy of the migrated one, or each would take the same seconds again."""
    if _XDIST_WORKER:
        embedded.lock_within(_MIGRATING, embedded.fcntl.LOCK_SH, MIGRATED_SECONDS).close()
        database = settings.DATABASES["default"]
        database["TEST"]["TEMPLATE"] = database["NAME"]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """pytest-django's, which drops the database in the end, and then can't say who still uses it. Ours waits for a
    session that is ending, and names one that isn't: a test left it behind."""
    yield
    with django_db_blocker.unblock():
        _wait_until_alone()


def _wait_until_alone() -> None:
    from django.db import connection

    deadline = time.monotonic() + READY_SECONDS
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid, backend_type, application_name, state, wait_event, query FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            others = cursor.fetchall()
        if not others:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"Tests left sessions on {connection.settings_dict['NAME']}: {others}")
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    shutil.rmtree(MAILS, ignore_errors=True)
    from django.core.cache import cache

    cache.clear()


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    """A request's language stays with its thread until the next request; here that is another test's."""
    yield
    from django.utils import translation

    translation.deactivate()


# Other processes

# Where web and worker leave the mails that they send. Each xdist worker has its own, which its tests empty.
MAILS = _DATA / f"mails{_XDIST_WORKER}"


def _environment() -> dict[str, str]:
    """For a process of the application that works on this test run's database."""
    from django.db import connection

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
    """A process group of the application, with its output in a file."""

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
                cwd=ROOT,
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

    def fail(self, what: str) -> None:
        pytest.fail(f"{what}\n{self.log.read_text(errors='replace')[-4000:]}")


@dataclass
class Worker(AppProcess):
    """A real Celery worker. `wait_for(condition)` returns once what it was sent to do is done."""

    def wait_for(self, condition: Callable[[], bool], seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if not self.is_running():
                self.fail("The worker has ended while there is work.")
            if time.monotonic() > deadline:
                self.fail(f"The worker is not done after {seconds} s.")
            time.sleep(0.02)

    def wait_idle(self) -> None:
        """Until the queue is empty. A message on its way from the queue to a process is seen by nobody for a moment, so
        a test that needs a result waits for that; this is for clearing up."""
        import redis

        with redis.Redis.from_url(settings.REDIS_URL) as client:
            # With late acknowledgement a message is in `unacked` until its task is done.
            self.wait_for(lambda: not client.llen(settings.CELERY_TASK_DEFAULT_QUEUE) and not client.hlen("unacked"))


def mails() -> list[str]:
    """The mails that web and worker have sent, as text; the files' names begin with the time."""
    return [path.read_text() for path in sorted(MAILS.glob("*.log"))] if MAILS.is_dir() else []


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
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as reply:
                return reply.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def session_cookie(self, user: Any) -> dict[str, str]:
        """A cookie that logs this user in, in Playwright's form. For API clients: `{name: value}` of it."""
        from django.test import Client

        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        return {"name": name, "value": client.cookies[name].value, "url": self.url}

    def sign_in(self, context: "BrowserContext", user: Any) -> None:
        context.add_cookies([self.session_cookie(user)])  # type: ignore[list-item]


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
    _worker_process.environment = _environment()
    if not _worker_process.is_running():
        forget_messages()  # of tests that had nobody to read them
        _worker_process.start()
    yield _worker_process
    if _worker_process.is_running():
        _worker_process.wait_idle()
    else:
        # Killed by the test: what it had not finished must not reach the next one.
        forget_messages()


@pytest.fixture(autouse=True)
def _nobody_works_unasked(request: pytest.FixtureRequest) -> None:
    """Where a test commits, the worker of earlier tests would do its work before it can."""
    marker = request.node.get_closest_marker("django_db")
    commits = "transactional_db" in request.fixturenames or bool(marker and marker.kwargs.get("transaction"))
    if commits and "worker" not in request.fixturenames:
        for process in _workers:
            process.kill()


def forget_messages() -> None:
    import redis

    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete(settings.CELERY_TASK_DEFAULT_QUEUE, "unacked", "unacked_index")


@pytest.fixture(scope="session")
def _web_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveApp]:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    log = tmp_path_factory.mktemp("web") / "log"
    process = LiveApp(["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"], {}, log, port=port)
    yield process
    process.stop()


@pytest.fixture
def live_app(_web_process: LiveApp, collected_static: Path, transactional_db: None) -> LiveApp:
    """The application as gunicorn serves it, on this test's database, with hashed static files."""
    _web_process.environment = {**_environment(), "PORT": str(_web_process.port), "WEB_WORKERS": "2"}
    if not _web_process.is_running():
        _web_process.start()
    return _web_process


@pytest.fixture(scope="session")
def collected_static() -> Path:
    """Where the hashed static files are, made once for all xdist workers."""
    with embedded.lock_within(_DATA / "static.lock", embedded.fcntl.LOCK_EX, READY_SECONDS):
        command = [
            sys.executable,
            "-c",
            "import django; django.setup(); from config.prepare import *; collect_static()",
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return _DATA / "static"


# The browser


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from django.db import connections
    from playwright.sync_api import sync_playwright

    from config.browser import find_chromium

    # Playwright's synchronous interface runs an event loop in this thread, and so Django refuses to use the database
    # in it. Nothing here runs concurrently with it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    path = find_chromium()
    if path is None:
        pytest.fail("No Chromium found. `make test` installs one; or set CHROMIUM to its path.")
    # With that loop this thread has other connections than without it; those left behind would stay open to the end,
    # where they keep the test database from being dropped.
    connections.close_all()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield browser
        browser.close()
        connections.close_all()


@dataclass
class _Faults:
    """What no page may do, whatever a test is about: throw an uncaught exception, or need what our CSP forbids."""

    found: list[str] = field(default_factory=list)

    def watch(self, page: "Page") -> None:
        page.on("pageerror", lambda error: self.found.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: (
                self.found.append(f"{page.url}: {message.text}") if "Content Security Policy" in message.text else None
            ),
        )


@contextmanager
def pages_of(browser: "Browser", app: LiveApp) -> "Iterator[Callable[..., Page]]":
    faults = _Faults()
    contexts: list[BrowserContext] = []

    def make(user: Any = None, **options: Any) -> "Page":
        options = {"base_url": app.url, "viewport": {"width": 1280, "height": 800}, **options}
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(15_000)
        if user is not None:
            app.sign_in(context, user)
        page = context.new_page()
        faults.watch(page)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not faults.found, "\n".join(faults.found)


@pytest.fixture
def new_page(browser: "Browser", live_app: LiveApp) -> "Iterator[Callable[..., Page]]":
    """`new_page(user=None, **context_options)`: a page of a fresh browser context, logged in if a user is given."""
    with pages_of(browser, live_app) as make:
        yield make


@pytest.fixture
def page(new_page: "Callable[..., Page]") -> "Page":
    """A page nobody is logged in to."""
    return new_page()


# One world for a module


@pytest.fixture(scope="module")
def module_transaction(django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest) -> Iterator[None]:
    """A transaction around those of a module's tests, for a world that takes long to make: what a module's fixture
    writes is there for each test, and gone after the module; what a test writes is gone after the test.

    The objects stay the same, though: hand each test a deep copy of them. Not for tests that look at the database's
    clock, which stands still in a transaction, and not for a module with tests that commit.
    """
    commits = [item.nodeid for item in request.session.items if item.path == request.path and _commits(item)]
    assert not commits, f"These commit, in a module whose tests are in one transaction: {commits}"
    with django_db_blocker.unblock(), taken_back():
        yield


def _commits(item: pytest.Item) -> bool:
    return "transactional_db" in getattr(item, "fixturenames", ()) or any(
        marker.kwargs.get("transaction") for marker in item.iter_markers("django_db")
    )


@contextmanager
def taken_back() -> Iterator[None]:
    """A transaction, or a savepoint in one, of which nothing stays."""
    from django.db import transaction

    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


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
        _web_process.environment = {**_environment(), "PORT": str(_web_process.port), "WEB_WORKERS": "2"}
        if not _web_process.is_running():
            _web_process.start()
        yield _web_process
        empty_database()


@pytest.fixture
def new_standing_page(browser: "Browser", standing_app: LiveApp) -> "Iterator[Callable[..., Page]]":
    """`new_page` on the `standing_app`."""
    with pages_of(browser, standing_app) as make:
        yield make
