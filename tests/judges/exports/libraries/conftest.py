"""Tests of exported judges in the real libraries: `make test-exports`. Where these aren't installed, nothing is
collected."""

import gc
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

_installed = all(find_spec(name) for name in ("ragas", "deepeval", "mlflow"))
collect_ignore_glob = [] if _installed else ["test_*.py"]

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
    # The sockets of event loops that a library leaves open; later they would be a later test's.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
