"""All plots of a report, made once when it is frozen."""

from __future__ import annotations

from typing import Any

from judges.plots.differences import differences_plot
from judges.plots.forest import ForestRow, forest_plot
from judges.plots.svg import plain
from judges.plots.sweep import sweep_plot
from judges.plots.triage import triage_plot


def report_plots(result: dict[str, Any]) -> dict[str, str]:
    """{name: SVG}; those of one judge end in its place among the judges, from 1."""
    judges = result["judges"]
    if not judges:
        return {}
    rows = [ForestRow(row["title"], row["kappa"]) for row in judges]
    plots = {"forest": forest_plot(f"forest-{result['criterion']['key']}", rows, result["people"])}
    for place, row in enumerate(judges, start=1):
        # A judge that answers with labels has nothing to choose.
        if row["sweep"] is not None and row["labels"] is None:
            name = f"sweep-{place}"
            plots[name] = sweep_plot(name, row["title"], row["sweep"], row["sweep"]["best"])
        if row["triage"]["reason"] is None:
            plots[f"triage-{place}"] = triage_plot(f"triage-{place}", row["title"], row["triage"])
    pairs = _pairs(result["compared"])
    if pairs:
        plots["compared"] = differences_plot("compared", pairs)
    return plots


def _pairs(compared: dict[str, Any]) -> list[ForestRow]:
    sides = [plain(side["title"], 18) for side in compared["sides"]]
    return [
        ForestRow(f"{sides[pair['second']]} vs {sides[pair['first']]}", pair["difference"]["kappa"])
        for pair in compared["pairs"]
        if pair["reason"] is None
    ]
