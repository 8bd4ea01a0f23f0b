"""How sure a statistic would be with more samples, and how many it takes to be sure enough."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Floats, Ints, renumbered, same_length, verdicts
from alignment.base.estimate import Estimate, Remark, remark
from alignment.base.interval import NO_SPREAD, normal_quantile, t_quantile
from alignment.base.tables import kappa
from alignment.base.totals import Totals

FEW_CLUSTERS = remark("plan_of_few_samples")
NO_VARIATION = remark("plan_of_no_variation")


@dataclass(frozen=True, slots=True)
class Plannable:
    """What the present samples (clusters) say about the error of a statistic.

    ``spread`` is the error one sample alone would leave, √clusters · standard error; when it is None, ``reason`` says
    why. Widths are z · spread/√samples at confidence ``level``: with quantiles of the normal distribution, since a plan
    is for many samples; intervals from fewer than 30 are somewhat wider. They suppose that further samples resemble the
    present ones, hold as many units each, and are drawn at random from the same source. ``samples`` always counts those
    that the figure rests on: when half of all go to the test part, a figure of the test part needs twice as many.
    """

    clusters: int
    spread: float | None
    level: float
    reason: Remark | None

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"the level lies between 0 and 1, not {self.level}")

    def half_width(self, samples: int) -> float | None:
        """Half the width of the interval from that many samples; None without a spread. ValueError: none or fewer.

        >>> round(Plannable(100, 0.8, 0.95, None).half_width(400), 3)
        0.078
        """
        if samples < 1:
            raise ValueError(f"a width is for at least one sample, not {samples}")
        return None if self.spread is None else normal_quantile(self.level) * self.spread / math.sqrt(samples)

    def samples_for(self, half_width: float) -> int | None:
        """How many samples in all make the interval that narrow; None without a spread. ValueError: no width.

        >>> Plannable(100, 0.8, 0.95, None).samples_for(0.1)
        246
        """
        if not (math.isfinite(half_width) and half_width > 0):
            raise ValueError(f"a half-width is above 0, not {half_width}")
        if self.spread is None:
            return None
        return max(1, math.ceil((normal_quantile(self.level) * self.spread / half_width) ** 2))

    def more_for(self, half_width: float) -> int | None:
        """How many samples beyond the present ones make the interval that narrow, 0 if it is; None without a spread."""
        needed = self.samples_for(half_width)
        return None if needed is None else max(0, needed - self.clusters)


def plannable_from_estimate(estimate: Estimate) -> Plannable:
    """What can be planned for any statistic, from its estimate on the present clusters.

    The interval's longer side, in normal quantiles instead of t's, stands for the error: of an interval that is not
    symmetric, such as a bootstrap's, this plans rather too many samples than too few. Without a spread: the estimate
    has no interval, for its own reason.

    >>> found = Estimate(0.6, 0.44, 0.76, n=100, clusters=100, method="Cohen's kappa")
    >>> round(plannable_from_estimate(found).half_width(400), 3)
    0.079
    """
    value, low, high, level = estimate.value, estimate.low, estimate.high, estimate.level
    if value is None or low is None or high is None:
        return Plannable(estimate.clusters, None, level, estimate.reason)
    half = max(high - value, value - low)
    if estimate.clusters < 2 or half <= NO_SPREAD:
        return Plannable(estimate.clusters, None, level, FEW_CLUSTERS if estimate.clusters < 2 else NO_VARIATION)
    error = half / t_quantile(estimate.clusters - 1, level)
    return Plannable(estimate.clusters, error * math.sqrt(estimate.clusters), level, None)


def kappa_influence(judge: ArrayLike, positive: ArrayLike, sample: ArrayLike) -> tuple[Ints, Floats | None]:
    """How much kappa of a judge's verdicts with people's moves when a sample weighs a little more.

    ``judge`` and ``positive`` (verdicts) and ``sample`` (numbers from 0 on) have shape (units,). Returns the samples
    that have units, ascending, and their influences, both of shape (labelled samples,): what
    ``selection.expected_spread`` asks for. No influences (None) where kappa is undefined. ValueError: verdicts that are
    not booleans, unequal lengths.

    >>> labelled, influence = kappa_influence([1, 0, 1, 1], [1, 0, 0, 1], [7, 3, 3, 5])
    >>> labelled.tolist(), influence.round(4).tolist()
    ([3, 5, 7], [-0.125, 0.0625, 0.0625])
    """
    said, human = verdicts(judge, "judge"), verdicts(positive)
    same_length(judge=said, positive=human, sample=np.asarray(sample))
    labelled, row = renumbered(np.asarray(sample))
    totals = Totals(row, 2 * human + said, np.ones(said.size), labelled.size, 4)
    if np.isnan(kappa(totals.sums())):
        return labelled, None
    return labelled, totals.influence(kappa)


def two_digits(samples: int) -> int:
    """Two leading digits, rounded up: a plan is no more exact than that.

    >>> two_digits(1234), two_digits(7)
    (1300, 7)
    """
    step = 10 ** max(0, len(str(samples)) - 2)
    return math.ceil(samples / step) * step
