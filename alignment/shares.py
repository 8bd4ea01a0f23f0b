"""Shares of many groups at once."""

import numpy as np

from alignment.arrays import Array, Ints, renumbered, sums_by
from alignment.estimate import Estimate
from alignment.interval import Case, Plan, standard_errors


def shares(
    hit: Array, cluster: Ints, group: Ints, groups: int, plan: Plan, *, name: str, undefined: str
) -> list[Estimate]:
    """Of each group 0..groups-1 the share of its trials that hit; the three arrays have shape (trials,).

    What ``proportion`` gives for each group alone; but where a bootstrap is asked for, influence functions: for each of
    hundreds of groups it would take seconds. n counts a group's trials.

    >>> found = shares(
    ...     np.array([1, 0, 1]), np.array([1, 2, 3]), np.array([0, 0, 2]), 3, Plan("influence", None, 0.95),
    ...     name="share", undefined="no trials",
    ... )
    >>> [each.value for each in found]
    [0.5, None, 1.0]
    """
    present, code = renumbered(cluster)
    cells, row = renumbered(group * max(present.size, 1) + code)
    filled, of = renumbered(cells // max(present.size, 1))
    trials = np.bincount(row, minlength=cells.size).astype(np.float64)
    hits = sums_by(row, hit, cells.size)
    n = sums_by(of, trials, filled.size)
    value = sums_by(of, hits, filled.size) / n
    errors = standard_errors((hits - value[of] * trials) / n[of], of, filled.size)
    most = np.zeros(filled.size)
    np.maximum.at(most, of, trials)

    estimates = [Estimate.undefined(undefined, method=name, level=plan.level)] * groups
    columns = (filled, value, errors, n.astype(np.int64), np.bincount(of, minlength=filled.size), most == 1)
    for place, share, error, count, clusters, single in zip(*(column.tolist() for column in columns), strict=True):
        case = Case(plan, name, count, clusters, (0.0, 1.0))
        found = case.of_share(share, error, single)
        if found is None and plan.refusal(clusters) is not None:
            found = case.without_interval(share)
        estimates[place] = case.by_influence(share, error) if found is None else found
    return estimates
