"""How figures of an experiment read, in the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.core.text_tables import UNDEFINED, figure, number

Estimate = Mapping[str, Any]

# What is a share from 0 to 1; all else was measured in a unit.
SHARE = "share"


def decisive(found: Mapping[str, Any]) -> Estimate:
    """Of a level or a difference what is concluded from: people's labels with the judge that they correct, or alone
    where there is none. Never the judge alone."""
    estimate: Estimate = found[found["decisive"]]
    return estimate


def is_measured(level: Mapping[str, Any]) -> bool:
    """Whether it needs no labels: latency, cost."""
    reason = level["people"]["reason"]
    return reason is not None and reason["code"] == "measured_without_judge"


def value_in(value: float | None, unit: str, *, signed: bool = False, digits: int = 3) -> str:
    """signed: a difference, with its sign where it has one. digits: of a share."""
    if value is None:
        return UNDEFINED
    text = figure(value, digits) if unit == SHARE else number(value).replace("-", "−")
    return f"+{text}" if signed and value > 0 and text.strip("0.") else text


def interval_in(found: Estimate, unit: str, *, signed: bool = False) -> str:
    """`+0.120 [+0.030, +0.210]`, the value alone when it has no interval, or a dash."""
    value, low, high = (value_in(found[name], unit, signed=signed) for name in ("value", "low", "high"))
    return value if found["low"] is None else f"{value} [{low}, {high}]"
