"""The cluster bootstrap: resamples of whole clusters, and the middle part of what a statistic is in them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from alignment.base.arrays import Floats

RESAMPLES = 2_000
FLOATS_AT_ONCE = 4_000_000

#: Cluster weights (resamples, clusters) -> values (resamples, …), NaN where undefined.
Resample = Callable[[Floats], Floats]


def seeded(seed: int) -> np.random.Generator:
    """The generator to hand over as ``rng``, for callers without numpy: the same seed, the same intervals."""
    return np.random.default_rng(seed)


@dataclass(frozen=True, slots=True)
class Middle:
    """The middle ``level`` of the resamples without the ``lost`` undefined ones; ``spread``, greatest less least."""

    low: float
    high: float
    spread: float
    lost: int


def resampled(resample: Resample, rows: int, width: int, rng: np.random.Generator | None) -> Floats:
    """A statistic (or several) in 2,000 draws of ``rows`` clusters with replacement, shape (resamples, …).

    ``resample`` takes about ``width`` floats per resample; it is given as many at once as keep memory bounded.
    """
    assert rng is not None  # a Plan refuses to be made without one
    parts = []
    for size in _blocks(max(rows, width)):
        drawn = rng.integers(rows, size=(size, rows)) + rows * np.arange(size)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
        parts.append(resample(weights.astype(np.float64)))
    return np.concatenate(parts)


def middle(resamples: Floats, level: float) -> Middle:
    """The middle part of one statistic's resamples, shape (resamples,); NaN is an undefined one.

    >>> middle(np.array([3.0, np.nan, 1.0, 2.0, 5.0, 4.0]), 0.5)
    Middle(low=2.0, high=4.0, spread=4.0, lost=1)
    """
    ordered = np.sort(resamples)  # NaN comes last
    lost = int(np.isnan(ordered).sum())
    kept = ordered[: ordered.size - lost]
    if not kept.size:
        return Middle(np.nan, np.nan, np.nan, lost)
    low, high = np.quantile(kept, ((1 - level) / 2, (1 + level) / 2)).tolist()
    return Middle(low, high, float(kept[-1] - kept[0]), lost)


def _blocks(width: int) -> Iterator[int]:
    """Sizes of blocks of resamples that take no more than ``FLOATS_AT_ONCE``."""
    block = max(1, min(RESAMPLES, FLOATS_AT_ONCE // width))
    for start in range(0, RESAMPLES, block):
        yield min(block, RESAMPLES - start)
