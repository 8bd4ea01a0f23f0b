"""Percent agreement and Cohen's kappa of every pair of raters.

What ``cohen_kappa`` does for one pair with a confusion matrix by cluster is done here for ten thousand with one pass
over the common units: kappa needs of a confusion matrix only both margins and the disagreement observed. In the
bootstrap, too, kappas follow from sums of columns: one matrix product for all pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from alignment.agreement.cohen import kappa_name, kappa_of_margins, refusal
from alignment.base.arrays import Array, Floats, Ints, ranges, renumbered, run_starts, sums_by
from alignment.base.bootstrap import Middle, middles, resampled
from alignment.base.estimate import FEW_COMMON, NO_LEVELS, ONE_CATEGORY, Estimate
from alignment.base.interval import Case, Kind, Plan, standard_errors
from alignment.base.ratings import Ratings
from alignment.base.tables import Weighting, disagreement, pairs_within
from alignment.base.totals import Totals, ratio


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
        return weights.ravel()[self.first * self.levels + self.second]


def kappas(counts: PairCounts, weights: Floats) -> Floats:
    """Kappa of every pair, shape (pairs,); NaN when no disagreement is expected."""
    observed = sums_by(counts.pair, counts.disagreement(weights), len(counts))
    return kappa_of_margins(observed, *counts.margins, weights)


def influences(counts: PairCounts, weights: Floats) -> Floats:
    """Derivative of each entry's kappa by the entry's weight, shape (entries,); NaN where that kappa is undefined.

    With n units, disagreements observed O and expected E/n, κ = 1 - nO/E; a unit with levels a, b raises n by one, O by
    v_ab and E by Σ_j v_aj c_j + Σ_i v_ib r_i, where r and c are the raters' counts of each level.
    """
    apart, (rows, columns) = counts.disagreement(weights), counts.margins
    observed = sums_by(counts.pair, apart, len(counts))
    through_first, through_second = weights @ columns, weights.T @ rows
    expected = (through_second * columns).sum(axis=0)
    steepness = ratio(counts.n * observed, expected**2)
    of_first = steepness * through_first - ratio(observed, expected)
    of_second = steepness * through_second
    influence: Floats = (
        _at(of_first, counts.pair, counts.first)
        + _at(of_second, counts.pair, counts.second)
        - ratio(counts.n, expected)[counts.pair] * apart
    )
    return influence


def _at(values: Floats, pair: Ints, level: Ints) -> Floats:
    """values[level, pair], read in the order in which pairs follow each other."""
    return np.ascontiguousarray(values.T).ravel()[pair * values.shape[0] + level]


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


PERCENT = "percent agreement"
WEIGHTINGS: tuple[Weighting | None, ...] = (None, "linear", "quadratic")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters on their ``n`` common units."""

    a: str
    b: str
    n: int
    percent: Estimate
    kappa: Estimate
    linear: Estimate
    quadratic: Estimate


def pairwise(
    ratings: Ratings,
    min_common: int = 1,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> list[Pair]:
    """Percent agreement and Cohen's kappa (plain, linear, quadratic) of every pair with common units.

    A rater here is a human, or a judge that gives labels. Each estimate is what ``cohen_kappa``
    and ``percent_agreement`` give for the pair alone, with its reason when undefined. Pairs with fewer than
    ``min_common`` common units, or none, are left out. The bootstrap draws clusters once for all statistics of up to
    32 pairs with equally many clusters: each interval is as good as alone, but the luck of the draws is shared.
    """
    plan = Plan(interval, rng, level)
    counts = PairCounts.of(ratings, min_common)
    names = np.array([*ratings.raters, None], dtype=object)
    columns = (names[counts.a], names[counts.b], counts.n.tolist(), *_estimates(ratings, counts, plan))
    return [Pair(*row) for row in zip(*columns, strict=True)]


def _estimates(ratings: Ratings, counts: PairCounts, plan: Plan) -> list[list[Estimate]]:
    """Percent agreement and the three kappas, each of every pair."""
    reasons = [NO_LEVELS if ratings.levels is None else None, *(refusal(ratings, one) for one in WEIGHTINGS)]
    names = [PERCENT, *map(kappa_name, WEIGHTINGS)]
    estimates = [
        [] if reason is None else [Estimate.undefined(reason, method=name, level=plan.level)] * len(counts)
        for name, reason in zip(names, reasons, strict=True)
    ]
    if ratings.levels is None or not len(counts):
        return estimates
    weightings = [disagreement(len(ratings.levels), one) for one in WEIGHTINGS]
    meaning = [place for place, reason in enumerate(reasons[1:]) if reason is None]
    resamples = resamples_of(counts, [weightings[place] for place in meaning], plan)
    agreeing = 1 - counts.disagreement(weightings[0])
    values = sums_by(counts.pair, agreeing, len(counts)) / counts.n
    errors = _errors(counts, (agreeing - values[counts.pair]) / counts.n[counts.pair])
    estimates[0] = _of_every_pair(counts, values, errors, resamples, 0, PERCENT, plan)
    for number, place in enumerate(meaning, start=1):
        values = kappas(counts, weightings[place])
        errors = np.nan_to_num(_errors(counts, influences(counts, weightings[place])))
        estimates[1 + place] = _of_every_pair(counts, values, errors, resamples, number, names[1 + place], plan)
    return estimates


def _errors(counts: PairCounts, influence: Floats) -> Floats:
    by_row = sums_by(counts.row, influence, counts.row_pair.size)
    return standard_errors(by_row, counts.row_pair, len(counts))


def _of_every_pair(
    counts: PairCounts,
    values: Floats,
    errors: Floats,
    resamples: Mapping[int, Sequence[Middle]],
    statistic: int,
    name: str,
    plan: Plan,
) -> list[Estimate]:
    figures = zip(values.tolist(), errors.tolist(), counts.n.tolist(), counts.clusters.tolist(), strict=True)
    # Thousands of pairs with a unit or two in common differ in nothing; an estimate can't change, so they share it.
    made: dict[tuple[float | None, float, int, int], Estimate] = {}
    estimates = []
    for pair, (value, error, n, clusters) in enumerate(figures):
        key = (None if value != value else value, error, n, clusters)
        if pair in resamples:
            estimates.append(_estimate(name, plan, *key, resamples[pair][statistic]))
            continue
        if key not in made:
            made[key] = _estimate(name, plan, *key, None)
        estimates.append(made[key])
    return estimates


def _estimate(
    name: str, plan: Plan, value: float | None, error: float, n: int, clusters: int, found: Middle | None
) -> Estimate:
    """From value (None: undefined), standard error, common units, clusters, and the resamples where there are any."""
    is_share = name == PERCENT  # defined for every pair: they have a common unit
    if value is None or (n < 2 and not is_share):
        reason = FEW_COMMON if n < 2 else ONE_CATEGORY
        return Estimate.undefined(reason, n=n, clusters=clusters, method=name, level=plan.level)
    case = Case(plan, name, n, clusters, (0.0, 1.0) if is_share else (-1.0, 1.0))
    share = case.of_share(value, error, single=n == clusters) if is_share else None
    if share is not None:
        return share
    if plan.refusal(clusters) is not None:
        return case.without_interval(value)
    return case.by_influence(value, error) if found is None else case.by_bootstrap(value, found)
