from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.annotate.factories import World, make_world
from tests.database import copied_from_world

Write = Callable[..., Path]


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    return make_world()


world = copied_from_world()


@pytest.fixture(autouse=True)
def _media(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def writer(folder: Path) -> Write:
    """Writes a file of text, or of rows as JSONL."""

    def write(name: str, content: str | list[dict[str, Any]]) -> Path:
        path = folder / name
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_text(content)
        return path

    return write
