"""Which Touchstone this is, for what it writes into files."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from django.conf import settings


@cache
def touchstone_version() -> str:
    with (Path(settings.BASE_DIR) / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])
