"""Scott's pi of two raters, and its mean over pairs."""

import numpy as np

from alignment.cohen import confusion, kappa_statistic
from alignment.estimate import Estimate
from alignment.interval import Kind, Plan
from alignment.mean_kappa import mean_kappa_of
from alignment.pair_counts import PairCounts
from alignment.ratings import Ratings
from alignment.reasons import FEW_COMMON, NO_LEVELS, ONE_CATEGORY
from alignment.tables import pairs_within
from alignment.totals import estimate
from alignment.weights import disagreement

NAME = "Scott's pi"


def scott_pi(
    ratings: Ratings,
    a: str,
    b: str,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Scott's pi of raters ``a`` and ``b`` on their common units.

    π = (p - Σ_k π_k²)/(1 - Σ_k π_k²) with p the share of equal ratings and π_k the share of level k among the ratings
    of both: Cohen's kappa of raters who are taken to have the same habits. It is never above kappa. For more than two
    raters it is Fleiss' kappa.

    Undefined: no levels; fewer than 2 common units; both raters used only one and the same category. ValueError: an
    unknown rater, the same rater twice.

    Source: Scott (1955), Public Opin. Q. 19.

    >>> ratings = Ratings.from_columns(
    ...     [1, 2, 3, 4] * 2, ["ann"] * 4 + ["bob"] * 4, "xxyy" + "xxyx", [1, 2, 3, 4] * 2,
    ...     scale="nominal", levels="xy",
    ... )
    >>> round(scott_pi(ratings, "ann", "bob", interval="none").value, 4)
    0.4667
    """
    plan = Plan(interval, rng, level)
    if a == b:
        raise ValueError(f"pi compares two raters, not {a!r} with itself")
    both = ratings.select_raters([a, b])
    if ratings.levels is None:
        return Estimate.undefined(NO_LEVELS, method=NAME, level=level)
    first, second = pairs_within(both.unit)
    # Pi is kappa of the table and its mirror image together: then both raters have the habits of both.
    either, other = np.concatenate([first, second]), np.concatenate([second, first])
    table = confusion(both.cluster[either], both.value[either], both.value[other], len(ratings.levels))
    if first.size < 2:
        return Estimate.undefined(FEW_COMMON, n=first.size, clusters=table.rows, method=NAME, level=level)
    statistic = kappa_statistic(disagreement(len(ratings.levels), None))
    return estimate(table, statistic, plan, name=NAME, n=first.size, undefined=ONE_CATEGORY)


def mean_pairwise_pi(
    ratings: Ratings,
    min_common: int = 10,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of Scott's pi over the pairs of raters with at least ``min_common`` (and 2) common units.

    Everything else as ``mean_pairwise_kappa``.
    """
    plan, min_common = Plan(interval, rng, level), max(2, min_common)
    return mean_pi_of(ratings, PairCounts.of(ratings, min_common), min_common, plan)


def mean_pi_of(ratings: Ratings, counts: PairCounts, min_common: int, plan: Plan) -> Estimate:
    """``mean_pairwise_pi`` of pairs already counted."""
    return mean_kappa_of(ratings, counts.mirrored(), None, min_common, False, plan, name=NAME)
