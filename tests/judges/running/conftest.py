from __future__ import annotations

import pytest

from judges.kinds import registry
from tests.annotate.factories import World, make_world
from tests.judges.running import plain_kind


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain kind, in this process."""
    monkeypatch.setitem(registry._PLACES, plain_kind.NAME, plain_kind.__name__)


@pytest.fixture
def world(transactional_db: None, plain: None) -> World:
    return make_world()
