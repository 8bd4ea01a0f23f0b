"""A backup of one moment, made while people work."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO, Any

from django.core.management import CommandError
from django.db import connection, transaction

from annotate.core import stored
from annotate.core.rows import execute, fetch_all, fetch_one
from annotate.core.version import touchstone_version
from config.backup import archive, schema
from config.backup.archive import Manifest

# The files that it names are about to go.
_LEFT = "annotate_leftfile"
# Values as text, whatever the server's and the role's settings are.
_SPELLING = (
    "SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC';"
    " SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1"
)


def write_backup(path: Path) -> tuple[Manifest, str]:
    """Returns what is in it, and the SHA-256 of that. Raises CommandError, and then nothing of the file stays."""
    if path.exists():
        raise CommandError(f"{path} exists already. Give another name.")
    try:
        # Under its own name it is there once it is whole; and for its owner alone.
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f"{path.name}.", suffix=".partial", buffering=archive.CHUNK, delete=False
        ) as file:
            try:
                archive.begin(file)
                manifest = _copy_moment(file)
                seal = archive.finish(file, manifest)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).rename(path)
            finally:
                Path(file.name).unlink(missing_ok=True)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise CommandError(f"Cannot write {path}: {error.strerror}{where}. Nothing of it was kept.") from None
    return manifest, seal


def _copy_moment(file: IO[bytes]) -> Manifest:
    migrations = schema.migrations_of_database()
    tables = schema.tables_at(migrations)
    if not tables:
        raise CommandError("The database has no tables yet: there is nothing to back up.")
    with transaction.atomic():
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        # Before the moment, which the first query sets: nobody changes the tables themselves until we have read them.
        execute(f"LOCK TABLE {schema.names_of(tables)} IN ACCESS SHARE MODE")
        execute(_SPELLING)
        if schema.migrations_of_database() != migrations:
            raise CommandError("The database is being upgraded. Run this again afterwards.")
        # Files first, those of imports before the others: they may go while we are at it.
        named = _named_files(tables)
        files = {name: entry for name in named if (entry := _copy_file(file, name))}
        return {
            "touchstone": touchstone_version(),
            "migrations": sorted(map(list, migrations)),
            "files": files,
            "missing": [name for name in named if name not in files],
            "tables": {table.name: _copy_table(file, table) for table in tables},
        }


def _named_files(tables: list[schema.Table]) -> list[str]:
    return sorted(
        name
        for table in tables
        if "stored_as" in table.columns and table.name != _LEFT
        for (name,) in fetch_all(f"SELECT stored_as FROM {schema.quoted(table.name)} WHERE stored_as <> ''")
    )


def _copy_file(file: IO[bytes], name: str) -> dict[str, Any] | None:
    try:
        content = stored.open_file(name)
    except FileNotFoundError:
        return None
    with content, archive.member(file, f"files/{name}") as copy:
        for chunk in content.chunks(archive.CHUNK):
            copy.write(chunk)
    return copy.entry()


def _copy_table(file: IO[bytes], table: schema.Table) -> dict[str, Any]:
    rows = f"SELECT {schema.quoted(*table.columns)} FROM {schema.quoted(table.name)} ORDER BY {table.key}"
    with connection.cursor() as cursor, archive.member(file, f"tables/{table.name}") as copy:
        with connection.wrap_database_errors, cursor.copy(f"COPY ({rows}) TO STDOUT") as found:
            for row in found:
                copy.write(row)
        count = cursor.rowcount
    # Of no moment, and as far as all that was copied, or farther.
    numbered = fetch_one(f"SELECT last_value, is_called FROM {table.sequence}") if table.sequence else None
    return {"columns": table.columns, "sequence": numbered, "rows": count, **copy.entry()}
