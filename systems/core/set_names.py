"""How test sets are named (`support`, and `support@1` once it is frozen), and experiments."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid

# Between the name of a set and the number that it was frozen under.
NUMBER_MARK = "@"
_NAME = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
_MAX_NAME = 60
_NUMBERED = re.compile(rf"(.+){NUMBER_MARK}([1-9][0-9]{{0,8}})")


def numbered(name: str) -> tuple[str, int] | None:
    """Name and number of what was frozen; None for a set that is named without a number."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def check_name(name: Any) -> str:
    """The name of a set that questions can be put into. Raises Invalid."""
    frozen = numbered(name) if isinstance(name, str) else None
    if frozen is not None:
        raise Invalid(
            "frozen_set",
            _("“%(name)s” is frozen and never changes. Import into “%(set)s”, for its next number.")
            % {"name": name[:80], "set": frozen[0][:80]},
        )
    if not is_name(name):
        raise Invalid(
            "bad_set_name",
            _("set: name the test set in a–z, 0–9, “-” and “_”, at most %(most)d characters.") % {"most": _MAX_NAME},
        )
    return str(name)


def is_name(name: Any) -> bool:
    """Whether it can name a test set or an experiment."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and len(name) <= _MAX_NAME
