"""Krippendorff's alpha."""

from dataclasses import replace
from typing import get_args

import numpy as np

from alignment.base.arrays import Array, Floats
from alignment.base.estimate import (
    NEGATIVE,
    NO_LEVELS,
    NO_ORDER,
    NO_PAIRS,
    NOT_NUMBERS,
    ONE_CATEGORY,
    ONE_VALUE,
    Estimate,
    Remark,
    remark,
)
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings
from alignment.base.tables import (
    Metric,
    agreement_of_coincidences,
    agreement_of_disagreements,
    coincidences,
    disagreements,
    rank_distance,
    squared_distance,
    unit_runs,
)
from alignment.base.totals import Statistic, Totals, estimate, ratio, spread

#: Beyond, the ratio metric of an open number scale would need a table of a million distances.
DISTINCT_VALUES = 1_000


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
    on a scale without levels), ratio (difference over sum of the same numbers: for amounts, where 0 is nothing). Units
    with one rating are left out. n counts units with two or more ratings.

    Undefined: no unit has two ratings; only one category (value) was used; ordinal, interval or ratio on a nominal
    scale; interval or ratio on levels that are not numbers; ratio on negative numbers; nominal or ordinal without
    levels; ratio without levels on more than 1,000 different values, of which it takes every two.

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
    if ratings.levels is None and metric == "interval":
        return estimate(_moments(ratings), _alpha_of_moments, plan, name=name, n=n, undefined=ONE_VALUE)
    if ratings.levels is None:
        values, codes = np.unique(ratings.value, return_inverse=True)
        if values.size > DISTINCT_VALUES:
            reason = remark("too_many_values", n=DISTINCT_VALUES)
            return Estimate.undefined(reason, n=n, method=name, level=level)
        if values.size == 1:
            return Estimate.undefined(ONE_VALUE, n=n, method=name, level=level)
        ratings = replace(ratings, value=codes, levels=tuple(values.tolist()))
    levels = len(ratings.levels or ())
    if metric == "ordinal":
        totals, statistic = coincidences(ratings), _alpha_of_coincidences(levels)
        agreement = agreement_of_coincidences(levels)
    else:
        apart = squared_distance(metric, ratings.level_numbers, levels)
        totals, statistic = disagreements(ratings, apart), _alpha_of_disagreements(apart)
        agreement = agreement_of_disagreements(apart)
    return estimate(totals, statistic, plan, name=name, n=n, undefined=ONE_CATEGORY, agreement=agreement)


def _refusal(ratings: Ratings, metric: Metric) -> Remark | None:
    if ratings.levels is None and metric not in ("interval", "ratio"):
        return NO_LEVELS
    if metric != "nominal" and not ratings.ordered:
        return NO_ORDER
    numbers = ratings.value if ratings.levels is None else ratings.level_numbers
    if metric in ("interval", "ratio") and numbers is None:
        return NOT_NUMBERS
    if metric == "ratio" and numbers is not None and (numbers < 0).any():
        return NEGATIVE
    return None


def _alpha_of_coincidences(levels: int) -> Statistic:
    """Ordinal: distances depend on how often each level was used."""

    def alpha(cells: Array) -> Array:
        table = cells.reshape(*cells.shape[:-1], levels, levels)
        used = table.sum(axis=-1)
        apart = rank_distance(used)
        observed = (table * apart).sum(axis=(-1, -2))
        expected = (used[..., :, None] * used[..., None, :] * apart).sum(axis=(-1, -2))
        return _alpha(used.sum(axis=-1), observed, expected)

    return alpha


def _alpha_of_disagreements(apart: Floats) -> Statistic:
    """For fixed distances, with which the observed disagreement is one sum."""

    def alpha(columns: Array) -> Array:
        used = columns[..., 1:]
        return _alpha(used.sum(axis=-1), columns[..., 0], ((used @ apart) * used).sum(axis=-1))

    return alpha


def _alpha(count: Array, observed: Array, expected: Array) -> Array:
    return 1 - (count - 1) * ratio(observed, expected)


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
    return Totals.of_columns(ratings.cluster[starts[several]], columns)


def _alpha_of_moments(columns: Array) -> Array:
    observed, count, total, squares = np.moveaxis(columns, -1, 0)
    return _alpha(count, observed, 2 * spread(count, total, squares))
