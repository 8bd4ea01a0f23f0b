"""Where a judge and people disagree most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from alignment.figures.comparison import Comparison
from alignment.figures.evidence import UnitKey
from alignment.figures.reference import Reference

PER_JUDGE = 30


@dataclass(frozen=True, slots=True)
class Distant:
    """``distance`` lies between 0 and 1; ``human`` is people's mean value or share of passes, None when there is
    neither."""

    unit: UnitKey
    distance: float
    human: float | None


def furthest(reference: Reference, one: Comparison, limit: int = PER_JUDGE) -> list[Distant]:
    """The units on which the judge is furthest from people, the furthest first.

    Of the dev part, where there is one: who improves a judge by what it got wrong must not have seen what it will be
    measured on.

    People's share of passes (or their mean, between the ends of the scale) against the judge's score between its own
    lowest and highest, turned round when lower is better.
    """
    people, judge = _people(reference, one), _judge(reference, one)
    human = reference.human or people
    is_dev = reference.evidence.is_dev
    open_units = {unit for unit in people.keys() & judge.keys() if is_dev.get(unit[0], reference.passing is None)}
    rows = [Distant(unit, abs(people[unit] - judge[unit]), human.get(unit)) for unit in open_units]
    apart = [row for row in rows if row.distance > 0]
    return nsmallest(limit, apart, key=lambda row: (-row.distance, reading_order(row.unit)))


def _people(reference: Reference, one: Comparison) -> Mapping[UnitKey, float]:
    evidence = reference.evidence
    if reference.passing is not None:
        # A verdict outweighs the labels it was made from.
        settled = {unit: float(reference.positive[unit]) for unit in evidence.verdicts}
        return {**reference.share, **settled}
    if reference.mean is not None:
        return _between(reference.mean, evidence.criterion.levels or list(reference.mean.values()))
    agreeing: dict[UnitKey, list[bool]] = {}
    for unit, value in zip(evidence.units, evidence.values, strict=True):
        if unit in one.labels:
            agreeing.setdefault(unit, []).append(value == one.labels[unit])
    return {unit: sum(votes) / len(votes) for unit, votes in agreeing.items()}


def _judge(reference: Reference, one: Comparison) -> Mapping[UnitKey, float]:
    criterion = reference.evidence.criterion
    if one.labels and reference.passing is not None:
        return {unit: float(value in criterion.passes) for unit, value in one.labels.items()}
    if one.labels and reference.mean is None:
        return dict.fromkeys(one.labels, 1.0)
    scaled = _between(one.scores, criterion.levels if one.labels else list(one.scores.values()))
    return scaled if one.said.higher_is_better else {unit: 1 - score for unit, score in scaled.items()}


def _between(values: Mapping[UnitKey, float], ends: Sequence[Any]) -> dict[UnitKey, float]:
    """Values from 0 at the lowest end to 1 at the highest; all in the middle when there is only one."""
    if not values:
        return {}
    low, high = min(ends), max(ends)
    return {unit: (value - low) / (high - low) if high > low else 0.5 for unit, value in values.items()}


def reading_order(unit: UnitKey) -> tuple[str, str, int]:
    kind, _, index = unit[1].partition(":")
    return unit[0], kind, int(index or 0)
