"""Every two judges, and versions of one: how much more the second agrees with people, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotate.core.text_tables import interval
from judges.plots.forest import MAX_ROWS, ForestRow, paint_rows
from judges.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def differences_plot(name: str, rows: Sequence[ForestRow]) -> str:
    """`rows`: the second judge and the first, and the difference of their kappas."""
    shown = rows[:MAX_ROWS]
    sentences = [f"{row.title}: {interval(row.estimate, 2)}." for row in shown]
    if len(rows) > len(shown):
        sentences.append(f"{len(rows) - len(shown)} more pairs are in the table only.")
    size = (8.0, 1.1 + 0.3 * len(shown))
    return draw(name, "Differences in kappa", " ".join(sentences), size, lambda figure: _paint(figure, shown))


def _paint(figure: Figure, rows: Sequence[ForestRow]) -> None:
    axes = figure.add_subplot()
    axes.axvline(0, color="black", linewidth=1, alpha=0.6)
    paint_rows(axes, rows)
    ends = [abs(row.estimate[end]) for row in rows for end in ("value", "low", "high") if row.estimate[end] is not None]
    reach = max([0.2, *(end + 0.05 for end in ends)])
    axes.set_xlim(-reach, reach)
    axes.set_xlabel("kappa of the second less kappa of the first, with 95 % interval")
