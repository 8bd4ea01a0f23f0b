"""The words of the units on which judges and people disagree most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotate.models import Project, Sample
from annotate.units import unit_text
from judges.selectors.scores import Said, rationales

_EXCERPT = 280
_RATIONALE = 500


def with_words(project: Project, judges: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The judges of a report, each row of their `disagreements` with the unit's text and the judge's reason, and with
    the sample's key in this installation."""
    names = {row["sample"] for judge in judges for row in judge["disagreements"]}
    samples = {one.external_id: one for one in Sample.objects.filter(project=project, external_id__in=names)}
    words = rationales(project, [_said(judge, row) for judge in judges for row in judge["disagreements"]])
    return [
        {
            **judge,
            "disagreements": [
                _worded(row, samples[row["sample"]], words.get(_said(judge, row), "")) for row in judge["disagreements"]
            ],
        }
        for judge in judges
    ]


def _said(judge: dict[str, Any], row: dict[str, Any]) -> Said:
    return judge["judge"], judge["version"], judge["dimension"], (row["sample"], row["unit"])


def _worded(row: dict[str, Any], sample: Sample, rationale: str) -> dict[str, Any]:
    return {
        **row,
        "sample": sample.pk,
        "external_id": sample.external_id,
        "text": _excerpt(_text(sample, row["unit"]), _EXCERPT),
        "rationale": _excerpt(rationale, _RATIONALE),
    }


def _text(sample: Sample, unit: str) -> str:
    """The words of the unit. A claim that was dropped after it had been labelled has none any more."""
    try:
        return unit_text(sample, unit)
    except IndexError:
        return ""


def _excerpt(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
