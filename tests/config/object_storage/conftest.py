"""An S3 server, and this process keeping its files there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from config.storage import default_storage
from tests import s3_server
from tests.s3_server import BUCKET, S3Server


@pytest.fixture(scope="session")
def _s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = s3_server.start(tmp_path_factory.mktemp("s3") / "log")
    yield server
    server.process.stop()


@pytest.fixture
def s3(_s3_server: S3Server, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """Also where this process keeps its files; empty again afterwards."""
    use(_s3_server, settings, monkeypatch)
    yield _s3_server
    client = _s3_server.client
    for key in _s3_server.stored():
        client.delete_object(Bucket=BUCKET, Key=key)


def use(server: S3Server, settings: Any, monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    """Files of this process go there from now on. more: settings that are otherwise."""
    for name, value in server.environment(**more).items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = {**settings.STORAGES, "default": default_storage()}
