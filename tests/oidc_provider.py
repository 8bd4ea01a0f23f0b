"""A real OpenID Connect provider on this machine: the package oidc-provider-mock. Fixture: `provider`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from tests.database import READY_SECONDS
from tests.processes import AppProcess, free_port


@dataclass
class Provider:
    url: str

    def is_ready(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/.well-known/openid-configuration", timeout=5).is_success
        except httpx2.TransportError:
            return False

    def know(self, subject: str, **claims: Any) -> None:
        """Or know anew, in place of what was known."""
        reply = httpx2.put(f"{self.url}/users/{quote(subject)}", json=claims, timeout=10)
        assert reply.status_code == 204, reply.text

    def agree(self, asked: str, subject: str) -> str:
        """As the person does on the provider's page; where that leads to."""
        reply = httpx2.post(asked, data={"sub": subject}, timeout=10)
        assert reply.status_code == 302, reply.text
        return reply.headers["Location"]

    def refuse(self, asked: str) -> str:
        reply = httpx2.post(asked, data={"action": "deny"}, timeout=10)
        return reply.headers["Location"]

    def environment(self, **more: str) -> dict[str, str]:
        """For a process of the application that has it."""
        names = {"ISSUER": self.url, "CLIENT_ID": "touchstone", "CLIENT_SECRET": "s3cret", "NAME": "Example ID"}
        return {f"OIDC_{name}": value for name, value in {**names, **more}.items()}

    def settings(self, settings: Any, **more: Any) -> None:
        """For this process."""
        for name, value in {**self.environment(), **{f"OIDC_{name}": value for name, value in more.items()}}.items():
            setattr(settings, name, value)


@pytest.fixture(scope="session")
def _provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    port = free_port()
    # It warns of parts of Authlib that it still uses; and on this machine http will do.
    surroundings = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = ["oidc_provider_mock", "--port", str(port)]
    process = AppProcess(command, surroundings, tmp_path_factory.mktemp("provider") / "log")
    process.start()
    found = Provider(f"http://localhost:{port}")
    deadline = time.monotonic() + READY_SECONDS
    while not found.is_ready():
        if not process.is_running() or time.monotonic() > deadline:
            process.fail("The provider did not get ready.")
        time.sleep(0.05)
    yield found
    process.stop()


@pytest.fixture
def provider(_provider: Provider, db: None, settings: Any) -> Provider:
    """Also this process's, with its usual settings."""
    _provider.settings(settings)
    return _provider
