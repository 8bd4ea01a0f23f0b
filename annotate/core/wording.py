"""The words for alignment's remarks stand above this floor (frontend.reports.wording), and are named from there."""

from __future__ import annotations

from django.utils.module_loading import import_string

from alignment.base.remark import Remark

_wording = ""


def register_wording(dotted_name: str) -> None:
    """`dotted_name`: a function from a remark (alignment.base.remark), or None, to its words in the active language."""
    global _wording  # noqa: PLW0603
    _wording = dotted_name


def in_words(remark: Remark | None) -> str:
    """The remark as part of a sentence, in the active language; "" for None."""
    words: str = import_string(_wording)(remark)
    return words
