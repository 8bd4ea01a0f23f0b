"""What looking at the locked test part costs: every look is paid for, so that all endpoints together keep 95 %."""

import math
from dataclasses import replace

from scipy.special import ndtri, stdtrit

from alignment.base.estimate import Estimate


def level_of_look(k: int, alpha: float = 0.05) -> float:
    """Confidence level at which look ``k`` = 1, 2, … at test decides: 1 - α·6/(π²k²).

    Because Σ 1/k² = π²/6, the looks' errors add up to α however many there are: with probability 1 - α or more the
    interval of *every* look's endpoint holds the true value, also when the judge was changed between looks in the light
    of them. Of the other figures of a look nothing like it is promised: their intervals are at 95 %, each by itself.
    No number of looks has to be planned. It takes intervals that are right so far out in the tails: exact bounds are,
    for kappa use ``kappa_at_look``. ValueError: k below 1, alpha outside (0, 1).

    Source: the union bound; as alpha spending, Lan & DeMets (1983), Biometrika 70.

    >>> [round(level_of_look(k), 4) for k in (1, 2, 3)]
    [0.9696, 0.9924, 0.9966]
    """
    if k < 1:
        raise ValueError(f"looks are counted from 1, not {k}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    return 1 - 6 * alpha / (math.pi * k) ** 2


def kappa_at_look(kappa: Estimate, k: int, alpha: float = 0.05) -> Estimate:
    """Kappa with the interval of look ``k``, made from the interval it has (usually 95 %).

    Far out in the tails kappa is lopsided: value ± t · error at 99.9 % misses several times too often on the side of 0,
    and 2,000 resamples have no such tail. Wilson's interval has the lopsidedness of a share, so e = (1 - κ)/2 is taken
    for one, of as many units as give it a half-width equal to the longer arm of the interval given. At look ``k`` that
    interval is stretched by the ratio s of the t quantiles (clusters - 1 degrees of freedom) of both levels:
    x = s² z²/n, ends (e + x/2 ± √(e(1 - e)x + x²/4))/(1 + x). Where value ± s · arm goes farther, as it does on the
    side of ±1, it counts. All looks together so miss 5 % or less (docs/certainty.md: series of 20 looks, 50 to 1,000
    samples, even and rare categories, good and very good judges).

    Without an interval it stays without. An arm of 1 or more says nothing: from -1 to 1.

    Source: the score interval of Wilson (1927), JASA 22(158).

    >>> widened = kappa_at_look(Estimate(0.6, 0.5, 0.7, n=200, clusters=200, method="Cohen's kappa"), 3)
    >>> round(widened.low, 3), round(widened.high, 3), round(widened.level, 4)
    (0.43, 0.75, 0.9966)
    """
    level = level_of_look(k, alpha)
    if kappa.value is None or kappa.low is None or kappa.high is None:
        return replace(kappa, level=level)
    stretch = float(stdtrit(kappa.clusters - 1, (1 + level) / 2) / stdtrit(kappa.clusters - 1, (1 + kappa.level) / 2))
    arm = max(kappa.value - kappa.low, kappa.high - kappa.value)
    low, high = _as_a_share(kappa.value, arm, stretch)
    low, high = max(-1.0, min(low, kappa.value - stretch * arm)), min(1.0, max(high, kappa.value + stretch * arm))
    return replace(kappa, low=low, high=high, level=level, method=f"{kappa.method}; for look {k} on Wilson's scale")


def _as_a_share(kappa: float, arm: float, stretch: float) -> tuple[float, float]:
    """Ends for kappa of Wilson's interval of (1 - kappa)/2 whose half-width is arm/2 before it is stretched."""
    if arm >= 1:
        return -1.0, 1.0
    share, half = (1 - kappa) / 2, arm / 2
    # The half-width solved for x = z²/n: (¼ - half²)x² + (share(1 - share) - 2 half²)x - half² = 0.
    a, b = 0.25 - half**2, share * (1 - share) - 2 * half**2
    x = stretch**2 * (math.sqrt(b**2 + 4 * a * half**2) - b) / (2 * a)
    centre, width = share + x / 2, math.sqrt(share * (1 - share) * x + x**2 / 4)
    return 1 - 2 * (centre + width) / (1 + x), 1 - 2 * (centre - width) / (1 + x)


def widening(k: int, alpha: float = 0.05) -> float:
    """How many times as wide as a plain 1 - α interval that of look ``k`` is, many samples given: z_k / z.

    >>> round(widening(3), 1)
    1.5
    """
    return float(ndtri((1 + level_of_look(k, alpha)) / 2) / ndtri(1 - alpha / 2))
