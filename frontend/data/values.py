"""Values of files and of metadata, as people read them: no Python, and no JSON where a list of lines will do."""

from __future__ import annotations

from typing import Any

import orjson


def lines(value: Any) -> list[str]:
    """A list gives a line for each entry, an object one for each key; any other value one, and no value none."""
    if isinstance(value, list):
        return [_line(item) for item in value]
    if isinstance(value, dict):
        return [f"{key}: {_line(child)}" for key, child in value.items()]
    return [] if value is None else [_line(value)]


def _line(value: Any) -> str:
    """A context is its text; what is nested deeper is JSON."""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else orjson.dumps(value).decode()
