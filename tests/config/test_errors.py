"""Which of PostgreSQL's errors pass by themselves, as it raises them. What is answered: test_supervisor_restarts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from config.errors import passes


@pytest.fixture
def other(db: None) -> Iterator[BaseDatabaseWrapper]:
    """A connection of its own: what happens to it is not to happen to the tests'."""
    other = connection.copy()
    yield other
    other.close()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT pg_terminate_backend(pg_backend_pid())", True),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'too_many_connections'; END $$", True),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$", True),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$", True),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'lock_not_available'; END $$", True),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'cannot_connect_now'; END $$", True),
        ("SELECT repeat('x', 1 << 30)", False),
        ("SELECT 1 / 0", False),
        ("SELECT * FROM no_such_table", False),
        ("INSERT INTO annotate_user (username) VALUES (NULL)", False),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END $$", False),
    ],
)
def test_of_statements(other: BaseDatabaseWrapper, statement: str, expected: bool) -> None:
    with pytest.raises(DatabaseError) as caught, other.cursor() as cursor:
        cursor.execute(statement)
    assert passes(caught.value) is expected


def test_of_a_connection_that_is_gone(other: BaseDatabaseWrapper) -> None:
    """And of the one after: a connection that is dead is not handed out again once the request has ended."""
    with pytest.raises(DatabaseError), other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(DatabaseError) as caught, other.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert passes(caught.value)
    other.close_if_unusable_or_obsolete()
    with other.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    "url", [{"HOST": "127.0.0.1", "PORT": "1"}, {"HOST": "/nowhere"}, {"HOST": "no-such-host.invalid"}]
)
def test_of_a_server_elsewhere_that_is_away(other: BaseDatabaseWrapper, url: dict[str, str]) -> None:
    other.settings_dict = {**other.settings_dict, **url}
    with pytest.raises(DatabaseError) as caught:
        other.ensure_connection()
    assert passes(caught.value)


def test_errors_of_our_own_do_not_pass() -> None:
    assert not passes(ZeroDivisionError())
