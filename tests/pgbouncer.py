"""A real PgBouncer before the tests' PostgreSQL, with the configuration that docs/operations.md gives."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection

from config import embedded
from config.pgbouncer import MISSING, find_pgbouncer
from tests.conftest import ROOT
from tests.database import READY_SECONDS
from tests.processes import free_port

# Fewer than a web process of the tests has threads.
SESSIONS = 4
# Each on a line of its own; what an administrator has from elsewhere, and a turn for every session, so that whatever
# one leaves to the next transaction is soon missed, or met by another.
_MORE = """
unix_socket_dir = {folder}
listen_port = {port}
auth_type = any
admin_users = touchstone
server_round_robin = 1
min_pool_size = {sessions}
default_pool_size = {sessions}
"""
# What a session keeps beyond a transaction, beside what the documentation has PgBouncer set.
_KEPT = """
    SELECT 'setting ' || name || ' = ' || setting FROM pg_settings
     WHERE source = 'session' AND (name, setting) NOT IN (('lock_timeout', '3000'), ('statement_timeout', '60000'))
       AND name NOT LIKE 'transaction_%'
       AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')
     UNION ALL SELECT 'no limit for ' || name FROM pg_settings
                WHERE name IN ('lock_timeout', 'statement_timeout') AND setting = '0'
     UNION ALL SELECT 'prepared ' || statement FROM pg_prepared_statements
     UNION ALL SELECT 'cursor ' || statement FROM pg_cursors
     UNION ALL SELECT 'listens to ' || channel FROM pg_listening_channels() channel
     UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'
     UNION ALL SELECT 'lock' FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
"""


class PgBouncer:
    def __init__(self) -> None:
        self._folder, self._port = embedded.socket_dir(embedded.data_dir()), free_port()
        self._log = self._folder / f"pgbouncer-{self._port}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://touchstone@{quote(str(self._folder), safe='')}:{self._port}/touchstone"

    def start(self) -> None:
        program = find_pgbouncer()
        if program is None:
            pytest.fail(MISSING)
        # It refuses to run as root, and PostgreSQL's socket is its user's alone.
        user = self._folder.stat().st_uid if os.geteuid() == 0 else None
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program, self._configuration()],
                user=user,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=embedded.die_with_parent(signal.SIGKILL),  # noqa: PLW1509 (no threads here)
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PgBouncer did not start.\n{self._log.read_text()[-4000:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def connect(self, **more: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, **more)

    def ask(self, command: str) -> list[dict[str, Any]]:
        """Of its own console."""
        with self.connect(dbname="pgbouncer", autocommit=True) as console:
            found = console.execute(command)  # type: ignore[call-overload]
            names = [column.name for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()] if names else []

    def pool(self) -> dict[str, int]:
        """How many clients and servers are in which state."""
        return next(row for row in self.ask("SHOW POOLS") if row["database"] == "touchstone")

    @contextmanager
    def patience(self, seconds: int) -> Iterator[None]:
        """For how long a client waits for a session; 0: for ever."""
        (before,) = (row["value"] for row in self.ask("SHOW CONFIG") if row["key"] == "query_wait_timeout")
        self.ask(f"SET query_wait_timeout = {seconds}")
        try:
            yield
        finally:
            self.ask(f"SET query_wait_timeout = {before}")

    @contextmanager
    def all_taken(self, *, patience: int) -> Iterator[list[psycopg.Connection[Any]]]:
        """By clients that are in a transaction, until they are closed."""
        with ExitStack() as until_the_end:
            held = [until_the_end.enter_context(closing(self.connect())) for _ in range(SESSIONS)]
            for one in held:
                one.execute("SELECT")
            with self.patience(patience):
                yield held

    def left(self) -> set[str]:
        """What is left on its sessions with PostgreSQL, each of which is asked."""
        with self.all_taken(patience=0) as held:
            return {said for one in held for (said,) in one.execute(_KEPT).fetchall()}

    def forget(self) -> None:
        """Ends its sessions with PostgreSQL, and opens new ones."""
        self.ask("RECONNECT touchstone")

    def _configuration(self) -> Path:
        documented = (ROOT / "docs" / "operations.md").read_text()
        (text,) = re.findall(r"^```\n(\[databases\]\n.*?)^```$", documented, re.MULTILINE | re.DOTALL)
        at = connection.settings_dict
        address = f"host={self._folder} dbname={at['NAME']} user=touchstone"
        assert text.count("host=db.internal dbname=touchstone") == 1
        text = text.replace("host=db.internal dbname=touchstone", address)
        # Of two lines the last one counts.
        text += _MORE.format(folder=self._folder, port=self._port, sessions=SESSIONS)
        path = self._folder / f"pgbouncer-{self._port}.ini"
        path.write_text(text)
        path.chmod(0o644)
        return path

    def _is_ready(self) -> bool:
        try:
            return bool(self.ask("SHOW VERSION"))
        except psycopg.OperationalError:
            return False
