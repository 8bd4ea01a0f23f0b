"""An installation of before with 100,000 labels is upgraded: none may be lost or altered, and how long it takes.

    python -m bench.upgrade [--labels 100000]

It is the one that the tests upgrade (`tests/config/test_upgrade.py`), with its samples, tasks, labels, verdicts and
their logs over and over again under new numbers.
"""

from __future__ import annotations

import argparse
import lzma
import subprocess
import sys
import time
from typing import Any

from bench.stage import ROOT, figure, heading, own_folder, same_services
from config import embedded

BEFORE = ROOT / "tests" / "config" / "installation_d79ca33.sql.xz"
# Larger than any primary key of that installation.
STEP = 1_000_000
# What is copied, and which of its columns are numbers of what is copied as well.
COPIED = {
    "annotate_sample": ("id",),
    "annotate_batchsample": ("id", "sample_id"),
    "annotate_task": ("id", "sample_id"),
    "annotate_label": ("id", "sample_id", "task_id"),
    "annotate_labelevent": ("id", "label_id", "carried_from_id"),
    "annotate_verdict": ("id", "sample_id"),
}
# What an upgrade says anew: how a batch's samples came.
SINCE = ("probability", "stratum")
# Written by a trigger where a verdict is.
LOGGED = ["annotate_verdictevent"]
# What is otherwise in a copy, as there may be only one of it.
OTHERWISE = {
    "external_id": "external_id || '~' || n",
    "idempotency_key": "gen_random_uuid()",
    "position": "position + 1000 * n",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--labels", type=int, default=100_000)
    labels = parser.parse_args().labels
    with own_folder(), same_services():
        from django.core.management import call_command

        _restore()
        _multiply(labels)
        columns = {table: ", ".join(one for one in _columns(table) if one not in SINCE) for table in [*COPIED, *LOGGED]}
        before = {table: _hash(table, names) for table, names in columns.items()}
        heading(f"An upgrade with {before['annotate_label'][0]:,} labels")
        began = time.monotonic()
        call_command("migrate", verbosity=0)
        figure("migrating took", f"{time.monotonic() - began:.1f} s")
        began = time.monotonic()
        after = {table: _hash(table, names) for table, names in columns.items()}
        figure("reading these rows takes", f"{time.monotonic() - began:.1f} s")
        for table, (rows, found) in before.items():
            same = "the same" if after[table] == (rows, found) else f"OTHERWISE, {after[table][0]:,}"
            figure(table, f"{rows:,} rows, {same}", "the same")
        sys.exit(0 if after == before else 1)


def _restore() -> None:
    from django.db import connection

    at = connection.settings_dict
    psql = [embedded.postgres_programs()[0] / "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
    where = [f"--host={at['HOST']}", f"--username={at['USER']}", f"--dbname={at['NAME']}"]
    subprocess.run([*psql, *where], input=lzma.decompress(BEFORE.read_bytes()), check=True, capture_output=True)


def _multiply(labels: int) -> None:
    from annotate.core.rows import execute, fetch_one

    (there,) = fetch_one("SELECT count(*) FROM annotate_label")
    for table, numbers in COPIED.items():
        columns = _columns(table)
        copied = [f"{name} + {STEP} * n" if name in numbers else OTHERWISE.get(name, name) for name in columns]
        execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(copied)} FROM {table},"
            " generate_series(1, %s) n",
            [-(-labels // there) - 1],
        )
        execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), (SELECT max(id) FROM " + table + "))", [table])
    execute("ANALYZE")


def _columns(table: str) -> list[str]:
    from annotate.core.rows import fetch_all

    found = fetch_all(
        "SELECT quote_ident(attname) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        [table],
    )
    return [name for (name,) in found]


def _hash(table: str, columns: str) -> tuple[Any, ...]:
    """How many rows, and of all of them in these columns."""
    from annotate.core.rows import fetch_one

    rows = f"SELECT md5((ROW({columns}))::text) AS row FROM {table}"
    return fetch_one(f"SELECT count(*), md5(string_agg(row, '' ORDER BY row)) FROM ({rows}) hashed")


if __name__ == "__main__":
    main()
