"""Krippendorff's alpha."""

from typing import get_args

import numpy as np

from alignment.arrays import Array
from alignment.estimate import Estimate
from alignment.interval import Kind, Plan
from alignment.ratings import Ratings
from alignment.reasons import NO_LEVELS, NO_ORDER, NO_PAIRS, NOT_NUMBERS, ONE_CATEGORY
from alignment.tables import coincidence_kinds, coincidences, unit_runs
from alignment.totals import Statistic, Totals, estimate, ratio, spread
from alignment.weights import Distance, Metric, squared_distance


def krippendorff_alpha(
    ratings: Ratings,
    metric: Metric = "nominal",
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Krippendorff's alpha, any number of raters, ratings missing anywhere.

    α = 1 - (N - 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck with coincidences o, their margins n_c, N = Σ n_c, and the squared
    difference δ² of the metric: nominal, ordinal (mid-ranks), interval (the levels' numbers, or the values themselves
    on a scale without levels). Units with one rating are left out. n counts units with two or more ratings.

    Undefined: no unit has two ratings; only one category (value) was used; ordinal or interval on a nominal scale;
    interval on levels that are not numbers; nominal or ordinal without levels.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    plan = Plan(interval, rng, level)
    if metric not in get_args(Metric):
        raise ValueError(f"no metric {metric!r}; there are {', '.join(get_args(Metric))}")
    name = f"Krippendorff's alpha, {metric}"
    reason = _refusal(ratings, metric)
    n = 0 if reason else int((np.bincount(unit_runs(ratings)[0]) > 1).sum())
    if n == 0:
        return Estimate.undefined(reason or NO_PAIRS, method=name, level=level)
    if ratings.levels is None:
        return estimate(_moments(ratings), _alpha_of_moments, plan, name=name, n=n, undefined="only one value was used")
    levels = len(ratings.levels)
    statistic = _alpha_of_coincidences(squared_distance(metric, ratings.level_numbers, levels), levels)
    kinds = coincidence_kinds(levels) if metric == "nominal" or levels == 2 else None
    return estimate(coincidences(ratings), statistic, plan, name=name, n=n, undefined=ONE_CATEGORY, kinds=kinds)


def _refusal(ratings: Ratings, metric: Metric) -> str | None:
    if ratings.levels is None:
        return None if metric == "interval" else NO_LEVELS
    if metric != "nominal" and not ratings.ordered:
        return NO_ORDER
    if metric == "interval" and ratings.level_numbers is None:
        return NOT_NUMBERS
    return None


def _alpha_of_coincidences(distance: Distance, levels: int) -> Statistic:
    def alpha(cells: Array) -> Array:
        table = cells.reshape(*cells.shape[:-1], levels, levels)
        used = table.sum(axis=-1)
        apart = distance(used)
        observed = (table * apart).sum(axis=(-1, -2))
        expected = (used[..., :, None] * used[..., None, :] * apart).sum(axis=(-1, -2))
        value: Array = 1 - (used.sum(axis=-1) - 1) * ratio(observed, expected)
        return value

    return alpha


def _moments(ratings: Ratings) -> Totals:
    """Interval alpha without a list of levels needs no coincidences, only sums over units with m ≥ 2 ratings.

    Columns: Σ_u Σ_{i≠j} (x_i - x_j)²/(m - 1) = Σ_u 2m/(m - 1) Σ_i (x_i - mean_u)²; number of ratings; Σ x; Σ x².
    Alpha doesn't move when all values shift, so they are centred first, for precision.
    """
    unit, starts = unit_runs(ratings)
    size = np.bincount(unit)
    several = size > 1
    kept = several[unit]
    value = ratings.value - ratings.value[kept].mean()
    total = np.bincount(unit, weights=value)
    within = np.bincount(unit, weights=(value - (total / size)[unit]) ** 2)
    columns = np.stack(
        [
            (2 * size * within)[several] / (size[several] - 1),
            size[several],
            total[several],
            np.bincount(unit, weights=value**2)[several],
        ]
    )
    cluster = ratings.cluster[starts[several]]
    return Totals.of(np.tile(cluster, 4), np.repeat(np.arange(4), cluster.size), columns.ravel(), 4)


def _alpha_of_moments(columns: Array) -> Array:
    observed, count, total, squares = np.moveaxis(columns, -1, 0)
    value: Array = 1 - (count - 1) * ratio(observed, 2 * spread(count, total, squares))
    return value
