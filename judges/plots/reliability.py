"""Reliability diagram: of the units that got a probability, how many people really pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judges.plots.colours import BAND, JUDGE
from judges.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reliability_plot(name: str, judge: str, calibration: dict[str, Any]) -> str:
    """`calibration`: as alignment.report.calibration, with points of the chosen method."""
    points = calibration["points"]
    held = sum(point["low"] <= point["predicted"] <= point["high"] for point in points if point["low"] is not None)
    drawn = sum(point["low"] is not None for point in points)
    description = (
        f"{len(points)} groups of units by the probability that was given to them. In {held} of the {drawn} with an "
        "interval, the interval of the share that people pass holds that probability."
    )
    title = f"Reliability of {judge}"
    return draw(name, title, description, (4.6, 3.8), lambda figure: _paint(figure, points), (0.6, 0.2, 0.15, 0.5))


def _paint(figure: Figure, points: list[dict[str, Any]]) -> None:
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    axes.plot([0, 1], [0, 1], color=BAND, linewidth=1.5, linestyle="--")
    # One line for all intervals, lifted between them.
    bars = [point for point in points if point["low"] is not None]
    across = [at for point in bars for at in (point["predicted"], point["predicted"], float("nan"))]
    along = [at for point in bars for at in (point["low"], point["high"], float("nan"))]
    axes.plot(across, along, color=JUDGE, linewidth=1.5)
    predicted = [point["predicted"] for point in points]
    axes.plot(predicted, [point["observed"] for point in points], color=JUDGE, marker="o", markersize=5, linestyle="")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_xlabel("probability given")
    axes.set_ylabel("share that people pass")
