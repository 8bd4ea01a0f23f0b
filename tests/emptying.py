"""Empties the test database between tests that commit: Django's flush truncates every table and makes permissions and
content types anew, which for hundreds of tests is minutes."""

from __future__ import annotations

from typing import Any

# What migrating wrote; no test changes it.
_KEPT = ("django_migrations", "django_content_type", "auth_permission")

# Locked first, so that a request of the application which is still writing is waited for, as truncating would.
# Deleting is quick for the few rows of a test, without triggers and foreign keys, which have nothing left to guard.
_EMPTY = """
DO $$
DECLARE
    names text[];
    name text;
    filled boolean;
BEGIN
    SELECT array_agg(quote_ident(tablename)) INTO names FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> ALL (ARRAY[{kept}]);
    EXECUTE 'LOCK TABLE ' || array_to_string(names, ', ') || ' IN SHARE ROW EXCLUSIVE MODE';
    SET LOCAL session_replication_role = replica;
    FOREACH name IN ARRAY names LOOP
        IF pg_relation_size(name::regclass) > 4000000 THEN
            EXECUTE 'TRUNCATE ' || name || ' CASCADE';
        ELSE
            EXECUTE 'SELECT EXISTS (SELECT FROM ' || name || ')' INTO filled;
            IF filled THEN
                EXECUTE 'DELETE FROM ' || name;
            END IF;
        END IF;
    END LOOP;
END $$
"""


def empty_database(*_: Any) -> None:
    """In place of `django.test.TransactionTestCase._fixture_teardown`."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_EMPTY.format(kept=", ".join(f"'{name}'" for name in _KEPT)))
