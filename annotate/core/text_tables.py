"""Figures as text: how an estimate reads, and tables for terminals and Markdown. The one home of their spelling.

The words for alignment's remarks stand above this floor (frontend.reports.in_words), and are named from there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.module_loading import import_string

from alignment.base.estimate import Remark

UNDEFINED = "—"


def figure(value: float | None, digits: int = 3) -> str:
    """A number with a minus sign, not a hyphen, or a dash when it is undefined. Never "−0.000"."""
    if value is None:
        return UNDEFINED
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def number(value: float | None) -> str:
    """A score, a threshold or a weight, of which no interval says how far it can be trusted: four digits, and no more
    than four of them behind the point, but for what would be zero then."""
    if value is None:
        return UNDEFINED
    if abs(value) >= 1000:
        return f"{round(value, 1):.12g}"
    return f"{value:.2g}" if round(value, 4) == 0 != value else f"{round(value, 4) + 0.0:.4g}"


def interval(estimate: Mapping[str, Any], digits: int = 3) -> str:
    """`0.612 [0.540, 0.684]`, the value alone when it has no interval, or a dash."""
    if estimate["value"] is None or estimate["low"] is None:
        return figure(estimate["value"], digits)
    low, high = (figure(estimate[end], digits) for end in ("low", "high"))
    return f"{figure(estimate['value'], digits)} [{low}, {high}]"


def text_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns aligned with spaces; the first to the left, the others to the right."""
    table = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(_width(row[column]) for row in table) for column in range(len(head))]
    lines = []
    for row in table:
        first, *others = row
        cells = [first + " " * (widths[0] - _width(first))]
        cells += [" " * (width - _width(cell)) + cell for width, cell in zip(widths[1:], others, strict=True)]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [list(head), [":--", *("--:" for _ in head[1:])], *([str(cell) for cell in row] for row in rows)]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def _width(text: str) -> int:
    """Columns a terminal uses: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


_wording = ""


def register_wording(dotted_name: str) -> None:
    """`dotted_name`: a function from a remark (alignment.base.estimate), or None, to its words."""
    global _wording  # noqa: PLW0603
    _wording = dotted_name


def in_words(remark: Remark | None) -> str:
    """The remark as part of a sentence, in the active language; "" for None."""
    words: str = import_string(_wording)(remark)
    return words
