from __future__ import annotations

import pytest

from tests.annotate.factories import World
from tests.systems.diagnosis.building import Desk, Write, make_project


@pytest.fixture
def desk(world: World, write: Write) -> Desk:
    return Desk(make_project(world), write)
