"""A command finds its tables: in an embedded database it makes them, on another server it says what to run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from config import embedded
from tests.config.conftest import ROOT, Run


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "project.json"
    path.write_text('{"name": "Triage answers", "criteria": ["support"]}')
    return str(path)


def test_the_first_commands_of_a_checkout_make_the_tables(bare: dict[str, str], spec: str) -> None:
    """Both of two that are first at once."""
    first = [
        subprocess.Popen(
            [sys.executable, "manage.py", "create_project", slug, "--file", spec],
            cwd=ROOT, env=bare, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for slug in ("one", "two")
    ]  # fmt: skip
    for process in first:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out.splitlines()[:1]) in (
            (0, ["Created project one with 1 criteria."]),
            (0, ["Created project two with 1 criteria."]),
        ), err


def test_a_server_that_is_named_is_not_migrated_unasked(run: Run, spec: str, db: None) -> None:
    url, name = embedded.database_url(embedded.data_dir()), "never_migrated"
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            named = url.rsplit("/", 1)[0] + f"/{name}"
            done = run("manage.py", "create_project", "one", "--file", spec, DATABASE_URL=named)
        finally:
            session.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
    assert done.returncode == 1
    assert done.stderr == (
        "manage.py: The database that DATABASE_URL names is not up to date. Run: python manage.py migrate\n"
    )
