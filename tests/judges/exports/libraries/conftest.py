"""Tests of exported judges in the real libraries. Where one isn't installed, its tests aren't collected."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

collect_ignore = [f"test_{name}.py" for name in ("ragas", "deepeval", "mlflow") if not find_spec(name)]

_looked_up: list[str] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo" and args[0] not in (None, "127.0.0.1", "localhost"):
        _looked_up.append(str(args[0]))


sys.addaudithook(_hook)


@pytest.fixture(autouse=True)
def _nothing_is_reported() -> Iterator[None]:
    """To a library's makers, as the file says; whatever library looks a name up."""
    _looked_up.clear()
    yield
    assert _looked_up == []
