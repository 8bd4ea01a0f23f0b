"""`kill -9` in the middle of a release, a report, a backup and an upgrade: nothing half-made is there as if it were
whole, and the next attempt succeeds. What an import does is in `test_importer`, a restore in `test_backup`."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotate.files.releases import make_release, open_release, request_release
from annotate.models import Job, LeftFile, Release
from config.settings import MEDIA_ROOT
from judges.models import AlignmentReport
from judges.reports.requests import request_job
from tests.annotate.factories import World, finish, make_samples, make_world
from tests.config.test_upgrade import _columns, _rows, before, empty  # noqa: F401
from tests.judges.building import settle_all
from tests.processes import AppProcess, LiveApp, Worker, environment


@pytest.fixture
def world(transactional_db: None, settings: Any) -> World:
    """Two labels each of ten samples, which are settled. Files lie where other processes look for them."""
    settings.MEDIA_ROOT = MEDIA_ROOT
    world = make_world()
    make_samples(world.project, 10)
    for task in world.batch(annotators=[world.ann, world.ben], overlap=2).tasks.all():
        finish(task)
    settle_all(world.project)
    return world


@contextmanager
def session() -> Iterator[psycopg.Connection[Any]]:
    """Another session on this test's database."""
    at = connection.settings_dict
    with psycopg.connect(host=at["HOST"], user=at["USER"], dbname=at["NAME"]) as own:
        yield own


@contextmanager
def stopped_at(table: str) -> Iterator[Callable[[], bool]]:
    """Whoever reads or changes the table waits. Yields whether somebody does."""
    with session() as own, session() as other:
        other.autocommit = True
        own.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")  # type: ignore[call-overload]

        def waits() -> bool:
            asked = "SELECT FROM pg_locks WHERE relation = %s::regclass AND NOT granted"
            return other.execute(asked, [table]).fetchone() is not None

        yield waits
        own.rollback()


def the_release() -> Release:
    """The only one: whole, and the same as one that nobody disturbed."""
    release = Release.objects.get()
    with open_release(release) as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == release.manifest["sha256"]
    assert not LeftFile.objects.exists()
    again = make_release(project=release.project, user=None, file_format=release.file_format)
    assert again.manifest["sha256"] == release.manifest["sha256"]
    return release


@pytest.mark.parametrize(("kind", "table"), [("release", "annotate_verdict"), ("report", "judges_alignmentreport")])
def test_a_worker_in_the_middle_of_a_release_or_a_report(kind: str, table: str, world: World, worker: Worker) -> None:
    with stopped_at(table) as waits:
        if kind == "release":
            job = request_release(project=world.project, user=world.alice, file_format="jsonl")
        else:
            job, _ = request_job(criterion=world.criteria("grade")[0], user=world.alice)
        worker.wait_for(waits)
        worker.kill()
    job.refresh_from_db()
    assert (job.status, job.result) == ("running", None)
    assert not Release.objects.exists()
    assert not AlignmentReport.objects.exists()
    # As after a minute.
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    worker.start()
    worker.wait_for(lambda: Job.objects.get(pk=job.pk).status not in ("waiting", "running"))
    job.refresh_from_db()
    assert (job.status, job.result) == ("done", 1), job.error_message
    worker.kill()  # or the fixture waits for the message of the first to come back
    made = the_release() if kind == "release" else AlignmentReport.objects.get()
    assert made.number == 1


def test_web_in_the_middle_of_a_release(world: World, live_app: LiveApp) -> None:
    cookie = live_app.session_cookie(world.alice)
    client = f"{cookie['name']}={cookie['value']}; touchstone-csrf={'a' * 32}"

    def ask() -> Any:
        asked = subprocess.run([sys.executable, "-c", _ASK, live_app.url, client], capture_output=True, text=True)
        return asked.stdout.strip()

    with stopped_at("annotate_verdict") as waits:
        said: list[str] = []
        asking = threading.Thread(target=lambda: said.append(ask()))
        asking.start()
        live_app.wait_for(waits)
        live_app.kill()
        asking.join()
    assert said == ["no reply"]
    assert not Release.objects.exists()
    live_app.start()
    assert ask() == "201"
    assert the_release().number == 1


_ASK = """
import sys, urllib.error, urllib.request
url, cookie = sys.argv[1:]
headers = {"Cookie": cookie, "X-CSRFToken": "a" * 32, "Content-Type": "application/json"}
asked = urllib.request.Request(f"{url}/api/projects/desk/releases/", b'{"format": "jsonl"}', headers)
try:
    print(urllib.request.urlopen(asked).status)
except urllib.error.HTTPError as error:
    print(error.code, error.read())
except OSError:
    print("no reply")
"""


def test_a_backup_in_the_middle(world: World, tmp_path: Path) -> None:
    """The file of a release is a pipe, at which it waits."""
    release = make_release(project=world.project, user=None, file_format="jsonl")
    stored = Path(default_storage.path(release.stored_as))
    content = stored.read_bytes()
    stored.unlink()
    os.mkfifo(stored)
    folder = tmp_path / "backups"
    folder.mkdir()
    process = AppProcess(["manage", "backup", str(folder / "a.tar")], environment(), tmp_path / "log")
    process.start()
    with stored.open("wb"):  # waits until it is read
        process.kill()
    stored.unlink()
    stored.write_bytes(content)
    # Nothing has its name; what is left has one that says what it is (docs/operations.md).
    (left,) = folder.iterdir()
    assert re.fullmatch(r"a\.tar\..+\.partial", left.name)
    call_command("backup", folder / "a.tar", stdout=io.StringIO())
    with tarfile.open(folder / "a.tar") as tar:
        assert f"files/{release.stored_as}" in tar.getnames()


def migrating(log: Path) -> AppProcess:
    process = AppProcess(["manage", "migrate", "--verbosity", "0"], environment(), log)
    process.start()
    return process


def migrated() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app || '.' || name FROM django_migrations")
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.slow
def test_an_upgrade_in_the_middle(before: None, tmp_path: Path) -> None:  # noqa: F811
    """Inside of a migration, between two, and between the batches of one that is no single transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_auditentry (project_id, action, subject, details, created_at)"
            " SELECT min(id), 'x', 'y', '{}', now() FROM annotate_project, generate_series(1, 12000)"
        )
    columns = _columns()
    rows = _rows(columns)
    # Inside: it changes the table of samples.
    with stopped_at("annotate_sample") as waits:
        process = migrating(tmp_path / "log")
        process.wait_for(waits)
        there = migrated()
        process.kill()
    assert migrated() == there
    # Between two.
    process = migrating(tmp_path / "log")
    process.wait_for(lambda: len(migrated()) > len(there) + 5)
    process.kill()
    # Between batches: a lock that is asked for meanwhile comes after the batch under way.
    process = migrating(tmp_path / "log")
    process.wait_for(lambda: "annotate.0033_hash_chain" in migrated())
    with session() as own:
        chained = 0
        while not chained:
            own.execute("LOCK TABLE annotate_auditentry IN ACCESS EXCLUSIVE MODE")
            chained = own.execute("SELECT count(position) FROM annotate_auditentry").fetchone()[0]  # type: ignore[index]
            if not chained:
                own.rollback()
        process.kill()
    assert 0 < chained < 12_000
    assert "annotate.0034_chain_entries_of_before" not in migrated()
    call_command("migrate", verbosity=0)
    for table, after in _rows(columns).items():
        assert (table, rows[table] - after) == (table, type(after)())
    call_command("trail", "verify", stdout=io.StringIO())
