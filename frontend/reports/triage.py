"""Triage of one judge of a frozen report, as its page shows it."""

from __future__ import annotations

from typing import Any

from annotate.core.text_tables import figure
from frontend.reports.shown import Links, number, percent, shown, shown_share
from frontend.reports.wording import in_words, plot_in_words
from judges.certificates.triage_read import latest_look, left_to_people
from judges.models import AlignmentReport, Look


def triage_context(report: AlignmentReport, place: int, links: Links) -> dict[str, Any]:
    """The curve as it was frozen; the certified region and what is left to people as they are now."""
    row = report.result["judges"][place]
    triage, look = row["triage"], latest_look(report.criterion, row)
    curve = triage["curve"]["risk"]
    return {
        "title": row["title"],
        "url": links.judge(row["judge"], row["dimension"]),
        "why": in_words(triage["reason"]),
        "plot": plot_in_words(report.plots.get(f"triage-{place + 1}", "")),
        "aurc": shown(triage["aurc"], 3),
        "error": figure(curve[-1], 3) if curve else "",
        "rows": [_row(one) for one in triage["rows"]],
        "look": None if look is None else _look(look),
        "left": None if look is None else left_to_people(look),
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "coverage": percent(row["coverage"]),
        "distance": number(row["distance"]),
        "error": shown_share(row["error"]),
    }


def _look(look: Look) -> dict[str, Any]:
    region = look.result.get("region")
    return {
        "number": look.number,
        "created_at": look.created_at,
        "region": None if region is None else _region(region),
    }


def _region(region: dict[str, Any]) -> dict[str, Any]:
    found = {
        "risk": percent(region["risk"]),
        "confidence": f"{100 * region['confidence']:.4g}%",
        "reason": _why_none(region["reason"]),
        "tried": [
            {
                "distance": number(step["distance"]),
                "error": shown_share(step["error"]),
                "error_high": percent(step["error"]["high"]),
            }
            for step in region["tried"]
        ],
    }
    if region["distance"] is None:
        return found
    threshold, distance = region["threshold"], region["distance"]
    return {
        **found,
        "distance": number(distance),
        "threshold": number(threshold),
        "low": number(threshold - distance),
        "high": number(threshold + distance),
        "error": shown_share(region["error"]),
        "error_high": percent(region["error"]["high"]),
        "inside": shown_share(region["inside"]),
    }


def _why_none(reason: dict[str, Any] | None) -> str:
    """That there is no region stands before it."""
    return in_words(reason["why"] if reason and reason["code"] == "no_region" else reason)
