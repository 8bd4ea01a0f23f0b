"""Of a person and the judge, who is closer to the other people? Item by item."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from alignment.arrays import Bools, Floats, Ints
from alignment.panel import Panel
from alignment.ratings import Ratings
from alignment.reasons import NO_LEVELS, NOT_NUMBERS

#: match: the share of the others who said the same. rmse: minus the root of the mean squared distance to them.
Scoring = Literal["match", "rmse"]

#: Distances that differ by less than this share of the values' range are equal: rounding decides nothing.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Wins:
    """For each rating of people, shape (ratings,): whether the judge, and whether the person, did as well or better.

    Only where ``compared``: the judge and at least one other person rated the unit too.
    """

    judge: Bools
    human: Bools
    compared: Bools


def scoring_refusal(ratings: Ratings, scoring: Scoring) -> str | None:
    """Why this scoring has no meaning on the scale, or None when it has; ValueError for an unknown one."""
    if scoring not in get_args(Scoring):
        raise ValueError(f"no scoring {scoring!r}; there are {', '.join(get_args(Scoring))}")
    if scoring == "match":
        return NO_LEVELS if ratings.levels is None else None
    return NOT_NUMBERS if ratings.levels is not None and ratings.level_numbers is None else None


def wins(both: Panel, scoring: Scoring) -> Wins:
    """Compare the judge with every rating of people by what the other people said of the unit."""
    people = both.people
    if not len(people):
        return Wins(both.judged, both.judged, both.judged)
    _, unit = np.unique(people.unit, return_inverse=True)
    others = np.bincount(unit)[unit] - 1
    judge, human = _matches(both, unit) if scoring == "match" else _nearness(both, unit, others)
    return Wins(judge >= human, human >= judge, both.judged & (others > 0))


def _matches(both: Panel, unit: Ints) -> tuple[Ints, Ints]:
    """How many others said what the judge said, and what the person said: whole numbers, so that ties are ties."""
    levels = len(both.people.levels or ())
    cells, said, count = np.unique(unit * levels + both.people.value, return_inverse=True, return_counts=True)
    asked = unit * levels + both.judge
    place = np.minimum(np.searchsorted(cells, asked), cells.size - 1)
    judge = np.where(cells[place] == asked, count[place], 0) - (both.judge == both.people.value)
    return judge, count[said] - 1


def _nearness(both: Panel, unit: Ints, others: Ints) -> tuple[Ints, Ints]:
    """1 for whoever is as near or nearer to the others' mean.

    The squared RMSE to the others is their variance plus the squared distance to their mean, and both share the former.
    """
    numbers = both.people.level_numbers
    own: Floats = both.people.value if numbers is None else numbers[both.people.value]
    judged: Floats = both.judge if numbers is None else numbers[both.judge]
    mean = (np.bincount(unit, weights=own)[unit] - own) / np.maximum(others, 1)
    judge_off, own_off = np.abs(judged - mean), np.abs(own - mean)
    slack = EQUAL * float(np.ptp(np.concatenate([own, judged])))
    return (judge_off <= own_off + slack).astype(np.int64), (own_off <= judge_off + slack).astype(np.int64)
