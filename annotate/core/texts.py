"""What PostgreSQL can keep of the texts and the JSON that come from outside (for files: annotate.files)."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from annotate.core.errors import Invalid

MAX_DEPTH = 20
MAX_COMMENT = 10_000  # characters of what a person writes beside a label, a decision or a flag

_UNSEEN = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))


def is_storable(text: object) -> bool:
    """A text without NUL and without half of a surrogate pair; PostgreSQL refuses both."""
    if not isinstance(text, str) or "\x00" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_blank(text: str) -> bool:
    """Whether there is nothing in it to see: blanks, controls, signs without width such as U+200B."""
    # Most texts begin with a letter or a figure, which is seen.
    return not text[:1].isalnum() and all(unicodedata.category(sign) in _UNSEEN for sign in text)


def words_or_raise(text: object, refusal: Invalid, *, most: int = MAX_COMMENT) -> str:
    """The text without the blanks around it. Raises the refusal when nothing is left of it, when it is longer than
    `most` characters, and for what can't be stored as a text."""
    words = text.strip() if isinstance(text, str) and is_storable(text) else ""
    if is_blank(words) or len(words) > most:
        raise refusal
    return words


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ at most in how their lines end and in the blanks around them: a browser's field has its
    own ends of lines. frontend/label/steps.js says the same."""
    return _in_lines(one) == _in_lines(other)


def _in_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(" \t\n")


def check_json(node: Any, depth: int = MAX_DEPTH) -> None:
    """Refuses parsed JSON that could not be stored, whichever field it is meant for. Raises Invalid."""
    if depth < 0:
        raise Invalid("too_deep", f"The JSON is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(node, str):
        if not is_storable(node):
            raise Invalid("bad_text", "A text holds a NUL character or half of a surrogate pair; leave it out.")
    elif isinstance(node, float):
        if not math.isfinite(node):
            raise Invalid("bad_number", "A number is beyond the range of 64-bit floating point.")
    elif isinstance(node, dict):
        for key, child in node.items():
            check_json(key, depth)
            check_json(child, depth - 1)
    elif isinstance(node, list):
        for child in node:
            check_json(child, depth - 1)
