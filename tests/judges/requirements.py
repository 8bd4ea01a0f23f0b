"""What a requirements file names, and what its packages ask for."""

import re
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement

from tests.conftest import ROOT


def name_of(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def named_in(*files: str) -> set[str]:
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    return {name_of(re.split(r"==|\[", line)[0]) for line in lines if "==" in line and not line.startswith("#")}


def needed_by(*packages: str) -> set[str]:
    """With the packages themselves, as far as they are installed."""
    needed: set[str] = set()
    waiting = list(packages)
    while waiting:
        package = waiting.pop()
        if package not in needed:
            needed.add(package)
            wanted = [Requirement(line) for line in _asked_for(package)]
            waiting += [name_of(one.name) for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    return needed


def _asked_for(package: str) -> list[str]:
    try:
        return requires(package) or []
    except PackageNotFoundError:
        return []
