"""The rules of the house: import-linter holds them, and notices one line against each."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("alignment", "annotate", "judges", "systems", "frontend", "config")
# A contract of pyproject.toml: a module, and what it may not import.
AGAINST = {
    "Floors: imports run one way, and nothing imports the wiring": ("annotate/core/texts.py", "config.settings"),
    "The alignment module knows numbers only": ("alignment/base/arrays.py", "django"),
    "Rooms of alignment": ("alignment/base/arrays.py", "alignment.report.reference"),
    "Rooms of annotate": ("annotate/core/texts.py", "annotate.files.releases"),
    "Rooms of judges": ("judges/core/split.py", "judges.lab.read"),
    "Rooms of systems": ("systems/apps.py", "systems.models"),
    "Rooms of frontend": ("frontend/base/pages.py", "frontend.reports.views"),
    "No circles": ("annotate/files/export_rows.py", "annotate.files.releases"),
    "What reads never writes": ("annotate/batches/read.py", "annotate.batches.write"),
    "Headless floors neither render nor draw": ("judges/core/split.py", "matplotlib"),
    "Kinds know neither runs nor what is certified or reported": ("judges/kinds/base.py", "judges.runs.queue"),
}


@pytest.fixture(scope="module")
def said_of_these_lines(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What import-linter says of a copy of the code with all these lines added."""
    copy = tmp_path_factory.mktemp("house")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", "static", "locale")
        )
    (copy / "tests").mkdir()
    for name in ("tests/__init__.py", "tests/house.py", "pyproject.toml"):
        shutil.copy(ROOT / name, copy / name)
    for path, module in AGAINST.values():
        with (copy / path).open("a") as file:
            file.write(f"import {module}\n")
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run([sys.executable, "-c", lint, "--no-cache"], cwd=copy, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", AGAINST)
def test_a_line_against_a_contract_breaks_it(name: str, said_of_these_lines: str) -> None:
    assert re.search(rf"^{re.escape(name)} BROKEN", said_of_these_lines, re.MULTILINE), said_of_these_lines


def test_every_contract_is_tried() -> None:
    written = re.findall(r'^name = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(written) - {"touchstone"} == set(AGAINST)


def _files(*suffixes: str) -> list[Path]:
    headless = ("annotate", "judges", "systems")
    return [path for floor in headless for path in (ROOT / floor).rglob("*") if path.suffix in suffixes]


def test_what_is_shown_stands_in_the_frontend() -> None:
    assert _files(".html", ".css", ".js", ".svg") == []
    shows = re.compile(r"django\.(template|shortcuts|forms)\b|from django import forms")
    assert [path for path in _files(".py") if shows.search(path.read_text(encoding="utf-8"))] == []
