"""Threshold sweep: kappa, true positive rate and true negative rate of one judge at every threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotate.core.text_tables import figure as number
from judges.plots.colours import JUDGE, TNR, TPR
from judges.plots.svg import draw, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Room for a legend on the right, numbers of four digits on the left, and a word above.
MARGINS = (0.6, 1.4, 0.25, 0.5)

_LINES = (("kappa", "kappa", JUDGE, "-"), ("tpr", "TPR", TPR, "--"), ("tnr", "TNR", TNR, ":"))


def sweep_plot(name: str, judge: str, curve: dict[str, list[float | None]], chosen: float | None) -> str:
    """`curve`: thresholds ascending, with kappa, tpr and tnr at each on dev. `chosen`: the one with the best kappa."""
    if chosen is None:
        description = "Kappa is undefined at every threshold of the dev part."
    else:
        best = number(curve["kappa"][curve["thresholds"].index(chosen)], 2)
        description = f"On the dev part kappa is highest, {best}, at threshold {chosen:.4g}."
    title = f"Threshold sweep of {judge}"
    return draw(name, title, description, (7.2, 3.0), lambda figure: _paint(figure, curve, chosen), MARGINS)


def _paint(figure: Figure, curve: dict[str, Any], chosen: float | None) -> None:
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    for key, title, colour, style in _LINES:
        values = [float("nan") if value is None else value for value in curve[key]]
        # A single threshold is a point, which a line would not show.
        marker = "o" if len(values) == 1 else ""
        # The name by which the page finds where each threshold stands in the drawing: a point of the line for each.
        (line,) = axes.plot(curve["thresholds"], values, color=colour, linestyle=style, label=title, linewidth=1.8)
        line.set(marker=marker, gid=f"line-{key}")
    if chosen is not None:
        axes.axvline(chosen, color="black", linewidth=1, alpha=0.6, gid="chosen")
        axes.annotate(
            plain(f"chosen on dev: {chosen:.4g}"),
            (chosen, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=9,
        )
    axes.axhline(0, color="black", linewidth=0.8, alpha=0.4)
    axes.set_ylim(min([-0.05, *(value - 0.05 for value in curve["kappa"] if value is not None)]), 1.05)
    axes.set_xlabel("threshold")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
