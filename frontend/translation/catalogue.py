"""`python -m frontend.translation.catalogue`: turn every .po file into the .mo file that Django reads.

The .mo files are not in the repository. What starts or installs the application makes them first: config/prepare.py,
the Dockerfile and the tests. GNU gettext is not needed.
"""

from __future__ import annotations

import gettext
import hashlib
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALE = Path(__file__).resolve().parent.parent / "locale"
# The .mo file's header says of which .po file it was made: "Project-Id-Version: Touchstone <SHA-256>".
_PROJECT = "Touchstone"
# Babel writes dates into the header; the same .po file should always give the same .mo file.
_NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)


def po_files() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def read_catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, abort_invalid=True)


def is_translated(entry: Message) -> bool:
    strings = entry.string if isinstance(entry.string, tuple) else (entry.string,)
    return not entry.fuzzy and bool(strings) and all(strings)


def compile_catalogues() -> list[Path]:
    """Makes the .mo files that are missing or were made of another .po file, and returns those it made."""
    return [made for path in po_files() if (made := _compile(path)) is not None]


def _compile(path: Path) -> Path | None:
    target = path.with_suffix(".mo")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if _source_of(target) == digest:
        return None
    catalogue = read_catalogue(path)
    for entry in [entry for entry in catalogue if entry.id and not is_translated(entry)]:
        catalogue.delete(entry.id, entry.context)  # Babel would write its English, in the wrong number
    catalogue.creation_date = catalogue.revision_date = _NO_DATE
    catalogue.project, catalogue.version = _PROJECT, digest
    # Renaming is atomic: of two processes that start at once, each finds a whole file, whichever was first.
    handle, draft = tempfile.mkstemp(dir=target.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            write_mo(file, catalogue)
        Path(draft).chmod(0o644)
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return target


def _source_of(target: Path) -> str | None:
    """Of which .po file a .mo file was made; None when there is none, or it can't be read."""
    try:
        with target.open("rb") as file:
            return gettext.GNUTranslations(file).info().get("project-id-version", "").removeprefix(f"{_PROJECT} ")
    except (OSError, UnicodeDecodeError, ValueError):
        return None


if __name__ == "__main__":
    compile_catalogues()
