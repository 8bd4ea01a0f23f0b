"""Plots of how figures spread: the width of kappa's intervals against labelled samples, a judge's kappa on each part of
the data less that on the rest, and its share of wrong decisions week by week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from alignment.base.estimate import Remark, remark
from annotate.core.text_tables import figure as number
from annotate.core.text_tables import interval
from frontend.reports.plots.ink import BAND, JUDGE, SMALL, TNR, TPR, plain
from frontend.reports.plots.svg import Words, beside, draw, room_for, title_rows

# As many as differ by colour and dash; the table has all.
_STYLES = ((JUDGE, "-"), (TPR, "--"), (TNR, ":"), (JUDGE, "-."), (TPR, (0, (1, 3))))


def planning_plot(name: str, planning: dict[str, Any]) -> str | None:
    """`planning`: as in a report's result. None when there is no kappa to plan for."""
    rows = [row for row in planning["rows"] if row["figure"] == "kappa" and row["half_width"] is not None]
    people, judges = ([row for row in rows if (row["judge"] is None) is wanted] for wanted in (True, False))
    shown = [*people, *judges[: len(_STYLES)]]
    if not shown or not planning["more"]:
        return None
    sentences = [_width(row, f"{planning['more'][-1]:,}") for row in shown]
    if len(judges) > len(_STYLES):
        sentences.append(remark("more_judges", n=len(judges) - len(_STYLES)))
    return draw(name, remark("widths"), sentences, (7.2, 3.0), partial(_paint, planning=planning, rows=shown))


def _width(row: Mapping[str, Any], more: str) -> Remark:
    now, then = number(row["half_width"], 2), number(row["curve"][-1], 2)
    if row["judge"] is None:
        return remark("width_of_people", now=now, then=then, more=more)
    return remark("width_of_judge", judge=row["judge"], now=now, then=then, more=more)


def _paint(axes: Axes, words: Words, planning: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    samples = [planning["samples"] + more for more in (0, *planning["more"])]
    styles = iter(_STYLES)
    for row in rows:
        colour, dash = (BAND, "-") if row["judge"] is None else next(styles)
        title = words(remark("people_with_each_other")) if row["judge"] is None else plain(row["judge"], 24)
        widths = [row["half_width"], *row["curve"]]
        axes.plot(samples, widths, color=colour, linestyle=dash, label=title, linewidth=1.8)
        axes.plot(samples[:1], widths[:1], color=colour, marker="o", markersize=5)
    axes.set_xscale("log")
    ticks = _ticks(samples)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1.08 * max(row["half_width"] for row in rows))
    axes.set_xlabel(words(remark("labelled_samples")))
    axes.set_ylabel(words(remark("half_width_of_kappa")))
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _ticks(samples: Sequence[int]) -> list[int]:
    """The present number, and some of the others that don't stand in each other's way."""
    kept = [samples[0]]
    for count in samples[1:]:
        if count >= 1.45 * kept[-1]:
            kept.append(count)
    return kept


# A plot that fits a page; the table has them all.
MAX_ROWS = 24


def slices_plot(name: str, judge: str, slices: Sequence[Mapping[str, Any]]) -> str | None:
    """None when fewer than two parts have a difference to show."""
    known = [part for part in slices if part["difference"]["value"] is not None]
    if len(known) < 2:
        return None
    rows = known[:MAX_ROWS]
    sentences = [_sentence(part) for part in rows]
    if len(known) > len(rows):
        sentences.append(remark("more_parts", n=len(known) - len(rows)))
    size = (7.2, 1.1 + 0.26 * len(rows))
    margins = (room_for(_title(part) for part in rows), 1.6 if any(part["worse"] for part in rows) else 0.2, 0.15, 0.55)
    title = remark("parts_of", judge=judge)
    return draw(name, title, sentences, size, partial(_slices_paint, rows=rows), margins)


def _sentence(part: Mapping[str, Any]) -> Remark | str:
    figures = f"{_title(part)}: {interval(part['difference'], 2)}"
    return remark("part_worse", part=figures) if part["worse"] else f"{figures}."


def _title(part: Mapping[str, Any]) -> str:
    return f"{part['key']}: {part['value']}"


def _slices_paint(axes: Axes, words: Words, rows: Sequence[Mapping[str, Any]]) -> None:
    axes.axvline(0, color="black", linewidth=0.8, alpha=0.6)
    for colour, marker, worse in ((JUDGE, "o", False), (TPR, "D", True)):
        here = [(place, part["difference"]) for place, part in enumerate(rows) if bool(part["worse"]) is worse]
        sure = [(place, found["low"], found["high"]) for place, found in here if found["low"] is not None]
        if sure:
            places, lows, highs = zip(*sure, strict=True)
            axes.hlines(places, lows, highs, color=colour, linewidth=2)
        values = [found["value"] for _, found in here]
        axes.plot(values, [place for place, _ in here], color=colour, marker=marker, markersize=6, linestyle="")
    worse_than_rest = words(remark("worse_than_rest"))
    for place, part in enumerate(rows):
        if part["worse"]:
            beside(axes, place, worse_than_rest)
    title_rows(axes, [_title(part) for part in rows], fontsize=SMALL)
    axes.set_xlabel(words(remark("kappa_less_rest")))


MAX_TICKS = 8
# Inches: left, with the label of the axis, right, top, with the legend, bottom.
MARGINS = (0.75, 0.35, 0.4, 0.4)


def weeks_plot(name: str, judge: str, weeks: Sequence[Mapping[str, Any]], error: Mapping[str, Any]) -> str | None:
    """`error`: the share over all weeks. None for a single week."""
    if len(weeks) < 2:
        return None
    sentences = [
        remark("week_wrong", week=week["week"], share=f"{week['error']['value']:.1%}", n=week["units"])
        for week in weeks
    ]
    sentences.append(remark("weeks_wrong", share=f"{error['value']:.1%}"))
    title = remark("weeks_of", judge=judge)
    return draw(name, title, sentences, (7.2, 2.6), partial(_weeks_paint, weeks=weeks, error=error), MARGINS)


def _weeks_paint(axes: Axes, words: Words, weeks: Sequence[Mapping[str, Any]], error: Mapping[str, Any]) -> None:
    axes.axhline(100 * error["value"], color=BAND, linewidth=1.5, linestyle="--", label=words(remark("all_weeks")))
    first = date.fromisoformat(weeks[0]["monday"])
    places = [(date.fromisoformat(week["monday"]) - first).days // 7 for week in weeks]
    for place, week in zip(places, weeks, strict=True):
        if week["error"]["low"] is not None:
            ends = [100 * week["error"][end] for end in ("low", "high")]
            axes.plot([place, place], ends, color=JUDGE, linewidth=2, alpha=0.7)
    shares = [100 * week["error"]["value"] for week in weeks]
    title = words(remark("each_week"))
    axes.plot(places, shares, color=JUDGE, marker="o", markersize=5, linewidth=1, label=title, clip_on=False)
    step = -(-len(weeks) // MAX_TICKS)
    axes.set_xticks(places[::step], [week["week"] for week in weeks[::step]], fontsize=SMALL)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(words(remark("percent_wrong")))
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=SMALL)
