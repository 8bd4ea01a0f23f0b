"""Cohen's kappa of every pair of raters, and its mean over pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alignment.arrays import Ints
from alignment.cohen import confusion, kappa_estimate, kappa_name, kappa_statistic, refusal
from alignment.estimate import Estimate
from alignment.interval import Kind, Plan, proportion, with_interval
from alignment.joint import JointMean
from alignment.ratings import Ratings
from alignment.reasons import NO_LEVELS, ONE_CATEGORY
from alignment.tables import pairs_within
from alignment.totals import Totals
from alignment.weights import Weighting, disagreement


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


@dataclass(frozen=True, eq=False, slots=True)
class PairTable:
    """The confusion matrix of two raters (None on a scale without levels).

    ``unit`` holds the common units' codes, ``clusters`` the cluster codes behind the rows of ``table``.
    """

    a: str
    b: str
    unit: Ints
    clusters: Ints
    table: Totals | None


def pair_tables(ratings: Ratings, min_common: int) -> list[PairTable]:
    """Every pair of raters with at least ``min_common`` common units (and at least one), in the order of ``raters``."""
    first, second = pairs_within(ratings.unit)
    pair = ratings.rater[first] * len(ratings.raters) + ratings.rater[second]
    order = np.argsort(pair, kind="stable")
    first, second, pair = first[order], second[order], pair[order]
    tables = []
    for key, start, count in zip(*np.unique(pair, return_index=True, return_counts=True), strict=True):
        if count < min_common:
            continue
        i, j = first[start : start + count], second[start : start + count]
        a, b = divmod(int(key), len(ratings.raters))
        table = None
        if ratings.levels is not None:
            table = confusion(ratings.cluster[i], ratings.value[i], ratings.value[j], len(ratings.levels))
        clusters = np.unique(ratings.cluster[i])
        tables.append(PairTable(ratings.raters[a], ratings.raters[b], ratings.unit[i], clusters, table))
    return tables


def pairwise(
    ratings: Ratings,
    min_common: int = 1,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> list[Pair]:
    """Percent agreement and Cohen's kappa (plain, linear, quadratic) of every pair with common units.

    A rater here is whoever gave values: a human, or a judge that gives labels. Each estimate is what ``cohen_kappa``
    and ``percent_agreement`` give for the pair alone, with its reason when undefined. Pairs with fewer than
    ``min_common`` common units, or none, are left out.
    """
    plan = Plan(interval, rng, level)
    return [
        Pair(
            a=pair.a,
            b=pair.b,
            n=pair.unit.size,
            percent=_percent(ratings, pair, plan),
            kappa=kappa_estimate(ratings, pair.table, pair.unit.size, None, plan),
            linear=kappa_estimate(ratings, pair.table, pair.unit.size, "linear", plan),
            quadratic=kappa_estimate(ratings, pair.table, pair.unit.size, "quadratic", plan),
        )
        for pair in pair_tables(ratings, min_common)
    ]


def mean_pairwise_kappa(
    ratings: Ratings,
    weights: Weighting | None = None,
    min_common: int = 10,
    weighted_by_common_units: bool = False,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of Cohen's kappa over the pairs of raters with at least ``min_common`` common units.

    Plain mean, or weighted by the pairs' numbers of common units. Pairs whose kappa is undefined are left out;
    ``method`` counts both. n counts the units that some counted pair has in common. In the interval a cluster carries
    its influence on all pairs together, so pairs that share raters or units are not taken for independent; which pairs
    count is taken as given.

    Undefined: as ``cohen_kappa``; no pair with that many common units; kappa undefined in every pair.
    """
    plan = Plan(interval, rng, level)
    return mean_kappa_of(ratings, pair_tables(ratings, min_common), weights, min_common, weighted_by_common_units, plan)


def mean_kappa_of(
    ratings: Ratings,
    tables: Sequence[PairTable],
    weights: Weighting | None,
    min_common: int,
    weighted_by_common_units: bool,
    plan: Plan,
) -> Estimate:
    """``mean_pairwise_kappa`` of tables already counted."""
    name = f"mean {kappa_name(weights)}" + (", weighted by common units" if weighted_by_common_units else "")
    reason = refusal(ratings, weights)
    if reason is None and not tables:
        reason = f"no pair of raters has {min_common} common units"
    if reason is not None:
        return Estimate.undefined(reason, method=name, level=plan.level)
    statistic = kappa_statistic(disagreement(len(ratings.levels or ()), weights))
    counted, parts = [], []
    for pair in tables:
        if pair.table is not None and pair.unit.size > 1 and np.isfinite(statistic(pair.table.sums())):
            counted.append(pair)
            parts.append((pair.table, pair.clusters))
    name += (
        f" over {len(counted)} pairs with at least {min_common} common units, {len(tables) - len(counted)} undefined"
    )
    if not counted:
        return Estimate.undefined(f"{ONE_CATEGORY} in every pair", method=name, level=plan.level)
    mean = JointMean(parts, statistic, by_size=weighted_by_common_units)
    return with_interval(
        mean.value,
        mean.sampling(),
        plan,
        name=name,
        n=np.unique(np.concatenate([pair.unit for pair in counted])).size,
        clusters=mean.clusters.size,
        bounds=(-1.0, 1.0),
    )


def _percent(ratings: Ratings, pair: PairTable, plan: Plan) -> Estimate:
    name = "percent agreement"
    if pair.table is None or ratings.levels is None:
        return Estimate.undefined(NO_LEVELS, method=name, level=plan.level)
    agreeing = np.eye(len(ratings.levels)).ravel()
    return proportion(
        pair.table.per_cluster(agreeing),
        pair.table.per_cluster(np.ones_like(agreeing)),
        plan,
        name=name,
        undefined="no common units",
    )
