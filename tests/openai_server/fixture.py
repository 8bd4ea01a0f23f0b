"""For all tests: a plugin of tests/conftest.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.openai_server.server import OpenAIServer


@pytest.fixture(scope="session")
def _openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def openai_server(_openai_server: OpenAIServer) -> Iterator[OpenAIServer]:
    """A server that speaks the OpenAI protocol, as new for each test: see tests/openai_server."""
    _openai_server.forget()
    yield _openai_server
    _openai_server.forget()
