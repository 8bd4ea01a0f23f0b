"""The mean of Cohen's kappa over pairs of raters; Scott's pi of two raters, and its mean over pairs."""

import numpy as np

from alignment.agreement.cohen import confusion_of, kappa_estimate, kappa_name, refusal
from alignment.agreement.pairs import PairCounts, edges, influences, kappas, moves, refuse_bootstrap
from alignment.base.arrays import Floats, renumbered, sums_by
from alignment.base.estimate import Estimate, remark
from alignment.base.interval import Kind, Plan, Rarer, Sampling, with_interval
from alignment.base.ratings import Ratings
from alignment.base.tables import Weighting, counts_alike, disagreement, pairs_within


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
    return mean_kappa_of(
        ratings, PairCounts.of(ratings, min_common), weights, min_common, weighted_by_common_units, plan
    )


def mean_kappa_of(
    ratings: Ratings,
    counts: PairCounts,
    weights: Weighting | None,
    min_common: int,
    weighted_by_common_units: bool,
    plan: Plan,
    *,
    name: str | None = None,
) -> Estimate:
    """``mean_pairwise_kappa`` of pairs already counted; ``name`` where what is counted makes kappa something else."""
    refuse_bootstrap(plan)
    name = f"mean {name or kappa_name(weights)}" + (", weighted by common units" if weighted_by_common_units else "")
    reason = refusal(ratings, weights)
    if reason is None and not len(counts):
        reason = remark("no_pair_with_common_units", n=min_common)
    if reason is not None:
        return Estimate.undefined(reason, method=name, level=plan.level)
    apart = disagreement(len(ratings.levels or ()), weights)
    defined = np.flatnonzero((counts.n > 1) & np.isfinite(kappas(counts, apart)))
    name += (
        f" over {defined.size} pairs with at least {min_common} common units, {len(counts) - defined.size} undefined"
    )
    if not defined.size:
        return Estimate.undefined(remark("one_category_in_every_pair"), method=name, level=plan.level)
    kept = counts if defined.size == len(counts) else counts.select(defined)
    found = kappas(kept, apart)
    shares = kept.n.astype(np.float64) if weighted_by_common_units else np.ones(len(kept))
    value = float((shares * found).sum() / shares.sum())
    present, cluster_of_row = renumbered(kept.row_cluster)

    def influence() -> Floats:
        change = shares[kept.pair] * influences(kept, apart)
        if weighted_by_common_units:
            change += found[kept.pair] - value
        return sums_by(cluster_of_row[kept.row], change, present.size) / shares.sum()

    def jackknife() -> Floats:
        (moved,), rows = moves(kept, [apart]), kept.row_pair.size
        if np.isnan(moved).any():
            # A pair that is undefined without one of its clusters: as if the cluster only weighed a little less.
            moved = np.where(np.isnan(moved), sums_by(kept.row, influences(kept, apart), rows), moved)
        moved = shares[kept.row_pair] * moved
        if weighted_by_common_units:
            moved += np.bincount(kept.row) * (found - value)[kept.row_pair]
        return sums_by(cluster_of_row, moved, present.size) / shares.sum()

    def edge(level: float) -> tuple[float, float]:
        low, high = ((shares * ends).sum() / shares.sum() for ends in edges(kept, apart, level))
        return float(low), float(high)

    rarer = Rarer(np.inf, edge, counts_alike(apart))
    sampling = Sampling(present.size, kept.levels, influence, jackknife=jackknife, rarer=lambda: rarer)
    n = renumbered(kept.unit)[0].size
    return with_interval(value, sampling, plan, name=name, n=n, clusters=present.size, bounds=(-1.0, 1.0))


SCOTTS_PI = "Scott's pi"


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
    first, second = pairs_within(both.unit)
    # Pi is kappa of the table and its mirror image together: then both raters have the habits of both.
    table = confusion_of(both, np.concatenate([first, second]), np.concatenate([second, first]))
    return kappa_estimate(ratings, table, first.size, None, plan, name=SCOTTS_PI)


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
    counts = PairCounts.of(ratings, min_common).mirrored()
    return mean_kappa_of(ratings, counts, None, min_common, False, plan, name=SCOTTS_PI)
