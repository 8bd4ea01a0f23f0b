"""What makes intervals from few clusters honest: quantiles of t, BCa's correction, the logit scale, and a warning."""

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from alignment.arrays import Floats


def reach(level: float, clusters: int) -> float:
    """How many standard errors a bootstrap has to reach out for: t(clusters - 1) · √(clusters/(clusters - 1)).

    A bootstrap's spread is √((clusters - 1)/clusters) of what it should be, and normal quantiles ignore that the error
    is itself estimated; with few clusters both matter.

    Source: Hesterberg (2015), Am. Stat. 69, "expanded percentiles".

    >>> round(reach(0.95, 10), 2), round(reach(0.95, 100_000), 2)
    (2.38, 1.96)
    """
    return float(stdtrit(clusters - 1, (1 + level) / 2)) * (clusters / (clusters - 1)) ** 0.5


def tails(level: float, clusters: int) -> tuple[float, float]:
    """The shares of resamples below both ends of a percentile interval that reaches that far.

    >>> [round(share, 4) for share in tails(0.95, 30)]
    [0.0188, 0.9812]
    """
    out = reach(level, clusters)
    return float(ndtr(-out)), float(ndtr(out))


def bca_shares(resamples: Floats, value: float, influence: Floats, out: float) -> tuple[float, float]:
    """The shares of resamples below both ends of the BCa interval that reaches ``out`` standard errors.

    Φ(z₀ + (z₀ ± out)/(1 - a(z₀ ± out))): z₀ from the share of resamples below the value (ties half), acceleration
    a = Σψ³/6(Σψ²)^1.5 from the clusters' influences ψ.

    Source: Efron (1987), JASA 82.

    >>> shares = bca_shares(np.array([1.0, 2.0, 3.0]), 2.0, np.array([-1.0, 0.0, 1.0]), 1.96)
    >>> [round(share, 3) for share in shares]
    [0.025, 0.975]
    """
    below = float((np.mean(resamples < value) + np.mean(resamples <= value)) / 2)
    # A value beyond all resamples would reach out to infinity.
    bias = float(ndtri(np.clip(below, 1 / resamples.size, 1 - 1 / resamples.size)))
    centred = influence - influence.mean()
    scale = float(np.square(centred).sum()) ** 1.5
    acceleration = float((centred**3).sum()) / scale / 6 if scale > 0 else 0.0

    def share(end: float) -> float:
        stretch = 1 - acceleration * (bias + end)
        if stretch <= 0:
            return 0.0 if end < 0 else 1.0
        return float(ndtr(bias + (bias + end) / stretch))

    return share(-out), share(out)


def logit_interval(value: float, half: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """value ± half, made on the scale log((x - lowest)/(highest - x)) and turned back: within the bounds by itself.

    Between -1 and 1 this is Fisher's z. A value at a bound, or without bounds, has the plain interval.

    >>> [round(end, 3) for end in logit_interval(0.9, 0.12, (0.0, 1.0))]
    [0.703, 0.972]
    """
    lowest, highest = bounds
    if not (np.isfinite(lowest) and np.isfinite(highest) and lowest < value < highest):
        return value - half, value + half
    width = highest - lowest
    share = (value - lowest) / width
    stretched = half / (width * share * (1 - share))
    low, high = (lowest + width * float(expit(logit(share) + end)) for end in (-stretched, stretched))
    return low, high


def coverage_warning(*, clusters: int, rarer: int | None = None) -> str | None:
    return None
