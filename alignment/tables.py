"""Counts within units: the one home of confusion, coincidence and level tables."""

from dataclasses import dataclass

import numpy as np

from alignment.arrays import Floats, Ints
from alignment.ratings import Ratings
from alignment.totals import Totals


@dataclass(frozen=True, eq=False)
class UnitLevels:
    """How many ratings of each unit fall on each level, for the levels that occur.

    ``unit`` (0..units-1), ``level`` and ``count`` have shape (cells,), sorted by unit; ``size``, the ratings of a unit,
    and ``cluster`` have shape (units,).
    """

    unit: Ints
    level: Ints
    count: Ints
    size: Ints
    cluster: Ints


def unit_runs(ratings: Ratings) -> tuple[Ints, Ints]:
    """Units as runs of the sorted ratings: each rating's unit as 0..units-1, and each unit's first rating."""
    starts = np.flatnonzero(np.diff(ratings.unit, prepend=ratings.unit[:1] - 1))
    return np.repeat(np.arange(starts.size), np.diff(starts, append=len(ratings))), starts


def unit_levels(ratings: Ratings) -> UnitLevels:
    """The level counts of every unit; the ratings must have levels."""
    levels = len(ratings.levels or ())
    unit, starts = unit_runs(ratings)
    cells, count = np.unique(unit * levels + ratings.value, return_counts=True)
    return UnitLevels(
        cells // levels, cells % levels, count, np.bincount(unit, minlength=starts.size), ratings.cluster[starts]
    )


def pairs_within(groups: Ints) -> tuple[Ints, Ints]:
    """Positions (i, j), i < j, of every pair of entries of one group; ``groups`` is sorted.

    Entries d apart are compared for d = 1, 2, …; those that left their group at d have left it for good, so the work
    is the number of pairs.

    >>> [positions.tolist() for positions in pairs_within(np.array([0, 0, 0, 1, 2, 2]))]
    [[0, 1, 4, 0], [1, 2, 5, 2]]
    """
    found = []
    first = np.arange(groups.size)
    distance = 1
    while first.size:
        first = first[first + distance < groups.size]
        first = first[groups[first] == groups[first + distance]]
        found.append((first, first + distance))
        distance += 1
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])


def coincidences(ratings: Ratings) -> Totals:
    """Krippendorff's coincidence matrix, levels² columns (c · levels + k), from units with two or more ratings.

    A unit with m ratings adds 1/(m - 1) for each ordered pair of its ratings, so every rating counts once.
    """
    levels = len(ratings.levels or ())
    cells = unit_levels(ratings)
    share = 1.0 / np.maximum(cells.size - 1, 1)
    own = cells.count > 1
    i, j = pairs_within(cells.unit)
    unit = np.concatenate([cells.unit[own], cells.unit[i], cells.unit[j]])
    column = np.concatenate(
        [
            cells.level[own] * (levels + 1),
            cells.level[i] * levels + cells.level[j],
            cells.level[j] * levels + cells.level[i],
        ]
    )
    across = cells.count[i] * cells.count[j]
    pairs = np.concatenate([cells.count[own] * (cells.count[own] - 1), across, across])
    return Totals.of(cells.cluster[unit], column, pairs * share[unit], levels * levels)


def coincidence_kinds(levels: int) -> Totals:
    """Every kind of unit with two ratings, one row for each ordered pair of levels, in the columns of coincidences."""
    first, second = np.divmod(np.arange(levels * levels), levels)
    column = np.concatenate([first * levels + second, second * levels + first])
    return Totals(np.tile(np.arange(first.size), 2), column, np.ones(column.size), first.size, first.size)


def agreement_columns(ratings: Ratings) -> tuple[Totals, int, int]:
    """What Fleiss' kappa, Gwet's AC1 and percent agreement rest on, as 2 + levels columns.

    Column 0: of each unit with m ≥ 2 ratings, the share of its pairs that agree, Σ_k n_k(n_k - 1)/(m(m - 1)).
    Column 1: the number of such units. Columns 2…: of each rated unit, the share of its ratings on each level, n_k/m.
    Also returns how many units have two or more ratings, and how many clusters they lie in.
    """
    cells = unit_levels(ratings)
    size = cells.size
    agreeing = np.bincount(cells.unit, weights=cells.count * (cells.count - 1), minlength=size.size)
    several = np.flatnonzero(size > 1)
    cluster = np.concatenate([cells.cluster[several], cells.cluster[several], cells.cluster[cells.unit]])
    column = np.concatenate([np.zeros_like(several), np.ones_like(several), 2 + cells.level])
    amount: Floats = np.concatenate(
        [
            agreeing[several] / (size[several] * (size[several] - 1)),
            np.ones(several.size),
            cells.count / size[cells.unit],
        ]
    )
    totals = Totals.of(cluster, column, amount, 2 + len(ratings.levels or ()))
    return totals, several.size, np.unique(cells.cluster[several]).size


def agreement_kinds(levels: int) -> Totals:
    """Every kind of unit with two ratings, one row for each ordered pair of levels, in ``agreement_columns``."""
    pair = np.arange(levels * levels)
    first, second = np.divmod(pair, levels)
    column = np.concatenate([np.zeros_like(pair), np.ones_like(pair), 2 + first, 2 + second])
    amount = np.concatenate([first == second, np.ones(pair.size), np.full(2 * pair.size, 0.5)])
    return Totals(np.tile(pair, 4), column, amount, pair.size, 2 + levels)
