"""Endpoints for tests, without a database."""

from typing import Any

from judges.models import Endpoint
from tests.openai_server import OpenAIServer


def endpoint_at(server: OpenAIServer, **fields: Any) -> Endpoint:
    """Not saved. Its number is the server's port: endpoints of one number share a door."""
    return Endpoint(**{"pk": server.port, "name": "loopback", "base_url": server.url, "timeout_seconds": 5, **fields})
