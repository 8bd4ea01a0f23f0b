"""How large a mean over clusters of shares may be: an upper bound that holds however much clusters differ."""

import math

import numpy as np
from scipy.special import betaincinv

from alignment.base.arrays import Bools, Floats, Ints, renumbered, sums_by
from alignment.base.estimate import Estimate, Remark

#: Shares of the wealth that are staked on each cluster, and how the wealth is spread over them: most on the boldest,
#: which gain most where nothing is wrong.
STAKES = np.arange(1, 11) / 10
SPREAD = STAKES / STAKES.sum()
BISECTIONS = 50


def mean_share_bound(
    hit: Bools,
    cluster: Ints,
    worth: Floats,
    confidence: float,
    *,
    single: bool,
    name: str,
    undefined: Remark,
) -> Estimate:
    """Mean over clusters of the share of hits in a cluster, Σ u_c s_c/Σ u_c, with a one-sided upper bound; low is 0.

    ``hit``, ``cluster`` and ``worth`` have shape (units,). ``worth`` u, in (0, 1], is the least chance by which a
    cluster of the whole design was drawn, over the chance by which this one was; it is the same for all units of a
    cluster. ``single``: every cluster of the design has one unit, and all were drawn by the same chance; then the bound
    is that of Clopper and Pearson.

    Else somebody bets that the mean θ is below r: the stake c on cluster c multiplies by 1 - c u + c u (1 - s)/(1 - r).
    While θ ≥ r that is a bet at fair odds or worse, whatever the sizes of clusters and however hits come in bundles,
    for clusters drawn from any source and for a stratified draw of all there are. So the wealth, spread over ten
    stakes, reaches 1/(1 - ``confidence``) by that chance at most; ``high`` is the least r up to which it does. Order
    does not matter.

    Undefined, with that reason: no units.

    Source: Clopper & Pearson (1934), Biometrika 26; Waudby-Smith & Ramdas (2024), JRSS B 86; for strata, Maclaurin's
    inequality bounds the mean of a product of draws without putting back by that of draws with putting back.

    >>> clusters, none_hit = np.arange(40), np.zeros(40, dtype=bool)
    >>> [round(mean_share_bound(none_hit, clusters, np.ones(40), 0.95, single=single, name="errors",
    ...     undefined={"code": "no_units"}).high, 3) for single in (True, False)]
    [0.072, 0.09]
    """
    method = f"{name}, mean over groups; {'Clopper-Pearson' if single else 'betting'}, one-sided"
    if not hit.size:
        return Estimate.undefined(undefined, method=method, level=confidence)
    present, row = renumbered(cluster)
    share = sums_by(row, hit, present.size) / np.bincount(row)
    of_cluster = np.ones(present.size)
    of_cluster[row] = worth
    value = float(of_cluster @ share / of_cluster.sum())
    bound = _exact(share, confidence) if single else _by_betting(share, of_cluster, confidence)
    return Estimate(value, 0.0, max(value, bound), confidence, hit.size, present.size, method)


def clusters_needed(risk: float, confidence: float, *, single: bool = True) -> int:
    """How many clusters without a hit bound the mean share by ``risk``, all drawn by the same chance.

    ``single`` as in ``mean_share_bound``: the least n with (1 - risk)^n ≤ 1 - confidence.

    >>> clusters_needed(0.1, 0.95), clusters_needed(0.05, 0.95), clusters_needed(0.1, 0.95, single=False)
    (29, 59, 36)
    """
    needed = math.ceil(math.log(1 - confidence) / math.log(1 - risk))
    while not single and SPREAD @ (1 + STAKES * risk / (1 - risk)) ** needed < 1 / (1 - confidence):
        needed += 1
    return needed


def _exact(share: Floats, confidence: float) -> float:
    hits = float(share.sum())
    return 1.0 if hits == share.size else float(betaincinv(hits + 1, share.size - hits, confidence))


def _by_betting(share: Floats, worth: Floats, confidence: float) -> float:
    kept, gained = 1 - np.outer(STAKES, worth), np.outer(STAKES, worth * (1 - share))
    reached = -math.log(1 - confidence)

    def refuted(right: float) -> bool:
        with np.errstate(divide="ignore"):
            wealths = np.log(kept + gained / right).sum(axis=1)
        return bool(np.logaddexp.reduce(np.log(SPREAD) + wealths) >= reached)

    # The greater 1 - r is taken to be, the less is won.
    below, above = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (below + above) / 2
        below, above = (middle, above) if refuted(middle) else (below, middle)
    return 1 - below
