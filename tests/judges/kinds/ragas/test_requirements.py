"""requirements-ragas.txt is installed as it stands, so it has to name all that its packages ask for."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement

from tests.conftest import ROOT


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _named(*files: str) -> set[str]:
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    return {_name(re.split(r"==|\[", line)[0]) for line in lines if "==" in line and not line.startswith("#")}


def test_it_names_all_that_is_needed_and_nothing_else() -> None:
    named = _named("requirements-ragas.txt")
    known = named | _named("requirements-server.txt")
    needed: set[str] = set()
    waiting = ["ragas"]
    while waiting:
        package = waiting.pop()
        if package not in needed:
            needed.add(package)
            wanted = [Requirement(line) for line in _asked_for(package)]
            waiting += [_name(one.name) for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert needed - known == set()
    assert named - needed == set()


def _asked_for(package: str) -> list[str]:
    try:
        return requires(package) or []
    except PackageNotFoundError:
        return []


def test_what_does_not_fit_is_known() -> None:
    """instructor is only imported: the judges send what they send through the application's own client."""
    found = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    ours = _named("requirements-ragas.txt")
    lines = [
        line for line in found.stdout.splitlines() if " has requirement " in line and _name(line.split()[0]) in ours
    ]
    unfit = {line.partition(",")[0] for line in lines}
    assert unfit == {
        "instructor 1.17.0 has requirement jiter<0.15",
        "instructor 1.17.0 has requirement rich<15.0.0",
    }
