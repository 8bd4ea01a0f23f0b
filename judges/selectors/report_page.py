"""A frozen report as its template shows it: every figure already a text, every list a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.text_tables import UNDEFINED, figure
from annotate.units import unit_title
from judges.models import AlignmentReport

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
# Rows of the table beside a sweep plot.
_SWEEP_ROWS = 20
# A kappa on fewer common units says little: the same number that a pair needs to count in the means.
FEW_UNITS = 10
# Upper ends of the shades of a matrix cell.
_SHADES = (0.0, 0.2, 0.4, 0.6, 0.8)

# From a sample and one of its units to the page where they are seen.
SampleUrl = Callable[[int, str], str]


@dataclass(frozen=True, slots=True)
class Shown:
    """An estimate in words: the value, its interval, and why one of them is missing."""

    text: str
    interval: str
    why: str
    n: int
    clusters: int


def shown(estimate: Mapping[str, Any], digits: int = 2) -> Shown:
    interval = ""
    if estimate["low"] is not None:
        interval = f"{figure(estimate['low'], digits)} to {figure(estimate['high'], digits)}"
    return Shown(
        text=figure(estimate["value"], digits),
        interval=interval,
        why=estimate["reason"] or "",
        n=estimate["n"],
        clusters=estimate["clusters"],
    )


def report_context(report: AlignmentReport, sample_url: SampleUrl | None = None) -> dict[str, Any]:
    """The context of `judges/report_fragment.html`. `sample_url` makes the links to units; a file has none."""
    result = report.result
    judges = [_judge(row, report.plots, place, sample_url) for place, row in enumerate(result["judges"], start=1)]
    return {
        "report": report,
        "result": result,
        "has_passes": bool(result["criterion"]["passes"]),
        "human_is_share": _human_is_share(result),
        "people": shown(result["people"]),
        "judges": judges,
        "uses_dev": any(row["at_threshold"]["confusion"] is not None for row in result["judges"]),
        "forest": report.plots.get("forest", ""),
        "statistics": [(title, shown(result["agreement"]["estimates"][name])) for name, title in STATISTICS],
        "prevalence": [{**row, "percent": _percent(row["share"])} for row in result["prevalence"]],
        "matrix": _matrix(result["matrix"]),
        "few_units": FEW_UNITS,
        "libraries": ", ".join(f"{name} {version}" for name, version in report.parameters["libraries"].items()),
        "parameters": report.parameters,
    }


def _human_is_share(result: Mapping[str, Any]) -> bool:
    """Whether people's figure for a unit is the share that passes; else it is the mean of their values, which is taken
    of numbers on an ordered scale of more than two (judges.selectors.reference)."""
    criterion, values = result["criterion"], [row["value"] for row in result["prevalence"]]
    has_mean = criterion["scale"] in ("ordinal", "interval") and all(isinstance(value, int | float) for value in values)
    return bool(criterion["passes"]) and not has_mean


def _judge(row: dict[str, Any], plots: Mapping[str, str], place: int, sample_url: SampleUrl | None) -> dict[str, Any]:
    at = row["at_threshold"]
    return {
        "title": row["title"],
        "anchor": f"judge-{place}",
        "kappa": shown(row["kappa"]),
        "threshold": _number(at["threshold"]),
        "sign": "≥" if row["higher_is_better"] else "≤",
        "rates": {name: shown(at[name]) for name in ("tpr", "tnr", "f1", "precision", "accuracy", "ac1")},
        "correlations": {name: shown(row[name]) for name in ("roc_auc", "spearman", "kendall", "pearson")},
        "labels": {name: shown(estimate) for name, estimate in (row["labels"] or {}).items()},
        "coverage": row["coverage"],
        "best_kappa": figure(row["sweep_best"]["kappa"], 2),
        "best_threshold": _number(row["sweep_best"]["threshold"]),
        "confusion": at["confusion"],
        "why": at["reason"],
        "note": row["note"],
        "plot": plots.get(f"sweep-{place}", ""),
        "sweep": _sweep_rows(row["sweep"]) if f"sweep-{place}" in plots else [],
        "disagreements": [_disagreement(one, sample_url) for one in row["disagreements"]],
    }


def _disagreement(row: dict[str, Any], sample_url: SampleUrl | None) -> dict[str, Any]:
    return {
        **row,
        "url": sample_url(row["sample"], row["unit"]) if sample_url else "",
        "unit_title": unit_title(row["unit"]),
        "human": figure(row["human"], 2),
        "verdict": {True: "pass", False: "fail", None: "split in half"}[row["passes"]],
        "said": _number(row["score"]) if row["label"] is None else str(row["label"]),
    }


def _sweep_rows(curve: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    size = len(curve["thresholds"])
    step = max(1, -(-size // _SWEEP_ROWS))
    return [
        [_number(curve["thresholds"][at]), *(figure(curve[name][at], 2) for name in ("kappa", "tpr", "tnr"))]
        for at in range(0, size, step)
    ]


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


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4g}"


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{share:.1%}"
