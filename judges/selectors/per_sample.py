"""Judges against people sample by sample, as the report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges.selectors.said import said
from judges.selectors.shown import shown

_FIGURES = ("people", "judge", "difference", "pearson", "spearman")
# Title and what it is, in the order in which the figures come.
_WORDS = {
    "faithfulness": (
        gettext_noop("Share of claims that pass"),
        gettext_noop("faithfulness, where the question is whether contexts support them"),
    ),
    "context_precision": (
        gettext_noop("Context precision"),
        gettext_noop("whether the contexts that pass are ranked first"),
    ),
    "precision_at_k": (gettext_noop("Precision@%(k)s"), gettext_noop("share of the first %(k)s contexts that pass")),
    "reciprocal_rank": (gettext_noop("Reciprocal rank"), gettext_noop("1 / the rank of the first context that passes")),
    "ndcg_at_k": (
        gettext_noop("nDCG@%(k)s"),
        gettext_noop("the order of the contexts by their grades, against the best order"),
    ),
    "context_recall": (
        gettext_noop("Share of key facts that pass"),
        gettext_noop("context recall, where the question is about the contexts"),
    ),
    "context_entity_recall": (
        gettext_noop("Share of entities that pass"),
        gettext_noop("context entity recall, where the question is about the contexts"),
    ),
}
_PARTS = {
    "claim": (gettext_noop("claim"), gettext_noop("claims")),
    "context": (gettext_noop("context"), gettext_noop("contexts")),
    "fact": (gettext_noop("key fact"), gettext_noop("key facts")),
    "entity": (gettext_noop("entity"), gettext_noop("entities")),
}


def per_sample_context(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The `per_sample` of `judges/per_sample.html`; None where a sample has one unit."""
    if found is None:
        return None
    part, parts = _PARTS[found["unit"]]
    metrics = [_metric(metric, found["k"]) for metric in found["metrics"]]
    return {
        "part": _(part),
        "parts": _(parts),
        "metrics": metrics,
        # The same sentence wherever it is needed.
        "caveat": next((metric["caveat"] for metric in found["metrics"] if metric["caveat"]), None),
        "is_ranked": found["unit"] == "context",
        "uses_dev": any(row["on_dev"] for metric in metrics for row in metric["rows"]),
        "has_whole": any(row["whole"] for metric in metrics for row in metric["rows"]),
    }


def _metric(metric: Mapping[str, Any], k: int) -> dict[str, Any]:
    words = _WORDS[metric["key"]]
    title, about = (_(text) % {"k": k} for text in words)
    return {
        "title": title,
        "about": about,
        "reason": said(metric["reason"]),
        "people": shown(metric["people"]),
        "left_out": metric["left_out"],
        "rows": [{**row, **{name: shown(row[name]) for name in _FIGURES}} for row in metric["judges"]],
    }
