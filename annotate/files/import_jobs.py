"""Import jobs: a file is uploaded, looked at, and imported here or in the worker. All ways in end in `run_job`."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from annotate.core.background import hand_over
from annotate.core.errors import Conflict, Invalid, TooLarge
from annotate.core.trail import note
from annotate.files import import_engine as engine
from annotate.files.problems import MIB, VERSION_MARK, FileError, Limits, Problems, plain
from annotate.models import ImportJob, Project, User
from annotate.models.transfer import ImportKind, ImportStatus

_log = logging.getLogger(__name__)

# Up to here the person gets the outcome with the reply; above it a worker does it.
INLINE_BYTES = 1 * MIB
_FOLDER = "imports"
# More than an ordinary day's work, and enough to make the plans for an empty table bad ones.
MANY_ROWS = 1_000
_KEPT_DAYS = 7
_PROGRESS_SECONDS = 3600
_MAX_VERSION_CHARACTERS = 100


def create_job(
    *,
    project: Project,
    user: User | None,
    kind: str,
    upload: UploadedFile,
    mapping: Mapping[str, str] | str | None = None,
) -> ImportJob:
    """Keeps the uploaded file under a name of our own until it is imported. Raises Invalid or TooLarge."""
    if kind not in ImportKind.values:
        raise Invalid("unknown_kind", f"kind: write {', '.join(ImportKind.values)}.")
    chosen = check_mapping(kind, mapping)
    limit = Limits.from_settings().file_bytes
    if (upload.size or 0) > limit:
        said = _("The file is %(size)s bytes; the limit is %(limit)s.")
        raise TooLarge("too_large", said % {"size": f"{upload.size:,}", "limit": f"{limit:,}"})
    job = ImportJob(
        project=project,
        kind=kind,
        file_name=plain(Path(upload.name or "file").name)[-255:],
        size=upload.size or 0,
        mapping=chosen,
        created_by=user,
    )
    job.stored_as = f"{_FOLDER}/{job.pk}"
    path = stored_path(job)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("xb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    try:
        job.save(force_insert=True)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    _forget_old_files(project)
    return job


def check_mapping(kind: str, mapping: Mapping[str, str] | str | None) -> dict[str, str]:
    """The mapping as an object or as its JSON. Raises Invalid."""
    if isinstance(mapping, str):
        try:
            mapping = json.loads(mapping) if mapping.strip() else {}
        except (ValueError, RecursionError):
            raise Invalid("invalid_mapping", _('The mapping is JSON, such as {"q": "question"}.')) from None
    return engine.importer_for(kind).fields.check_choice({} if mapping is None else mapping)


def import_file(*, project: Project, user: User | None, kind: str, path: Path, mapping: Mapping[str, str]) -> ImportJob:
    """Imports a file that lies on this machine, here and now: the command line's way."""
    job = ImportJob.objects.create(
        project=project,
        kind=kind,
        file_name=plain(path.name)[-255:],
        size=path.stat().st_size,
        mapping=check_mapping(kind, mapping),
        created_by=user,
        status=ImportStatus.WAITING,
    )
    return run_job(job.pk, path=path)


def preview(job: ImportJob, mapping: Mapping[str, str] | None = None) -> engine.Preview:
    """The first rows and what their columns would become. Raises Conflict when the file is no longer kept."""
    _require_file(job)
    chosen = job.mapping if mapping is None else check_mapping(job.kind, mapping)
    return engine.preview(kind=job.kind, path=stored_path(job), file_name=job.file_name, mapping=chosen)


def start(job: ImportJob, mapping: Mapping[str, str] | str | None = None) -> ImportJob:
    """Imports a small file at once and leaves a large one to the worker. A job that was interrupted starts again."""
    chosen = job.mapping if mapping is None else check_mapping(job.kind, mapping)
    with transaction.atomic():
        job = ImportJob.objects.select_for_update().get(pk=job.pk)
        if is_interrupted(job):
            _finish(job, _INTERRUPTED)
        if job.status in (ImportStatus.RUNNING, ImportStatus.DONE):
            raise Conflict(
                "already_started", _("This import is %(state)s.") % {"state": job.get_status_display().lower()}
            )
        _require_file(job)
        job.mapping = chosen
        job.status = ImportStatus.WAITING
        job.errors, job.error_count = [], 0
        job.save(update_fields=["mapping", "status", "errors", "error_count"])
        if job.size > INLINE_BYTES:
            transaction.on_commit(lambda: _enqueue(job.pk))
    return run_job(job.pk) if job.size <= INLINE_BYTES else job


def _enqueue(job_id: uuid.UUID) -> None:
    try:
        hand_over("annotate.tasks.run_import", str(job_id))
    except OperationalError as error:
        # The job is stored as waiting and can be started again; the upload was not in vain.
        _log.error("The broker is unreachable, import %s waits: %s", job_id, error)


def push_samples(*, project: Project, user: User | None, version: object, document: bytes) -> ImportJob:
    """Imports samples that a version of a pipeline made, here and now: the way of the pipeline itself.

    document: JSON, {"samples": […], …}, of which the importer reads the samples. Raises Invalid for the version.
    """
    if (
        not isinstance(version, str)
        or not 0 < len(version) <= _MAX_VERSION_CHARACTERS
        or not version.isprintable()
        or version != version.strip()
        or VERSION_MARK in version
    ):
        said = _("version: a text of 1 to %(most)s characters without @, and without blanks at its ends.")
        raise Invalid("bad_version", said % {"most": _MAX_VERSION_CHARACTERS})
    with NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        file.write(document)
        file.flush()
        job = ImportJob.objects.create(
            project=project,
            kind=ImportKind.SAMPLES,
            file_name=f"{version}.json",
            size=len(document),
            created_by=user,
            status=ImportStatus.WAITING,
        )
        return run_job(job.pk, path=Path(file.name), pipeline=version)


def run_job(job_id: uuid.UUID, *, path: Path | None = None, pipeline: str = "") -> ImportJob:
    """Runs a waiting or interrupted job to its end; does nothing if it is done, failed, or running elsewhere.

    Data and outcome are committed together, so a worker that is killed leaves the job as it was, to be run again.
    """
    with _lock(job_id) as locked:
        job = ImportJob.objects.select_related("project").get(pk=job_id)
        if not locked or job.status not in (ImportStatus.WAITING, ImportStatus.RUNNING):
            return job
        job.status = ImportStatus.RUNNING
        job.save(update_fields=["status"])
        source = path or stored_path(job)
        try:
            with transaction.atomic():
                outcome = engine.run(
                    project=job.project,
                    kind=job.kind,
                    path=source,
                    file_name=job.file_name,
                    mapping=job.mapping,
                    job=job,
                    progress=lambda fraction: cache.set(_progress_key(job_id), fraction, _PROGRESS_SECONDS),
                    pipeline=pipeline,
                )
                _finish(job, outcome)
                _measure_tables(job)
        except Exception:  # noqa: BLE001 - whatever it is, the job must not stay running for ever
            fault = "The import stopped by a fault of ours; the log says more. Nothing was written."
            _finish(job, _failed("internal", fault))
            _log.exception("Import %s stopped", job_id)
        finally:
            cache.delete(_progress_key(job_id))
    if job.status == ImportStatus.DONE:
        _forget_file(job)
    return job


def _set_outcome(job: ImportJob, outcome: engine.Outcome) -> None:
    job.status = ImportStatus.FAILED if outcome.error_count else ImportStatus.DONE
    job.file_format = outcome.file_format or job.file_format
    job.result = outcome.result
    job.errors = list(outcome.errors)
    job.error_count = outcome.error_count


def _finish(job: ImportJob, outcome: engine.Outcome) -> None:
    _set_outcome(job, outcome)
    job.finished_at = timezone.now()
    with transaction.atomic():
        job.save(update_fields=["status", "file_format", "result", "errors", "error_count", "finished_at"])
        note(
            actor=job.created_by,
            action=f"import.{job.status}",
            subject=job.file_name,
            project=job.project,
            kind=job.kind,
            **{name: count for name, count in job.result.items() if isinstance(count, int)},
            **({"errors": job.error_count} if job.error_count else {}),
        )


def _measure_tables(job: ImportJob) -> None:
    """PostgreSQL measures its tables by itself, but only after a while. Until then it goes by plans made when they were
    small, which read all of one table for every row of another."""
    if job.result.get("created", 0) < MANY_ROWS:
        return
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in engine.importer_for(job.kind).fills)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")


def _failed(code: str, message: str) -> engine.Outcome:
    problems = Problems()
    problems.add(FileError(code, message))
    return engine.Outcome(errors=problems.first, error_count=1)


_INTERRUPTED = _failed("interrupted", "The worker was stopped while importing. Nothing was written; start it again.")


def is_interrupted(job: ImportJob) -> bool:
    """Whether it is stored as running, and the process that ran it is gone: a running job holds a lock of its database
    session, which ends with the process however that ends."""
    if job.status != ImportStatus.RUNNING or _is_held(job.pk):
        return False
    # The lock is let go when the outcome is stored: it may have ended since it was read.
    job.refresh_from_db()
    return job.status == ImportStatus.RUNNING


def as_it_stands(job: ImportJob) -> ImportJob:
    """As it is shown: failed when it was interrupted, which is stored when it starts again."""
    if is_interrupted(job):
        _set_outcome(job, _INTERRUPTED)
    return job


def progress_of(job: ImportJob) -> float:
    """Share of the file that has been read, 0 to 1."""
    if job.status == ImportStatus.DONE:
        return 1.0
    return float(cache.get(_progress_key(job.pk), 0.0)) if job.status == ImportStatus.RUNNING else 0.0


def stored_path(job: ImportJob) -> Path:
    return Path(settings.MEDIA_ROOT) / job.stored_as


def _require_file(job: ImportJob) -> None:
    if not job.stored_as or not stored_path(job).exists():
        raise Conflict("file_gone", _("The file of this import is no longer kept; upload it again."))


def _forget_file(job: ImportJob) -> None:
    if job.stored_as:
        stored_path(job).unlink(missing_ok=True)
        job.stored_as = ""
        job.save(update_fields=["stored_as"])


def _forget_old_files(project: Project) -> None:
    """A file that failed is kept for a while, so that it can be tried with another mapping."""
    before = timezone.now() - timedelta(days=_KEPT_DAYS)
    for job in ImportJob.objects.filter(project=project, created_at__lt=before).exclude(stored_as=""):
        _forget_file(job)


def _progress_key(job_id: uuid.UUID) -> str:
    return f"import-progress:{job_id}"


@contextmanager
def _lock(job_id: uuid.UUID) -> Iterator[bool]:
    """Whether we are the one who runs the job. The lock belongs to the database session and ends with it."""
    key = _lock_key(job_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        (locked,) = cursor.fetchone()
    try:
        yield locked
    finally:
        if locked:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _lock_key(job_id: uuid.UUID) -> int:
    return int.from_bytes(job_id.bytes[:8], signed=True)


def _is_held(job_id: uuid.UUID) -> bool:
    """Whether a process runs the job."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND (classid::bigint << 32) | objid::bigint = %s::bigint)",
            [_lock_key(job_id)],
        )
        (found,) = cursor.fetchone()
    return bool(found)


def can_start(job: ImportJob) -> bool:
    return bool(job.stored_as) and job.status not in (ImportStatus.RUNNING, ImportStatus.DONE)
