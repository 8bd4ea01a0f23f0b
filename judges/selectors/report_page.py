"""A frozen report as its template shows it: every figure already a text, every list a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.text_tables import UNDEFINED, figure
from judges.models import AlignmentReport
from judges.selectors.judge_page import judge_context
from judges.selectors.planner_page import drawn_context, planning_context
from judges.selectors.shown import Links, percent, shown

STATISTICS = (
    ("percent_agreement", "Percent agreement"),
    ("cohen_kappa_mean", "Cohen’s kappa, mean over pairs"),
    ("cohen_kappa_mean_weighted_by_common_units", "… weighted by common units"),
    ("cohen_kappa_linear_mean", "… linear weights"),
    ("cohen_kappa_quadratic_mean", "… quadratic weights"),
    ("fleiss_kappa", "Fleiss’ kappa"),
    ("krippendorff_alpha_nominal", "Krippendorff’s alpha, nominal"),
    ("krippendorff_alpha_ordinal", "Krippendorff’s alpha, ordinal"),
    ("krippendorff_alpha_interval", "Krippendorff’s alpha, interval"),
    ("gwet_ac1", "Gwet’s AC1"),
)
# A kappa on fewer common units says little: the same number that a pair needs to count in the means.
FEW_UNITS = 10
# Upper ends of the shades of a matrix cell.
_SHADES = (0.0, 0.2, 0.4, 0.6, 0.8)


def report_context(report: AlignmentReport, links: Links | None = None) -> dict[str, Any]:
    """The context of `judges/report_fragment.html`, and every judge's of `judges/judge_fragment.html`."""
    result = report.result
    judges = [judge_context(report, place, links) for place in range(len(result["judges"]))]
    return {
        **frame_context(report),
        "people": shown(result["people"]),
        "judges": judges,
        "uses_dev": any(row["at_threshold"]["confusion"] is not None for row in result["judges"]),
        "forest": report.plots.get("forest", ""),
        "statistics": [(title, shown(result["agreement"]["estimates"][name])) for name, title in STATISTICS],
        "prevalence": [{**row, "percent": percent(row["share"])} for row in result["prevalence"]],
        "matrix": _matrix(result["matrix"]),
        "few_units": FEW_UNITS,
        "planning": planning_context(report),
        "drawn": drawn_context(report),
    }


def frame_context(report: AlignmentReport) -> dict[str, Any]:
    """What every page and part of a report needs: what was asked, and how it was worked out."""
    result = report.result
    return {
        "report": report,
        "result": result,
        "has_passes": bool(result["criterion"]["passes"]),
        "human_is_share": _human_is_share(result),
        "libraries": ", ".join(f"{name} {version}" for name, version in report.parameters["libraries"].items()),
        "parameters": report.parameters,
    }


def _human_is_share(result: Mapping[str, Any]) -> bool:
    """Whether people's figure for a unit is the share that passes; else it is the mean of their values, which is taken
    of numbers on an ordered scale of more than two (judges.selectors.reference)."""
    criterion, values = result["criterion"], [row["value"] for row in result["prevalence"]]
    has_mean = criterion["scale"] in ("ordinal", "interval") and all(isinstance(value, int | float) for value in values)
    return bool(criterion["passes"]) and not has_mean


def _matrix(matrix: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {**rater, "cells": [None if i == j else _cell(cell) for j, cell in enumerate(cells)]}
        for i, (rater, cells) in enumerate(zip(matrix["raters"], matrix["cells"], strict=True))
    ]
    few = any(cell and cell["few"] for row in rows for cell in row["cells"])
    return {**matrix, "rows": rows, "has_few": few}


def _cell(cell: dict[str, Any] | None) -> dict[str, Any]:
    if cell is None:
        return {"text": "", "shade": "none", "title": "no common units", "n": "", "few": False}
    n, few = cell["n"], cell["n"] < FEW_UNITS
    if cell["kappa"] is None:
        title = f"{cell['reason']}; {n} common units"
        return {"text": UNDEFINED, "shade": "none", "title": title, "n": n, "few": few}
    title = f"{n} common units"
    if cell["low"] is not None:
        title = f"{figure(cell['low'], 2)} to {figure(cell['high'], 2)}, {title}"
    shade = "few" if few else sum(cell["kappa"] > end for end in _SHADES)
    return {"text": figure(cell["kappa"], 2), "shade": shade, "title": title, "n": n, "few": few}
