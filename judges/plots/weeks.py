"""Week by week: the share of a judge's decisions that people contradict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from judges.plots.colours import BAND, JUDGE
from judges.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_TICKS = 8
# Inches: left, with the label of the axis, right, top, with the legend, bottom.
MARGINS = (0.75, 0.35, 0.4, 0.4)


def weeks_plot(name: str, judge: str, weeks: Sequence[Mapping[str, Any]], error: Mapping[str, Any]) -> str | None:
    """`error`: the share over all weeks. None for a single week."""
    if len(weeks) < 2:
        return None
    sentences = [f"{week['week']}: {week['error']['value']:.1%} wrong of {week['units']} units." for week in weeks]
    sentences.append(f"All weeks: {error['value']:.1%}.")
    title = f"Share of wrong decisions of {judge}, week by week"
    return draw(name, title, " ".join(sentences), (7.2, 2.6), lambda figure: _paint(figure, weeks, error), MARGINS)


def _paint(figure: Figure, weeks: Sequence[Mapping[str, Any]], error: Mapping[str, Any]) -> None:
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    axes.axhline(100 * error["value"], color=BAND, linewidth=1.5, linestyle="--", label="all weeks")
    first = date.fromisoformat(weeks[0]["monday"])
    places = [(date.fromisoformat(week["monday"]) - first).days // 7 for week in weeks]
    for place, week in zip(places, weeks, strict=True):
        if week["error"]["low"] is not None:
            ends = [100 * week["error"][end] for end in ("low", "high")]
            axes.plot([place, place], ends, color=JUDGE, linewidth=2, alpha=0.7)
    shares = [100 * week["error"]["value"] for week in weeks]
    axes.plot(places, shares, color=JUDGE, marker="o", markersize=5, linewidth=1, label="each week", clip_on=False)
    step = -(-len(weeks) // MAX_TICKS)
    axes.set_xticks(places[::step], [week["week"] for week in weeks[::step]], fontsize=9)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("% wrong")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=9)
