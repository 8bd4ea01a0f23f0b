"""Width of the intervals against labelled samples: people's kappa, and every judge's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotate.core.text_tables import figure as number
from judges.plots.colours import BAND, JUDGE, TNR, TPR
from judges.plots.svg import draw, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# As many as differ by colour and dash; the table has all.
_STYLES = ((JUDGE, "-"), (TPR, "--"), (TNR, ":"), (JUDGE, "-."), (TPR, (0, (1, 3))))


def planning_plot(name: str, planning: dict[str, Any]) -> str | None:
    """`planning`: as in a report's result. None when there is no kappa to plan for."""
    rows = [row for row in planning["rows"] if row["figure"] == "kappa" and row["half_width"] is not None]
    people, judges = ([row for row in rows if (row["judge"] is None) is wanted] for wanted in (True, False))
    shown = [*people, *judges[: len(_STYLES)]]
    if not shown or not planning["more"]:
        return None
    sentences = [
        f"{row['judge'] or 'People with each other'}: ±{number(row['half_width'], 2)} now, "
        f"±{number(row['curve'][-1], 2)} with {planning['more'][-1]:,} more samples."
        for row in shown
    ]
    if len(judges) > len(_STYLES):
        sentences.append(f"{len(judges) - len(_STYLES)} more judges are in the table only.")
    title = "Width of kappa's interval against labelled samples"
    return draw(name, title, " ".join(sentences), (7.2, 3.0), lambda figure: _paint(figure, planning, shown))


def _paint(figure: Figure, planning: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    samples = [planning["samples"] + more for more in (0, *planning["more"])]
    styles = iter(_STYLES)
    for row in rows:
        colour, dash = (BAND, "-") if row["judge"] is None else next(styles)
        title = "people with each other" if row["judge"] is None else plain(row["judge"], 24)
        widths = [row["half_width"], *row["curve"]]
        axes.plot(samples, widths, color=colour, linestyle=dash, label=title, linewidth=1.8)
        axes.plot(samples[:1], widths[:1], color=colour, marker="o", markersize=5)
    axes.set_xscale("log")
    ticks = _ticks(samples)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1.08 * max(row["half_width"] for row in rows))
    axes.set_xlabel("labelled samples, dev and test together; the dot is now")
    axes.set_ylabel("half-width of kappa (±)")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _ticks(samples: Sequence[int]) -> list[int]:
    """The present number, and some of the others that don't stand in each other's way."""
    kept = [samples[0]]
    for count in samples[1:]:
        if count >= 1.45 * kept[-1]:
            kept.append(count)
    return kept
