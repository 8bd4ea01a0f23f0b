"""Kendall's tau-b of a judge's scores with mean human values."""

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Floats, Ints, sums_by
from alignment.correlation import BOUNDS, columns, constant
from alignment.estimate import Estimate
from alignment.interval import Kind, Plan, Sampling, with_interval
from alignment.totals import ratio

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
    lead = _concordance(x_place, y_place)
    x_differ, y_differ = (x.size - np.bincount(place)[place] for place in (x_place, y_place))
    x_pairs, y_pairs = float(x_differ.sum()), float(y_differ.sum())
    scale = np.sqrt(x_pairs) * np.sqrt(y_pairs)
    tau = float(np.clip(lead.sum() / scale, *BOUNDS))
    if plan.kind == "bootstrap" and rows > CLUSTERS_FOR_BOOTSTRAP:
        reason = f"more than {CLUSTERS_FOR_BOOTSTRAP} clusters: use influence functions"
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


def _concordance(x: Ints, y: Ints) -> Ints:
    """Concordant less discordant partners of each unit, shape (n,); x and y are small non-negative integers."""
    return _dominated(x, y) + _dominated(-x, -y) - _dominated(x, -y) - _dominated(-x, y)


def _dominated(x: Ints, y: Ints) -> Ints:
    """For each i the number of j with x_j < x_i and y_j < y_i."""
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
