"""Django's PostgreSQL backend, with a health check that asks the operating system instead of the server."""

import select
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def chunked_cursor(self) -> Any:
        """One on the server, which outside a transaction would belong to the session."""
        if settings.DATABASE_POOLED and not self.in_atomic_block:
            return self.cursor()
        return super().chunked_cursor()

    def is_usable(self) -> bool:
        """Whether a kept connection can be used again; asked once per request that needs the database.

        A server that ended or restarted has closed its side, which makes the socket readable, and between requests
        nothing else does. `SELECT 1` finds out no more, and takes as long as any other statement of a labelling
        request. After an error we do ask the server.
        """
        if self.connection is None or self.connection.closed:
            return False
        if self.errors_occurred:
            return bool(super().is_usable())
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not waiting.poll(0)
