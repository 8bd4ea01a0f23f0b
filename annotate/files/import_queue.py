"""The queue of imports is their table. A job is run by one process at a time, which holds a lock of its database
session; that ends with the process however that ends, so a job that is stored as running and not held was interrupted.

Its data and its outcome are committed together. So what is run again after a death writes everything once.
"""

from __future__ import annotations

import logging
import shutil
import signal
import uuid
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from django.db.models import JSONField, Model, TextField
from django.utils import timezone

from annotate.core import advisory, stored
from annotate.core.advisory import held, held_keys, lock_key
from annotate.core.errors import StorageError
from annotate.core.trail import note
from annotate.files import import_engine as engine
from annotate.files.problems import FileError, Problems
from annotate.files.sources import HEAD_BYTES, is_parquet
from annotate.models import ImportJob
from annotate.models.transfer import ImportStatus

_log = logging.getLogger(__name__)

TO_DO = (ImportStatus.WAITING, ImportStatus.RUNNING)
# More than an ordinary day's work, and enough to make the plans for an empty table bad ones.
MANY_ROWS = 1_000
# What so many times as many rows are a small part of.
GROWN = 10
# After so many processes died with it in hand, it is what killed them.
DEADLY = 3
_PROGRESS_SECONDS = 3600


def to_do(besides: set[uuid.UUID]) -> list[uuid.UUID]:
    """What a process could run now, oldest first: one of each project, as the imports of one wait for each other."""
    busy = advisory.importing_projects()
    keys = held_keys()
    found: list[uuid.UUID] = []
    jobs = ImportJob.objects.filter(status__in=TO_DO, project__deleting_at__isnull=True).order_by("created_at")
    for job_id, project in jobs.values_list("pk", "project_id"):
        if job_id in besides or lock_key(job_id) in keys:
            busy.add(project)
        elif project not in busy:
            busy.add(project)
            found.append(job_id)
    return found


def run_job(job_id: uuid.UUID, *, path: Path | None = None, wait: bool = False) -> ImportJob:
    """Runs a waiting or interrupted job to its end; does nothing if it is done, failed, or running elsewhere. While
    another import of the project is written it stays waiting, unless we are to wait as well."""
    with held(job_id) as is_ours:
        job = ImportJob.objects.select_related("project").get(pk=job_id)
        if not is_ours or job.status not in TO_DO:
            return job
        if job.status == ImportStatus.RUNNING:
            job.deaths += 1
        if job.deaths >= DEADLY or not (path or has_file(job)):
            finish(job, INTERRUPTED)
            return job
        job.status = ImportStatus.RUNNING
        job.save(update_fields=["status", "deaths"])
        try:
            if not path:
                join_parts(job)
            with nullcontext(path) if path else stored.on_disk(job.stored_as) as file:
                _run(job, file, wait=wait)
        except (_LaterError, StorageError) as error:
            job.status = ImportStatus.WAITING
            job.save(update_fields=["status"])
            if isinstance(error, StorageError):
                raise
        except OperationalError:
            raise  # PostgreSQL went away; the job is as it was, to be run again
        except MemoryError:
            finish(job, out_of_memory())
        except Exception:  # noqa: BLE001 - whatever it is, the job must not stay running for ever
            fault = "Import failed: server error (see log). Nothing was imported."
            finish(job, failed("internal", fault))
            _log.exception("Import %s stopped", job_id)
        finally:
            cache.delete(_progress_key(job_id))
    if job.status == ImportStatus.DONE:
        forget_file(job)
        _measure_tables(job)
    return job


class _LaterError(Exception):
    """Another import of the project is being written."""


def _run(job: ImportJob, path: Path, *, wait: bool) -> None:
    with transaction.atomic():
        if not advisory.begin_import(job.project_id, wait=wait):
            raise _LaterError
        outcome = engine.run(
            project=job.project,
            kind=job.kind,
            path=path,
            file_name=job.file_name,
            mapping=job.mapping,
            job=job,
            progress=lambda fraction: cache.set(_progress_key(job.pk), fraction, _PROGRESS_SECONDS),
            options=job.options,
        )
        finish(job, outcome)


def load_reader(job_id: uuid.UUID) -> None:
    """Loads what reading the job's file takes, so that it does not count as memory that the file takes."""
    job = ImportJob.objects.get(pk=job_id)
    with held(job_id) as is_ours:
        if is_ours:
            join_parts(job)
    if job.stored_as and has_file(job) and holds_parquet(job):
        from annotate.files import parquet_file  # noqa: F401


def process_ended(job_id: uuid.UUID, status: int) -> bool:
    """A process that was to run the job has ended: with this exit code, or, negative, by a signal. When it was killed
    by others, or PostgreSQL went away, the job is run again; when it broke a limit it would again, so the job fails.

    Whether that is done with: not while another host has taken the job up, which may well end otherwise there.
    """
    with held(job_id) as is_ours:
        job = ImportJob.objects.select_related("project").filter(pk=job_id).first()
        if job is None or job.status not in TO_DO:
            return True
        if is_ours:
            _process_ended(job, status)
        return is_ours


def _process_ended(job: ImportJob, status: int) -> None:
    if job.status == ImportStatus.WAITING:
        _died_before_it_began(job)
        return
    if status == -signal.SIGKILL or status > 0:
        return
    if status == -signal.SIGXCPU:
        minutes = settings.IMPORT_CPU_MINUTES
        finish(job, failed("too_slow", f"Reading it took more than {minutes:,} minutes of computing. {_SPLIT_IT}"))
        return
    # Libraries in C abort, or touch what isn't there, when they get no memory.
    _log.error("The process of import %s was ended by signal %s", job.pk, -status)
    finish(job, out_of_memory())


def _died_before_it_began(job: ImportJob) -> None:
    job.deaths += 1
    if job.deaths >= DEADLY:
        finish(job, INTERRUPTED)
    else:
        job.save(update_fields=["deaths"])


def finish(job: ImportJob, outcome: engine.Outcome) -> None:
    set_outcome(job, outcome)
    job.finished_at = timezone.now()
    with transaction.atomic():
        job.save(update_fields=["status", "file_format", "result", "errors", "error_count", "finished_at", "deaths"])
        note(
            actor=job.created_by,
            action=f"import.{job.status}",
            subject=job.file_name,
            project=job.project,
            kind=job.kind,
            **{name: count for name, count in job.result.items() if isinstance(count, int)},
            **({"errors": job.error_count} if job.error_count else {}),
        )


def set_outcome(job: ImportJob, outcome: engine.Outcome) -> None:
    job.status = ImportStatus.FAILED if outcome.error_count else ImportStatus.DONE
    job.file_format = outcome.file_format or job.file_format
    job.result = outcome.result
    job.errors = list(outcome.errors)
    job.error_count = outcome.error_count


def _measure_tables(job: ImportJob) -> None:
    """PostgreSQL measures its tables by itself, but only after a while. Until then it goes by plans made when they were
    small, which read all of one table for every row of another. The outcome is stored by then."""
    created = job.result.get("created", 0)
    if created < MANY_ROWS:
        return
    with connection.cursor() as cursor:
        tables = [_measured(cursor, model, created) for model in engine.importer_for(job.kind).filled()]
        cursor.execute(f"ANALYZE {', '.join(tables)}")


def _measured(cursor: Any, model: type[Model], created: int) -> str:
    """Of a table that has hardly grown, only what tells whose the rows are: its texts would take longer to measure than
    a small file to be imported."""
    table = connection.ops.quote_name(model._meta.db_table)
    cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
    (before,) = cursor.fetchone()
    if before < GROWN * created:
        return table
    short = [
        connection.ops.quote_name(one.column)
        for one in model._meta.concrete_fields
        if one.column and not isinstance(one, TextField | JSONField | ArrayField)
    ]
    return f"{table} ({', '.join(short)})"


def failed(code: str, message: str) -> engine.Outcome:
    problems = Problems()
    problems.add(FileError(code, message))
    return engine.Outcome(errors=problems.first, error_count=1)


_SPLIT_IT = "Nothing was written; split it into smaller files."
INTERRUPTED = failed("interrupted", "The process that imported it was stopped. Nothing was written; start it again.")


def out_of_memory() -> engine.Outcome:
    said = f"Reading it needs more memory than the {settings.IMPORT_MEMORY_MIB:,} MiB that an import may take."
    return failed("memory", f"{said} {_SPLIT_IT}")


def progress_of(job: ImportJob) -> float:
    """Share of the file that has been read, 0 to 1; while it comes in parts, the share that is there."""
    if job.status == ImportStatus.DONE:
        return 1.0
    if job.status == ImportStatus.ARRIVING:
        return (job.received or 0) / job.size
    return float(cache.get(_progress_key(job.pk), 0.0)) if job.status == ImportStatus.RUNNING else 0.0


def _progress_key(job_id: uuid.UUID) -> str:
    return f"import-progress:{job_id}"


# The stored file


def has_file(job: ImportJob) -> bool:
    return stored.exists(job.stored_as) or job.parts.exists()


def holds_parquet(job: ImportJob) -> bool:
    with stored.on_disk(job.stored_as, only_bytes=HEAD_BYTES) as path:
        return is_parquet(path, job.file_name)


def forget_file(job: ImportJob) -> None:
    with transaction.atomic():
        left = let_file_go(job)
    remove(left)


def let_file_go(job: ImportJob) -> list[int]:
    """With the parts in which it came, in a transaction; what is then to be removed (`remove`)."""
    left = _let_parts_go(job)
    if job.stored_as:
        left.append(stored.let_go(job.stored_as))
        job.stored_as = ""
        job.save(update_fields=["stored_as"])
    return left


def join_parts(job: ImportJob) -> None:
    """Makes one file of the parts in which it came (annotate.files.uploads), for who holds the job."""
    parts = list(job.parts.order_by("start").values_list("stored_as", flat=True))
    if job.stored_as or not parts:
        return
    with TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / "whole"
        with path.open("xb") as whole:
            for name in parts:
                with stored.open_file(name) as part:
                    shutil.copyfileobj(part, whole, stored.CHUNK)
        job.stored_as = f"imports/{uuid.uuid4()}"
        with stored.Written(path) as written, stored.kept(job.stored_as, written):
            job.save(update_fields=["stored_as"])
            left = _let_parts_go(job)
    remove(left)


def _let_parts_go(job: ImportJob) -> list[int]:
    left = [stored.let_go(name) for name in job.parts.values_list("stored_as", flat=True)]
    job.parts.all().delete()
    return left


def remove(left: list[int]) -> None:
    """What can't be removed now, the worker removes later."""
    try:
        for one in left:
            stored.remove_one(one)
    except StorageError as error:
        _log.warning("A file of an import is still stored: %s", error)
