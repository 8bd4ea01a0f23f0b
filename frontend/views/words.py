"""Values in the words of their options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def word(options: Sequence[dict[str, Any]], value: Any) -> str:
    """The label of the option that has this value; a number of an open scale as it is."""
    for option in options:
        if type(option["value"]) is type(value) and option["value"] == value:
            return str(option.get("label") or value)
    return f"{value:g}" if isinstance(value, float) else str(value)
