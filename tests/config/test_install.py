"""What `make` installs: every package pinned, to one version wherever it is named, and extras by name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from config.install import APART, EXTRAS

_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[a-z,]+\])?==(\S+)")


def _pins(file: Path) -> dict[str, str]:
    lines = [line.partition(" #")[0].strip() for line in file.read_text().splitlines()]
    named = [line for line in lines if line and not line.startswith(("#", "-"))]
    found = [_PIN.fullmatch(line) for line in named]
    loose = [line for line, pin in zip(named, found, strict=True) if pin is None]
    assert loose == [], f"{file.name}: not pinned"
    return {re.sub(r"[-_.]+", "-", pin[1]).lower(): pin[2] for pin in found if pin}


def test_everything_is_pinned_and_to_one_version(root: Path) -> None:
    files = sorted(root.glob("requirements*.txt"))
    assert {f"requirements-{name}.txt" for name in EXTRAS + APART} < {file.name for file in files}
    versions: dict[str, dict[str, list[str]]] = {}
    for file in files:
        for package, version in _pins(file).items():
            versions.setdefault(package, {}).setdefault(version, []).append(file.name)
    assert {package: named for package, named in versions.items() if len(named) > 1} == {}


def test_the_image_can_have_every_extra(root: Path) -> None:
    allowed = (root / ".dockerignore").read_text().splitlines()
    assert [name for name in EXTRAS if f"!requirements-{name}.txt" not in allowed] == []


@pytest.mark.parametrize("unknown", ["rags", *APART])
def test_an_extra_that_is_not_there(root: Path, unknown: str) -> None:
    command = [sys.executable, "-I", "config/install.py", ".venv", "requirements.txt", "ragas", unknown]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr == f"There is nothing to install WITH={unknown}. What there is: {', '.join(EXTRAS)}.\n"
