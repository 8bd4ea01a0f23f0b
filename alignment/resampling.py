"""Random weights of clusters, and a statistic under them: what the bootstraps share."""

from collections.abc import Callable, Iterator

import numpy as np

from alignment.arrays import Floats

FLOATS_AT_ONCE = 4_000_000
#: Clusters that smoothing adds, in all. Simulated, one is too few where a category is rare and four are too many.
MADE_UP_CLUSTERS = 2.0

#: Weights of shape (resamples, rows) -> values of shape (resamples,), NaN where undefined.
Resample = Callable[[Floats], Floats]


def cluster_bootstrap(resample: Resample, *, rows: int, width: int, resamples: int, rng: np.random.Generator) -> Floats:
    """The statistic of ``resamples`` draws, with replacement, of as many clusters as there are.

    ``width`` is about how many floats the statistic takes per resample.
    """

    def weights(size: int) -> Floats:
        drawn = rng.integers(rows, size=(size, rows)) + rows * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * rows)
        return counts.reshape(size, rows).astype(np.float64)

    return np.concatenate([resample(weights(size)) for size in _blocks(resamples, max(rows, width))])


def smoothed_bootstrap(
    resample: Resample, *, mass: Floats, width: int, resamples: int, rng: np.random.Generator
) -> Floats:
    """The statistic under weights that are uncertain, not drawn: Dirichlet with parameters ``mass``, shape (rows,).

    A cluster has mass 1, k equal ones in one row k, the made-up ones ``MADE_UP_CLUSTERS`` in all: the weights are the
    posterior of how common each cluster is, after that prior. They are scaled to sum to the mass of all.

    Source: Rubin (1981), Ann. Stat. 9; with a prior, Muliere & Secchi (1996), Ann. Inst. Stat. Math. 48.
    """

    def weights(size: int) -> Floats:
        drawn = rng.standard_gamma(mass, (size, mass.size))
        scaled: Floats = drawn * (mass.sum() / drawn.sum(axis=1, keepdims=True))
        return scaled

    return np.concatenate([resample(weights(size)) for size in _blocks(resamples, max(mass.size, width))])


def made_up_mass(kinds: int) -> Floats:
    """The prior's mass, spread evenly over the kinds of units that can occur, shape (kinds,)."""
    return np.full(kinds, MADE_UP_CLUSTERS / kinds)


def made_up_size(units: float, clusters: int) -> float:
    """How many units a made-up cluster stands for: √(units per cluster).

    The units of a cluster may be as good as independent (then it should be one unit) or copies (then as many as the
    others hold); what is between them serves both.
    """
    return float(np.sqrt(units / clusters))


def _blocks(resamples: int, width: int) -> Iterator[int]:
    """Sizes of blocks of resamples that keep memory in bounds."""
    block = max(1, min(resamples, FLOATS_AT_ONCE // width))
    for start in range(0, resamples, block):
        yield min(block, resamples - start)
