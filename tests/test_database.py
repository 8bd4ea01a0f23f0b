"""What the tests themselves stand on: the database is empty for the next one, even while a page is read."""

from __future__ import annotations

from threading import Event, Thread

from django.db import connection, transaction

from annotate.models import AuditEntry, User
from tests.database import empty_database


def test_a_request_that_is_still_read_for_is_let_go_first(transactional_db: None) -> None:
    User.objects.create_user("ana")
    reads, seen = Event(), []

    def read() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            seen.append(User.objects.count())
            reads.set()
            # Until the other one has locked what it can, and waits for the users.
            waits = False
            while not waits:
                cursor.execute(
                    "SELECT EXISTS (SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
                    " WHERE datname = current_database() AND NOT granted)"
                )
                (waits,) = cursor.fetchone()
            seen.append(AuditEntry.objects.count())
        connection.close()

    reader = Thread(target=read)
    reader.start()
    assert reads.wait(60)
    empty_database()
    reader.join(60)
    assert seen == [1, 0]
    assert not User.objects.exists()
