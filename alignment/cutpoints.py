"""The best places to cut a score into ordered levels."""

import numpy as np

from alignment.arrays import Floats, Ints
from alignment.cohen import kappa_statistic
from alignment.threshold import EQUAL
from alignment.weights import disagreement

MOST_ROUNDS = 100


def best_cuts(place: Ints, level: Ints, levels: int) -> tuple[Ints, float]:
    """Where to cut ranked scores into ``levels`` levels for the greatest quadratic kappa with people, and that kappa.

    ``place`` is each unit's rank 0..m-1 among the distinct scores, 0 the worst, ``level`` the position of people's
    level, both of shape (units,); people used at least two levels. Returns cuts c_1 ≤ … ≤ c_{levels-1}, shape
    (levels - 1,): places from c_j on have level j or more; c_j = m means that none has. Of equal kappas, later cuts
    stand as low as they can.

    The exact maximum over all cuts, found without trying them. κ = 1 - N Σ_i v(h_i, j_i) / Σ_i g(j_i), where g(j) is
    the sum of v(h, j) over all people's levels: people's shares are fixed, so both sums run over units, and for a
    given ratio r the best levels minimise Σ_i (N v - r g). That is a shortest path through the ranked scores, level by
    level, O(m · levels). Its ratio is the next r, until r stops falling, which takes a handful of rounds.

    Source: the ratio of sums as in Dinkelbach (1967), Management Science 13(7).

    >>> cuts, kappa = best_cuts(np.arange(6), np.array([0, 0, 1, 1, 2, 2]), 3)
    >>> cuts.tolist(), kappa
    ([2, 4], 1.0)
    """
    apart = disagreement(levels, "quadratic")
    places = int(place.max()) + 1
    table = np.bincount(place * levels + level, minlength=places * levels).reshape(places, levels).astype(np.float64)
    # Costs of the places before each cut, by the level they are given: shape (levels, places + 1), whole numbers.
    observed = _before(table @ apart * level.size)
    expected = _before(np.outer(table.sum(axis=1), table.sum(axis=0) @ apart))
    least = 1.0
    cuts = np.full(levels - 1, places)
    for _ in range(MOST_ROUNDS):
        found = _cheapest(observed - least * expected, EQUAL * expected.max())
        ratio = _along(observed, found) / _along(expected, found)
        if ratio >= least - EQUAL:
            break
        cuts, least = found, ratio
    given = np.searchsorted(cuts, place, side="right")
    cells = np.bincount(level * levels + given, minlength=levels * levels).astype(np.float64)
    return cuts, float(kappa_statistic(apart)(cells))


def _before(costs: Floats) -> Floats:
    """Running sums along places, from nothing on: (places, levels) -> (levels, places + 1)."""
    return np.concatenate([np.zeros((1, costs.shape[1])), costs.cumsum(axis=0)]).T.copy()


def _along(before: Floats, cuts: Ints) -> float:
    """The cost of all places when levels change at ``cuts``."""
    ends = np.concatenate([[0], cuts, [before.shape[1] - 1]])
    return float(sum(before[level, ends[level + 1]] - before[level, ends[level]] for level in range(before.shape[0])))


def _cheapest(before: Floats, equal: float) -> Ints:
    """The cuts of least cost: forwards the cheapest way to be at each place on each level, backwards where it came by.

    Costs within ``equal`` are equal: rounding must not choose.
    """
    levels, places = before.shape[0], before.shape[1] - 1
    entering = []
    cost = before[0]
    for level in range(1, levels):
        entry = cost - before[level]
        entering.append(entry)
        cost = before[level] + np.minimum.accumulate(entry)
    cuts = np.empty(levels - 1, dtype=np.int64)
    end = places
    for level in range(levels - 1, 0, -1):
        entry = entering[level - 1][: end + 1]
        end = cuts[level - 1] = int(np.flatnonzero(entry <= entry.min() + equal)[0])
    return cuts
