from __future__ import annotations

import pytest

from tests.annotate.factories import World, make_world
from tests.openai_server import OpenAIServer
from tests.systems.targets.building import answering


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    """A system that answers each question of the tests, until a test says otherwise."""
    openai_server.answers(answering)
    return openai_server
