"""Samples that a run of a pipeline sends: which version made them, and how those of two versions stay apart.

A pipeline answers the same questions in every version, under the same ids, and an id is there once in a project. So a
sample that is pushed is named by both: `kb-001`, pushed as version `v7`, becomes `kb-001@v7`. A version has no `@` of
its own: the last one always divides the two.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.files.problems import MAX_ID_CHARACTERS, RowError

MARK = "@"
MAX_VERSION_CHARACTERS = 100


def check_version(version: object) -> str:
    """The version as a push names it. Raises Invalid."""
    if (
        not isinstance(version, str)
        or not 0 < len(version) <= MAX_VERSION_CHARACTERS
        or not version.isprintable()
        or version != version.strip()
        or MARK in version
    ):
        said = _("version: a text of 1 to %(most)s characters without @, and without blanks at its ends.")
        raise Invalid("bad_version", said % {"most": MAX_VERSION_CHARACTERS})
    return version


def id_in_version(external_id: str, version: str, field: str) -> str:
    """The id that a sample gets of its own id and the version. Raises RowError."""
    named = f"{external_id}{MARK}{version}"
    if len(named) > MAX_ID_CHARACTERS:
        raise RowError(
            "too_long",
            f"With {MARK} and the version, longer than {MAX_ID_CHARACTERS} characters.",
            field=field,
            excerpt=external_id,
        )
    return named


def require_version(given: str, version: str, field: str) -> None:
    """A sample that names the version which made it names the one it is pushed as. Raises RowError."""
    if given != version:
        raise RowError(
            "other_version", f"This sample is pushed as version “{version}”; send it with its own.", field=field,
            excerpt=given,
        )  # fmt: skip
