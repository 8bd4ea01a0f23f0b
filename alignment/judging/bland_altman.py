"""Bland and Altman: how far a judge's scores lie from people's values, in the units of the scale."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Array, Floats, finite
from alignment.base.estimate import FEW_UNITS, NO_UNITS, Estimate, Remark
from alignment.base.interval import Kind, Plan, normal_quantile
from alignment.base.totals import Statistic, Totals, estimate, ratio, spread
from alignment.judging.correlation import ROUNDING, columns

#: The share of differences between the limits of agreement, where differences are normal.
BETWEEN_LIMITS = 0.95


@dataclass(frozen=True, slots=True)
class BlandAltman:
    """Differences judge - people: their mean, and the limits between which 95 % of them lie if they are normal."""

    bias: Estimate
    lower_limit: Estimate
    upper_limit: Estimate


def bland_altman(
    score: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> BlandAltman:
    """Bias and limits of agreement of two columns on one scale, shape (units,); see ``on_scale`` for others.

    bias = mean d with d = score - human; limits = bias ± 1.96 s with s² = Σ(d - bias)²/(n - 1). The limits are of
    single units, so units of one cluster count each; in the intervals of all three figures they vary together. Nothing
    is cut at the ends of the scale, and ``level`` is that of the intervals, not of the limits.

    Undefined: bias of no units; limits of fewer than 2. ValueError: values that aren't finite, unequal lengths.

    Source: Bland & Altman (1986), Lancet 327.

    >>> found = bland_altman([2, 3, 5, 4], [1, 3, 4, 4], [1, 2, 3, 4], interval="none")
    >>> found.bias.value, round(found.upper_limit.value, 3)
    (0.5, 1.632)
    """
    plan = Plan(interval, rng, level)
    x, y, row, _ = columns(score, human, cluster)
    apart = x - y
    centre = float(apart.mean()) if apart.size else 0.0
    # Taken from the centre, sums of squares keep their precision; what is left of equal differences is rounding.
    rest = apart - centre
    if rest.size and np.abs(rest).max() <= ROUNDING * max(np.abs(x).max(), np.abs(y).max()):
        rest = np.zeros_like(rest)
    totals = Totals.of_columns(row, np.stack([np.ones_like(rest), rest, rest * rest]))

    def figure(name: str, errors: float, undefined: Remark) -> Estimate:
        unbounded = (-np.inf, np.inf)
        statistic = _mean_and_errors(centre, errors)
        return estimate(totals, statistic, plan, name=name, n=rest.size, undefined=undefined, bounds=unbounded)

    width = normal_quantile(BETWEEN_LIMITS)
    return BlandAltman(
        bias=figure("bias", 0.0, NO_UNITS),
        lower_limit=figure("lower limit of agreement", -width, FEW_UNITS),
        upper_limit=figure("upper limit of agreement", width, FEW_UNITS),
    )


def on_scale(
    score: ArrayLike,
    ends: tuple[float, float],
    human_ends: tuple[float, float],
    *,
    higher_is_better: bool = True,
) -> Floats:
    """Scores put on the human scale: the line that takes the ends of the judge's scale to those of people's.

    ``ends`` are the least and the greatest score the judge *can* give, not the observed ones. Where lower is better the
    line falls. ValueError: ends that are not in order, a score beyond them.

    >>> on_scale([0.0, 0.5, 1.0], (0, 1), (1, 5)).tolist()
    [1.0, 3.0, 5.0]
    """
    scores = finite(score, "score")
    for name, (low, high) in (("scores", ends), ("human values", human_ends)):
        if not low < high:
            raise ValueError(f"the ends of the {name} are in order, not {(low, high)}")
    beyond = np.flatnonzero((scores < ends[0]) | (scores > ends[1]))
    if beyond.size:
        raise ValueError(f"score {scores[beyond[0]]} at position {beyond[0]} lies beyond the ends {ends}")
    share = (scores - ends[0]) / (ends[1] - ends[0])
    if not higher_is_better:
        share = 1 - share
    return human_ends[0] + share * (human_ends[1] - human_ends[0])


def _mean_and_errors(centre: float, errors: float) -> Statistic:
    """Mean plus ``errors`` standard deviations, from number, sum and sum of squares about ``centre``."""

    def statistic(sums: Array) -> Array:
        n, total, squares = np.moveaxis(sums, -1, 0)
        mean: Array = centre + ratio(total, n)
        if not errors:
            return mean
        return mean + errors * np.sqrt(ratio(spread(n, total, squares), n * (n - 1)))

    return statistic
