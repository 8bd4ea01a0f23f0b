"""Pearson's and Spearman's correlation and Kendall's tau-b of a judge's scores with mean human values."""

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Array, Floats, Ints, cluster_rows, finite, mid_ranks, same_length, sums_by
from alignment.base.estimate import FEW_UNITS, Estimate, Remark, remark
from alignment.base.interval import Kind, Plan, Sampling, with_interval
from alignment.base.totals import Totals, estimate, ratio, spread

BOUNDS = (-1.0, 1.0)
#: Relative differences below this are rounding: 0.1 + 0.2 and 0.3 are one value.
ROUNDING = 1e-13


def pearson(
    score: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Pearson's r of two columns, shape (units,).

    r = (n Σxy - Σx Σy)/√((n Σx² - (Σx)²)(n Σy² - (Σy)²)), a function of six sums, so its influence is exact.
    Undefined: fewer than 2 units; all scores equal; all human values equal. ValueError: values that aren't finite.
    """
    plan = Plan(interval, rng, level)
    x, y, row, rows = columns(score, human, cluster)
    reason = constant(x, y)
    if reason is not None:
        return Estimate.undefined(reason, n=x.size, clusters=rows, method="Pearson's r", level=level)
    # Standardised first: r doesn't change, and the sums below keep their precision.
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    totals = Totals.of_columns(row, np.stack([np.ones_like(x), x, y, x * x, y * y, x * y]))
    return estimate(totals, _r_of_moments, plan, name="Pearson's r", n=x.size, undefined=remark("columns_do_not_vary"))


def spearman(
    score: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Spearman's rank correlation of two columns, shape (units,): Pearson's r of mid-ranks.

    The influence counts both ways in which a unit bears on r: by its own ranks, and by lifting the ranks of the units
    above it. Undefined and errors as ``pearson``.

    Source: the weighted mid-rank Σ_j w_j([x_j < x] + ½[x_j = x]) put into r and differentiated by w; the same influence
    function as in Croux & Dehon (2010), Stat. Methods Appl. 19.
    """
    plan = Plan(interval, rng, level)
    x, y, row, rows = columns(score, human, cluster)
    name, reason = "Spearman's rho", constant(x, y)
    if reason is not None:
        return Estimate.undefined(reason, n=x.size, clusters=rows, method=name, level=level)
    (_, x_place), (_, y_place) = np.unique(x, return_inverse=True), np.unique(y, return_inverse=True)
    u, v = _standard(mid_ranks(x)), _standard(mid_ranks(y))
    rho = float(np.clip((u * v).mean(), *BOUNDS))

    def influence() -> Floats:
        own = u * v - rho / 2 * (u * u + v * v)
        # u is standardised over n, ranks run over n: moving one rank by 1/n moves u by 1/(n·spread of ranks / n).
        through_x = _weight_above(x_place, (v - rho * u) / mid_ranks(x).std())
        through_y = _weight_above(y_place, (u - rho * v) / mid_ranks(y).std())
        return sums_by(row, (own + through_x + through_y) / x.size, rows)

    def resample(weights: Floats) -> Floats:
        per_unit = weights[:, row]
        return _weighted_r(_weighted_ranks(per_unit, x_place), _weighted_ranks(per_unit, y_place), per_unit)

    sampling = Sampling(rows, 8 * x.size, influence, resample)
    return with_interval(rho, sampling, plan, name=name, n=x.size, clusters=rows, bounds=BOUNDS)


def columns(score: ArrayLike, human: ArrayLike, cluster: ArrayLike) -> tuple[Floats, Floats, Ints, int]:
    """Both columns, checked, with each unit's cluster as 0..rows-1 and the number of clusters."""
    x, y, (row, rows) = finite(score, "score"), finite(human, "human value"), cluster_rows(cluster)
    same_length(score=x, human=y, cluster=row)
    return x, y, row, rows


def constant(x: Floats, y: Floats) -> Remark | None:
    """Why a correlation of these columns is undefined, or None when it isn't."""
    if x.size < 2:
        return FEW_UNITS
    for column, reason in ((x, remark("equal_scores")), (y, remark("equal_human_values"))):
        if np.ptp(column) <= ROUNDING * np.abs(column).max():
            return reason
    return None


def _r_of_moments(sums: Array) -> Array:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return ratio(n * xy - x * y, np.sqrt(spread(n, x, xx)) * np.sqrt(spread(n, y, yy)))


def _standard(ranks: Floats) -> Floats:
    return (ranks - ranks.mean()) / ranks.std()


def _weight_above(place: Ints, amount: Floats) -> Floats:
    """For each unit the sum of ``amount`` over units of higher value, and half of it over those of equal value."""
    per_value = sums_by(place, amount, int(place.max()) + 1)
    above: Floats = per_value[::-1].cumsum()[::-1] - per_value / 2
    return above[place]


def _weighted_ranks(weights: Floats, place: Ints) -> Floats:
    """Σ_j w_j([x_j < x_i] + ½[x_j = x_i]) for each resample and unit, shape (resamples, units)."""
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    per_value = np.add.reduceat(weights[:, order], starts, axis=1)
    return (per_value.cumsum(axis=1) - per_value / 2)[:, place]


def _weighted_r(u: Floats, v: Floats, weights: Floats) -> Floats:
    sums = [weights, weights * u, weights * v, weights * u * u, weights * v * v, weights * u * v]
    return _r_of_moments(np.stack([term.sum(axis=1) for term in sums], axis=-1))


SIGNS_AT_ONCE = 4_000_000
#: The bootstrap holds a clusters² matrix. "auto" uses it below 40 clusters only.
CLUSTERS_FOR_BOOTSTRAP = 2_000


def kendall(
    score: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Kendall's tau-b of two columns, shape (units,), in O(n log² n) time and O(n) memory.

    τ = S/√(T_x T_y) with S = Σ_ij sgn(x_i - x_j) sgn(y_i - y_j) and T_x = Σ_ij [x_i ≠ x_j], likewise T_y. With c_i
    the concordant less the discordant partners of unit i and t_i the units that differ from it, the influence of a
    unit is 2c_i/√(T_x T_y) - τ(t_xi/T_x + t_yi/T_y). Undefined and errors as ``pearson``; for more than 2,000 clusters
    ``interval="bootstrap"`` gives no interval (influence functions do).

    Source: Kendall (1945), Biometrika 33.
    """
    plan = Plan(interval, rng, level)
    x, y, row, rows = columns(score, human, cluster)
    name, reason = "Kendall's tau-b", constant(x, y)
    if reason is not None:
        return Estimate.undefined(reason, n=x.size, clusters=rows, method=name, level=level)
    (_, x_place), (_, y_place) = np.unique(x, return_inverse=True), np.unique(y, return_inverse=True)
    # Concordant less discordant partners of each unit.
    alike = _dominated(x_place, y_place) + _dominated(-x_place, -y_place)
    lead = alike - _dominated(x_place, -y_place) - _dominated(-x_place, y_place)
    x_differ, y_differ = (x.size - np.bincount(place)[place] for place in (x_place, y_place))
    x_pairs, y_pairs = float(x_differ.sum()), float(y_differ.sum())
    scale = np.sqrt(x_pairs) * np.sqrt(y_pairs)
    tau = float(np.clip(lead.sum() / scale, *BOUNDS))
    if plan.kind == "bootstrap" and rows > CLUSTERS_FOR_BOOTSTRAP:
        reason = remark("many_clusters", n=CLUSTERS_FOR_BOOTSTRAP)
        return Estimate(tau, None, None, level, x.size, rows, name, reason)

    def influence() -> Floats:
        change = 2 * lead / scale - tau * (x_differ / x_pairs + y_differ / y_pairs)
        return sums_by(row, change, rows)

    forms: list[Floats] = []

    def resample(weights: Floats) -> Floats:
        if not forms:
            forms.extend(_cluster_forms(x_place, y_place, row, rows))
        agreeing, x_apart, y_apart = (((weights @ form) * weights).sum(axis=1) for form in forms)
        return ratio(agreeing, np.sqrt(x_apart) * np.sqrt(y_apart))

    sampling = Sampling(rows, 3 * rows, influence, resample)
    return with_interval(tau, sampling, plan, name=name, n=x.size, clusters=rows, bounds=BOUNDS)


def _dominated(x: Ints, y: Ints) -> Ints:
    """For each i the number of j with x_j < x_i and y_j < y_i; both are integers."""
    # Among equal x the greater y comes first, so no earlier entry of equal x is counted as smaller.
    order = np.lexsort((-y, x))
    counts = np.empty_like(order)
    counts[order] = _earlier_and_smaller(y[order] - y.min())
    return counts


def _earlier_and_smaller(values: Ints) -> Ints:
    """For each i the number of j < i with values_j < values_i, by bottom-up merging.

    At every width each entry in the right half of a block looks up its place among the sorted left half. The block's
    number as leading digit of the keys makes that one search for all blocks.
    """
    index = np.arange(values.size)
    base = int(values.max()) + 1
    counts = np.zeros(values.size, dtype=np.int64)
    width = 1
    while width < values.size:
        block, in_right = index // (2 * width), (index // width) % 2 == 1
        keys = block * base + values
        left, right = np.sort(keys[~in_right]), keys[in_right]
        counts[in_right] += np.searchsorted(left, right) - np.searchsorted(left, block[in_right] * base)
        width *= 2
    return counts


def _cluster_forms(x: Ints, y: Ints, row: Ints, rows: int) -> tuple[Floats, Floats, Floats]:
    """S, T_x and T_y as quadratic forms of cluster weights: three matrices of shape (rows, rows).

    O(n²) time in blocks of bounded memory.
    """
    order = np.argsort(row, kind="stable")
    x, y, row = x[order], y[order], row[order]
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    forms = np.zeros((3, rows, rows))
    block = max(1, SIGNS_AT_ONCE // x.size)
    for start in range(0, x.size, block):
        part = slice(start, start + block)
        x_sign = np.sign(x[part, None] - x).astype(np.int8)
        y_sign = np.sign(y[part, None] - y).astype(np.int8)
        for form, signs in zip(forms, (x_sign * y_sign, x_sign != 0, y_sign != 0), strict=True):
            np.add.at(form, row[part], np.add.reduceat(signs, starts, axis=1, dtype=np.int64))
    return forms[0], forms[1], forms[2]
