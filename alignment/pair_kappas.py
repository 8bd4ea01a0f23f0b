"""Cohen's kappa of all pairs of raters at once, with its influence.

What ``cohen_kappa`` does for one pair with a confusion matrix by cluster is done here for ten thousand with one pass
over the common units: kappa needs of a confusion matrix only both margins and the disagreement observed.
"""

import numpy as np

from alignment.arrays import Floats, Ints, sums_by
from alignment.cohen import kappa_of_margins
from alignment.pair_counts import PairCounts
from alignment.totals import ratio


def kappas(counts: PairCounts, weights: Floats) -> Floats:
    """Kappa of every pair, shape (pairs,); NaN when no disagreement is expected."""
    observed = sums_by(counts.pair, counts.disagreement(weights), len(counts))
    return kappa_of_margins(observed, *counts.margins, weights)


def influences(counts: PairCounts, weights: Floats) -> Floats:
    """Derivative of each entry's kappa by the entry's weight, shape (entries,); NaN where that kappa is undefined.

    With n units, disagreements observed O and expected E/n, κ = 1 - nO/E; a unit with levels a, b raises n by one, O by
    v_ab and E by Σ_j v_aj c_j + Σ_i v_ib r_i, where r and c are the raters' counts of each level.
    """
    apart, (rows, columns) = counts.disagreement(weights), counts.margins
    observed = sums_by(counts.pair, apart, len(counts))
    through_first, through_second = weights @ columns, weights.T @ rows
    expected = (through_second * columns).sum(axis=0)
    steepness = ratio(counts.n * observed, expected**2)
    of_first = steepness * through_first - ratio(observed, expected)
    of_second = steepness * through_second
    influence: Floats = (
        _at(of_first, counts.pair, counts.first)
        + _at(of_second, counts.pair, counts.second)
        - ratio(counts.n, expected)[counts.pair] * apart
    )
    return influence


def _at(values: Floats, pair: Ints, level: Ints) -> Floats:
    """values[level, pair], read in the order in which pairs follow each other."""
    found: Floats = np.ascontiguousarray(values.T).ravel()[pair * values.shape[0] + level]
    return found
