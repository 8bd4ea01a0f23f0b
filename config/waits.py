"""A request waits for nobody for long: what it would wait for may be an import of minutes, and every request that waits
keeps one of the few threads from others. Who would wait longer is answered 503 with Retry-After (config.errors)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

LOCK_SECONDS = 3
# Longer than any page or reply takes; what takes this long is a fault of ours, answered 500.
STATEMENT_SECONDS = 60


def bound_waits() -> None:
    """From now on, for every connection that this process opens: that of a web process. A pooler sets both itself
    (docs/operations.md), as a session that it lends is soon another's."""
    if settings.DATABASE_POOLED:
        return
    connection_created.connect(_bound, dispatch_uid="bound_waits")


def _bound(connection: BaseDatabaseWrapper, **_: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'; SET statement_timeout = '{STATEMENT_SECONDS}s'")
