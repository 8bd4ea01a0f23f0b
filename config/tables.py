"""The tables that this version works with: whether they are there, and making them where that is ours to do."""

import fcntl
from typing import IO

import django
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.management.commands.migrate import refuse_half_way
from config import embedded

# A large installation's upgrade takes as long as its largest table.
_MIGRATED_SECONDS = 3600


def ensure_tables() -> None:
    """Bring the embedded database up to date. One that DATABASE_URL names is its operator's, and is only looked at.

    Raises CommandError when that one is not up to date, and when either was left half-way through old migrations.
    """
    django.setup()
    if not _is_behind():
        return
    if "postgres" not in embedded.wanted_services():
        raise CommandError("The database that DATABASE_URL names is not up to date. Run: python manage.py migrate")
    migrate()


def migrate() -> None:
    """Whatever database it is. Of two processes on one DATA_DIR the second waits, and finds nothing left to do."""
    with migrating():
        call_command("migrate", interactive=False, verbosity=0)


def migrating() -> IO[str]:
    """A lock for who makes or changes tables."""
    run = settings.DATA_DIR / "run"
    run.mkdir(parents=True, exist_ok=True)
    return embedded.lock_within(run / "migrate.lock", fcntl.LOCK_EX, _MIGRATED_SECONDS)


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    refuse_half_way(executor.loader)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
