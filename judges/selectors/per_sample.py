"""Judges against people sample by sample, as the report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judges.selectors.shown import shown

_FIGURES = ("people", "judge", "difference", "pearson", "spearman")
# Title and what it is, in the order in which the figures come.
_WORDS = {
    "faithfulness": ("Share of claims that pass", "faithfulness, where the question is whether contexts support them"),
    "context_precision": ("Context precision", "whether the contexts that pass are ranked first"),
    "precision_at_k": ("Precision@{k}", "share of the first {k} contexts that pass"),
    "reciprocal_rank": ("Reciprocal rank", "1 / the rank of the first context that passes"),
    "ndcg_at_k": ("nDCG@{k}", "the order of the contexts by their grades, against the best order"),
    "context_recall": ("Share of key facts that pass", "context recall, where the question is about the contexts"),
    "context_entity_recall": (
        "Share of entities that pass",
        "context entity recall, where the question is about the contexts",
    ),
}
_PARTS = {"claim": "claims", "context": "contexts", "fact": "key facts", "entity": "entities"}


def per_sample_context(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The `per_sample` of `judges/per_sample.html`; None where a sample has one unit."""
    if found is None:
        return None
    metrics = [_metric(metric, found["k"]) for metric in found["metrics"]]
    return {
        "part": found["unit"] if found["unit"] != "fact" else "key fact",
        "parts": _PARTS[found["unit"]],
        "metrics": metrics,
        # The same sentence wherever it is needed.
        "caveat": next((metric["caveat"] for metric in found["metrics"] if metric["caveat"]), None),
        "is_ranked": found["unit"] == "context",
        "uses_dev": any(row["on_dev"] for metric in metrics for row in metric["rows"]),
        "has_whole": any(row["whole"] for metric in metrics for row in metric["rows"]),
    }


def _metric(metric: Mapping[str, Any], k: int) -> dict[str, Any]:
    title, about = (text.format(k=k) for text in _WORDS[metric["key"]])
    return {
        "title": title,
        "about": about,
        "reason": metric["reason"],
        "people": shown(metric["people"]),
        "left_out": metric["left_out"],
        "rows": [{**row, **{name: shown(row[name]) for name in _FIGURES}} for row in metric["judges"]],
    }
