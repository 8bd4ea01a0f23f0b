"""Files that commands read: each ends with one sentence, and nothing is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.commands import FILES, Given, refused
from tests.hostile.conftest import nothing_stored
from tests.hostile.outside import Outside


@pytest.mark.django_db
@pytest.mark.parametrize("given", FILES, ids=str)
def test_descriptions(outside: Outside, given: Given, tmp_path: Path) -> None:
    with nothing_stored():
        said = refused(given, tmp_path / "given")
    assert given.says in said
    assert len(said) < 800
