"""Empties the test database between tests that commit: as Django's flush does, without making permissions and content
types anew each time, which for hundreds of tests is a minute."""

from __future__ import annotations

from typing import Any

from psycopg.errors import LockNotAvailable

# Shorter than PostgreSQL waits before it looks for a deadlock, and ends one of the two. A minute in all.
_PATIENCE_MS, _TRIES = 300, 200
# What migrating wrote; no test changes it.
_KEPT = ("django_migrations", "django_content_type", "auth_permission")


def empty_database(*_: Any) -> None:
    """In place of `django.test.TransactionTestCase._fixture_teardown`.

    Deleting what is there would be quicker still, but leaves files full of dead rows, by which queries are planned.

    A page that a browser left may still be read for it: whoever truncates lets it go first, since each would wait for a
    table that the other one has.
    """
    from django.db import OperationalError, connection, transaction

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
