"""One judge of a frozen report, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.text_tables import figure
from annotate.units import unit_title
from judges.models import AlignmentReport
from judges.selectors.shown import Links, number, shown

# Rows of the table beside a sweep plot.
_SWEEP_ROWS = 20


def judge_context(report: AlignmentReport, place: int, links: Links | None = None) -> dict[str, Any]:
    """The `judge` of `judges/judge_fragment.html`; `place` is its own among the report's judges, from 0."""
    row, plots = report.result["judges"][place], report.plots
    at = row["at_threshold"]
    return {
        "title": row["title"],
        "anchor": f"judge-{place + 1}",
        "url": links.judge(row["judge"], row["dimension"]) if links else f"#judge-{place + 1}",
        "trust": row["trust"],
        "kappa": shown(row["kappa"]),
        "threshold": number(at["threshold"]),
        "sign": "≥" if row["higher_is_better"] else "≤",
        "rates": {name: shown(at[name]) for name in ("tpr", "tnr", "f1", "precision", "accuracy", "ac1")},
        "correlations": {name: shown(row[name]) for name in ("roc_auc", "spearman", "kendall", "pearson")},
        "labels": {name: shown(estimate) for name, estimate in (row["labels"] or {}).items()},
        "coverage": row["coverage"],
        "best_kappa": figure(row["sweep_best"]["kappa"], 2),
        "best_threshold": number(row["sweep_best"]["threshold"]),
        "confusion": at["confusion"],
        "why": at["reason"],
        "note": row["note"],
        "plot": plots.get(f"sweep-{place + 1}", ""),
        "sweep": _sweep_rows(row["sweep"]) if f"sweep-{place + 1}" in plots else [],
        "disagreements": [_disagreement(one, links) for one in row["disagreements"]],
    }


def _disagreement(row: dict[str, Any], links: Links | None) -> dict[str, Any]:
    return {
        **row,
        "url": links.sample(row["sample"], row["unit"]) if links else "",
        "unit_title": unit_title(row["unit"]),
        "human": figure(row["human"], 2),
        "verdict": {True: "pass", False: "fail", None: "split in half"}[row["passes"]],
        "said": number(row["score"]) if row["label"] is None else str(row["label"]),
    }


def _sweep_rows(curve: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    size = len(curve["thresholds"])
    step = max(1, -(-size // _SWEEP_ROWS))
    return [
        [number(curve["thresholds"][at]), *(figure(curve[name][at], 2) for name in ("kappa", "tpr", "tnr"))]
        for at in range(0, size, step)
    ]
