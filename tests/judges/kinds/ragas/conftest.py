"""Tests of the RAGAS judges with the library: `make test-ragas`. Where it isn't installed nothing is collected."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

collect_ignore_glob = [] if find_spec("ragas") else ["test_*.py"]

# What Python itself tells of whatever is opened or reached, by whichever library.
_watched: list[tuple[str, str]] | None = None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watched is None:
        return
    if event == "socket.connect" and not str(args[1]).startswith("('127.0.0.1'") and not isinstance(args[1], str):
        _watched.append((event, str(args[1])))
    elif event == "socket.getaddrinfo" and args[0] != "127.0.0.1":
        _watched.append((event, str(args[0])))
    elif event == "open" and isinstance(args[0], str):
        _watched.append((event, args[0]))


@pytest.fixture(scope="session", autouse=True)
def _library() -> None:
    """Loaded before anything is watched; with its warnings, which are its makers' business."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import judges.kinds.ragas.adapters  # noqa: F401
    sys.addaudithook(_hook)


@pytest.fixture(autouse=True)
def watched(_library: None) -> Iterator[list[tuple[str, str]]]:
    """Every file that is opened and every address beyond this machine that is looked up or reached. There may be none
    of the latter."""
    global _watched
    _watched = seen = []
    yield seen
    _watched = None
    assert [what for what in seen if what[0] != "open"] == []
