"""All plots of a report, made once when it is frozen."""

from __future__ import annotations

from typing import Any

from judges.plots.forest import ForestRow, forest_plot
from judges.plots.planning import planning_plot
from judges.plots.sweep import sweep_plot


def report_plots(result: dict[str, Any]) -> dict[str, str]:
    """{name: SVG}; those of one judge end in its place among the judges, from 1."""
    judges, plots = result["judges"], {}
    planning = planning_plot("planning", result["planning"])
    if planning is not None:
        plots["planning"] = planning
    if not judges:
        return plots
    rows = [ForestRow(row["title"], row["kappa"]) for row in judges]
    plots["forest"] = forest_plot(f"forest-{result['criterion']['key']}", rows, result["people"])
    for place, row in enumerate(judges, start=1):
        # A judge that answers with labels has nothing to choose.
        if row["sweep"] is not None and row["labels"] is None:
            name = f"sweep-{place}"
            plots[name] = sweep_plot(name, row["title"], row["sweep"], row["sweep"]["best"])
    return plots
