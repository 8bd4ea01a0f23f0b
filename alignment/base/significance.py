"""p-values: of clustered means and differences, and what is left of them when one has tested often."""

import numpy as np
from scipy.special import stdtr

from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, sums_by
from alignment.base.interval import NO_SPREAD


def p_mean_below(values: Floats, cluster: Ints, bound: float) -> float | None:
    """One-sided t-test that the mean of ``values``, shape (n,), is less than ``bound``; clusters are independent.

    t = (mean - bound)/√(C/(C-1) Σ_c ψ_c²) with ψ_c = Σ_{i in c} (x_i - mean)/n and C - 1 degrees of freedom: Student's
    when every value is its own cluster. None with fewer than 2 clusters; values that don't vary give 0 or 1.

    >>> round(p_mean_below(np.array([0.0, 0, 1, 0, 0, 0]), np.arange(6), 0.6), 4)
    0.0241
    """
    row, clusters = cluster_rows(cluster)
    if clusters < 2:
        return None
    mean = float(values.mean())
    influence = sums_by(row, values - mean, clusters) / values.size
    error = float(np.sqrt(clusters / (clusters - 1) * np.square(influence).sum()))
    if error <= NO_SPREAD:
        return 0.0 if mean < bound else 1.0
    return float(stdtr(clusters - 1, (mean - bound) / error))


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values, shape (tests,): rejecting those ≤ α errs on any true hypothesis with chance ≤ α.

    p̃_(i) = max_{j ≤ i} min(1, (m - j + 1) p_(j)), for tests dependent in any way.

    Source: Holm (1979), Scand. J. Stat. 6.

    >>> holm(np.array([0.04, 0.01, 0.03])).tolist()
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted


def benjamini_yekutieli(p: Floats, q: float) -> Bools:
    """Which of m hypotheses to reject, shape (tests,), so that at most a share q of rejections is expected to be false.

    All up to the greatest i with p_(i) ≤ i q / (m Σ_{k ≤ m} 1/k), for tests dependent in any way.

    Source: Benjamini & Yekutieli (2001), Ann. Stat. 29.

    >>> benjamini_yekutieli(np.array([0.001, 0.2, 0.015]), 0.05).tolist()
    [True, False, True]
    """
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, p.size + 1)
    passed = np.flatnonzero(p[order] <= rank * q / (p.size * (1 / rank).sum()))
    rejected = np.zeros(p.size, dtype=np.bool_)
    if passed.size:
        rejected[order[: passed[-1] + 1]] = True
    return rejected
