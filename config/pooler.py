"""What needs sessions of its own refuses to start behind a pooler that lends them for a transaction: its locks, which
say who works at a run or an import, belong to a session, and would go to whoever has it next (docs/operations.md)."""

from __future__ import annotations

import sys

from django.conf import settings


def refuse_pooler(who: str) -> None:
    if settings.DATABASE_POOLED:
        sys.exit(
            f"Touchstone: DATABASE_POOLED is true, but {who} needs database sessions of its own. Give it the "
            "DATABASE_URL of PostgreSQL itself, and unset DATABASE_POOLED; only web goes through the pooler."
        )
