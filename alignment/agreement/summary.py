"""The agreement of a set of raters at a glance, with the category shares that explain it."""

from collections.abc import Hashable
from typing import NamedTuple, TypedDict

import numpy as np

from alignment.agreement.alpha import krippendorff_alpha
from alignment.agreement.icc import intraclass_correlation
from alignment.agreement.mean_kappa import SCOTTS_PI, mean_kappa_of
from alignment.agreement.multirater import brennan_prediger, fleiss_kappa, gwet_ac1, gwet_ac2, percent_agreement
from alignment.agreement.pairs import PairCounts
from alignment.base.estimate import Estimate, Remark, remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings

MIN_COMMON = 10

# Where the note of the kappa paradox appears: "slight to fair" kappa on Landis & Koch's scale, while four of five pairs
# agree and AC1 is "substantial" on the same scale.
LOW_KAPPA = 0.4
HIGH_PERCENT = 0.8
HIGH_AC1 = 0.6


class AgreementSummary(TypedDict):
    """One estimate per statistic; means are over pairs with at least 10 common units."""

    percent_agreement: Estimate
    cohen_kappa_mean: Estimate
    cohen_kappa_mean_weighted_by_common_units: Estimate
    cohen_kappa_linear_mean: Estimate
    cohen_kappa_quadratic_mean: Estimate
    scott_pi_mean: Estimate
    fleiss_kappa: Estimate
    krippendorff_alpha_nominal: Estimate
    krippendorff_alpha_ordinal: Estimate
    krippendorff_alpha_interval: Estimate
    krippendorff_alpha_ratio: Estimate
    icc_one_way: Estimate
    icc_agreement: Estimate
    icc_consistency: Estimate
    gwet_ac1: Estimate
    gwet_ac2_linear: Estimate
    gwet_ac2_quadratic: Estimate
    brennan_prediger: Estimate


class _Asked(TypedDict):
    interval: Kind
    rng: np.random.Generator | None
    level: float


class Prevalence(NamedTuple):
    """How often a level was used; ``share`` is of all ratings, None when there are none."""

    level: Hashable
    share: float | None
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not needed here


def agreement_summary(
    ratings: Ratings, rng: np.random.Generator | None = None, *, interval: Kind = "auto", level: float = 0.95
) -> AgreementSummary:
    """Every agreement statistic of the ratings; those without meaning on the scale are undefined with a reason."""
    plan = Plan(interval, rng, level)
    pairs = PairCounts.of(ratings, MIN_COMMON)
    asked = _Asked(interval=interval, rng=rng, level=level)
    return AgreementSummary(
        percent_agreement=percent_agreement(ratings, **asked),
        cohen_kappa_mean=mean_kappa_of(ratings, pairs, None, MIN_COMMON, False, plan),
        cohen_kappa_mean_weighted_by_common_units=mean_kappa_of(ratings, pairs, None, MIN_COMMON, True, plan),
        cohen_kappa_linear_mean=mean_kappa_of(ratings, pairs, "linear", MIN_COMMON, False, plan),
        cohen_kappa_quadratic_mean=mean_kappa_of(ratings, pairs, "quadratic", MIN_COMMON, False, plan),
        scott_pi_mean=mean_kappa_of(ratings, pairs.mirrored(), None, MIN_COMMON, False, plan, name=SCOTTS_PI),
        fleiss_kappa=fleiss_kappa(ratings, **asked),
        krippendorff_alpha_nominal=krippendorff_alpha(ratings, "nominal", **asked),
        krippendorff_alpha_ordinal=krippendorff_alpha(ratings, "ordinal", **asked),
        krippendorff_alpha_interval=krippendorff_alpha(ratings, "interval", **asked),
        krippendorff_alpha_ratio=krippendorff_alpha(ratings, "ratio", **asked),
        icc_one_way=intraclass_correlation(ratings, "one-way", **asked),
        icc_agreement=intraclass_correlation(ratings, "agreement", **asked),
        icc_consistency=intraclass_correlation(ratings, "consistency", **asked),
        gwet_ac1=gwet_ac1(ratings, **asked),
        gwet_ac2_linear=gwet_ac2(ratings, "linear", **asked),
        gwet_ac2_quadratic=gwet_ac2(ratings, "quadratic", **asked),
        brennan_prediger=brennan_prediger(ratings, **asked),
    )


def prevalence(ratings: Ratings) -> list[Prevalence]:
    """How often each level was used, in the order of the levels; empty for a scale without levels."""
    if ratings.levels is None:
        return []
    counts = np.bincount(ratings.value, minlength=len(ratings.levels))
    return [
        Prevalence(level, int(count) / len(ratings) if len(ratings) else None, int(count))
        for level, count in zip(ratings.levels, counts, strict=True)
    ]


def paradox_note(kappa: Estimate, percent: Estimate, ac1: Estimate) -> Remark | None:
    """What readers should know when kappa is low (< .4) while percent agreement (≥ .8) and AC1 (≥ .6) are high.

    Source: Feinstein & Cicchetti (1990), J. Clin. Epidemiol. 43.
    """
    if kappa.value is None or percent.value is None or ac1.value is None:
        return None
    if kappa.value >= LOW_KAPPA or percent.value < HIGH_PERCENT or ac1.value < HIGH_AC1:
        return None
    return remark(
        "kappa_paradox", kappa=round(kappa.value, 2), percent=round(100 * percent.value) / 100, ac1=round(ac1.value, 2)
    )
