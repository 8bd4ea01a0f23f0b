"""The page on reliability has all of its figures, and names tests and benchmarks that are there."""

from __future__ import annotations

import re

from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
FAULTS = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


def test_it_has_25_figures() -> None:
    assert re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE) == [str(number) for number in range(1, 26)]


def test_what_it_names_is_there() -> None:
    named = set(re.findall(r"\b(tests/[\w/]+(?:\.py)?)(?:::(\w+))?", TEXT + FAULTS))
    benches = set(re.findall(r"`bench\.(\w{2,})", TEXT))
    assert len(named) > 40
    assert len(benches) > 4
    for path, name in named:
        assert (ROOT / path).exists(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"
    for name in benches:
        assert (ROOT / "bench" / f"{name}.py").is_file(), name
