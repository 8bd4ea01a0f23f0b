"""Files that are stored before the row that names them: whatever ends in between, none is left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import DatabaseError, connection
from django.utils import timezone

from annotate.core import stored
from annotate.core.errors import Conflict
from annotate.models import LeftFile, Project

NAME = "releases/one"


@pytest.fixture(autouse=True)
def _media(db: None, tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def keep(then: Callable[[], object]) -> None:
    with stored.kept(NAME, ContentFile(b"content")):
        then()


def a_day_passes() -> None:
    LeftFile.objects.update(remove_at=timezone.now() - timedelta(seconds=1))


def test_it_stays_once_a_row_names_it() -> None:
    keep(lambda: Project.objects.create(slug="p", name="P"))
    a_day_passes()
    stored.remove_left()
    with stored.open_file(NAME) as file:
        assert (file.read(), file.size) == (b"content", 7)


def test_nothing_stays_when_the_row_is_refused() -> None:
    with pytest.raises(DatabaseError):
        keep(lambda: connection.cursor().execute("SELECT 1 / 0"))
    assert not stored.exists(NAME)
    assert not LeftFile.objects.exists()


def test_what_a_process_leaves_that_ends_in_between_goes_after_a_day() -> None:
    """Not before: it may be another process that is still at it."""

    # As a process that is killed: without the way out.
    manager = stored.kept(NAME, ContentFile(b"content"))
    manager.__enter__()
    stored.remove_left()
    assert stored.exists(NAME)
    a_day_passes()
    stored.remove_left()
    assert not stored.exists(NAME)
    with pytest.raises(Conflict, match="longer than a day"):
        manager.__exit__(None, None, None)


def test_a_file_of_this_disk_is_moved(tmp_path: Path) -> None:
    path = tmp_path / "made"
    path.write_bytes(b"content")
    with stored.Written(path) as file, stored.kept(NAME, file):
        pass
    assert not path.exists()
    with stored.on_disk(NAME) as found:
        assert found.read_bytes() == b"content"
        assert found.stat().st_mode & 0o777 == 0o600
