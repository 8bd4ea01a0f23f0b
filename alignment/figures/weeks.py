"""How often a judge was wrong, week by week."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from alignment.arrays import sums_by
from alignment.columns import cluster_rows
from alignment.estimate import Estimate
from alignment.figures.beside import refusal
from alignment.figures.comparison import Comparison
from alignment.figures.evidence import UnitKey
from alignment.figures.reference import Reference
from alignment.figures.seeds import generator
from alignment.interval import Plan, proportion
from alignment.reasons import NO_UNITS

MAX_WEEKS = 26

NO_DATES = "nobody knows when these labels were made: labels that came from a file carry no date"


@dataclass(frozen=True, slots=True)
class Labelled:
    """When a unit was last labelled (the ISO week, "2026-W47"; None: nobody knows), and how many labels it has."""

    week: str | None
    labels: int


def labelled_units(reference: Reference) -> dict[UnitKey, Labelled]:
    """Of each unit with a label, for all judges alike."""
    evidence = reference.evidence
    days = evidence.days or [None] * len(evidence.units)
    week_of = {day: _week(day) for day in set(days) if day is not None}
    found: dict[UnitKey, Labelled] = {}
    for unit, group in groupby(zip(evidence.units, days, strict=True), key=itemgetter(0)):
        known = [day for _, day in group]
        last = max((day for day in known if day is not None), default=None)
        found[unit] = Labelled(None if last is None else week_of[last], len(known))
    return found


def judge_weeks(reference: Reference, one: Comparison, labelled: Mapping[UnitKey, Labelled]) -> dict[str, Any]:
    """The share of the judge's decisions that people contradict, by the ISO week in which the unit was last labelled.

    The decisions on dev; where nothing passes or fails, the labels of a judge that answers with them. Of more than 26
    weeks the latest are listed. `undated` counts decided units without a date.
    """
    wrong = _wrong(reference, one)
    by_week: dict[str, list[UnitKey]] = {}
    for unit in wrong:
        if unit in labelled and (week := labelled[unit].week) is not None:
            by_week.setdefault(week, []).append(unit)
    dated = [unit for units in by_week.values() for unit in units]
    reason = refusal(reference, one) or (None if dated else NO_DATES)
    weeks = sorted(by_week)
    return {
        "reason": reason,
        "error": _rate(reference, one, dated, wrong).as_dict(),
        "weeks": [
            {
                "week": week,
                "monday": _monday(week).isoformat(),
                "units": len(by_week[week]),
                "labels": sum(labelled[unit].labels for unit in by_week[week]),
                "wrong": sum(wrong[unit] for unit in by_week[week]),
                "error": _rate(reference, one, by_week[week], wrong, week).as_dict(),
            }
            for week in weeks[-MAX_WEEKS:]
        ],
        "left_out": max(0, len(weeks) - MAX_WEEKS),
        "undated": len(wrong) - len(dated),
    }


def _wrong(reference: Reference, one: Comparison) -> dict[UnitKey, bool]:
    """Of each unit that judge and people decided whether they differ."""
    if reference.passing is not None:
        return {unit: passes is not reference.positive[unit] for unit, passes in one.decisions.items()}
    human = reference.labels()
    return {unit: value != human[unit] for unit, value in one.labels.items() if unit in human}


def _week(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"


def _monday(week: str) -> date:
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def _rate(
    reference: Reference, one: Comparison, units: list[UnitKey], wrong: dict[UnitKey, bool], week: str = "all"
) -> Estimate:
    evidence = reference.evidence
    row, rows = cluster_rows([sample for sample, _ in units])
    hits = sums_by(row, np.array([wrong[unit] for unit in units], dtype=np.float64), rows)
    rng = generator(evidence.seed, "weeks", evidence.criterion.key, *one.said.name, week)
    trials = sums_by(row, np.ones(len(units)), rows)
    return proportion(hits, trials, Plan("auto", rng, 0.95), name="error rate", undefined=NO_UNITS)
