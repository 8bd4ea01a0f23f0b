"""Which migrations a database has, which tables they made, and how it gets to another state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from annotate.core.rows import execute, fetch_all
from annotate.management.commands.migrate import refuse_half_way

Migration = tuple[str, str]
# Django's own account of what was migrated, which migrating makes anew, and who is logged in.
NOT_KEPT = {"django_migrations", "django_session"}
# What migrating writes.
_MADE = {"django_content_type", "auth_permission"}
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Table:
    """columns: by name, since an upgraded installation has them in another order than a new one. key: what rows are
    ordered by; texts by their bytes, as not every server sorts them alike. sequence: what numbers its rows."""

    name: str
    columns: list[str]
    key: str
    sequence: str | None


def migrations_of_database() -> set[Migration]:
    """Raises CommandError when a newer version was at it, or when it was left half-way."""
    loader = MigrationLoader(connection)
    refuse_half_way(loader)
    replaced = {one for each in loader.disk_migrations.values() for one in each.replaces}
    ours = {one for one in loader.applied_migrations if one[0] in loader.migrated_apps}
    refuse_newer(ours - replaced, "The database")
    return ours & loader.graph.nodes.keys()


def refuse_newer(migrations: set[Migration], whose: str) -> None:
    newer = sorted(migrations - MigrationLoader(None).disk_migrations.keys())
    if newer:
        raise CommandError(
            f"{whose} is of a newer version of Touchstone: it has {'.'.join(newer[0])}, which this one doesn't know. "
            "Use that version."
        )


def tables_at(migrations: set[Migration]) -> list[Table]:
    """Of our own and of the applications that we use; other tables of the database are none of our business."""
    models = MigrationLoader(connection).project_state(list(migrations)).apps.get_models(include_auto_created=True)
    names = {model._meta.db_table for model in models} - NOT_KEPT
    found = fetch_all(
        """SELECT relname::text, array_agg(attname::text ORDER BY attname) FILTER (WHERE attgenerated = ''),
                  string_agg(quote_ident(attname) || CASE WHEN attcollation <> 0 THEN ' COLLATE "C"' ELSE '' END, ', '
                             ORDER BY array_position(indkey::int2[], attnum)) FILTER (WHERE attnum = ANY(indkey)),
                  max(pg_get_serial_sequence(quote_ident(relname), attname))
             FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
                  JOIN pg_index ON indrelid = c.oid AND indisprimary
            WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s)
            GROUP BY relname ORDER BY relname""",
        [list(names)],
    )
    return [Table(*row) for row in found]


def quoted(*names: str) -> str:
    return ", ".join(connection.ops.quote_name(name) for name in names)


def names_of(tables: list[Table]) -> str:
    return quoted(*(table.name for table in tables))


def refuse_rows(tables: list[Table]) -> None:
    """Raises CommandError that names what is there, if anything is."""
    there = {
        table.name: rows
        for table in tables
        if table.name not in _MADE
        for ((rows,),) in [fetch_all(f"SELECT count(*) FROM {quoted(table.name)}")]
        if rows
    }
    if there:
        most = sorted(there, key=lambda name: -there[name])[:_SHOWN]
        raise CommandError(
            "A backup is restored into an empty installation. The database of this one has rows in "
            f"{len(there)} tables: {', '.join(f'{name} ({there[name]:,})' for name in most)} …"
        )


def make_tables(migrations: set[Migration], *, instead_of: list[Table]) -> None:
    """In a database without rows, whatever state it is in: many migrations have no way back."""
    if instead_of:
        functions = fetch_all(
            "SELECT DISTINCT tgfoid::regprocedure::text FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid"
            " WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace AND relname = ANY(%s)",
            [[table.name for table in instead_of]],
        )
        execute(f"DROP TABLE {names_of(instead_of)}, {quoted(*sorted(NOT_KEPT))}")
        for (function,) in functions:
            execute(f"DROP FUNCTION {function}")
    migrate_on(migrations)


def migrate_on(migrations: set[Migration]) -> None:
    """Forwards, in the transaction that the caller is in."""
    executor = MigrationExecutor(connection, progress_callback=_check_rows)
    nodes = executor.loader.graph.node_map
    executor.migrate(
        [
            one
            for one in sorted(migrations)
            if not any(child.key in migrations and child.key[0] == one[0] for child in nodes[one].children)
        ]
    )


def _check_rows(action: str, *_: Any) -> None:
    """After each migration, as the end of a transaction of its own would."""
    if action == "apply_success":
        execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
