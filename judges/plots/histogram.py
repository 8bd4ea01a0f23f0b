"""Score histogram: how a judge scores what people pass (upwards) and what they fail (downwards)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judges.plots.colours import TNR, TPR
from judges.plots.svg import draw, plain
from judges.plots.sweep import MARGINS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A single score is a bar of this width, in its own units.
_ONE_BAR = 1.0


def histogram_plot(name: str, judge: str, histogram: dict[str, Any], chosen: float | None) -> str:
    """`histogram`: edges of the bins, and how many units in each people pass and fail. `chosen`: the threshold."""
    passes, fails, edges = (histogram[key] for key in ("passes", "fails", "edges"))
    description = (
        f"Scores from {edges[0]:.4g} to {edges[-1]:.4g} of {sum(passes)} units that people pass, "
        f"most often {_peak(passes, edges)}, and of {sum(fails)} that they fail, most often {_peak(fails, edges)}."
    )
    title = f"Scores of {judge}"
    return draw(name, title, description, (7.2, 2.6), lambda figure: _paint(figure, histogram, chosen), MARGINS)


def _peak(counts: list[int], edges: list[float]) -> str:
    if not sum(counts):
        return "nowhere"
    at = counts.index(max(counts))
    return f"between {edges[at]:.4g} and {edges[at + 1]:.4g}"


def _paint(figure: Figure, histogram: dict[str, Any], chosen: float | None) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    edges = histogram["edges"]
    if edges[0] == edges[-1]:
        edges = [edges[0] - _ONE_BAR / 2, edges[0] + _ONE_BAR / 2]
    axes.stairs(histogram["passes"], edges, fill=True, color=TNR, label="pass")
    axes.stairs([-count for count in histogram["fails"]], edges, fill=True, color=TPR, label="fail")
    axes.axhline(0, color="black", linewidth=0.8)
    if chosen is not None:
        axes.axvline(chosen, color="black", linewidth=1, alpha=0.6)
        axes.annotate(
            plain(f"chosen on dev: {chosen:.4g}"),
            (chosen, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=9,
        )
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{abs(count):.0f}"))
    axes.set_xlabel("score")
    axes.set_ylabel("units", labelpad=2)
    axes.legend(title="people", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
