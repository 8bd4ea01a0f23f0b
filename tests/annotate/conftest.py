from __future__ import annotations

import pytest

from tests.annotate.factories import World, make_world


@pytest.fixture
def world(db: None) -> World:
    return make_world()
