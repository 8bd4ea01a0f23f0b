"""Cohen's kappa of two raters, plain and weighted."""

import numpy as np

from alignment.base.arrays import Array, Floats, Ints
from alignment.base.estimate import FEW_COMMON, NO_LEVELS, NO_ORDER, ONE_CATEGORY, Estimate, Remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings
from alignment.base.tables import Weighting, agreement_of_confusion, disagreement, pairs_within
from alignment.base.totals import Statistic, Totals, estimate, ratio


def cohen_kappa(
    ratings: Ratings,
    a: str,
    b: str,
    weights: Weighting | Floats | None = None,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Cohen's kappa of raters ``a`` and ``b`` on their common units, over all levels of the scale.

    κ = 1 - Σ v_ij p_ij / Σ v_ij p_i· p_·j with disagreements v: 1 off the diagonal, |i - j| ("linear"), (i - j)²
    ("quadratic") of level positions, or a matrix of shape (levels, levels). n counts common units.

    Undefined: no levels; linear or quadratic on a nominal scale; fewer than 2 common units; both raters used only one
    and the same category. ValueError: an unknown rater, the same rater twice, weights of a wrong shape.

    Source: Cohen (1960), Educ. Psychol. Meas. 20; Cohen (1968), Psychol. Bull. 70; error: Fleiss, Cohen & Everitt
    (1969), Psychol. Bull. 72.

    >>> ratings = Ratings.from_columns(
    ...     [1, 2, 3, 4] * 2, ["ann"] * 4 + ["bob"] * 4, "xxyy" + "xxyx", [1, 2, 3, 4] * 2,
    ...     scale="nominal", levels="xy",
    ... )
    >>> cohen_kappa(ratings, "ann", "bob", interval="none").value
    0.5
    """
    plan = Plan(interval, rng, level)
    if a == b:
        raise ValueError(f"kappa compares two raters, not {a!r} with itself")
    both = ratings.select_raters([a, b])
    first, second = pairs_within(both.unit)
    return kappa_estimate(ratings, confusion_of(both, first, second), first.size, weights, plan)


def confusion_of(ratings: Ratings, a: Ints, b: Ints) -> Totals | None:
    """Confusion matrix by cluster of the ratings at positions ``a`` with those at ``b``; None without levels."""
    if ratings.levels is None:
        return None
    return confusion(ratings.cluster[a], ratings.value[a], ratings.value[b], len(ratings.levels))


def confusion(cluster: Array, a: Array, b: Array, levels: int) -> Totals:
    """Confusion matrix of two columns of level codes by cluster, levels² columns (a · levels + b)."""
    return Totals.of(cluster, a * levels + b, np.ones(a.size), levels * levels)


def kappa_statistic(weights: Floats) -> Statistic:
    """Kappa as a function of the cells of a confusion matrix, (..., levels²); NaN when no disagreement is expected.

    Whole counts and whole weights make both products exact, so a kappa of zero is exactly zero and an undefined one
    is never mistaken for a number.
    """
    levels = weights.shape[0]

    def kappa(cells: Array) -> Array:
        table = cells.reshape(*cells.shape[:-1], levels, levels)
        rows, columns = (np.moveaxis(table.sum(axis=axis), -1, 0) for axis in (-1, -2))
        return kappa_of_margins((table * weights).sum(axis=(-1, -2)), rows, columns, weights)

    return kappa


def kappa_of_margins(observed: Array, rows: Array, columns: Array, weights: Floats) -> Array:
    """Kappa from the disagreement observed, Σ v_ij n_ij (...), and from both raters' counts, each (levels, ...)."""
    # einsum, because a threaded matrix product of so few levels mostly waits for its threads.
    expected = (np.einsum("ij,i...->j...", weights, rows) * columns).sum(axis=0)
    return 1 - ratio(observed * rows.sum(axis=0), expected)


def kappa_estimate(
    ratings: Ratings,
    table: Totals | None,
    n: int,
    weights: Weighting | Floats | None,
    plan: Plan,
    *,
    name: str | None = None,
) -> Estimate:
    """Kappa of one confusion matrix (None on a scale without levels), or the reason why there is none.

    ``name`` where what is counted makes kappa something else.
    """
    name = name or kappa_name(weights)
    reason = refusal(ratings, weights)
    if table is None or reason is not None:
        return Estimate.undefined(reason or NO_LEVELS, method=name, level=plan.level)
    if n < 2:
        return Estimate.undefined(FEW_COMMON, n=n, clusters=table.rows, method=name, level=plan.level)
    levels = len(ratings.levels or ())
    statistic, agreement = (
        kappa_statistic(disagreement(levels, weights)),
        agreement_of_confusion(levels, weighted=weights is not None),
    )
    return estimate(table, statistic, plan, name=name, n=n, undefined=ONE_CATEGORY, agreement=agreement)


def kappa_name(weights: Weighting | Floats | None) -> str:
    """How the statistic is called in ``Estimate.method``."""
    if weights is None:
        return "Cohen's kappa"
    return f"Cohen's kappa, {weights if isinstance(weights, str) else 'given'} weights"


def refusal(ratings: Ratings, weights: Weighting | Floats | None) -> Remark | None:
    """Why kappa with these weights has no meaning on this scale, or None when it has."""
    if ratings.levels is None:
        return NO_LEVELS
    if isinstance(weights, str) and not ratings.ordered:
        return NO_ORDER
    return None
