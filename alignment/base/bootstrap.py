"""The cluster bootstrap: resamples of whole clusters, and the middle part of what a statistic is in them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from alignment.base.arrays import Floats, Ints

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


def resampled_kinds(
    resample: Resample, times: Ints, sample: Ints, width: int, rng: np.random.Generator | None
) -> Floats:
    """The same where clusters are of few kinds, and drawn from several samples, each as large as it is.

    ``times``, shape (kinds,), says how many clusters are alike, ``sample`` to which sample each kind belongs;
    ``resample`` takes weights of the kinds. A million clusters of ten kinds cost no more than ten.
    """
    assert rng is not None
    parts = []
    for size in _blocks(max(times.size, width)):
        weights = np.zeros((size, times.size))
        for one in np.unique(sample):
            kinds = sample == one
            count = int(times[kinds].sum())
            weights[:, kinds] = rng.multinomial(count, times[kinds] / count, size=size)
        parts.append(resample(weights))
    return np.concatenate(parts)


def middle(resamples: Floats, level: float) -> Middle:
    """The middle part of one statistic's resamples, shape (resamples,); NaN is an undefined one.

    >>> middle(np.array([3.0, np.nan, 1.0, 2.0, 5.0, 4.0]), 0.5)
    Middle(low=2.0, high=4.0, spread=4.0, lost=1)
    """
    return middles(resamples[None], level)[0]


def middles(resamples: Floats, level: float) -> list[Middle]:
    """``middle`` of each row of an array of shape (statistics, resamples); quantiles are interpolated linearly."""
    ordered = np.sort(resamples, axis=-1)  # NaN comes last
    lost = np.isnan(ordered).sum(axis=-1)
    rows, last = np.arange(ordered.shape[0]), np.maximum(ordered.shape[-1] - lost - 1, 0)

    def quantile(share: float) -> Floats:
        place = share * last
        below = np.floor(place).astype(np.int64)
        start, stop = ordered[rows, below], ordered[rows, np.minimum(below + 1, last)]
        return start + (place - below) * (stop - start)

    spread = ordered[rows, last] - ordered[rows, 0]
    figures = (quantile((1 - level) / 2), quantile((1 + level) / 2), spread, lost)
    return [Middle(*row) for row in zip(*(figure.tolist() for figure in figures), strict=True)]


def _blocks(width: int) -> Iterator[int]:
    """Sizes of blocks of resamples that take no more than ``FLOATS_AT_ONCE``."""
    block = max(1, min(RESAMPLES, FLOATS_AT_ONCE // width))
    for start in range(0, RESAMPLES, block):
        yield min(block, RESAMPLES - start)
