"""Percent agreement and Cohen's kappa of every pair of raters.

What ``cohen_kappa`` does for one pair with a confusion matrix by cluster is done here for ten thousand with one pass
over the common units: kappa needs of a confusion matrix only both margins and the disagreement observed, and so does
kappa without one of the clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from alignment.agreement.cohen import kappa_name, kappa_of_margins, refusal
from alignment.base.arrays import Floats, Ints, ranges, renumbered, run_starts, sums_by
from alignment.base.estimate import FEW_COMMON, NO_LEVELS, ONE_CATEGORY, Estimate
from alignment.base.interval import (
    FEWEST_RARER,
    Case,
    Kind,
    Plan,
    Rarer,
    ends_on_scale,
    jackknife_method,
    standard_errors,
    t_quantile,
)
from alignment.base.ratings import Ratings
from alignment.base.tables import Weighting, counts_alike, disagreement, pairs_within
from alignment.base.totals import CLUSTERS_FOR_JACKKNIFE, ratio


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


#: So that what is held at once stays small.
ROWS_AT_ONCE = 2**17


def moves(counts: PairCounts, weightings: Sequence[Floats]) -> list[Floats]:
    """How each pair's kappas move without one of its clusters, each of shape (rows,): as ``Totals.jackknife``."""
    rows, aparts = counts.row_pair.size, [counts.disagreement(weights) for weights in weightings]
    left, observed = np.empty((len(weightings), rows)), [sums_by(counts.pair, apart, len(counts)) for apart in aparts]
    for start in range(0, rows, ROWS_AT_ONCE):
        pair = counts.row_pair[start : start + ROWS_AT_ONCE]
        entries = slice(*np.searchsorted(counts.row, [start, start + pair.size]).tolist())
        row = counts.row[entries] - start
        margins = [
            total[:, pair]
            - np.bincount(level[entries] * pair.size + row, minlength=total.shape[0] * pair.size).reshape(-1, pair.size)
            for total, level in zip(counts.margins, (counts.first, counts.second), strict=True)
        ]
        for place, (weights, apart) in enumerate(zip(weightings, aparts, strict=True)):
            kept = observed[place][pair] - sums_by(row, apart[entries], pair.size)
            left[place, start : start + pair.size] = kappa_of_margins(kept, margins[0], margins[1], weights)
    found, many = [_moved(counts, one) for one in left], counts.clusters >= CLUSTERS_FOR_JACKKNIFE
    if many.any():
        first_order = [sums_by(counts.row, influences(counts, weights), rows) for weights in weightings]
        found = [np.where(many[counts.row_pair], *both) for both in zip(first_order, found, strict=True)]
    return found


def _moved(counts: PairCounts, left: Floats) -> Floats:
    """From a figure of each pair without each of its clusters, shape (rows,)."""
    mean = sums_by(counts.row_pair, left, len(counts)) / counts.clusters
    moved: Floats = np.sqrt(1 - 1 / counts.clusters)[counts.row_pair] * (mean[counts.row_pair] - left)
    return moved


def rarer_groups(counts: PairCounts) -> Ints:
    """In how many clusters the rater of each pair who does so less gave any but the level he gave most, (pairs,)."""
    held = []
    for margin, level in zip(counts.margins, (counts.first, counts.second), strict=True):
        other = sums_by(counts.row, level != margin.argmax(axis=0)[counts.pair], counts.row_pair.size) > 0
        held.append(sums_by(counts.row_pair, other, len(counts)))
    return np.minimum(*held).astype(np.int64)


PERCENT = "percent agreement"
KAPPA_BOUNDS = (-1.0, 1.0)
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
    ``min_common`` common units, or none, are left out. ValueError: a bootstrap, which there is of single pairs.
    """
    plan = Plan(interval, rng, level)
    refuse_bootstrap(plan)
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
    agreeing, rows = 1 - counts.disagreement(weightings[0]), counts.row_pair
    agreed, own = sums_by(counts.pair, agreeing, len(counts)), sums_by(counts.row, agreeing, rows.size)
    units, values = np.bincount(counts.row), agreed / counts.n
    if plan.is_best:
        error_by_row = np.nan_to_num(_moved(counts, ratio(agreed[rows] - own, counts.n[rows] - units)))
    else:
        error_by_row = (own - values[rows] * units) / counts.n[rows]
    errors = standard_errors(error_by_row, rows, len(counts))
    held = rarer_groups(counts)
    estimates[0] = _of_every_pair(counts, values, errors, held, None, PERCENT, plan)
    asked = [weightings[place] for place in meaning]
    if plan.is_best:
        moved = moves(counts, asked)
    else:
        moved = [sums_by(counts.row, influences(counts, weights), rows.size) for weights in asked]
    for place, weights, by_row in zip(meaning, asked, moved, strict=True):
        values = kappas(counts, weights)
        errors = standard_errors(by_row, rows, len(counts))
        estimates[1 + place] = _of_every_pair(counts, values, errors, held, weights, names[1 + place], plan)
    return estimates


def refuse_bootstrap(plan: Plan) -> None:
    """ValueError where one is asked for, of thousands of pairs."""
    if plan.kind == "bootstrap":
        raise ValueError("there is a bootstrap of two raters (cohen_kappa), none of all pairs")


def _of_every_pair(
    counts: PairCounts, values: Floats, errors: Floats, rarer: Ints, weights: Floats | None, name: str, plan: Plan
) -> list[Estimate]:
    """``weights``: of kappa; None: percent agreement."""
    low = high = edge = np.full(len(counts), np.nan)
    if weights is None:
        rarer = np.zeros_like(rarer)
    elif plan.is_best:
        unseen = edges(counts, weights, plan.level)
        low, high = jackknife_ends(values, errors, rarer, unseen if counts_alike(weights) else None, plan.level)
        edge = unseen[0]
    # Thousands of pairs with a unit or two in common differ in nothing; an estimate can't change, so they share it.
    made: dict[tuple[float | None, float | None, int, int, int, float | None], Estimate] = {}
    estimates = []
    columns = (values, low, high, errors, counts.n, counts.clusters, rarer, edge)
    for value, lower, upper, error, n, clusters, held, lowest in zip(*(one.tolist() for one in columns), strict=True):
        if lower == lower:
            method = jackknife_method(name, KAPPA_BOUNDS, held - 1)
            estimates.append(Estimate(value, lower, upper, plan.level, n, clusters, method, None))
            continue
        key = (_number(value), _number(error), n, clusters, held, _number(lowest))
        if key not in made:
            made[key] = _estimate(name, plan, weights is None, *key)
        estimates.append(made[key])
    return estimates


def _number(value: float) -> float | None:
    return None if value != value else value


def jackknife_ends(
    values: Floats, errors: Floats, rarer: Ints, unseen: tuple[Floats, Floats] | None, level: float
) -> tuple[Floats, Floats]:
    """``Case.by_jackknife`` of every pair's kappa, each of shape (pairs,); NaN where there is no interval."""
    df, place = np.unique(rarer - 1, return_inverse=True)
    t = np.array([t_quantile(one, level) for one in df.tolist()])[place]
    ends = ends_on_scale(values, errors, t, KAPPA_BOUNDS, unseen)
    low, high = (np.where(rarer >= FEWEST_RARER, end, np.nan) for end in ends)
    return low, high


def edges(counts: PairCounts, weights: Floats, level: float) -> tuple[Floats, Floats]:
    """``Rarer.edge`` of every pair, each of shape (pairs,)."""
    observed, (rows, columns) = sums_by(counts.pair, counts.disagreement(weights), len(counts)), counts.margins
    clusters = counts.n**2 / sums_by(counts.row_pair, np.square(np.bincount(counts.row)), len(counts))
    share = 1 - ((1 - level) / 2) ** (1 / clusters)
    kept, more = 1 - share, share * counts.n
    # Of (kept · rows + more at i)ᵀ weights (kept · columns + more at j), shape (levels, levels, pairs).
    through_first, through_second = weights @ columns, weights.T @ rows
    expected = kept**2 * (rows * through_first).sum(axis=0) + more**2 * weights[:, :, None]
    expected = expected + kept * more * (through_first[:, None] + through_second)
    found = 1 - ratio(counts.n * (kept * observed + more * weights[:, :, None]), expected)
    together = np.eye(counts.levels, dtype=np.bool_)
    return np.fmin.reduce(found[~together], initial=np.inf), np.fmax.reduce(found[together], initial=-np.inf)


def _estimate(
    name: str,
    plan: Plan,
    is_share: bool,
    value: float | None,
    error: float | None,
    n: int,
    clusters: int,
    rarer: int,
    lowest: float | None,
) -> Estimate:
    """From value (None: undefined), standard error (None: undefined without one of the clusters), common units,
    clusters, and of a kappa ``rarer_groups`` and its lower edge."""
    if value is None or (n < 2 and not is_share):
        reason = FEW_COMMON if n < 2 else ONE_CATEGORY
        return Estimate.undefined(reason, n=n, clusters=clusters, method=name, level=plan.level)
    case = Case(plan, name, n, clusters, (0.0, 1.0) if is_share else KAPPA_BOUNDS)
    if plan.refusal(clusters) is not None:
        return case.without_interval(value)
    error = np.nan if error is None else error
    if not plan.is_best:
        return case.by_influence(value, error)
    if is_share:
        return case.of_trials(value, error, whole=True)
    seen = Rarer(rarer, lambda _: (cast("float", lowest), np.inf), counts_unseen=False)
    if value >= 1 and rarer >= FEWEST_RARER:
        return case.at_the_edge(value, seen)
    return case.by_jackknife(value, error, seen)
