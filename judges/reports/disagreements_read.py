"""The words of the units on which judges and people disagree most.

Which of two judges, or of two versions of one, agrees more with people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from alignment.base.remark import Remark, remark
from annotate.core.blindness import Reader
from annotate.core.units import unit_number, unit_text
from annotate.models import Project, Sample
from judges.core.scores_read import Said, rationales

_EXCERPT = 280
_RATIONALE = 500


def with_words(project: Project, judges: Sequence[dict[str, Any]], *, reader: Reader) -> list[dict[str, Any]]:
    """The judges of a report, each row of their `disagreements` with the unit's text and the judge's reason, and with
    the sample's key in this installation."""
    names = {row["sample"] for judge in judges for row in judge["disagreements"]}
    samples = {one.external_id: one for one in Sample.objects.filter(project=project, external_id__in=names)}
    wanted = [_said(judge, row) for judge in judges for row in judge["disagreements"]]
    words = rationales(project, wanted, reader=reader)
    return [
        {
            **judge,
            "disagreements": [
                _worded(row, samples[row["sample"]], words.get(_said(judge, row), "")) for row in judge["disagreements"]
            ],
        }
        for judge in judges
    ]


def with_both_words(
    project: Project,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    rows: Sequence[dict[str, Any]],
    *,
    reader: Reader,
) -> list[dict[str, Any]]:
    """The rows of units that two judges decide differently, each with the unit's text and both judges' reasons.

    Read when they are shown, not when the report is frozen: of all pairs of judges one or two are ever looked at, and
    their words together would outweigh the report. Scores and the addresses of units don't change. The key of a sample
    that is gone is None.
    """
    names = {row["sample"] for row in rows}
    samples = {one.external_id: one for one in Sample.objects.filter(project=project, external_id__in=names)}
    words = rationales(project, [_said(judge, row) for judge in (first, second) for row in rows], reader=reader)
    found = []
    for row in rows:
        sample = samples.get(row["sample"])
        given = {
            "sample": None if sample is None else sample.pk,
            "external_id": row["sample"],
            "text": "" if sample is None else _excerpt(_text(sample, row["unit"]), _EXCERPT),
            "unit_number": None if sample is None else unit_number(sample, row["unit"]),
            "first_rationale": _excerpt(words.get(_said(first, row), ""), _RATIONALE),
            "second_rationale": _excerpt(words.get(_said(second, row), ""), _RATIONALE),
        }
        found.append({**row, **given})
    return found


def _said(judge: Mapping[str, Any], row: dict[str, Any]) -> Said:
    return judge["judge"], judge["version"], judge["dimension"], (row["sample"], row["unit"])


def _worded(row: dict[str, Any], sample: Sample, rationale: str) -> dict[str, Any]:
    return {
        **row,
        "sample": sample.pk,
        "external_id": sample.external_id,
        "text": _excerpt(_text(sample, row["unit"]), _EXCERPT),
        "unit_number": unit_number(sample, row["unit"]),
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


def said_by_judge(value: Any, score: float | None, basis: str) -> str:
    """Pass or fail, or the label, with the score behind it."""
    text = str(value) if basis == "labels" else (_("pass") if value else _("fail"))
    return text if score is None else f"{text} ({score:.4g})"


def outcome(first: str, second: str, pair: Mapping[str, Any]) -> Remark:
    """Which of two agrees more with people. `pair`: as alignment.report compares them; first, second: their names."""
    kappa = pair["difference"]["kappa"]
    if pair["reason"] is not None:
        return remark("cannot_be_compared", why=pair["reason"])
    if not sum(pair["flips"].values()):
        return remark("all_decided_alike", first=first, second=second, units=pair["units"])
    if kappa["value"] is None:
        return remark("difference_unknown", why=kappa["reason"])
    value = round(kappa["value"], 2)
    if kappa["low"] is None:
        return remark("difference_without_interval", first=first, second=second, kappa=value, why=kappa["reason"])
    low, high = round(kappa["low"], 2), round(kappa["high"], 2)
    if kappa["low"] > 0:
        return remark("second_agrees_more", first=first, second=second, kappa=value, low=low, high=high)
    if kappa["high"] < 0:
        return remark("second_agrees_less", first=first, second=second, kappa=value, low=low, high=high)
    return remark("no_difference_shown", first=first, second=second, kappa=value, low=low, high=high)
