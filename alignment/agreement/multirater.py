"""Agreement of any number of raters: percent agreement and the kappas that set it against chance: Fleiss', Brennan and
Prediger's, Gwet's AC1 and AC2.

Units may have unequal numbers of ratings. A unit with one rating says nothing on agreement but counts in the category
shares. ``n`` counts the units with two or more ratings, ``clusters`` theirs.
"""

import numpy as np

from alignment.agreement.cohen import refusal
from alignment.base.arrays import Array, Floats
from alignment.base.estimate import NO_LEVELS, NO_PAIRS, ONE_CATEGORY, Estimate
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings
from alignment.base.tables import Weighting, agreement_columns, agreement_of_shares, disagreement
from alignment.base.totals import Statistic, estimate, ratio, share_of_columns


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
    return share_of_columns(totals, [0], [1], plan, name=name, undefined=NO_PAIRS)


def fleiss_kappa(
    ratings: Ratings, *, interval: Kind = "auto", rng: np.random.Generator | None = None, level: float = 0.95
) -> Estimate:
    """Fleiss' kappa, for unequal numbers of ratings as Gwet generalises it.

    κ = (p - p_e)/(1 - p_e) with p the percent agreement, p_e = Σ_k π_k², and π_k the mean over rated units of the share
    of a unit's ratings on level k. For two raters without gaps this is Scott's pi. Undefined: no levels; no unit has
    two ratings; only one category was used.

    Source: Fleiss (1971), Psychol. Bull. 76; Gwet (2014), Handbook of Inter-Rater Reliability, §2.
    """
    return _chance_corrected(ratings, "Fleiss' kappa", _not_equal, Plan(interval, rng, level))


def brennan_prediger(
    ratings: Ratings, *, interval: Kind = "auto", rng: np.random.Generator | None = None, level: float = 0.95
) -> Estimate:
    """Brennan and Prediger's kappa: by chance all q levels of the scale come equally often.

    κ = (p - 1/q)/(1 - 1/q) with p the percent agreement. Whether a level was ever used makes no difference, so it is
    defined, and 1, when only one category was used. Undefined: no levels; no unit has two ratings.

    Source: Brennan & Prediger (1981), Educ. Psychol. Meas. 41; any number of raters: Gwet (2014), Handbook of
    Inter-Rater Reliability, §2.
    """

    return _chance_corrected(
        ratings,
        "Brennan-Prediger kappa",
        lambda shares: np.full(shares.shape[:-1], 1 - 1 / shares.shape[-1]),
        Plan(interval, rng, level),
    )


def gwet_ac1(
    ratings: Ratings, *, interval: Kind = "auto", rng: np.random.Generator | None = None, level: float = 0.95
) -> Estimate:
    """Gwet's AC1.

    AC1 = (p - p_e)/(1 - p_e) with p the percent agreement, p_e = Σ_k π_k(1 - π_k)/(q - 1) over the q levels of the
    scale, and π_k as in Fleiss' kappa. Defined, and 1, when only one category was used: that is its intent.
    Undefined: no levels; no unit has two ratings.

    Source: Gwet (2008), Br. J. Math. Stat. Psychol. 61.
    """
    return _gwet(ratings, "Gwet's AC1", None, Plan(interval, rng, level))


def gwet_ac2(
    ratings: Ratings,
    weights: Weighting,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Gwet's AC2: AC1 in which two levels agree in part.

    AC2 = (p - p_e)/(1 - p_e) with w_kl = 1 - |k - l|/(q - 1) ("linear") or 1 - (k - l)²/(q - 1)² ("quadratic") of level
    positions, p = mean_u Σ_kl w_kl n_uk(n_ul - [k = l])/(m_u(m_u - 1)), p_e = Σ_kl w_kl Σ_k π_k(1 - π_k)/(q(q - 1)).
    With two levels it is AC1. Defined, and 1, when only one category was used. Undefined: no levels; a nominal scale;
    no unit has two ratings. ValueError: unknown weights.

    Source: Gwet (2014), Handbook of Inter-Rater Reliability, §3.
    """
    return _gwet(ratings, f"Gwet's AC2, {weights} weights", weights, Plan(interval, rng, level))


def _gwet(ratings: Ratings, name: str, weights: Weighting | None, plan: Plan) -> Estimate:
    reason = refusal(ratings, weights)
    if reason is not None:
        return Estimate.undefined(reason, method=name, level=plan.level)
    levels = len(ratings.levels or ())
    apart = disagreement(levels, weights)
    alike: Floats = 1 - apart / apart.max()  # 1 on the diagonal, 0 for the positions farthest apart
    scale = alike.sum() / (levels * (levels - 1))
    return _chance_corrected(
        ratings, name, lambda shares: 1 - scale * _not_equal(shares), plan, None if weights is None else alike
    )


def _not_equal(shares: Array) -> Array:
    """Σ_k π_k(1 - π_k): two draws from the category shares (..., levels) differ."""
    return (shares * (1 - shares)).sum(axis=-1)


def _chance_corrected(
    ratings: Ratings, name: str, expected: Statistic, plan: Plan, alike: Floats | None = None
) -> Estimate:
    """1 - (1 - p)/(1 - p_e), where ``expected`` gives 1 - p_e from the category shares (..., levels)."""
    if ratings.levels is None:
        return Estimate.undefined(NO_LEVELS, method=name, level=plan.level)
    totals, n, clusters = agreement_columns(ratings, alike)
    if n == 0:
        return Estimate.undefined(NO_PAIRS, method=name, level=plan.level)

    def statistic(columns: Array) -> Array:
        shares = columns[..., 2:] / columns[..., 2:].sum(axis=-1, keepdims=True)
        return 1 - ratio(1 - ratio(columns[..., 0], columns[..., 1]), expected(shares))

    # Units with one rating may make the shares such that more than half of all pairs would agree by chance; then there
    # is room below -1.
    bounds = (-np.inf, 1.0)
    return estimate(
        totals,
        statistic,
        plan,
        name=name,
        n=n,
        clusters=clusters,
        undefined=ONE_CATEGORY,
        bounds=bounds,
        agreement=agreement_of_shares(len(ratings.levels), weighted=alike is not None),
    )
