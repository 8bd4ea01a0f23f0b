"""Agreement of any number of raters: percent agreement, Fleiss' kappa, Gwet's AC1.

Units may have unequal numbers of ratings. A unit with one rating says nothing on agreement but counts in the category
shares. ``n`` counts the units with two or more ratings, ``clusters`` theirs.
"""

import numpy as np

from alignment.arrays import Array
from alignment.estimate import Estimate
from alignment.interval import Kind, Plan, proportion
from alignment.ratings import Ratings
from alignment.reasons import NO_LEVELS, NO_PAIRS, ONE_CATEGORY
from alignment.tables import agreement_columns, agreement_kinds
from alignment.totals import Statistic, estimate, ratio


def percent_agreement(
    ratings: Ratings, *, interval: Kind = "auto", rng: np.random.Generator | None = None, level: float = 0.95
) -> Estimate:
    """Share of agreeing pairs of ratings in a unit, averaged over units with two or more ratings; between 0 and 1.

    p = mean_u Σ_k n_uk(n_uk - 1)/(m_u(m_u - 1)). Undefined: no levels; no unit has two ratings.

    Source: Fleiss (1971), Psychol. Bull. 76, for m equal; Gwet (2014), Handbook of Inter-Rater Reliability, else.
    """
    plan = Plan(interval, rng, level)
    name = "percent agreement"
    if ratings.levels is None:
        return Estimate.undefined(NO_LEVELS, method=name, level=level)
    totals, _, _ = agreement_columns(ratings)
    columns = np.eye(2, totals.size)
    return proportion(
        totals.per_cluster(columns[0]), totals.per_cluster(columns[1]), plan, name=name, undefined=NO_PAIRS
    )


def fleiss_kappa(
    ratings: Ratings, *, interval: Kind = "auto", rng: np.random.Generator | None = None, level: float = 0.95
) -> Estimate:
    """Fleiss' kappa, for unequal numbers of ratings as Gwet generalises it.

    κ = (p - p_e)/(1 - p_e) with p the percent agreement, p_e = Σ_k π_k², and π_k the mean over rated units of the share
    of a unit's ratings on level k. Undefined: no levels; no unit has two ratings; only one category was used.

    Source: Fleiss (1971), Psychol. Bull. 76; Gwet (2014), Handbook of Inter-Rater Reliability, §2.
    """

    def disagreement_expected(shares: Array) -> Array:
        expected: Array = (shares * (1 - shares)).sum(axis=-1)
        return expected

    return _chance_corrected(ratings, "Fleiss' kappa", disagreement_expected, Plan(interval, rng, level))


def gwet_ac1(
    ratings: Ratings, *, interval: Kind = "auto", rng: np.random.Generator | None = None, level: float = 0.95
) -> Estimate:
    """Gwet's AC1.

    AC1 = (p - p_e)/(1 - p_e) with p the percent agreement, p_e = Σ_k π_k(1 - π_k)/(q - 1) over the q levels of the
    scale, and π_k as in Fleiss' kappa. Defined, and 1, when only one category was used: that is its intent.
    Undefined: no levels; no unit has two ratings.

    Source: Gwet (2008), Br. J. Math. Stat. Psychol. 61.
    """
    others = len(ratings.levels or ()) - 1

    def disagreement_expected(shares: Array) -> Array:
        expected: Array = 1 - (shares * (1 - shares)).sum(axis=-1) / others
        return expected

    return _chance_corrected(ratings, "Gwet's AC1", disagreement_expected, Plan(interval, rng, level))


def _chance_corrected(ratings: Ratings, name: str, expected: Statistic, plan: Plan) -> Estimate:
    """1 - (1 - p)/(1 - p_e), where ``expected`` gives 1 - p_e from the category shares (..., levels)."""
    if ratings.levels is None:
        return Estimate.undefined(NO_LEVELS, method=name, level=plan.level)
    totals, n, clusters = agreement_columns(ratings)
    if n == 0:
        return Estimate.undefined(NO_PAIRS, method=name, level=plan.level)

    def statistic(columns: Array) -> Array:
        shares = columns[..., 2:] / columns[..., 2:].sum(axis=-1, keepdims=True)
        value: Array = 1 - ratio(1 - ratio(columns[..., 0], columns[..., 1]), expected(shares))
        return value

    kinds = agreement_kinds(len(ratings.levels))
    return estimate(totals, statistic, plan, name=name, n=n, clusters=clusters, undefined=ONE_CATEGORY, kinds=kinds)
