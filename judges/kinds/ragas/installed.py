"""Whether the library is here, and which: without importing it, which takes seconds."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from django.utils.translation import gettext as _


def installed_version() -> str | None:
    try:
        return version("ragas")
    except PackageNotFoundError:
        return None


def how_to_install() -> str:
    return _(
        "The RAGAS library isn't installed here. “make run WITH=ragas” installs it; the Docker image takes WITH=ragas "
        "as a build argument."
    )
