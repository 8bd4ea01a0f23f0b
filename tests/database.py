"""The test database: migrated once, emptied between tests, and filled once for a module where that takes long."""

import copy
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.test import TransactionTestCase
from psycopg.errors import LockNotAvailable

from config import embedded

_DATA = embedded.data_dir()
_XDIST_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
# Until a process is there and has done its first work. It says only when to give up: a worker that starts while a dozen
# other programs want the same two cores takes more than a minute.
READY_SECONDS = 180
# A role of the tests' database that owns nothing.
ONLY_READS = "only_reads"

# Migrating and the server's settings

# The process that migrates the database that the xdist workers copy, and what it locks meanwhile.
_migration: subprocess.Popen[bytes] | None = None
_MIGRATING = _DATA / "migrating.lock"
MIGRATED_SECONDS = 300


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Migrates the application's own database, which no test uses, while the workers are still collecting."""
    global _migration
    # A worker that inherits this would read the settings before it has chosen its Redis database, and share ours.
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    with embedded.lock_within(_MIGRATING, fcntl.LOCK_EX, READY_SECONDS) as lock:
        # It inherits the lock, which is free when it has ended. Should it fail, so will the workers, and they say why:
        # each still migrates its copy as far as that is behind.
        _migration = subprocess.Popen(
            command, cwd=settings.BASE_DIR, stdin=subprocess.DEVNULL, pass_fds=[lock.fileno()]
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    if _migration is not None:
        _migration.kill()
        _migration.wait()


def pytest_sessionstart(session: pytest.Session) -> None:
    """What tests may, and the application may not."""
    if _XDIST_WORKER:
        return
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
        embedded.lock_within(_MIGRATING, fcntl.LOCK_SH, MIGRATED_SECONDS).close()
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


# Emptying

# Shorter than PostgreSQL waits before it looks for a deadlock, and ends one of the two. A minute in all.
_PATIENCE_MS, _TRIES = 300, 200
# What migrating wrote; no test changes it.
_KEPT = ("django_migrations", "django_content_type", "auth_permission")


def empty_database(*_: Any) -> None:
    """In place of Django's flush.

    Deleting what is there would be quicker still, but leaves files full of dead rows, by which queries are planned.

    A page that a browser left may still be read for it: truncating lets it go first, since each would wait for a table
    that the other one has.
    """
    tables = sorted(set(connection.introspection.table_names()) - set(_KEPT))
    names = ", ".join(connection.ops.quote_name(name) for name in tables)
    for tries_left in reversed(range(_TRIES)):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{_PATIENCE_MS}ms'")
                cursor.execute(f"TRUNCATE {names}")
            return
        except OperationalError as error:
            if not tries_left or not isinstance(error.__cause__, LockNotAvailable):
                raise


TransactionTestCase._fixture_teardown = empty_database


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


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Foreign keys of what a module's fixture wrote are checked as soon as it stands. What a test's savepoint checks is
    unchecked again when it is taken back, so that each test checked the whole world anew."""
    made = yield
    if "module_transaction" in fixturedef.argnames:
        connection.check_constraints()
    return made


def copied_from_world(place: Any = None) -> Any:
    """A fixture for a module that builds much: its own `_world` makes something once, with `module_transaction`, and
    each test gets a copy of that, or of what stands at this place of it."""

    @pytest.fixture
    def copied(_world: Any, db: None) -> Any:
        return copy.deepcopy(_world if place is None else _world[place])

    return copied


def _commits(item: pytest.Item) -> bool:
    return "transactional_db" in getattr(item, "fixturenames", ()) or any(
        marker.kwargs.get("transaction") for marker in item.iter_markers("django_db")
    )


@contextmanager
def taken_back() -> Iterator[None]:
    """A transaction, or a savepoint in one, of which nothing stays."""
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)
