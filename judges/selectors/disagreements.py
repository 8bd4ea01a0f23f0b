"""Where a judge and people disagree most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from annotate.models import Criterion, Sample
from annotate.selectors.ratings import UnitKey
from annotate.units import unit_sort_key, unit_text
from judges.selectors.alignment import Comparison
from judges.selectors.reference import Reference
from judges.selectors.scores import rationales

PER_JUDGE = 30
_EXCERPT = 280
_RATIONALE = 500


@dataclass(frozen=True, slots=True)
class _Distant:
    comparison: Comparison
    unit: UnitKey
    distance: float
    human: float | None


def most_disagreed(
    criterion: Criterion, reference: Reference, comparisons: Sequence[Comparison]
) -> list[list[dict[str, Any]]]:
    """For each comparison up to 30 units, the furthest apart first, as plain JSON.

    The distance lies between 0 and 1: people's share of passes (or their mean, between the ends of the scale) against
    the judge's score between its own lowest and highest, turned round when lower is better.
    """
    lists = [_furthest(criterion, reference, one) for one in comparisons]
    every = [row for rows in lists for row in rows]
    samples = Sample.objects.in_bulk({row.unit[0] for row in every})
    words = rationales((row.comparison.series, row.unit) for row in every)
    return [[_as_dict(reference, row, samples[row.unit[0]], words) for row in rows] for rows in lists]


def _furthest(criterion: Criterion, reference: Reference, one: Comparison) -> list[_Distant]:
    people, judge = _people(criterion, reference, one), _judge(criterion, reference, one)
    human = reference.human or people
    rows = [
        _Distant(one, unit, abs(people[unit] - judge[unit]), human.get(unit)) for unit in people.keys() & judge.keys()
    ]
    apart = [row for row in rows if row.distance > 0]
    return nsmallest(PER_JUDGE, apart, key=lambda row: (-row.distance, row.unit[0], unit_sort_key(row.unit[1])))


def _people(criterion: Criterion, reference: Reference, one: Comparison) -> dict[UnitKey, float]:
    if reference.passing is not None:
        # A verdict outweighs the labels it was made from.
        settled = {unit: float(reference.positive[unit]) for unit in reference.verdicts}
        return {**reference.share, **settled}
    if reference.mean is not None:
        ends = criterion.levels or list(reference.mean.values())
        return _between(reference.mean, ends)
    agreeing: dict[UnitKey, list[bool]] = {}
    for unit, value in zip(reference.columns.units, reference.columns.values, strict=True):
        if unit in one.labels:
            agreeing.setdefault(unit, []).append(value == one.labels[unit])
    return {unit: sum(votes) / len(votes) for unit, votes in agreeing.items()}


def _judge(criterion: Criterion, reference: Reference, one: Comparison) -> dict[UnitKey, float]:
    if one.labels and reference.passing is not None:
        return {unit: float(value in criterion.passes) for unit, value in one.labels.items()}
    if one.labels and reference.mean is None:
        return dict.fromkeys(one.labels, 1.0)
    scaled = _between(one.scores, criterion.levels if one.labels else list(one.scores.values()))
    return scaled if one.series.judge.higher_is_better else {unit: 1 - score for unit, score in scaled.items()}


def _between(values: dict[UnitKey, float], ends: Sequence[Any]) -> dict[UnitKey, float]:
    """Values from 0 at the lowest end to 1 at the highest; all in the middle when there is only one."""
    if not values:
        return {}
    low, high = min(ends), max(ends)
    return {unit: (value - low) / (high - low) if high > low else 0.5 for unit, value in values.items()}


def _as_dict(
    reference: Reference, row: _Distant, sample: Sample, words: dict[tuple[int, str, UnitKey], str]
) -> dict[str, Any]:
    series = row.comparison.series
    return {
        "sample": sample.pk,
        "external_id": sample.external_id,
        "unit": row.unit[1],
        "text": _excerpt(_text(sample, row.unit[1]), _EXCERPT),
        "human": row.human,
        "passes": reference.positive.get(row.unit),
        "score": series.numbers.get(row.unit),
        "label": row.comparison.labels.get(row.unit),
        "distance": row.distance,
        "rationale": _excerpt(words.get((series.version.pk, series.dimension, row.unit), ""), _RATIONALE),
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
