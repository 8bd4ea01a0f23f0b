"""The plot of differences: of every two judges, or versions of one, how much more the second agrees with annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from alignment.base.estimate import Remark, remark
from annotate.core.text_tables import interval
from frontend.reports.plots.ink import JUDGE, SMALL
from frontend.reports.plots.svg import Words, beside, draw, title_rows

# A report compares any number of pairs; a plot that fits a page does not.
MAX_ROWS = 40


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """`estimate`: as Estimate.as_dict."""

    title: str
    estimate: dict[str, Any]


def _paint_rows(axes: Axes, words: Words, rows: Sequence[DifferenceRow]) -> None:
    """A mark with its interval per row, its title on the left and its figures on the right."""
    undefined = words(remark("undefined"))
    for place, row in enumerate(rows):
        value, low, high = (row.estimate[end] for end in ("value", "low", "high"))
        if value is None:
            axes.text(0.02, place, undefined, verticalalignment="center", alpha=0.7, fontsize=SMALL)
            continue
        if low is not None:
            axes.plot([low, high], [place, place], color=JUDGE, linewidth=2)
        axes.plot([value], [place], color=JUDGE, marker="o", markersize=6)
        beside(axes, place, interval(row.estimate, 2))
    title_rows(axes, [row.title for row in rows])


def differences_plot(name: str, rows: Sequence[DifferenceRow]) -> str:
    """`rows`: the second judge and the first, and the difference of their kappas."""
    shown = rows[:MAX_ROWS]
    sentences: list[Remark | str] = [f"{row.title}: {interval(row.estimate, 2)}." for row in shown]
    if len(rows) > len(shown):
        sentences.append(remark("more_pairs", n=len(rows) - len(shown)))
    size = (8.0, 1.1 + 0.3 * len(shown))
    return draw(name, remark("forest_of_differences"), sentences, size, partial(_differences_paint, rows=shown))


def _differences_paint(axes: Axes, words: Words, rows: Sequence[DifferenceRow]) -> None:
    axes.axvline(0, color="black", linewidth=1, alpha=0.6)
    _paint_rows(axes, words, rows)
    ends = [abs(row.estimate[end]) for row in rows for end in ("value", "low", "high") if row.estimate[end] is not None]
    reach = max([0.2, *(end + 0.05 for end in ends)])
    axes.set_xlim(-reach, reach)
    axes.set_xlabel(words(remark("kappa_difference_with_interval")))
