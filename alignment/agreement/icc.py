"""Intraclass correlations of single ratings, for numbers: what share of the variance lies between units."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from alignment.base.arrays import Array, Bools, Floats, Ints, run_starts, sums_by
from alignment.base.estimate import NO_ORDER, NO_PAIRS, NOT_NUMBERS, ONE_VALUE, Estimate, Remark, remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings
from alignment.base.tables import unit_runs
from alignment.base.totals import Statistic, Totals, estimate, ratio, spread

Form = Literal["one-way", "agreement", "consistency"]

FEW_UNITS = remark("few_paired_units")
FEW_COMPLETE = remark("no_complete_table")
EQUAL_UNITS = remark("equal_units")
#: The complete table is looked for among this many groups of raters, those with the most units of their own.
GROUPS_TRIED = 50

_NAMES = {
    "one-way": "ICC(1,1), one-way",
    "agreement": "ICC(A,1), two-way, absolute agreement",
    "consistency": "ICC(C,1), two-way, consistency",
}


def intraclass_correlation(
    ratings: Ratings,
    form: Form = "one-way",
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """The intraclass correlation of single ratings, in one of three forms, of the levels' numbers or of the values.

    one-way, ICC(1,1): any raters may rate a unit, and units may have different numbers of ratings. By analysis of
    variance: (MSB - MSW)/(MSB + (m₀ - 1) MSW), m₀ = (N - Σ m²/N)/(k - 1), over the k units with m ≥ 2 ratings, N in
    all.

    agreement, ICC(A,1), and consistency, ICC(C,1): the same k raters rate all n units. With the mean squares of units
    R, raters C, and rest E: (R - E)/(R + (k - 1)E + k(C - E)/n), in which a rater who is always higher disagrees, and
    (R - E)/(R + (k - 1)E), in which they don't. Nothing is filled in: the figure is of ``complete_table``, and its
    ``method`` says of how many raters and units that is.

    n counts units. May be negative: two ratings of one unit differ more than those of two units.

    Undefined: a nominal scale; levels that are not numbers; fewer than 2 units; only one value was used; units that do
    not vary, where raters differ by their habits alone (consistency) or not at all on average (agreement).

    Source: McGraw & Wong (1996), Psychol. Methods 1(1), cases 1, 2 and 3 (Shrout & Fleiss, 1979: ICC(1,1), ICC(2,1),
    ICC(3,1)); unequal numbers: Donner (1986), Int. Stat. Rev. 54(1).
    """
    plan = Plan(interval, rng, level)
    if form not in get_args(Form):
        raise ValueError(f"no form {form!r}; there are {', '.join(get_args(Form))}")
    name = _NAMES[form]
    reason = _refusal(ratings)
    if reason is not None:
        return Estimate.undefined(reason, method=name, level=level)
    numbers = _as_numbers(ratings)
    if form == "one-way":
        return _one_way(numbers, name, plan)
    return _two_way(numbers, name, form == "agreement", plan)


def complete_table(ratings: Ratings) -> Bools:
    """Which ratings belong to the complete table with the most ratings, shape (ratings,): units that all of its raters
    rated, and those raters' ratings of them.

    Tried are the groups of raters that some unit has as all of its raters, of very many those of the most units. Of
    equally many ratings the group with more raters is taken, then the first by name. Nothing when no two raters have a
    unit in common. What was said has no part in the choice.
    """
    unit, starts = unit_runs(ratings)
    codes = ratings.rater.tolist()
    # Each unit's raters as the bits of a whole number.
    raters = [sum(1 << code for code in codes[start:stop]) for start, stop in pairwise([*starts.tolist(), len(codes)])]
    # Sorted, so that which groups are tried doesn't hang on the order of units.
    groups, counts = zip(*sorted(Counter(raters).items()), strict=True) if raters else ((), ())
    count = np.array(counts, dtype=np.int64)
    best: tuple[tuple[int, int, tuple[str, ...]], int] | None = None
    for place in np.argsort(-count, kind="stable")[:GROUPS_TRIED]:
        group = groups[place]
        size = group.bit_count()
        if size < 2:
            continue
        units = int(count[[group & other == group for other in groups]].sum())
        names = tuple(sorted(ratings.raters[code] for code in _members(group)))
        rank = (-units * size, -size, names)
        if best is None or rank < best[0]:
            best = rank, group
    if best is None:
        return np.zeros(len(ratings), dtype=bool)
    chosen = best[1]
    complete = np.array([group & chosen == chosen for group in raters], dtype=bool)
    return complete[unit] & np.isin(ratings.rater, _members(chosen))


def _members(group: int) -> list[int]:
    return [code for code in range(group.bit_length()) if group >> code & 1]


def _refusal(ratings: Ratings) -> Remark | None:
    if ratings.levels is None:
        return None
    if not ratings.ordered:
        return NO_ORDER
    return NOT_NUMBERS if ratings.level_numbers is None else None


def _as_numbers(ratings: Ratings) -> Ratings:
    """Values instead of levels. An ICC doesn't move when all values shift, so they are centred, for precision."""
    numbers = ratings.level_numbers
    value = ratings.value if numbers is None else numbers[ratings.value]
    centre = value.mean() if value.size else 0.0
    return replace(ratings, value=value - centre, levels=None, scale="interval")


def _kept(ratings: Ratings, kept: Bools) -> Ratings:
    return replace(
        ratings,
        unit=ratings.unit[kept],
        rater=ratings.rater[kept],
        value=ratings.value[kept],
        cluster=ratings.cluster[kept],
    )


def _one_way(ratings: Ratings, name: str, plan: Plan) -> Estimate:
    unit, _ = unit_runs(ratings)
    ratings = _kept(ratings, (np.bincount(unit) > 1)[unit] if unit.size else np.zeros(0, dtype=bool))
    unit, starts = unit_runs(ratings)
    n = starts.size
    if n < 2:
        return Estimate.undefined(FEW_UNITS if n else NO_PAIRS, n=n, method=name, level=plan.level)
    if np.ptp(ratings.value) == 0:
        return Estimate.undefined(ONE_VALUE, n=n, method=name, level=plan.level)
    size, total, within = _by_unit(ratings, unit)
    columns = np.stack([np.ones(n), size, size**2, total, total**2 / size, within])
    return estimate(
        Totals.of_columns(ratings.cluster[starts], columns), _of_one_way, plan, name=name, n=n, undefined=ONE_VALUE
    )


def _of_one_way(columns: Array) -> Array:
    """Columns: units, ratings, Σ m², Σ x, Σ of units' (Σ x)²/m, squares within units."""
    units, count, sizes, total, squares, within = np.moveaxis(columns, -1, 0)
    between = ratio(ratio(spread(count, total, squares), count), units - 1)
    inside = ratio(within, count - units)
    each = ratio(count - ratio(sizes, count), units - 1)
    return ratio(between - inside, between + (each - 1) * inside)


def _two_way(ratings: Ratings, name: str, absolute: bool, plan: Plan) -> Estimate:
    table = _kept(ratings, complete_table(ratings))
    unit, starts = unit_runs(table)
    n = starts.size
    if n < 2:
        return Estimate.undefined(FEW_COMPLETE, n=n, method=name, level=plan.level)
    if np.ptp(table.value) == 0:
        return Estimate.undefined(ONE_VALUE, n=n, method=name, level=plan.level)
    _, total, within = _by_unit(table, unit)
    scores = table.value.reshape(n, -1)  # sorted by unit, then rater: each unit has the same raters
    raters = scores.shape[1]
    columns = np.stack([np.ones(n), total**2 / raters, within, *scores.T])
    name = f"{name}; {raters} raters × {n} units"
    statistic = _of_two_way(raters, absolute)
    # With few units the term for raters' habits may be below 0, and agreement then below -1.
    bounds = (-np.inf if absolute else -1.0, 1.0)
    totals = Totals.of_columns(table.cluster[starts], columns)
    return estimate(totals, statistic, plan, name=name, n=n, undefined=EQUAL_UNITS, bounds=bounds)


def _of_two_way(raters: int, absolute: bool) -> Statistic:
    """Columns: units, Σ of units' (Σ x)²/k, squares within units, then Σ x of each rater."""

    def correlation(columns: Array) -> Array:
        units, squares, within = np.moveaxis(columns[..., :3], -1, 0)
        means = ratio(columns[..., 3:], units[..., None])
        grand = means.mean(axis=-1)
        count = raters * units
        by_unit = ratio(ratio(spread(count, count * grand, squares), count), units - 1)
        habits = units * ((means - grand[..., None]) ** 2).sum(axis=-1)
        left = within - habits
        # Where raters differ by their habits alone, or by nothing, what remains is rounding.
        varies, least = within.real > 0, 1e-12 * within.real
        habits = np.where(varies & (habits.real > least), habits, 0)
        left = np.where(varies & (left.real > least), left, 0)
        rest = ratio(left, (units - 1) * (raters - 1))
        apart = ratio(raters * (habits / (raters - 1) - rest), units) if absolute else 0
        return ratio(by_unit - rest, by_unit + (raters - 1) * rest + apart)

    return correlation


def _by_unit(ratings: Ratings, unit: Ints) -> tuple[Floats, Floats, Floats]:
    """Of every unit: number of ratings, their sum, and the squares of their distances from their mean."""
    size = np.bincount(unit).astype(np.float64)
    total = sums_by(unit, ratings.value, size.size)
    within = sums_by(unit, (ratings.value - (total / size)[unit]) ** 2, size.size)
    starts = run_starts(unit)
    alike: Bools = np.maximum.reduceat(ratings.value, starts) == np.minimum.reduceat(ratings.value, starts)
    within[alike] = 0  # not rounding: a resample may hold nothing else
    return size, total, within
