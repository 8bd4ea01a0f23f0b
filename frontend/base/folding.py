"""Long texts of which little changed: what stays the same is folded away, but for the lines around a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.core.line_diff import Line

AROUND = 2


@dataclass(frozen=True, slots=True)
class Skip:
    """In the place of lines that are in both texts."""

    skipped: int


def folded(lines: Sequence[Line]) -> list[Line | Skip]:
    near = {
        at for place, line in enumerate(lines) if line.sign != " " for at in range(place - AROUND, place + AROUND + 1)
    }
    shown: list[Line | Skip] = []
    for place, line in enumerate(lines):
        if place in near:
            shown.append(line)
        elif shown and isinstance(shown[-1], Skip):
            shown[-1] = Skip(shown[-1].skipped + 1)
        else:
            shown.append(Skip(1))
    return shown
