"""What share of all units that a judge scored people would pass, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.core.text_tables import figure
from judges.selectors.said import said
from judges.selectors.shown import percent, shown_share


def population_context(found: Mapping[str, Any]) -> dict[str, Any]:
    """The `population` of `judges/judge_population.html` from a judge of a report's result."""
    return {
        **found,
        "reason": said(found["reason"]),
        **{name: shown_share(found[name]) for name in ("classical", "tuned")},
        "weight": figure(found["weight"], 2),
        "narrower": _narrower(found["classical"], found["tuned"]),
    }


def _narrower(classical: Mapping[str, Any], tuned: Mapping[str, Any]) -> str:
    """By how much of its width the judge narrows the interval; empty where it doesn't, or there is none."""
    if classical["low"] is None or tuned["low"] is None:
        return ""
    share = 1 - (tuned["high"] - tuned["low"]) / (classical["high"] - classical["low"])
    return percent(share) if share >= 0.001 else ""
