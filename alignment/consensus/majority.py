"""One label per unit from several people. The one home of ties: a tie is no label."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from alignment.base.arrays import Floats, Ints, ranges
from alignment.base.coded import Coded
from alignment.base.ratings import Ratings
from alignment.base.tables import unit_levels, unit_runs

#: majority: more than half of a unit's ratings. plurality: more ratings than any other level.
Rule = Literal["majority", "plurality"]

#: What stands for a label where there is none.
TIE = -1

#: So that what is held at once stays small.
RATINGS_AT_ONCE = 2**17


@dataclass(frozen=True, eq=False, slots=True)
class Consensus:
    """The label of each unit; arrays of shape (units,), units in the order of their codes.

    ``label`` holds positions in ``levels``, ``TIE`` (-1) where no level won; ``share`` is the share of the unit's
    ratings on its most frequent level and ``size`` their number. ``ties`` counts the units without a label.
    """

    unit_ids: Sequence[Hashable]
    levels: tuple[Hashable, ...]
    label: Ints
    share: Floats
    size: Ints
    cluster: Ints
    ties: int


def consensus_labels(ratings: Ratings, rule: Rule = "majority") -> Consensus:
    """The level that more than half of a unit's raters chose, or ("plurality") that more chose than any other.

    On two levels both rules are the same. ValueError: a scale without levels, an unknown rule.

    >>> ratings = Ratings.from_columns(
    ...     "uuvvvv", ["ann", "bob"] + ["ann", "bob", "cat", "dan"], "xyxxyz", [1, 1, 2, 2, 2, 2],
    ...     scale="nominal", levels="xyz",
    ... )
    >>> consensus_labels(ratings).label.tolist(), consensus_labels(ratings, "plurality").label.tolist()
    ([-1, -1], [-1, 0])
    """
    if ratings.levels is None:
        raise ValueError("a consensus needs levels, and this scale has none")
    cells = unit_levels(ratings)
    label, top = _winners(cells.unit, cells.level, cells.count, cells.size, rule)
    codes = ratings.unit[unit_runs(ratings)[1]]
    return Consensus(
        unit_ids=codes.tolist() if ratings.unit_ids is None else Coded(ratings.unit_ids, codes),
        levels=ratings.levels,
        label=label,
        share=top / cells.size,
        size=cells.size,
        cluster=cells.cluster,
        ties=int((label == TIE).sum()),
    )


def rest_label(ratings: Ratings, rule: Rule = "majority") -> Ints:
    """For each rating, the consensus of its unit's other ratings, shape (ratings,); ``TIE`` also when it is alone.

    Work and memory are ratings × levels used on a unit, never raters × raters.
    """
    cells = unit_levels(ratings)
    unit, _ = unit_runs(ratings)
    per_unit = np.bincount(cells.unit, minlength=cells.size.size)
    first = np.cumsum(per_unit) - per_unit
    found = np.empty(len(ratings), dtype=np.int64)
    for start in range(0, len(ratings), RATINGS_AT_ONCE):
        some = slice(start, start + RATINGS_AT_ONCE)
        of, value = unit[some], ratings.value[some]
        # Each rating meets all level counts of its unit, less its own.
        rating = np.repeat(np.arange(of.size), per_unit[of])
        cell = ranges(first[of], per_unit[of])
        level = cells.level[cell]
        count = cells.count[cell] - (level == value[rating])
        found[some] = _winners(rating, level, count, cells.size[of] - 1, rule)[0]
    return found


def _winners(group: Ints, level: Ints, count: Ints, size: Ints, rule: Rule) -> tuple[Ints, Ints]:
    """The winning level and the greatest count of every group 0..len(size) - 1, from its level counts."""
    if rule not in get_args(Rule):
        raise ValueError(f"no rule {rule!r}; there are {', '.join(get_args(Rule))}")
    top = np.zeros(size.size, dtype=np.int64)
    np.maximum.at(top, group, count)
    leads = np.flatnonzero((count == top[group]) & (count > 0))
    leaders = np.bincount(group[leads], minlength=size.size)
    alone = leads[leaders[group[leads]] == 1]
    winner = np.full(size.size, TIE, dtype=np.int64)
    winner[group[alone]] = level[alone]
    if rule == "majority":
        winner[2 * top <= size] = TIE
    return winner, top
