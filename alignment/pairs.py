"""Percent agreement and Cohen's kappa of every pair of raters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from alignment.arrays import Floats, sums_by
from alignment.bootstrap import Middle
from alignment.cohen import kappa_name, refusal
from alignment.estimate import Estimate
from alignment.interval import Case, Kind, Plan, standard_errors
from alignment.pair_bootstrap import resamples_of
from alignment.pair_counts import PairCounts
from alignment.pair_kappas import influences, kappas
from alignment.ratings import Ratings
from alignment.reasons import FEW_COMMON, NO_LEVELS, ONE_CATEGORY
from alignment.weights import Weighting, disagreement

PERCENT = "percent agreement"
WEIGHTINGS: tuple[Weighting | None, ...] = (None, "linear", "quadratic")

#: From value (None: undefined), standard error, common units, clusters, and the resamples where they make the interval.
Builder = Callable[[float | None, float, int, int, Middle | None], Estimate]


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

    A rater here is whoever gave values: a human, or a judge that gives labels. Each estimate is what ``cohen_kappa``
    and ``percent_agreement`` give for the pair alone, with its reason when undefined. Pairs with fewer than
    ``min_common`` common units, or none, are left out. The bootstrap draws clusters once for all statistics of up to
    32 pairs with equally many clusters: each interval is as good as alone, but the luck of the draws is shared.
    """
    plan = Plan(interval, rng, level)
    counts = PairCounts.of(ratings, min_common)
    names = np.array([*ratings.raters, None], dtype=object)
    columns = (names[counts.a], names[counts.b], counts.n.tolist(), *_estimates(ratings, counts, plan))
    return [Pair(*row) for row in zip(*columns, strict=True)]


def _estimates(ratings: Ratings, counts: PairCounts, plan: Plan) -> list[list[Estimate]]:
    """Percent agreement and the three kappas, each of every pair."""
    reasons = [NO_LEVELS if ratings.levels is None else None, *(refusal(ratings, one) for one in WEIGHTINGS)]
    names = [PERCENT, *map(kappa_name, WEIGHTINGS)]
    estimates = [
        [Estimate.undefined(reason or "", method=name, level=plan.level)] * len(counts)
        for name, reason in zip(names, reasons, strict=True)
    ]
    if ratings.levels is None or not len(counts):
        return estimates
    weightings = [disagreement(len(ratings.levels), one) for one in WEIGHTINGS]
    meaning = [place for place, reason in enumerate(reasons[1:]) if reason is None]
    resamples = resamples_of(counts, [weightings[place] for place in meaning], plan)
    estimates[0] = _of_every_pair(counts, *_agreement(counts, weightings[0]), resamples, 0, _agreement_estimate(plan))
    for number, place in enumerate(meaning, start=1):
        values = kappas(counts, weightings[place])
        errors = np.nan_to_num(_errors(counts, influences(counts, weightings[place])))
        build = _kappa_estimate(names[1 + place], plan)
        estimates[1 + place] = _of_every_pair(counts, values, errors, resamples, number, build)
    return estimates


def _agreement(counts: PairCounts, nominal: Floats) -> tuple[Floats, Floats]:
    """Percent agreement of every pair and its standard error."""
    agreeing = 1 - counts.disagreement(nominal)
    values = sums_by(counts.pair, agreeing, len(counts)) / counts.n
    return values, _errors(counts, (agreeing - values[counts.pair]) / counts.n[counts.pair])


def _errors(counts: PairCounts, influence: Floats) -> Floats:
    by_row = sums_by(counts.row, influence, counts.row_pair.size)
    return standard_errors(by_row, counts.row_pair, len(counts))


def _of_every_pair(
    counts: PairCounts,
    values: Floats,
    errors: Floats,
    resamples: Mapping[int, Sequence[Middle]],
    statistic: int,
    build: Builder,
) -> list[Estimate]:
    figures = zip(values.tolist(), errors.tolist(), counts.n.tolist(), counts.clusters.tolist(), strict=True)
    # Thousands of pairs with a unit or two in common differ in nothing; an estimate can't change, so they share it.
    made: dict[tuple[float | None, float, int, int], Estimate] = {}
    estimates = []
    for pair, (value, error, n, clusters) in enumerate(figures):
        key = (None if value != value else value, error, n, clusters)
        if pair in resamples:
            estimates.append(build(*key, resamples[pair][statistic]))
            continue
        if key not in made:
            made[key] = build(*key, None)
        estimates.append(made[key])
    return estimates


def _agreement_estimate(plan: Plan) -> Builder:
    def build(value: float | None, error: float, n: int, clusters: int, found: Middle | None) -> Estimate:
        assert value is not None  # every pair has a common unit
        case = Case(plan, PERCENT, n, clusters, (0.0, 1.0))
        share = case.of_share(value, error, single=n == clusters)
        return _interval(case, value, error, found) if share is None else share

    return build


def _kappa_estimate(name: str, plan: Plan) -> Builder:
    def build(value: float | None, error: float, n: int, clusters: int, found: Middle | None) -> Estimate:
        if n < 2 or value is None:
            reason = FEW_COMMON if n < 2 else ONE_CATEGORY
            return Estimate.undefined(reason, n=n, clusters=clusters, method=name, level=plan.level)
        return _interval(Case(plan, name, n, clusters, (-1.0, 1.0)), value, error, found)

    return build


def _interval(case: Case, value: float, error: float, found: Middle | None) -> Estimate:
    if case.plan.refusal(case.clusters) is not None:
        return case.without_interval(value)
    return case.by_influence(value, error) if found is None else case.by_bootstrap(value, found)
