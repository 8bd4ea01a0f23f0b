"""Risk against coverage: how many of a judge's surest decisions are wrong, the more of them are kept."""

from __future__ import annotations

from functools import partial
from typing import Any

from matplotlib.figure import Figure

from alignment.base.remark import remark
from alignment.judging.triage import RISK
from annotate.core.text_tables import interval
from frontend.reports.plots.ink import BAND, JUDGE
from frontend.reports.plots.svg import Words, draw

# Inches: left, with the label of the axis, right, top, bottom.
MARGINS = (0.85, 0.2, 0.15, 0.55)


def triage_plot(name: str, judge: str, triage: dict[str, Any]) -> str:
    """`triage`: as alignment.report.triaged.triage_figures gives it, with a curve."""
    sentences = [
        remark("surest_wrong", share=f"{row['coverage']:.0%}", wrong=interval(row["error"], 3))
        for row in triage["rows"]
    ]
    title = remark("risk_of", judge=judge)
    return draw(name, title, sentences, (7.2, 3.0), partial(_paint, triage=triage), MARGINS)


def _paint(figure: Figure, words: Words, triage: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
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
    # What a certified region promises; here for the eye only, since it is decided on test.
    axes.axhline(RISK, color=BAND, linewidth=1.5, linestyle="--")
    axes.annotate(f"{RISK:.0%}", (0, RISK), xytext=(2, 2), textcoords="offset points", fontsize=9)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, max([0.1, *(1.1 * row["error"]["high"] for row in rows), *(1.1 * risk for risk in curve["risk"])]))
    axes.xaxis.set_major_formatter(_percent)
    axes.yaxis.set_major_formatter(_percent)
    axes.set_xlabel(words(remark("share_of_decisions")))
    axes.set_ylabel(words(remark("of_them_wrong")))


def _percent(share: float, _place: float) -> str:
    return f"{100 * share:.3g}%"
