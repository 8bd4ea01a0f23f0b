from __future__ import annotations

import copy

import pytest

from tests.annotate.factories import World, make_world


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    return make_world()


@pytest.fixture
def world(_world: World, db: None) -> World:
    """A module whose tests commit, or look at the database's clock, has a fixture of this name that makes its own."""
    return copy.deepcopy(_world)
