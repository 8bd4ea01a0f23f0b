"""The process for imports, on a real PostgreSQL and without a Redis: what it reads dies alone, and nothing is lost."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, DataError, connection, transaction
from django.utils import timezone

from annotate.files.import_jobs import create_job, start
from annotate.models import ImportJob, Project, Sample
from config.importer import Importer
from tests.annotate.files.hostile import parquet
from tests.processes import Worker

MANY = 60_000
MOST_GROWTH_BYTES = 250_000_000


@pytest.fixture
def project(transactional_db: None) -> Project:
    return Project.objects.create(slug="p", name="P")


@pytest.fixture(autouse=True)
def _media(settings: Any) -> None:
    """Where the other process looks, too. What is left there goes with the tests' services: tests of other processes
    have files in it."""
    from config.settings import MEDIA_ROOT

    settings.MEDIA_ROOT = MEDIA_ROOT


def sent(project: Project, name: str, content: bytes) -> ImportJob:
    upload = SimpleUploadedFile(name, content)
    job = start(create_job(project=project, user=None, kind="samples", upload=upload))
    assert job.status == "waiting"
    return job


def many_rows() -> bytes:
    row = {"question": "q", "answer": "It is so. And so is this.", "context": "x" * 200}
    return b"".join(json.dumps({"id": str(number), **row}).encode() + b"\n" for number in range(MANY))


def has_ended(job: ImportJob) -> Callable[[], bool]:
    def ended() -> bool:
        job.refresh_from_db()
        return job.status in ("done", "failed")

    return ended


def as_data_frames_are_written() -> bytes:
    """80 MB of texts that stand once each. A dictionary holds the first of them, until it has a megabyte."""
    numbers = range(20_000)
    texts = [f"{number} {'x' * 4000}" for number in numbers]
    return parquet(id=[str(number) for number in numbers], question=["q"] * len(texts), answer=texts)


def child_of(importer: Worker) -> psutil.Process:
    """The process that reads. Found while it runs: its import is larger than it is quick."""
    found: list[psutil.Process] = []
    importer.wait_for(lambda: bool(found.extend(psutil.Process(importer.pid).children()) or found))
    return found[0]


def writing() -> bool:
    """Whether some process is copying rows into a table just now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_progress_copy WHERE tuples_processed > 0")
        return bool(cursor.fetchone()[0])


def test_a_file_of_a_data_frame_needs_little_memory(importer: Worker, project: Project) -> None:
    job = sent(project, "a.parquet", as_data_frames_are_written())
    growth = importer.growth_until(has_ended(job))
    assert (job.status, job.result["created"]) == ("done", 20_000)
    assert growth < MOST_GROWTH_BYTES


def test_it_imports_what_web_does_not_read(importer: Worker, project: Project) -> None:
    job = sent(project, "a.parquet", parquet(id=["a"], question=["q"], answer=["x"]))
    importer.wait_for(has_ended(job))
    assert (job.status, job.result["created"]) == ("done", 1)
    # The file goes once what was in it is stored.
    importer.wait_for(lambda: not ImportJob.objects.get(pk=job.pk).stored_as)


def test_its_sign_of_life_is_that_postgresql_answered(project: Project, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    importer = Importer(1, alive)
    with transaction.atomic():
        with pytest.raises(DataError):
            connection.cursor().execute("SELECT 1 / 0")
        with pytest.raises(DatabaseError):
            importer._look()
        assert not alive.exists()
        transaction.set_rollback(True)
    importer._look()
    assert alive.exists()


def test_what_needs_too_much_memory_leaves_a_sentence(importer: Worker, project: Project) -> None:
    """A text of which the footer does not tell how long it is, as it stands among 300 short ones."""
    file = io.BytesIO()
    texts = pa.array(["x" * 220_000_000, *["x"] * 300])
    pq.write_table(pa.table({"question": texts}), file, use_dictionary=False, compression="zstd")
    job = sent(project, "a.parquet", file.getvalue())
    importer.wait_for(has_ended(job))
    assert job.status == "failed"
    assert job.errors[0]["code"] == "memory"
    assert importer.is_running()


def test_an_import_whose_process_is_killed_is_taken_up_once(importer: Worker, project: Project) -> None:
    job = sent(project, "a.jsonl", many_rows())
    child = child_of(importer)
    importer.wait_for(writing)
    child.kill()
    importer.wait_for(has_ended(job))
    assert (job.status, job.result["created"], job.deaths) == ("done", MANY, 1)
    assert Sample.objects.count() == MANY


def test_an_import_whose_importer_is_killed_is_taken_up_by_the_next(importer: Worker, project: Project) -> None:
    """Nobody waits for a message to come back: what is to be done stands in PostgreSQL."""
    job = sent(project, "a.jsonl", many_rows())
    child = child_of(importer)
    importer.wait_for(writing)
    assert importer.process is not None
    importer.process.send_signal(signal.SIGKILL)
    importer.process.wait()
    child.wait(10)  # with it
    importer.start()
    importer.wait_for(has_ended(job))
    assert (job.status, job.result["created"], job.deaths) == ("done", MANY, 1)
    assert Sample.objects.count() == MANY


def test_an_import_whose_session_is_ended_is_taken_up_once(importer: Worker, project: Project) -> None:
    """As when PostgreSQL restarts, and is there again at once."""
    job = sent(project, "a.jsonl", many_rows())
    importer.wait_for(writing)
    with connection.cursor() as cursor:
        # Of this database: other workers of pytest copy into theirs.
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_copy WHERE datname = current_database()")
    importer.wait_for(has_ended(job))
    assert (job.status, job.result.get("created"), job.deaths) == ("done", MANY, 1), job.errors
    assert Sample.objects.count() == MANY


def test_an_upload_that_nobody_goes_on_with_is_ended(project: Project, importer: Worker) -> None:
    job = ImportJob.objects.create(
        project=project, kind="samples", file_name="f", status="arriving", size=9, received=3,
        expires_at=timezone.now() - timedelta(seconds=1),
    )  # fmt: skip
    importer.stop()
    importer.start()
    importer.wait_for(has_ended(job))
    assert (job.status, job.errors[0]["code"]) == ("failed", "expired")
