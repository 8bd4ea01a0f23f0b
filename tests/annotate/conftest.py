from __future__ import annotations

import pytest

from tests.annotate.factories import World, make_world
from tests.database import copied_from_world


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    return make_world()


# A module whose tests commit, or look at the database's clock, has a fixture of this name that makes its own.
world = copied_from_world()
