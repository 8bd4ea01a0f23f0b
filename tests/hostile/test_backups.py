"""Files that are no backups, given to an empty installation: each is refused, and it stays empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.commands import BACKUPS, Given, refused
from tests.hostile.conftest import tables


@pytest.mark.parametrize("given", BACKUPS, ids=str)
def test_restore(db: None, given: Given, tmp_path: Path) -> None:
    before = tables()
    said = refused(given, tmp_path / "given")
    assert given.says in said
    assert "given" in said
    assert tables() == before
