"""What to say beside an interval that may claim more than it knows. The one home of these rules.

``docs/coverage.md``, which ``bench.coverage`` makes, has the figures behind them.
"""

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Array, cluster_rows, renumbered, same_length
from alignment.base.estimate import Remark, remark
from alignment.base.interval import CLUSTERS_FOR_INFLUENCE

#: Fewer samples than these with anything but the most common value, and no formula is right.
RARE, SCARCE = 10, 20

# ``held``: in as few percent of simulated cases did intervals of 95 % hold the true value.
FEW_SAMPLES = remark("few_samples", n=CLUSTERS_FOR_INFLUENCE, held=89)
VERY_FEW_OF_THE_RARER = remark("few_of_the_rarer", n=RARE, held=82)
FEW_OF_THE_RARER = remark("few_of_the_rarer", n=SCARCE, held=88)


def interval_caveat(*, clusters: int, rarer: int | None = None) -> Remark | None:
    """What readers of an interval from this many clusters (samples) should know, or None when they need nothing.

    ``rarer`` is ``rarer_samples`` of the values the statistic is of: for AUC, correlations, and kappa and alpha of
    ordered levels. Leave it out for others: intervals of shares and means don't hang on it, those of unweighted kappas,
    alpha and AC1 and of the corrected rate know of what is rare by themselves.

    >>> interval_caveat(clusters=400, rarer=40) is None
    True
    >>> interval_caveat(clusters=30)
    {'code': 'few_samples', 'n': 40, 'held': 89}
    """
    if rarer is not None and rarer < RARE:
        return VERY_FEW_OF_THE_RARER
    if clusters < CLUSTERS_FOR_INFLUENCE:
        return FEW_SAMPLES
    return FEW_OF_THE_RARER if rarer is not None and rarer < SCARCE else None


def rarer_samples(value: ArrayLike, cluster: ArrayLike) -> int:
    """How many clusters (samples) have any value but the most common one; of two verdicts, the rarer.

    ``value`` (codes, verdicts, names) and ``cluster`` have shape (ratings,). ValueError: unequal lengths.

    >>> rarer_samples([True, True, False, True, False], ["a", "a", "a", "b", "a"])
    1
    """
    values: Array = np.asarray(value)
    row, _ = cluster_rows(cluster)
    same_length(value=values, cluster=row)
    _, code = renumbered(values)
    if not code.size:
        return 0
    return int(np.unique(row[code != np.bincount(code).argmax()]).size)
