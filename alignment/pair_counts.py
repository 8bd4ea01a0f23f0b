"""What every two raters have in common."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from alignment.arrays import Floats, Ints, ranges, renumbered, run_starts
from alignment.ratings import Ratings
from alignment.tables import pairs_within


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The common units of pairs of raters: an entry for each pair and unit, sorted by pair, then by cluster.

    Of each pair, shape (pairs,): the codes ``a`` < ``b`` of its raters, its ``n`` common units, the ``clusters`` these
    lie in. Of each entry: its ``pair`` and ``row``, the ``unit``'s code, and the two ratings as positions in the
    scale's ``levels`` (all 0 without levels). A row is a cluster within a pair; of each row: its ``row_pair`` and the
    code ``row_cluster``.
    """

    a: Ints
    b: Ints
    n: Ints
    clusters: Ints
    pair: Ints
    row: Ints
    unit: Ints
    first: Ints
    second: Ints
    row_pair: Ints
    row_cluster: Ints
    levels: int

    @classmethod
    def of(cls, ratings: Ratings, min_common: int) -> "PairCounts":
        """Every pair with at least ``min_common`` common units (and at least one), in the order of ``raters``."""
        raters, levels = len(ratings.raters), len(ratings.levels or ())
        i, j = pairs_within(ratings.unit)
        present, cluster = renumbered(ratings.cluster)
        # One number to sort by: rater, rater, cluster.
        key = (ratings.rater[i] * raters + ratings.rater[j]) * max(present.size, 1) + cluster[i]
        order = np.argsort(key)
        i, j, key = i[order], j[order], key[order]
        first = run_starts(key)
        raters_of, cluster_of = np.divmod(key[first], max(present.size, 1))
        starts = run_starts(raters_of)
        clusters = np.diff(starts, append=first.size)
        n = np.diff(np.append(first, key.size)[np.append(starts, first.size)])
        counts = cls(
            a=raters_of[starts] // max(raters, 1),
            b=raters_of[starts] % max(raters, 1),
            n=n,
            clusters=clusters,
            pair=np.repeat(np.arange(n.size), n),
            row=np.repeat(np.arange(first.size), np.diff(first, append=key.size)),
            unit=ratings.unit[i],
            first=ratings.value[i] if levels else np.zeros_like(i),
            second=ratings.value[j] if levels else np.zeros_like(j),
            row_pair=np.repeat(np.arange(n.size), clusters),
            row_cluster=present[cluster_of],
            levels=levels,
        )
        return counts if n.size == 0 or n.min() >= min_common else counts.select(np.flatnonzero(n >= min_common))

    def __len__(self) -> int:
        return int(self.n.size)

    def select(self, pairs: Ints) -> "PairCounts":
        """Only the pairs at these positions, in the order given."""
        n, clusters = self.n[pairs], self.clusters[pairs]
        row_starts = np.cumsum(self.clusters) - self.clusters
        entries = ranges((np.cumsum(self.n) - self.n)[pairs], n)
        rows = ranges(row_starts[pairs], clusters)
        shift = (np.cumsum(clusters) - clusters) - row_starts[pairs]
        return PairCounts(
            a=self.a[pairs],
            b=self.b[pairs],
            n=n,
            clusters=clusters,
            pair=np.repeat(np.arange(n.size), n),
            row=self.row[entries] + np.repeat(shift, n),
            unit=self.unit[entries],
            first=self.first[entries],
            second=self.second[entries],
            row_pair=np.repeat(np.arange(n.size), clusters),
            row_cluster=self.row_cluster[rows],
            levels=self.levels,
        )

    def mirrored(self) -> "PairCounts":
        """Each unit entered twice, the second time with the raters' parts exchanged; ``n`` counts it twice as well."""
        (pair, row, unit), (first, second) = (
            [np.repeat(column, 2) for column in (self.pair, self.row, self.unit)],
            [np.stack(both, axis=1).ravel() for both in ((self.first, self.second), (self.second, self.first))],
        )
        return replace(self, n=2 * self.n, pair=pair, row=row, unit=unit, first=first, second=second)

    @cached_property
    def margins(self) -> tuple[Floats, Floats]:
        """How often the first and the second rater of each pair used each level, both of shape (levels, pairs)."""
        place, shape = self.pair * self.levels, (len(self), self.levels)
        rows, columns = (
            np.bincount(place + level, minlength=shape[0] * shape[1]).reshape(shape).T.astype(np.float64)
            for level in (self.first, self.second)
        )
        return rows, columns

    def disagreement(self, weights: Floats) -> Floats:
        """How far apart the two ratings of each entry are, shape (entries,); ``weights`` has shape (levels, levels)."""
        apart: Floats = weights.ravel()[self.first * self.levels + self.second]
        return apart
