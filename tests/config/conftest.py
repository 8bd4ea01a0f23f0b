"""Processes of their own for what happens before Django starts: a bare environment and a data directory to break."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config import embedded
from tests.conftest import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def data() -> Iterator[Path]:
    """A data directory with a path short enough for a socket, which pytest's `tmp_path` is not always."""
    folder = Path(tempfile.mkdtemp(prefix="ts-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bare(data: Path) -> dict[str, str]:
    """The environment of an installation where only the place of its data is set, the demo is the small one, and
    no server outlives its users."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    own = {"DATA_DIR": str(data), "EMBEDDED_LINGER_SECONDS": "0", "PYTHONUNBUFFERED": "1", "DEMO": "small"}
    return {**kept, **own}


@pytest.fixture
def run(bare: dict[str, str]) -> Run:
    """`run("-m", "config.supervisor", PORT="1")`: Python with these arguments and variables."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**bare, **variables},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )

    return run


@pytest.fixture
def own_services(bare: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process too, no server is named: `ensure_services(data)` starts embedded ones."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    assert embedded.wanted_services() == ["postgres", "redis"]


@pytest.fixture
def root() -> Path:
    return ROOT
