"""The bootstrap of many pairs of raters: their kappas follow from sums of columns, one matrix product for all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alignment.arrays import Array, Floats, Ints
from alignment.bootstrap import Middle, middles, resampled
from alignment.cohen import kappa_of_margins
from alignment.interval import Plan
from alignment.pair_counts import PairCounts
from alignment.totals import Totals

#: More would not fit into the processor's cache, fewer would draw more often than need be.
PAIRS_AT_ONCE = 32


@dataclass(frozen=True, eq=False, slots=True)
class PairColumns:
    """The sums that kappas follow from, by cluster: what the bootstrap resamples.

    For each pair both raters' counts of each level, then the disagreement under each weighting; column k of pair p is
    number k · pairs + p of ``totals``.
    """

    totals: Totals
    pairs: int
    levels: int

    @classmethod
    def of(cls, counts: PairCounts, cluster: Ints, clusters: int, weightings: Sequence[Floats]) -> "PairColumns":
        """``cluster`` numbers each entry's cluster 0..clusters-1, shape (entries,)."""
        pairs, levels = len(counts), counts.levels
        parts = [counts.first, levels + counts.second, *(2 * levels + np.arange(len(weightings))[:, None])]
        column = np.concatenate([np.broadcast_to(part, cluster.shape) * pairs + counts.pair for part in parts])
        amount = np.concatenate([np.ones(2 * cluster.size), *map(counts.disagreement, weightings)])
        bearing = np.flatnonzero(amount)  # most units agree, and are not apart at all
        totals = Totals(
            cluster=np.tile(cluster, len(parts))[bearing],
            column=column[bearing],
            amount=amount[bearing],
            rows=clusters,
            size=(2 * levels + len(weightings)) * pairs,
        )
        return cls(totals, pairs, levels)

    def split(self, sums: Array) -> tuple[Array, Array, Array]:
        """From column sums (..., size) both raters' counts and the disagreements.

        Shapes (levels, pairs, ...), the same, and (weightings, pairs, ...).
        """
        table = np.moveaxis(sums, -1, 0).reshape(-1, self.pairs, *sums.shape[:-1])
        return table[: self.levels], table[self.levels : 2 * self.levels], table[2 * self.levels :]


def resamples_of(counts: PairCounts, weightings: Sequence[Floats], plan: Plan) -> dict[int, Sequence[Middle]]:
    """For each pair whose intervals the bootstrap makes: of percent agreement, then of kappa with each weighting.

    The first weighting is the nominal one, from which percent agreement follows.
    """
    found: dict[int, Sequence[Middle]] = {}
    for clusters in np.unique(counts.clusters).tolist():
        if plan.refusal(clusters) is not None or plan.takes_influence(clusters):
            continue
        pairs = np.flatnonzero((counts.clusters == clusters) & (counts.n > 1))
        for start in range(0, pairs.size, PAIRS_AT_ONCE):
            chosen = pairs[start : start + PAIRS_AT_ONCE]
            found.update(zip(chosen.tolist(), _draw(counts.select(chosen), weightings, plan), strict=True))
    return found


def _draw(counts: PairCounts, weightings: Sequence[Floats], plan: Plan) -> list[Sequence[Middle]]:
    """``resamples_of`` pairs with equally many clusters, for which one draw of clusters serves all."""
    clusters, pairs = int(counts.clusters[0]), len(counts)
    columns = PairColumns.of(counts, counts.row % clusters, clusters, weightings)

    def figures(sums: Array) -> Array:
        first, second, apart = columns.split(sums)
        kappas = [kappa_of_margins(one, first, second, weights) for one, weights in zip(apart, weightings, strict=True)]
        return np.concatenate([1 - apart[0] / first.sum(axis=0), *kappas]).T

    drawn = resampled(
        lambda weights: columns.totals.resample(figures, weights), clusters, columns.totals.size, plan.rng
    )
    found = middles(drawn.T, plan.level)
    return [found[pair::pairs] for pair in range(pairs)]
