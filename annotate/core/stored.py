"""The files that are kept: uploads until they are imported, and releases. They lie where Django's default storage puts
them, on this machine's disk or in an object store (config.object_storage), under names of our own choosing; no address
leads to one, so that all of them are handed out by us alone.

A file is stored before the row that names it. Until that is there, a LeftFile names it: whatever ends in between, the
file is removed by the worker.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.models import LeftFile

_log = logging.getLogger(__name__)

CHUNK = 4 * 1024 * 1024
# Storing takes less; what is not named by then never will be.
_PATIENCE = timedelta(days=1)


class Written(File):
    """A file of ours on this disk that is stored as it is: moved, where that is the same disk."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.open("rb"))
        self._path = path

    def temporary_file_path(self) -> str:
        return str(self._path)


@contextmanager
def kept(name: str, content: File) -> Iterator[None]:
    """Stores the file under a name that no other has or had. Within it the row that names it is to be written, in one
    transaction with it; if that fails, the file goes."""
    left = LeftFile.objects.create(stored_as=name, remove_at=timezone.now() + _PATIENCE)
    try:
        default_storage.save(name, content)
        with transaction.atomic():
            yield
            if not LeftFile.objects.filter(pk=left.pk).delete()[0]:
                raise Conflict("file_gone", _("Storing the file took longer than a day. Try again."))
    except BaseException:
        _remove_now(left.pk)
        raise


def exists(name: str) -> bool:
    return bool(name) and default_storage.exists(name)


def open_file(name: str) -> File[bytes]:
    """To be read from its beginning, a buffer at a time. Raises FileNotFoundError."""
    return default_storage.open(name)


@contextmanager
def on_disk(name: str, *, only_bytes: int | None = None) -> Iterator[Path]:
    """As a path, for what reads it in any order: that of the file itself, or of a copy that has no name of its own and
    so goes with this process. Of the copy, only so many bytes are fetched, and the rest are zeros. Raises
    FileNotFoundError."""
    try:
        path = Path(default_storage.path(name))
    except NotImplementedError:
        with open_file(name) as file, TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as copy:
            left = file.size if only_bytes is None else only_bytes
            while chunk := file.read(min(CHUNK, left)):
                copy.write(chunk)
                left -= len(chunk)
            copy.truncate(file.size)
            copy.flush()
            # Other processes of ours open it, too.
            yield Path(f"/proc/{os.getpid()}/fd/{copy.fileno()}")
    else:
        yield path


def let_go(name: str) -> int:
    """In the transaction in which its row forgets it. For `remove_left`, of which the primary key is returned."""
    return LeftFile.objects.create(stored_as=name).pk


def remove_left() -> None:
    """Removes the files whose time has come. Raises StorageError, and goes on with the next time it is called."""
    for pk in LeftFile.objects.filter(remove_at__lte=timezone.now()).order_by("pk").values_list("pk", flat=True):
        remove_one(pk)


def remove_one(pk: int) -> None:
    """Does nothing where another process is at it, or the file is named by a row after all."""
    with transaction.atomic():
        left = LeftFile.objects.select_for_update(skip_locked=True).filter(pk=pk).first()
        if left is not None:
            _discard(left.stored_as)
            left.delete()


def _remove_now(pk: int) -> None:
    """After an error, which counts more than one of this."""
    try:
        remove_one(pk)
    except Exception:  # noqa: BLE001
        _log.warning("A file that was not kept is still stored; the worker removes it within a day.", exc_info=True)


def _discard(name: str) -> None:
    """Also what there is of one that was only stored in part."""
    storage: Any = default_storage
    getattr(storage, "discard", storage.delete)(name)
