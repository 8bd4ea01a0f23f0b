"""Area under the ROC curve."""

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Array, mid_ranks, sums_by
from alignment.columns import cluster_rows, finite, same_length, verdicts
from alignment.estimate import Estimate
from alignment.interval import Case, Kind, Plan, Sampling, standard_error, with_interval
from alignment.reasons import NO_NEGATIVE, NO_POSITIVE
from alignment.totals import Totals, ratio


def roc_auc(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    *,
    higher_is_better: bool = True,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Probability that a positive unit scores above a negative one, ties counting one half.

    AUC = mean over pairs (i positive, j negative) of [s_i > s_j] + ½[s_i = s_j]. The influence of a positive unit is
    (its share of negatives beaten - AUC)/positives, of a negative one (the share of positives it loses to - AUC)/
    negatives: DeLong's structural components, summed by cluster. Undefined: no unit positive, or none negative.

    "auto" takes influence functions on the logit scale for any number of clusters. Simulated coverage at 95 %: 92 to
    97 % where 15 clusters or more hold passes, and as many fails; 89 to 92 % where 10 do, down to 83 % where 3 do.

    Source: DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44; clusters: Obuchowski (1997), Biometrics 53; logit:
    Pepe (2003), The Statistical Evaluation of Medical Tests, §5.2.

    >>> roc_auc([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1], [1, 2, 3, 4], interval="none").value
    0.875
    """
    plan = Plan(interval, rng, level)
    scores, human, (row, rows) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row)
    name, positives = "ROC AUC", int(human.sum())
    negatives = human.size - positives
    if not positives or not negatives:
        reason = NO_NEGATIVE if positives else NO_POSITIVE
        return Estimate.undefined(reason, n=human.size, clusters=rows, method=name, level=level)
    if not higher_is_better:
        scores = -scores

    # Mid-ranks among all, less those within the own class, count the other class beaten.
    beaten = mid_ranks(scores)
    beaten[human] -= mid_ranks(scores[human])
    beaten[~human] -= mid_ranks(scores[~human])
    wins = np.where(human, beaten / negatives, 1 - beaten / positives)
    value = float(wins[human].mean())
    influence = sums_by(row, (wins - value) / np.where(human, positives, negatives), rows)

    case = Case(plan, name, human.size, rows, (0.0, 1.0))
    if plan.kind == "auto" and plan.refusal(rows) is None:
        return case.by_logit(value, standard_error(influence))

    _, place = np.unique(scores, return_inverse=True)
    distinct = int(place.max()) + 1
    counts = Totals(row, place + distinct * human, np.ones(human.size), rows, 2 * distinct)

    def auc(cells: Array) -> Array:
        below, above = cells[..., :distinct], cells[..., distinct:]
        won = (above * (below.cumsum(axis=-1) - below / 2)).sum(axis=-1)
        return ratio(won, below.sum(axis=-1) * above.sum(axis=-1))

    sampling = Sampling(rows, 2 * distinct, lambda: influence, lambda weights: counts.resample(auc, weights))
    return with_interval(value, sampling, plan, name=name, n=human.size, clusters=rows, bounds=case.bounds)
