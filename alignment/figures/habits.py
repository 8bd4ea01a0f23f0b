"""How people work: whether they say the same again, how fast they choose, what they choose, and whether that moves.

Every function gives one entry for each of the people shown, and a last one for all together.
"""

from datetime import date, timedelta
from typing import Any

import numpy as np

from alignment.arrays import Array, Floats
from alignment.consensus import TIE, rest_label
from alignment.consistency import self_consistency
from alignment.estimate import Estimate
from alignment.figures.listed import Listed
from alignment.interval import Plan
from alignment.ratings import encode_values
from alignment.reasons import NO_LEVELS, NO_UNITS
from alignment.rest import PERCENT
from alignment.shares import shares

MAX_WEEKS = 12
LEVEL = 0.95

NO_DAYS = "no label has a day: labels made elsewhere bring none"
NOT_TIMED = "no choice was timed"


def own_consistency(people: Listed) -> list[Estimate]:
    """How often a label that was given again came out the same."""
    base, before = people.base, people.reference.evidence.before
    if base.levels is None:
        return [Estimate.undefined(NO_LEVELS, level=LEVEL)] * people.rows
    # A label that was replaced is of a unit and a rater that count now, with another label.
    unit_of = {unit: code for code, unit in enumerate(base.unit_ids or ())}
    rater_of = {name: code for code, name in enumerate(base.raters)}
    unit = np.array([unit_of[row.unit] for row in before], dtype=np.int64)
    cluster = np.zeros(len(unit_of), dtype=np.int64)
    cluster[base.unit] = base.cluster
    found = self_consistency(
        np.concatenate([base.unit, unit]),
        np.concatenate([base.rater, np.array([rater_of[row.rater] for row in before], dtype=np.int64)]),
        np.concatenate([base.value, _values_before(people)]),
        np.concatenate([base.cluster, cluster[unit]]),
        rng=people.rng("consistency"),
    )
    by_code = {one.rater: one.agreement for one in found.raters}
    return [*(by_code[str(code)] for code in people.shown), found.pooled.agreement]


def _values_before(people: Listed) -> Array:
    reference = people.reference
    values = [row.value for row in reference.evidence.before]
    if reference.passing is None:
        return encode_values(values, people.base.levels, "value")
    passes = set(reference.evidence.criterion.passes)
    return np.array([value in passes for value in values], dtype=np.int64)


def pace(people: Listed) -> list[dict[str, Any]]:
    """Median and middle half of the seconds for a choice, of those that were timed."""
    timed = ~np.isnan(people.seconds)
    own = [people.seconds[timed & (people.place == place)] for place in range(len(people.names))]
    return [_middle_half(gaps) for gaps in (*own, people.seconds[timed])]


def _middle_half(gaps: Floats) -> dict[str, Any]:
    if not gaps.size:
        return {"median": None, "low": None, "high": None, "n": 0, "reason": NOT_TIMED}
    low, median, high = np.quantile(gaps, (0.25, 0.5, 0.75)).tolist()
    return {"median": median, "low": low, "high": high, "n": int(gaps.size), "reason": None}


def option_shares(people: Listed) -> list[list[float] | None]:
    """How often each option was chosen, in the criterion's order of options; None where it has none."""
    ratings = people.reference.ratings
    if ratings.levels is None or not len(ratings):
        return [None] * people.rows
    levels = len(ratings.levels)
    cells = np.bincount(ratings.rater * levels + ratings.value, minlength=len(ratings.raters) * levels)
    counts = cells.reshape(-1, levels)
    rows = np.concatenate([counts[people.shown], counts.sum(axis=0, keepdims=True)])
    found: list[list[float] | None] = (rows / rows.sum(axis=1, keepdims=True)).tolist()
    return found


def by_week(people: Listed) -> tuple[dict[str, Any], list[list[dict[str, Any] | None]]]:
    """Agreement with the others' majority in the latest ISO weeks that have labels; None where nothing is compared.

    Weeks go by their Monday. Which week a label lies in is its own rater's day; the others may have come later.
    """
    base = people.base
    reason = NO_LEVELS if base.levels is None else None if any(people.days) else NO_DAYS
    if reason is not None:
        return {"mondays": [], "earlier": 0, "reason": reason}, [[] for _ in range(people.rows)]
    monday = {day: _monday(day) for day in set(people.days) if day is not None}
    every = sorted(set(monday.values()))
    kept = {week: at for at, week in enumerate(every[-MAX_WEEKS:])}
    column = {day: kept.get(week, -1) for day, week in monday.items()}
    week = np.array([-1 if day is None else column[day] for day in people.days], dtype=np.int64)
    rest = rest_label(base)
    used = (rest != TIE) & (week >= 0)
    own = used & (people.place < people.rows - 1)
    # Everybody's labels once more, for the last row.
    row = np.concatenate([people.place[own], np.full(np.count_nonzero(used), people.rows - 1)])
    hit, cluster, week = (np.concatenate([each[own], each[used]]) for each in (base.value == rest, base.cluster, week))
    found = shares(
        hit,
        cluster,
        row * len(kept) + week,
        people.rows * len(kept),
        Plan("auto", people.rng("weeks"), LEVEL),
        name=PERCENT,
        undefined=NO_UNITS,
    )
    cells = [None if one.value is None else _cell(one) for one in found]
    table = [cells[start : start + len(kept)] for start in range(0, len(cells), len(kept))]
    return {"mondays": list(kept), "earlier": len(every) - len(kept), "reason": None}, table


def _monday(day: str) -> str:
    found = date.fromisoformat(day)
    return (found - timedelta(days=found.weekday())).isoformat()


def _cell(one: Estimate) -> dict[str, Any]:
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n, "reason": one.reason}
