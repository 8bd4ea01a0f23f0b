"""Intervals as small pictures: where a kappa, its interval and people's band lie on one scale for all pictures of a
page, as shares of whatever width it gives them (`reports/interval_picture.html`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.core.text_tables import figure

# Beyond the ends, in shares of the width: a dot at an end is whole.
_MARGIN = 0.04
_TICKS = (-0.8, -0.4, 0.0, 0.4, 0.8)


@dataclass(frozen=True, slots=True)
class Picture:
    """Places from the left as SVG spells them. dot: None where there is no figure; low, high: None where it has no
    interval; people, band: how well people agree with each other, the band as its start and width."""

    dot: str | None
    low: str | None
    high: str | None
    people: str | None
    band: tuple[str, str] | None
    zero: str


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` to 1."""

    low: float
    people: Mapping[str, Any]

    @classmethod
    def of(cls, estimates: Iterable[Mapping[str, Any]], people: Mapping[str, Any], low: float = 0.0) -> Scale:
        """All of these estimates (as dicts) and people's fit on it. low: where it begins at the latest."""
        ends = [one[end] for one in (*estimates, people) for end in ("low", "value") if one[end] is not None]
        return cls(min([low, *ends]), people)

    def picture(self, estimate: Mapping[str, Any]) -> Picture:
        low, high = self.people["low"], self.people["high"]
        width = None if low is None else _percent(self._share(high) - self._share(low))
        return Picture(
            dot=self._place(estimate["value"]),
            low=self._place(estimate["low"]),
            high=self._place(estimate["high"]),
            people=self._place(self.people["value"]),
            band=None if width is None else (_percent(self._share(low)), width),
            zero=_percent(self._share(0.0)),
        )

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """Place and number of each mark of the axis."""
        return [(_percent(self._share(tick)), figure(tick, 1)) for tick in _TICKS if tick >= self.low]

    def _share(self, value: float) -> float:
        return _MARGIN + (1 - 2 * _MARGIN) * (value - self.low) / (1 - self.low)

    def _place(self, value: float | None) -> str | None:
        return None if value is None else _percent(self._share(value))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
