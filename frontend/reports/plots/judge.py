"""Plots of one judge: kappa and rates at every threshold, its scores, its probabilities against what people pass, and
how many of its surest decisions are wrong, the more of them are kept."""

from __future__ import annotations

from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from alignment.base.estimate import Remark, remark
from annotate.core.text_tables import figure, interval, number
from frontend.reports.plots.ink import BAND, JUDGE, TNR, TPR
from frontend.reports.plots.svg import Words, above, draw

# Room for a legend on the right, numbers of four digits on the left, and a word above.
MARGINS = (0.6, 1.4, 0.25, 0.5)

_LINES = (("kappa", JUDGE, "-"), ("tpr", TPR, "--"), ("tnr", TNR, ":"))


def sweep_plot(name: str, judge: str, curve: dict[str, list[float | None]], chosen: float | None) -> str:
    """`curve`: thresholds ascending, with kappa, tpr and tnr at each on dev. `chosen`: the one with the best kappa."""
    if chosen is None:
        description = remark("sweep_undefined")
    else:
        best = figure(curve["kappa"][curve["thresholds"].index(chosen)], 2)
        description = remark("sweep_best", kappa=best, threshold=number(chosen))
    title = remark("sweep_of", judge=judge)
    return draw(name, title, [description], (7.2, 3.0), partial(_paint, curve=curve, chosen=chosen), MARGINS)


def _paint(axes: Axes, words: Words, curve: dict[str, Any], chosen: float | None) -> None:
    for key, colour, style in _LINES:
        title = words(remark("kappa")) if key == "kappa" else key.upper()
        values = [float("nan") if value is None else value for value in curve[key]]
        # A single threshold is a point, which a line would not show.
        marker = "o" if len(values) == 1 else ""
        # The name by which the page finds where each threshold stands in the drawing: a point of the line for each.
        (line,) = axes.plot(curve["thresholds"], values, color=colour, linestyle=style, label=title, linewidth=1.8)
        line.set(marker=marker, gid=f"line-{key}")
    if chosen is not None:
        axes.axvline(chosen, color="black", linewidth=1, alpha=0.6, gid="chosen")
        above(axes, chosen, words(remark("chosen_on_dev", threshold=number(chosen))), (4, 2))
    axes.axhline(0, color="black", linewidth=0.8, alpha=0.4)
    axes.set_ylim(min([-0.05, *(value - 0.05 for value in curve["kappa"] if value is not None)]), 1.05)
    axes.set_xlabel(words(remark("threshold")))
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


# A single score is a bar of this width, in its own units.
_ONE_BAR = 1.0


def histogram_plot(name: str, judge: str, histogram: dict[str, Any], chosen: float | None) -> str:
    """`histogram`: edges of the bins, and how many units in each people pass and fail. `chosen`: the threshold."""
    passes, fails, edges = (histogram[key] for key in ("passes", "fails", "edges"))
    description = remark(
        "scores_spread",
        low=number(edges[0]),
        high=number(edges[-1]),
        passes=sum(passes),
        where=_peak(passes, edges),
        fails=sum(fails),
        there=_peak(fails, edges),
    )
    paint = partial(_histogram_paint, histogram=histogram, chosen=chosen)
    return draw(name, remark("scores_of", judge=judge), [description], (7.2, 2.6), paint, MARGINS)


def _peak(counts: list[int], edges: list[float]) -> Remark:
    if not sum(counts):
        return remark("nowhere")
    at = counts.index(max(counts))
    return remark("between", low=number(edges[at]), high=number(edges[at + 1]))


def _histogram_paint(axes: Axes, words: Words, histogram: dict[str, Any], chosen: float | None) -> None:
    edges = histogram["edges"]
    if edges[0] == edges[-1]:
        edges = [edges[0] - _ONE_BAR / 2, edges[0] + _ONE_BAR / 2]
    axes.stairs(histogram["passes"], edges, fill=True, color=TNR, label=words(remark("pass")))
    axes.stairs([-count for count in histogram["fails"]], edges, fill=True, color=TPR, label=words(remark("fail")))
    axes.axhline(0, color="black", linewidth=0.8)
    if chosen is not None:
        axes.axvline(chosen, color="black", linewidth=1, alpha=0.6)
        above(axes, chosen, words(remark("chosen_on_dev", threshold=number(chosen))), (4, 2))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{abs(count):.0f}"))
    axes.set_xlabel(words(remark("score")))
    axes.set_ylabel(words(remark("units")), labelpad=2)
    axes.legend(title=words(remark("people")), frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def reliability_plot(name: str, judge: str, points: list[dict[str, Any]]) -> str:
    """points: as alignment.report.calibration has them, of the probabilities that units pass."""
    held, drawn = _held(points)
    description = remark("reliability_groups", n=len(points), held=held, drawn=drawn)
    labels = remark("probability_given"), remark("share_that_people_pass")
    return _draw_reliability(name, remark("reliability_of", judge=judge), description, points, labels)


def confidence_plot(name: str, judge: str, points: list[dict[str, Any]]) -> str:
    """points: of the probabilities that the judge agrees with people (alignment.report.confidence)."""
    held, drawn = _held(points)
    description = remark("confidence_groups", n=len(points), held=held, drawn=drawn)
    labels = remark("confidence_given"), remark("share_that_agrees")
    return _draw_reliability(name, remark("confidence_of", judge=judge), description, points, labels)


def _held(points: list[dict[str, Any]]) -> tuple[int, int]:
    """In how many the interval holds the probability, and of how many."""
    drawn = [point for point in points if point["low"] is not None]
    return sum(point["low"] <= point["predicted"] <= point["high"] for point in drawn), len(drawn)


def _draw_reliability(
    name: str, title: Remark, description: Remark, points: list[dict[str, Any]], labels: tuple[Remark, Remark]
) -> str:
    paint = partial(_paint_reliability, points=points, labels=labels)
    return draw(name, title, [description], (4.6, 3.8), paint, (0.6, 0.2, 0.15, 0.5))


def _paint_reliability(axes: Axes, words: Words, points: list[dict[str, Any]], labels: tuple[Remark, Remark]) -> None:
    """labels: of the axes."""
    axes.plot([0, 1], [0, 1], color=BAND, linewidth=1.5, linestyle="--")
    # One line for all intervals, lifted between them.
    bars = [point for point in points if point["low"] is not None]
    across = [at for point in bars for at in (point["predicted"], point["predicted"], float("nan"))]
    along = [at for point in bars for at in (point["low"], point["high"], float("nan"))]
    axes.plot(across, along, color=JUDGE, linewidth=1.5)
    predicted = [point["predicted"] for point in points]
    axes.plot(predicted, [point["observed"] for point in points], color=JUDGE, marker="o", markersize=5, linestyle="")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_xlabel(words(labels[0]))
    axes.set_ylabel(words(labels[1]))


# Inches: left, with the label of the axis, right, top, bottom.
TRIAGE_MARGINS = (0.85, 0.2, 0.15, 0.55)


def triage_plot(name: str, judge: str, triage: dict[str, Any]) -> str:
    """`triage`: as alignment.report.triaged.triage_figures gives it, with a curve."""
    sentences = [
        remark("surest_wrong", share=f"{row['coverage']:.0%}", wrong=interval(row["error"], 3))
        for row in triage["rows"]
    ]
    title = remark("risk_of", judge=judge)
    return draw(name, title, sentences, (7.2, 3.0), partial(_paint_triage, triage=triage), TRIAGE_MARGINS)


def _paint_triage(axes: Axes, words: Words, triage: dict[str, Any]) -> None:
    curve, rows = triage["curve"], [row for row in triage["rows"] if row["error"]["low"] is not None]
    axes.plot(
        curve["coverage"], curve["risk"], color=JUDGE, linewidth=1.8, marker="o" if len(curve["risk"]) < 3 else ""
    )
    axes.vlines(
        [row["coverage"] for row in rows],
        [row["error"]["low"] for row in rows],
        [row["error"]["high"] for row in rows],
        color=JUDGE,
        linewidth=1.5,
        alpha=0.6,
    )
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, max([0.1, *(1.1 * row["error"]["high"] for row in rows), *(1.1 * risk for risk in curve["risk"])]))
    axes.xaxis.set_major_formatter(_percent)
    axes.yaxis.set_major_formatter(_percent)
    axes.set_xlabel(words(remark("share_of_decisions")))
    axes.set_ylabel(words(remark("of_them_wrong")))


def _percent(share: float, _place: float) -> str:
    return f"{100 * share:.3g}%"
