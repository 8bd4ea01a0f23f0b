"""Import jobs: a file is uploaded, looked at, and imported here or by a process of its own (import_queue)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core import stored
from annotate.core.advisory import held, is_held
from annotate.core.errors import Conflict, Invalid, TooLarge, Unavailable
from annotate.core.job_state import JobState
from annotate.files import import_engine as engine
from annotate.files.import_queue import (
    INTERRUPTED,
    has_file,
    holds_parquet,
    progress_of,
    run_job,
    set_outcome,
)
from annotate.files.problems import VERSION_MARK, Limits, plain
from annotate.files.sources import HEAD_BYTES, is_plain_text
from annotate.models import ImportJob, Project, User
from annotate.models.job import JobStatus
from annotate.models.transfer import ImportKind, ImportStatus

# Up to here a text is read while the person waits; what is larger, by a process of its own.
INLINE_BYTES = 256 * 1024
FOLDER = "imports"
_RETRY_SECONDS = 5
_MAX_VERSION_CHARACTERS = 100


def create_job(
    *,
    project: Project,
    user: User | None,
    kind: str,
    upload: UploadedFile,
    mapping: Mapping[str, str] | str | None = None,
    options: Mapping[str, Any] | None = None,
) -> ImportJob:
    """Keeps the uploaded file under a name of our own until it is imported. Raises Invalid or TooLarge."""
    job = new_job(
        project=project,
        user=user,
        kind=kind,
        file_name=upload.name or "file",
        size=upload.size or 0,
        mapping=mapping,
        options=options,
    )
    job.stored_as = f"{FOLDER}/{job.pk}"
    with stored.kept(job.stored_as, upload):
        job.save(force_insert=True)
    return job


def new_job(
    *,
    project: Project,
    user: User | None,
    kind: str,
    file_name: str,
    size: int,
    mapping: Mapping[str, str] | str | None = None,
    options: Mapping[str, Any] | None = None,
) -> ImportJob:
    """Of a file that somebody sends; not stored as yet. Raises Invalid or TooLarge."""
    if kind not in ImportKind.values:
        raise Invalid("unknown_kind", f"kind: write {', '.join(ImportKind.values)}.")
    chosen, checked = check_mapping(project, kind, mapping), engine.importer_for(kind).check_options(options or {})
    limit = Limits.from_settings().file_bytes
    if size > limit:
        said = _("The file is %(size)s bytes; the limit is %(limit)s.")
        raise TooLarge("too_large", said % {"size": f"{size:,}", "limit": f"{limit:,}"})
    return ImportJob(
        project=project,
        kind=kind,
        file_name=plain(Path(file_name).name)[-255:],
        size=size,
        mapping=chosen,
        options=checked,
        created_by=user,
    )


def check_mapping(project: Project, kind: str, mapping: Mapping[str, str] | str | None) -> dict[str, str]:
    """The mapping as an object or as its JSON. Raises Invalid."""
    if isinstance(mapping, str):
        try:
            mapping = json.loads(mapping) if mapping.strip() else {}
        except (ValueError, RecursionError):
            raise Invalid("invalid_mapping", _('mapping: must be JSON, such as {"q": "question"}.')) from None
    return engine.importer_for(kind).fields_of(project).check_choice({} if mapping is None else mapping)


def import_file(
    *,
    project: Project,
    user: User | None,
    kind: str,
    path: Path,
    mapping: Mapping[str, str],
    options: Mapping[str, Any] | None = None,
) -> ImportJob:
    """Imports a file that lies on this machine, here and now: the command line's way."""
    job = ImportJob(
        project=project,
        kind=kind,
        file_name=plain(path.name)[-255:],
        size=path.stat().st_size,
        mapping=check_mapping(project, kind, mapping),
        options=engine.importer_for(kind).check_options(options or {}),
        created_by=user,
        status=ImportStatus.WAITING,
    )
    # Held from before it is in the queue: nobody else would find the file.
    with held(job.pk):
        job.save(force_insert=True)
        return run_job(job.pk, path=path, wait=True)


def preview(job: ImportJob, mapping: Mapping[str, str] | None = None) -> engine.Preview:
    """The first rows and what their columns would become. Raises Conflict when the file is no longer kept, or is still
    in the parts in which it came."""
    _require_file(job)
    if not job.stored_as:
        raise Conflict("not_joined", _("The parts of this file are being put together. Try again in a moment."))
    chosen = job.mapping if mapping is None else check_mapping(job.project, job.kind, mapping)
    # Of Parquet, what says where its rows are stands at its end.
    beginning = None if holds_parquet(job) else engine.PREVIEW_READS_BYTES
    with stored.on_disk(job.stored_as, only_bytes=beginning) as path:
        return engine.preview(project=job.project, kind=job.kind, path=path, file_name=job.file_name, mapping=chosen)


def start(job: ImportJob, mapping: Mapping[str, str] | str | None = None) -> ImportJob:
    """Imports a small file of text at once, unless another import of the project is under way, and leaves any other to
    the process for imports. A job that was interrupted starts again. Raises Conflict."""
    chosen = job.mapping if mapping is None else check_mapping(job.project, job.kind, mapping)
    # Held from before it is in the queue, so that nobody else takes it from there.
    with held(job.pk) as is_ours:
        with transaction.atomic():
            job = ImportJob.objects.select_for_update().get(pk=job.pk)
            if not is_ours or job.status == ImportStatus.DONE:
                shown = ImportStatus.DONE if job.status == ImportStatus.DONE else ImportStatus.RUNNING
                raise Conflict("already_started", _("This import is %(state)s.") % {"state": shown.label.lower()})
            _require_file(job)
            job.mapping, job.status, job.deaths = chosen, ImportStatus.WAITING, 0
            job.errors, job.error_count = [], 0
            job.save(update_fields=["mapping", "status", "deaths", "errors", "error_count"])
        return run_job(job.pk) if _is_read_here(job) else job


def _is_read_here(job: ImportJob) -> bool:
    """Whether a process that answers requests may read it: a text of so few bytes can't become much. What is packed
    can, and of Parquet nobody knows before."""
    if job.size > INLINE_BYTES or not job.stored_as:
        return False
    with stored.on_disk(job.stored_as, only_bytes=HEAD_BYTES) as path:
        return is_plain_text(path, job.file_name)


def push_samples(*, project: Project, user: User | None, version: object, document: bytes) -> ImportJob:
    """Imports samples that a version of a pipeline made, here and now: the way of the pipeline itself.

    document: JSON, {"samples": […], …}, of which the importer reads the samples. Raises Invalid for the version.
    """
    version = check_version(version)
    with NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        file.write(document)
        file.flush()
        job = ImportJob(
            project=project,
            kind=ImportKind.SAMPLES,
            file_name=f"{version}.json",
            size=len(document),
            options={"version": version},
            created_by=user,
            status=ImportStatus.WAITING,
        )
        # Held until it is done or gone: nobody else would find the file.
        with held(job.pk):
            job.save(force_insert=True)
            job = run_job(job.pk, path=Path(file.name))
            if is_left := job.status == ImportStatus.WAITING:
                job.delete()
    if is_left:
        said = _("Another import of this project is running. Push again in a moment.")
        raise Unavailable("busy", said, retry_after=_RETRY_SECONDS)
    return job


def check_version(version: object) -> str:
    """A name that a version of a pipeline may have. Raises Invalid."""
    if (
        not isinstance(version, str)
        or not 0 < len(version) <= _MAX_VERSION_CHARACTERS
        or not version.isprintable()
        or version != version.strip()
        or VERSION_MARK in version
    ):
        said = _("version: must be 1 to %(most)s characters, without @ and without leading or trailing spaces.")
        raise Invalid("bad_version", said % {"most": _MAX_VERSION_CHARACTERS})
    return version


def as_it_stands(job: ImportJob) -> ImportJob:
    """As it is shown. One that was interrupted is run again, if its file is kept; that is stored when it begins."""
    if job.status != ImportStatus.RUNNING or is_held(job.pk):
        return job
    # The lock is let go when the outcome is stored: it may have ended since it was read.
    job.refresh_from_db()
    if job.status == ImportStatus.RUNNING and has_file(job):
        job.status = ImportStatus.WAITING
    elif job.status == ImportStatus.RUNNING:
        set_outcome(job, INTERRUPTED)
    return job


def _require_file(job: ImportJob) -> None:
    if job.status == ImportStatus.ARRIVING:
        raise Conflict("not_whole", _("A part of this file is still missing."))
    if not has_file(job):
        raise Conflict("file_gone", _("The file of this import was removed. Upload it again."))


def state_of(job: ImportJob) -> JobState:
    """As every job tells how it is; one that waits to be started, or for parts of its file, waits."""
    at_work = (ImportStatus.RUNNING, ImportStatus.DONE, ImportStatus.FAILED)
    first = job.errors[0] if job.errors else None
    return JobState(
        status=job.status if job.status in at_work else JobStatus.WAITING,
        created_at=job.created_at,
        finished_at=job.finished_at,
        progress=progress_of(job),
        result=f"imports/{job.pk}/" if job.status == ImportStatus.DONE else None,
        error=first and {"code": first["code"], "message": first["message"]},
        errors=job.errors,
        error_count=job.error_count,
    )


def can_start(job: ImportJob) -> bool:
    under_way = (ImportStatus.ARRIVING, ImportStatus.RUNNING, ImportStatus.DONE)
    return bool(job.stored_as) and job.status not in under_way
