"""What is of no more use, and how long it is kept (docs/operations.md#retention). Nothing that figures rest on."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

from annotate.files.import_queue import forget_file
from annotate.models import ApiToken, Attempts, ImportJob, Invite, PasswordReset
from annotate.models.transfer import ImportStatus

# Rows at once, so that nobody waits for a long transaction.
_PIECE = 1000
_TURN = "retention"
# Since the last byte of it: also after the clock was put forward a day, another process may be at it.
_HALF_WRITTEN = timedelta(days=7)


def look_for_old() -> None:
    """Every worker asks for it; of those that come at once one is enough."""
    if cache.add(_TURN, 1, timeout=settings.RETENTION_LOOK_SECONDS / 2):
        remove_old()
        remove_half_written()


def remove_half_written() -> None:
    """What a process that was killed left in the folder of files that are not whole yet."""
    before = time.time() - _HALF_WRITTEN.total_seconds()
    for left in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        # Others end as well, and take theirs along.
        with suppress(FileNotFoundError):
            if max(one.stat().st_mtime for one in (left, *left.glob("*"))) > before:
                continue
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()


def old(now: datetime | None = None) -> dict[str, QuerySet[Model]]:
    """Sort -> its rows that were kept for as long as the settings say."""
    now = now or timezone.now()
    ended = now - timedelta(days=settings.KEEP_ENDED_ACCESS_DAYS)
    used_up = Q(uses__gte=F("max_uses"), created_at__lt=ended)
    uploads = ImportJob.objects.exclude(stored_as="").exclude(
        status__in=(ImportStatus.ARRIVING, ImportStatus.WAITING, ImportStatus.RUNNING)
    )
    found: dict[str, QuerySet[Model]] = {
        "uploaded files": uploads.filter(created_at__lt=now - timedelta(days=settings.KEEP_UPLOADS_DAYS)),
        "invitations": Invite.objects.filter(Q(expires_at__lt=ended) | Q(revoked_at__lt=ended) | used_up),
        "reset links": PasswordReset.objects.filter(expires_at__lt=ended),
        "API tokens": ApiToken.objects.filter(expiry__lt=ended),
        "sessions": Session.objects.filter(expire_date__lt=now),
        "counts of attempts": Attempts.objects.filter(until__lt=now),
    }
    return found


def remove_old(now: datetime | None = None) -> dict[str, int]:
    """Sort -> how many went. Of an upload the file goes, and what came of it stays."""
    return {name: _remove(rows, _REMOVES.get(name, _delete)) for name, rows in old(now).items()}


def _remove(rows: QuerySet[Model], remove: Callable[[QuerySet[Model]], None]) -> int:
    gone = 0
    while piece := list(rows.order_by("pk").values_list("pk", flat=True)[:_PIECE]):
        # Asked again with its rule: who uses one meanwhile keeps it.
        remove(rows.filter(pk__in=piece))
        gone += len(piece)
    return gone


def _delete(rows: QuerySet[Model]) -> None:
    rows.delete()


def _forget_files(rows: QuerySet[Model]) -> None:
    for job in rows:
        assert isinstance(job, ImportJob)
        forget_file(job)


_REMOVES = {"uploaded files": _forget_files}
