"""Nobody changes anything through a page or the API without being named in the trail."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

FILES = sorted(file for folder in ("annotate/api", "judges/api", "frontend") for file in (ROOT / folder).rglob("*.py"))
# The keyword in which a service learns who asks.
NAMES = {"actor", "user", "created_by", "reviewer"}


def _writes(module: str) -> bool:
    """Whether it is of a floor below the pages and may write: what only reads asks nobody's name."""
    return module.startswith(("annotate.", "judges.")) and not module.endswith(("read", ".models"))


def calls_without_a_name(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    services = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _writes(node.module or ""):
            module = importlib.import_module(node.module)
            services |= {(alias.asname or alias.name): getattr(module, alias.name, None) for alias in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            called = services.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            called = getattr(services.get(node.func.value.id), node.func.attr, None)
        else:
            continue
        if not inspect.isfunction(called):
            continue
        asked = NAMES & set(inspect.signature(called).parameters)
        by_place = inspect.signature(called).bind_partial(*node.args).arguments
        given = {keyword.arg for keyword in node.keywords} | by_place.keys()
        if asked and not asked & given:
            yield f"{path.relative_to(ROOT)}:{node.lineno} calls {called.__name__} without {min(asked)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_service_learns_who_asks(path: Path) -> None:
    assert list(calls_without_a_name(path)) == []
