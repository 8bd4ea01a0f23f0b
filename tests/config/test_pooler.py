"""Behind a pooler that lends a session for one transaction: our side of it. PgBouncer's is in `test_pgbouncer`."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection, transaction

from annotate.core.advisory import held, is_held
from annotate.core.rows import fetch_all
from annotate.files.import_jobs import create_job, start
from annotate.models import Project
from config import waits
from tests.annotate.factories import concurrently
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pooled(settings: Any) -> None:
    settings.DATABASE_POOLED = True


def test_an_import_is_held_without_a_lock_of_the_session() -> None:
    job = uuid.uuid4()
    with held(job) as is_ours, held(job) as is_still_ours:
        assert (is_ours, is_still_ours, is_held(job)) == (True, True, True)
        assert concurrently(lambda: _try(job)) == [False]
        assert not fetch_all("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
    assert not is_held(job)


def _try(job: uuid.UUID) -> bool:
    with held(job) as is_theirs:
        return is_theirs


def test_what_web_reads_itself_is_imported_at_once() -> None:
    project = Project.objects.create(slug="p", name="P")
    upload = ContentFile(b'{"id": "a", "question": "q", "answer": "x"}\n', "a.jsonl")
    assert start(create_job(project=project, user=None, kind="samples", upload=upload)).status == "done"


def test_rows_are_read_on_the_server_only_within_a_transaction() -> None:
    with connection.chunked_cursor() as outside:
        assert not hasattr(outside.cursor, "name")
    with transaction.atomic(), connection.chunked_cursor() as within:
        assert within.cursor.name


def test_nothing_is_set_for_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    connected: list[Any] = []
    monkeypatch.setattr(waits.connection_created, "connect", lambda *given, **_: connected.append(given))
    waits.bound_waits()
    assert not connected


# SQL that concerns the session, not the transaction, and who may: what never runs in web, or asks whether it is pooled.
OF_A_SESSION = {
    r"pg_(?:try_)?advisory_lock\(": {
        "annotate/core/advisory.py", "judges/runs/kept_replies.py", "judges/runs/places.py",
    },
    r"""["';] ?SET (?!LOCAL |TRANSACTION |CONSTRAINTS )\w""": {"config/waits.py"},
    r"set_config\([^)]*false\)": set(),
    r"\b(?:LISTEN|NOTIFY|PREPARE|DEALLOCATE|DISCARD) \w|WITH HOLD": set(),
    r"TEMP(?:ORARY)? TABLE (?!\w+ ON COMMIT DROP)": set(),
}  # fmt: skip


def test_nothing_else_is_of_a_session() -> None:
    floors = ("alignment", "annotate", "judges", "systems", "frontend", "config")
    paths = [path for floor in floors for path in (ROOT / floor).rglob("*.py") if "migrations" not in path.parts]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in paths}
    found = {sql: {name for name, text in texts.items() if re.search(sql, text)} for sql in OF_A_SESSION}
    assert found == OF_A_SESSION
