"""Area under the precision-recall curve."""

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Array, Floats, sums_by
from alignment.bootstrap import middle, resampled
from alignment.columns import cluster_rows, finite, same_length, verdicts
from alignment.estimate import Estimate
from alignment.interval import Case, Kind, Plan, standard_error
from alignment.reasons import NO_NEGATIVE, NO_POSITIVE
from alignment.totals import Totals, ratio


def pr_auc(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    *,
    higher_is_better: bool = True,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Average precision: the precision at each positive unit's score as threshold, averaged over positive units.

    AP = Σ_k (R_k - R_{k-1}) P_k over the observed scores from the best down, with recall R and precision P of the rule
    score ≥ s_k; units of one score are passed together, and nothing is interpolated. Guessing gives the share of
    positive units, so figures of criteria with different shares can't be ranked. ``score``, ``positive`` and
    ``cluster`` have shape (units,). With P_k = A_k/B_k, positive units over units at or above s_k, the influence of a
    unit in step g is Σ_{k ≥ g} p_k([positive]/B_k - A_k/B_k²)/p, and for a positive one (P_g - AP)/p besides; p counts
    positive units, p_k those of score s_k.

    The interval is made on the logit scale, of influence functions for any number of clusters unless
    ``interval="bootstrap"``. Simulated coverage at 95 %, 30 to 400 clusters of 1 and 5 units, half and a tenth of them
    positive: 91 to 97 %; of an interval on the plain scale 79 to 95 %.

    Undefined: no unit positive; none negative, where every rule has precision 1. ValueError as ``roc_auc``.

    Source: the step-wise sum as in Buckley & Voorhees (2000), SIGIR; influence: by differentiating it by the weights;
    logit: Boyd, Eng & Page (2013), ECML PKDD.

    >>> round(pr_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], [1, 2, 3, 4], interval="none").value, 4)
    0.8333
    """
    plan = Plan(interval, rng, level)
    scores, human, (row, rows) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row)
    name, positives = "PR AUC (average precision)", int(human.sum())
    if not positives or positives == human.size:
        reason = NO_NEGATIVE if positives else NO_POSITIVE
        return Estimate.undefined(reason, n=human.size, clusters=rows, method=name, level=level)
    _, step = np.unique(-scores if higher_is_better else scores, return_inverse=True)
    steps = int(step.max()) + 1
    counts = Totals(row, step + steps * human, np.ones(human.size), rows, 2 * steps)

    def average_precision(cells: Array) -> Array:
        hits = cells[..., steps:]
        above = hits.cumsum(axis=-1)
        passed = above + cells[..., :steps].cumsum(axis=-1)
        # Where nothing has passed yet there are no hits either.
        return ratio((hits * above / np.where(passed > 0, passed, 1)).sum(axis=-1), above[..., -1])

    value = float(average_precision(counts.sums()))

    def influence() -> Floats:
        rejected, hits = counts.sums().reshape(2, steps)
        above = hits.cumsum()
        passed = above + rejected.cumsum()
        gained = (hits / passed)[::-1].cumsum()[::-1]
        lost = (hits * above / passed**2)[::-1].cumsum()[::-1]
        of_unit = np.where(human, (above / passed + gained - value)[step], 0.0) - lost[step]
        return sums_by(row, of_unit / positives, rows)

    case = Case(plan, name, human.size, rows, (0.0, 1.0))
    if plan.refusal(rows) is not None:
        return case.without_interval(value)
    if plan.kind != "bootstrap":
        return case.by_logit(value, standard_error(influence()))
    drawn = resampled(lambda weights: counts.resample(average_precision, weights), rows, 2 * steps, plan.rng)
    return case.by_bootstrap(value, middle(drawn, level))
