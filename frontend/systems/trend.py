"""Experiments over time: a small chart for each metric, and what changed in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from frontend.base.pages import ProjectPage, project_view
from frontend.systems.metric_names import metric_title
from frontend.systems.spelt import Spelt
from systems.experiments.spelling import SHARE, decisive, value_in
from systems.experiments.trend_read import MetricTrend, TrendLevel, TrendPoint, trends_of

CHANGES = {
    "judge": gettext_noop("another judge"),
    "criterion": gettext_noop("another version of the criterion"),
    "set": gettext_noop("another test set"),
}
# Of the chart, in shares of its width and height.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.12, 0.98, 0.08, 0.86
# Between versions of one experiment, as a share of its column.
_APART = 0.6


@dataclass(frozen=True, slots=True)
class Dot:
    """Places as SVG spells them, from the left and from the top. low, high: None without an interval."""

    x: str
    y: str
    low: str | None
    high: str | None
    is_baseline: bool


@dataclass(frozen=True, slots=True)
class Row:
    """An experiment. change: where its line of changes stands, None where nothing changed."""

    name: str
    number: int
    at: datetime
    x: str
    levels: Sequence[tuple[TrendLevel, Spelt]]
    changes: str
    change: str | None


@dataclass(frozen=True, slots=True)
class Chart:
    """unit: "" of a share. ticks: place from the top, and number."""

    title: str
    unit: str
    rows: Sequence[Row]
    dots: Sequence[Dot]
    ticks: Sequence[tuple[str, str]]


@project_view("systems", get="systems.read")
def trend(page: ProjectPage) -> HttpResponse:
    found = trends_of(page.project, reader=page.user)
    context = {"charts": list(map(_chart, found.metrics)), "found": found}
    return page.render("systems/trend.html", context)


def _chart(found: MetricTrend) -> Chart:
    unit = found.metric["unit"]
    low, high = _range(found)
    width = (_RIGHT - _LEFT) / len(found.points)

    def top(value: float) -> str:
        return _percent(_BOTTOM - (value - low) / (high - low) * (_BOTTOM - _TOP))

    rows, dots = [], []
    for place, point in enumerate(found.points):
        start = _LEFT + place * width
        rows.append(_row(point, place, start, width, unit))
        for at, level in enumerate(point.levels):
            one = decisive(level.found)
            if one["value"] is None:
                continue
            x = start + width / 2 + width * _APART * ((at + 0.5) / len(point.levels) - 0.5)
            ends = [None if one[end] is None else top(one[end]) for end in ("low", "high")]
            dots.append(Dot(_percent(x), top(one["value"]), ends[0], ends[1], level.is_baseline))
    ticks = [(top(value), value_in(value, unit, digits=2)) for value in (low, (low + high) / 2, high)]
    return Chart(metric_title(found.metric), "ms" if unit == "ms" else "", rows, dots, ticks)


def _range(found: MetricTrend) -> tuple[float, float]:
    """Shares from 0 to 1; else from 0 to a round number above all."""
    if found.metric["unit"] == SHARE:
        return 0.0, 1.0
    levels = [decisive(level.found) for point in found.points for level in point.levels]
    greatest = max((one[end] for one in levels for end in ("value", "high") if one[end] is not None), default=0.0)
    if greatest <= 0:
        return 0.0, 1.0
    power = 10 ** math.floor(math.log10(greatest))
    return 0.0, next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= greatest)


def _row(point: TrendPoint, place: int, start: float, width: float, unit: str) -> Row:
    comma = pgettext("between names of a list", ", ")
    return Row(
        name=point.experiment,
        number=place + 1,
        at=point.at,
        x=_percent(start + width / 2),
        levels=[(level, Spelt.of(decisive(level.found), unit)) for level in point.levels],
        changes=comma.join(_(CHANGES[one]) for one in point.changes),
        change=_percent(start) if point.changes else None,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
