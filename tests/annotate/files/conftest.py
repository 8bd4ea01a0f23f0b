from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotate.models import Criterion, Membership, Project, User
from tests.annotate.files.jobs import URL, imported
from tests.clients import client_of


@pytest.fixture
def project(db: None) -> Project:
    project = Project.objects.create(slug="p", name="P")
    for position, (key, unit, scale, levels) in enumerate(
        [
            ("support", "claim", "nominal", ["supported", "contradicted", "not in context"]),
            ("relevance", "context", "ordinal", [0, 1, 2, 3]),
            ("relevancy", "answer", "ordinal", [1, 2, 3, 4, 5]),
            ("length", "answer", "interval", []),
        ]
    ):
        Criterion.objects.create(
            project=project,
            key=key,
            name=key,
            unit=unit,
            scale=scale,
            prompt=key,
            position=position,
            options=[{"value": level, "label": str(level)} for level in levels],
        )
    return project


@pytest.fixture
def admin(project: Project) -> User:
    user = User.objects.create_user("ada", password="x")
    Membership.objects.create(project=project, user=user, role="admin")
    return user


@pytest.fixture
def api(admin: User) -> APIClient:
    return client_of(admin)


@pytest.fixture(autouse=True)
def _media(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def send(api: APIClient) -> Callable[..., dict[str, Any]]:
    """Uploads a file as a person does, and returns the import once it has run. fields: what else the form has; with
    `preview` it is only kept."""

    def send(path: Path, **fields: Any) -> dict[str, Any]:
        with path.open("rb") as file:
            reply = api.post(URL, {"file": file, "kind": "samples", **fields}, format="multipart")
        shown: dict[str, Any] = reply.json() if "preview" in fields else imported(api, reply)
        return shown

    return send


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of bytes, of text, or of rows as JSONL."""

    def write(name: str, content: bytes | str | list[dict[str, Any]]) -> Path:
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
