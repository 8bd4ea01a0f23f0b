"""Differences as small pictures: interval, the judge alone, no difference, and the margin, on one scale for all
pictures of a table, as shares of whatever width it gives them (`systems/partials/difference.html`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# Beyond the ends, in shares of the width: a dot at an end is whole.
_MARGIN = 0.04


@dataclass(frozen=True, slots=True)
class Picture:
    """Places from the left as SVG spells them; None of what there is not. raw: the judge alone. margin: up to where a
    version is not worse, which is left of `zero` where higher is better."""

    dot: str | None
    low: str | None
    high: str | None
    raw: str | None
    margin: str | None
    zero: str


@dataclass(frozen=True, slots=True)
class Scale:
    low: float
    high: float

    @classmethod
    def of(cls, differences: Iterable[Mapping[str, Any]], margins: Iterable[float]) -> Scale:
        """All of these (estimates as dicts) fit on it, and so does no difference."""
        ends = [one[end] for one in differences for end in ("low", "value", "high") if one[end] is not None]
        ends += [0.0, *margins]
        low, high = min(ends), max(ends)
        return cls(low, high) if low < high else cls(-1.0, 1.0)

    def picture(self, found: Mapping[str, Any], raw: float | None, margin: float | None) -> Picture:
        """margin: with the sign of what is worse."""
        dot, low, high = (self._place(found[name]) for name in ("value", "low", "high"))
        zero = self._place(0.0)
        assert zero is not None
        return Picture(dot, low, high, self._place(raw), self._place(margin), zero)

    def _place(self, value: float | None) -> str | None:
        if value is None:
            return None
        share = _MARGIN + (1 - 2 * _MARGIN) * (value - self.low) / (self.high - self.low)
        return f"{100 * share:.1f}%"
