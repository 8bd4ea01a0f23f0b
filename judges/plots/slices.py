"""Parts of the data: how much a judge's kappa in each differs from that in the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotate.core.text_tables import interval
from judges.plots.colours import JUDGE, TPR
from judges.plots.svg import draw, plain, room_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A plot that fits a page; the table has them all.
MAX_ROWS = 24


def slices_plot(name: str, judge: str, slices: Sequence[Mapping[str, Any]]) -> str | None:
    """None when fewer than two parts have a difference to show."""
    known = [part for part in slices if part["difference"]["value"] is not None]
    if len(known) < 2:
        return None
    rows = known[:MAX_ROWS]
    sentences = [
        f"{_title(part)}: {interval(part['difference'], 2)}{', worse than the rest' if part['worse'] else ''}."
        for part in rows
    ]
    if len(known) > len(rows):
        sentences.append(f"{len(known) - len(rows)} more parts are in the table only.")
    size = (7.2, 1.1 + 0.26 * len(rows))
    margins = (room_for(_title(part) for part in rows), 1.6 if any(part["worse"] for part in rows) else 0.2, 0.15, 0.55)
    title = f"Kappa of {judge} on parts of the data, less that on the rest"
    return draw(name, title, " ".join(sentences), size, lambda figure: _paint(figure, rows), margins)


def _title(part: Mapping[str, Any]) -> str:
    return f"{part['key']}: {part['value']}"


def _paint(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> None:
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    axes.axvline(0, color="black", linewidth=0.8, alpha=0.6)
    for colour, marker, worse in ((JUDGE, "o", False), (TPR, "D", True)):
        here = [(place, part["difference"]) for place, part in enumerate(rows) if bool(part["worse"]) is worse]
        sure = [(place, found["low"], found["high"]) for place, found in here if found["low"] is not None]
        if sure:
            places, lows, highs = zip(*sure, strict=True)
            axes.hlines(places, lows, highs, color=colour, linewidth=2)
        values = [found["value"] for _, found in here]
        axes.plot(values, [place for place, _ in here], color=colour, marker=marker, markersize=6, linestyle="")
    for place, part in enumerate(rows):
        if part["worse"]:
            axes.annotate(
                "worse than the rest",
                (1.0, place),
                xycoords=("axes fraction", "data"),
                xytext=(8, 0),
                textcoords="offset points",
                verticalalignment="center",
                fontsize=9,
            )
    axes.set_yticks(range(len(rows)), [plain(_title(part)) for part in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("kappa less that of the rest")
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
