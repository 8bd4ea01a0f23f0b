"""All plots of a report, made once when it is frozen."""

from __future__ import annotations

from typing import Any

from frontend.reports.compare import best_first
from frontend.reports.plots.differences import DifferenceRow, differences_plot
from frontend.reports.plots.ink import plain
from frontend.reports.plots.judge import confidence_plot, histogram_plot, reliability_plot, sweep_plot, triage_plot
from frontend.reports.plots.spread import planning_plot, slices_plot, weeks_plot


def report_plots(result: dict[str, Any]) -> dict[str, str]:
    """{name: SVG}; those of one judge end in its place among the judges, from 1."""
    judges, plots = result["judges"], {}
    planning = planning_plot("planning", result["planning"])
    if planning is not None:
        plots["planning"] = planning
    for place, row in enumerate(judges, start=1):
        # A judge that answers with labels has nothing to choose.
        if row["sweep"] is not None and row["labels"] is None:
            name = f"sweep-{place}"
            plots[name] = sweep_plot(name, row["title"], row["sweep"], row["sweep"]["best"])
        if row["histogram"] is not None:
            name = f"histogram-{place}"
            plots[name] = histogram_plot(name, row["title"], row["histogram"], row["at_threshold"]["threshold"])
        if row["calibration"].get("points"):
            name = f"reliability-{place}"
            plots[name] = reliability_plot(name, row["title"], row["calibration"]["points"])
        if (confidence := row.get("confidence")) and confidence["reason"] is None:
            name = f"confidence-{place}"
            plots[name] = confidence_plot(name, row["title"], confidence["as_is"]["points"])
        parts = slices_plot(f"slices-{place}", row["title"], row["slices"]["slices"])
        weeks = weeks_plot(f"weeks-{place}", row["title"], row["weeks"]["weeks"], row["weeks"]["error"])
        plots |= {f"slices-{place}": parts} if parts else {}
        plots |= {f"weeks-{place}": weeks} if weeks else {}
        if row["triage"]["reason"] is None:
            plots[f"triage-{place}"] = triage_plot(f"triage-{place}", row["title"], row["triage"])
    pairs = _pairs(result["compared"])
    if pairs:
        plots["compared"] = differences_plot("compared", pairs)
    return plots


def _pairs(compared: dict[str, Any]) -> list[DifferenceRow]:
    sides = [plain(side["title"], 18) for side in compared["sides"]]
    return [
        DifferenceRow(f"{sides[pair['second']]} vs {sides[pair['first']]}", pair["difference"]["kappa"])
        for pair in best_first(compared["pairs"])
        if pair["reason"] is None
    ]
