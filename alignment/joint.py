"""The mean of one statistic over parts that share clusters: raters, pairs of raters."""

from collections.abc import Sequence

import numpy as np

from alignment.arrays import Floats, Ints, renumbered
from alignment.interval import Sampling
from alignment.totals import Statistic, Totals


class JointMean:
    """Σ_p g_p θ_p / Σ_p g_p as a function of the weights of all clusters; g is 1, or a part's column total.

    A part is a table with the cluster codes behind its rows. In the interval a cluster carries its influence on all
    parts together, so parts that share units are not taken for independent. The parts' statistics are defined; in a
    resample those that are not are left out of its mean.
    """

    def __init__(self, parts: Sequence[tuple[Totals, Ints]], statistic: Statistic, *, by_size: bool = False) -> None:
        self.statistic = statistic
        self.by_size = by_size
        self.clusters = renumbered(np.concatenate([clusters for _, clusters in parts]))[0]
        self.parts = [(table, np.searchsorted(self.clusters, clusters)) for table, clusters in parts]
        self.values = np.array([float(statistic(table.sums())) for table, _ in parts])
        self.shares = np.array([table.amount.sum() if by_size else 1.0 for table, _ in parts])
        self.value = float((self.shares * self.values).sum() / self.shares.sum())

    def sampling(self) -> Sampling:
        """What an interval needs to know of the mean."""
        widest = max(table.size for table, _ in self.parts)
        return Sampling(self.clusters.size, widest, self._influence, self._resample)

    def _influence(self) -> Floats:
        total = np.zeros(self.clusters.size)
        for (table, rows), value, share in zip(self.parts, self.values, self.shares, strict=True):
            change = share * table.influence(self.statistic)
            if self.by_size:
                change += (value - self.value) * table.per_cluster(np.ones(table.size))
            total[rows] += change
        influence: Floats = total / self.shares.sum()
        return influence

    def _resample(self, weights: Floats) -> Floats:
        weighted, shares = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
        for table, rows in self.parts:
            value = table.resample(self.statistic, weights[:, rows])
            share = weights[:, rows] @ table.per_cluster(np.ones(table.size)) if self.by_size else 1.0
            defined = np.isfinite(value)
            weighted += np.where(defined, share * value, 0.0)
            shares += np.where(defined, share, 0.0)
        means = np.full(weights.shape[0], np.nan)
        np.divide(weighted, shares, out=means, where=shares > 0)
        return means
