"""What draws a report's plots when it is frozen. Pictures stand above this floor, so it is named from there."""

from __future__ import annotations

from typing import Any

from django.utils.module_loading import import_string

_drawer = ""


def register_drawer(dotted_name: str) -> None:
    """`dotted_name`: a function from a report's result to SVG by the name of the plot. It is imported when the first
    report is made, since what draws takes a second to load."""
    global _drawer  # noqa: PLW0603
    _drawer = dotted_name


def drawn(result: dict[str, Any]) -> dict[str, str]:
    plots: dict[str, str] = import_string(_drawer)(result)
    return plots
