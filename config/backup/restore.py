"""A backup becomes the content of an empty installation: all of it, or nothing."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.cache import cache
from django.core.exceptions import SuspiciousFileOperation
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management import CommandError
from django.db import Error, connection, transaction
from django.db.migrations.loader import MigrationLoader

from annotate.core.errors import StorageError
from annotate.core.rows import execute, fetch_all
from config import tables as installation
from config.backup import schema
from config.backup.archive import Archive, Manifest


def restore_backup(path: Path) -> Manifest:
    """Raises CommandError when the file is not whole and ours, or the installation not empty."""
    with Archive(path) as archive:
        migrations = {(app, name) for app, name in archive.manifest["migrations"]}
        schema.refuse_newer(migrations, f"{path} ({archive.manifest['touchstone']})")
        # Here as well, so that nobody waits for a large file to be read.
        schema.refuse_rows(schema.tables_at(schema.migrations_of_database()))
        archive.check()
        try:
            with installation.migrating(), transaction.atomic():
                _fill_database(archive, migrations)
                # Last: without rows that name them they are nothing, and running it again writes them anew.
                _place_files(archive)
        except (Error, OSError, StorageError, SuspiciousFileOperation) as error:
            raise CommandError(f"{path} can't be restored: {str(error).strip()}. Nothing was kept.") from error
    # What follows a migration: names for what new tables are of.
    installation.migrate()
    # Of an installation that was here before.
    cache.clear()
    return archive.manifest


def _fill_database(archive: Archive, migrations: set[schema.Migration]) -> None:
    present = schema.migrations_of_database()
    tables = schema.tables_at(present)
    if tables:
        execute(f"LOCK TABLE {schema.names_of(tables)}")
    schema.refuse_rows(tables)
    if present != migrations:
        schema.make_tables(migrations, instead_of=tables)
        tables = schema.tables_at(migrations)
    said = archive.manifest["tables"]
    if {name: entry["columns"] for name, entry in said.items()} != {table.name: table.columns for table in tables}:
        raise CommandError("The tables of the backup are not those of its migrations. Nothing was restored.")
    _load(archive, tables)
    for table in tables:
        if table.sequence:
            execute("SELECT setval(%s, %s, %s)", [table.sequence, *said[table.name]["sequence"]])
    execute(f"ANALYZE {schema.names_of(tables)}")
    schema.migrate_on(set(MigrationLoader(connection).graph.leaf_nodes()))


def _load(archive: Archive, tables: list[schema.Table]) -> None:
    """Without the triggers, which would log again what the log has; foreign keys are checked all at once in the end, or
    PostgreSQL would remember each row until then."""
    keys = fetch_all(
        "SELECT quote_ident(relname), quote_ident(conname), pg_get_constraintdef(f.oid)"
        " FROM pg_constraint f JOIN pg_class c ON c.oid = conrelid"
        " WHERE contype = 'f' AND relnamespace = current_schema()::regnamespace AND relname = ANY(%s)",
        [[table.name for table in tables]],
    )
    execute(f"TRUNCATE {schema.names_of(tables)}")
    for table, key, _definition in keys:
        execute(f"ALTER TABLE {table} DROP CONSTRAINT {key}")
    for table in tables:
        name = schema.quoted(table.name)
        execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        statement = f"COPY {name} ({schema.quoted(*table.columns)}) FROM STDIN"
        with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
            for chunk in archive.chunks(f"tables/{table.name}"):
                copy.write(chunk)
        execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
    for table, key, definition in keys:
        execute(f"ALTER TABLE {table} ADD CONSTRAINT {key} {definition}")


def _place_files(archive: Archive) -> None:
    placed = []
    try:
        for name in archive.manifest["files"]:
            default_storage.delete(name)
            placed.append(name)
            with archive.open(f"files/{name}") as content:
                default_storage.save(name, File(content))
        # A power cut that takes them must take the rows as well.
        os.sync()
    except BaseException:
        for name in placed:
            default_storage.delete(name)
        raise
