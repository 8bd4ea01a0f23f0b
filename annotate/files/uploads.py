"""Files that come in parts, over connections that may break: the tus protocol, 1.0 (https://tus.io, docs/api.md).

A part is kept aside until all of it is there and is what its checksum says. Then it is a stored file of its own, and
counts once its row says where it goes: so a broken, altered or slow part changes nothing and holds nobody up, and of
two parts for one place the first is taken. Who imports the file joins them (annotate.files.import_queue).
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import timedelta
from tempfile import TemporaryFile
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone

from annotate.core import stored
from annotate.core.errors import Conflict, Refusal, TooLarge
from annotate.files.import_jobs import FOLDER, new_job
from annotate.files.import_queue import failed, finish, let_file_go, remove
from annotate.models import ImportJob, Project, UploadPart, User
from annotate.models.transfer import ImportStatus

# Of one project at once. Each may grow to the largest file that is imported.
MOST_UNFINISHED = 5
MOST_PARTS = 10_000
HASHES = ("sha256", "sha1")
_KEPT_HOURS = 24
_READ_BYTES = 256 * 1024
_EXPIRED = failed("expired", f"Nothing more of this file came for {_KEPT_HOURS} hours. Nothing was imported.")


class WrongChecksum(Refusal):
    status = 460  # tus's own


class Gone(Refusal):
    status = 410


def open_upload(*, project: Project, user: User, **said: Any) -> ImportJob:
    """An import whose file is still to come. said: as for `new_job`. Raises as it, and Conflict where too many are
    unfinished."""
    job = new_job(project=project, user=user, **said)
    job.status, job.received, job.expires_at = ImportStatus.ARRIVING, 0, _later()
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if ImportJob.objects.filter(project=project, status=ImportStatus.ARRIVING).count() >= MOST_UNFINISHED:
            why = f"This project has {MOST_UNFINISHED} unfinished uploads. Finish or delete one first."
            raise Conflict("too_many_uploads", why)
        job.save(force_insert=True)
    return job


def take_part(*, job: ImportJob, offset: int, stream: IO[bytes], checksum: tuple[str, bytes] | None) -> ImportJob:
    """Puts what the stream has at `offset`, which is where the file ends so far. With the last part the import waits
    for its turn. checksum: one of HASHES, and its digest of the part.

    Raises WrongChecksum, Conflict for another offset, TooLarge for more than was announced, and Gone.
    """
    _require_next(job, offset)
    with TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as part:
        length = _keep_aside(stream, part, checksum)
        if not length:
            return job
        name = f"{FOLDER}/{uuid.uuid4()}"
        with stored.kept(name, File(part)):
            job = ImportJob.objects.select_for_update().get(pk=job.pk)
            _require_next(job, offset)
            if offset + length > job.size:
                raise TooLarge(
                    "more_than_announced", f"Upload-Length: more than the {job.size:,} bytes that were announced."
                )
            if job.parts.count() >= MOST_PARTS:
                raise Conflict(
                    "too_many_parts", f"Upload-Offset: a file comes in {MOST_PARTS:,} parts at most; send larger ones."
                )
            UploadPart.objects.create(job=job, start=offset, stored_as=name)
            job.received, job.expires_at = offset + length, _later()
            if job.received == job.size:
                job.status, job.expires_at = ImportStatus.WAITING, None
            job.save(update_fields=["received", "expires_at", "status"])
    return job


def _keep_aside(stream: IO[bytes], part: IO[bytes], checksum: tuple[str, bytes] | None) -> int:
    digest = hashlib.new(checksum[0]) if checksum else None
    while chunk := stream.read(_READ_BYTES):
        part.write(chunk)
        if digest is not None:
            digest.update(chunk)
    if digest is not None and checksum is not None and digest.digest() != checksum[1]:
        raise WrongChecksum("wrong_checksum", "Upload-Checksum: other bytes came. Send this part again.")
    length = part.tell()
    part.seek(0)
    return length


def _require_next(job: ImportJob, offset: int) -> None:
    _require_unfinished(job)
    if offset != job.received:
        said = f"Upload-Offset: this file goes on at {job.received}."
        raise Conflict("wrong_offset", said, received=job.received)


def _require_unfinished(job: ImportJob) -> None:
    if job.status != ImportStatus.ARRIVING:
        raise Conflict("whole", "Upload-Offset: nothing more of this file is missing.", received=job.received)
    if job.expires_at is not None and job.expires_at < timezone.now():
        raise Gone("expired", "This upload expired. Begin it again.")


def drop_upload(*, job: ImportJob) -> None:
    """Nothing stays of it. Raises Conflict once the file is whole."""
    with transaction.atomic():
        job = ImportJob.objects.select_for_update().get(pk=job.pk)
        _require_unfinished(job)
        left = let_file_go(job)
        job.delete()
    remove(left)


def end_expired() -> None:
    """What nobody goes on with has failed, and its file is removed."""
    left: list[int] = []
    with transaction.atomic():
        late = ImportJob.objects.select_for_update(skip_locked=True).select_related("project")
        for job in late.filter(status=ImportStatus.ARRIVING, expires_at__lt=timezone.now()):
            finish(job, _EXPIRED)
            left += let_file_go(job)
    remove(left)


def _later() -> Any:
    return timezone.now() + timedelta(hours=_KEPT_HOURS)
