"""Intraclass correlations: printed figures, mean squares worked out by hand and by a library, data of known truth."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from alignment import Ratings, intraclass_correlation, krippendorff_alpha
from alignment.agreement.icc import complete_table
from alignment.base.estimate import remark

NONE = {"interval": "none"}
FORMS = ("one-way", "agreement", "consistency")

# Shrout & Fleiss (1979), table 2: six subjects (columns) and four judges (rows).
SHROUT_FLEISS = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]


def open_scale(table, clusters=None):
    """Units by raters, NaN where a rating is missing."""
    unit, rater = np.nonzero(~np.isnan(table))
    return Ratings(
        unit=unit,
        rater=rater,
        value=table[unit, rater],
        cluster=unit if clusters is None else clusters[unit],
        levels=None,
        scale="interval",
        raters=tuple(f"rater {code}" for code in range(table.shape[1])),
    )


def gapped(seed, units=60, raters=4, missing=0.3):
    rng = np.random.default_rng(seed)
    table = rng.normal(5, 2, size=(units, 1)) + rng.normal(0, 1, size=raters) + rng.normal(size=(units, raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table


def one_way_by_hand(table):
    """By the definition, over units with two ratings or more."""
    units = [row[~np.isnan(row)] for row in table]
    units = [unit for unit in units if unit.size > 1]
    count, k = sum(unit.size for unit in units), len(units)
    grand = np.concatenate(units).mean()
    between = sum(unit.size * (unit.mean() - grand) ** 2 for unit in units) / (k - 1)
    within = sum(((unit - unit.mean()) ** 2).sum() for unit in units) / (count - k)
    each = (count - sum(unit.size**2 for unit in units) / count) / (k - 1)
    return (between - within) / (between + (each - 1) * within)


def largest_complete_table(table):
    """Every group of raters tried."""
    found = []
    for size in range(2, table.shape[1] + 1):
        for group in combinations(range(table.shape[1]), size):
            full = table[:, group][~np.isnan(table[:, group]).any(axis=1)]
            found.append((full.size, size, group, full))
    return max(found, key=lambda one: one[:2])[3]


def test_shrout_and_fleiss(from_rows):
    for ratings in (from_rows(SHROUT_FLEISS, range(1, 11)), from_rows(SHROUT_FLEISS, None, "interval")):
        found = {form: intraclass_correlation(ratings, form, **NONE) for form in FORMS}
        assert {form: round(estimate.value, 2) for form, estimate in found.items()} == {
            "one-way": 0.17,
            "agreement": 0.29,
            "consistency": 0.71,
        }
        assert {(estimate.n, estimate.clusters) for estimate in found.values()} == {(6, 6)}
    assert found["agreement"].method == "ICC(A,1), two-way, absolute agreement; 4 raters × 6 units"


@pytest.mark.parametrize("seed", range(4))
def test_one_way_with_gaps_is_the_definition(seed):
    table = gapped(seed)
    estimate = intraclass_correlation(open_scale(table), **NONE)
    assert estimate.value == pytest.approx(one_way_by_hand(table), abs=1e-12)
    assert estimate.n == ((~np.isnan(table)).sum(axis=1) > 1).sum()


@pytest.mark.parametrize("seed", range(4))
def test_two_way_is_a_library_s_analysis_of_variance_of_the_complete_table(seed):
    table = gapped(seed)
    full = largest_complete_table(table)
    n, k = full.shape
    long = pd.DataFrame({"x": full.ravel(), "unit": np.repeat(np.arange(n), k), "rater": np.tile(np.arange(k), n)})
    squares = anova_lm(ols("x ~ C(unit) + C(rater)", long).fit())
    rows, columns, rest = (squares.sum_sq / squares.df)[["C(unit)", "C(rater)", "Residual"]]

    agreement, consistency = (intraclass_correlation(open_scale(table), form, **NONE) for form in FORMS[1:])
    assert consistency.value == pytest.approx((rows - rest) / (rows + (k - 1) * rest), abs=1e-10)
    expected = (rows - rest) / (rows + (k - 1) * rest + k * (columns - rest) / n)
    assert agreement.value == pytest.approx(expected, abs=1e-10)
    assert (agreement.n, f"{k} raters × {n} units" in agreement.method) == (n, True)


def test_the_complete_table_is_of_those_who_rated_most_together():
    table = np.full((12, 4), np.nan)
    table[:6, :2] = 1  # twelve ratings by two
    table[6:10, 1:] = 2  # twelve by three: more raters
    table[10:, 0] = 3  # no other rater's
    chosen = complete_table(open_scale(table))
    assert chosen.sum() == 12
    assert set(open_scale(table).rater[chosen]) == {1, 2, 3}
    # A unit that all of them rated, and another rater too, belongs to it.
    table[10] = 4
    assert complete_table(open_scale(table)).sum() == 15
    assert complete_table(open_scale(np.full((3, 1), 1.0))).sum() == 0


def test_a_constant_habit_is_no_inconsistency():
    base = np.arange(20.0)[:, None]
    shifted = open_scale(base + np.array([0.0, 0.1, 3.7]))
    assert intraclass_correlation(shifted, "consistency", **NONE).value == pytest.approx(1, abs=1e-12)
    assert intraclass_correlation(shifted, "agreement", **NONE).value < 0.95
    assert intraclass_correlation(shifted, **NONE).value < 0.95


@pytest.mark.parametrize("form", FORMS)
def test_what_nothing_hangs_on(form, rng):
    table = gapped(7)
    ratings, moved = open_scale(table), open_scale(3.7 * table + 1e6)
    found, other = (intraclass_correlation(one, form, interval="influence") for one in (ratings, moved))
    assert (other.value, other.low, other.high) == pytest.approx((found.value, found.low, found.high), abs=1e-7)


def test_of_two_raters_who_differ_as_units_do_it_is_negative():
    apart = open_scale(np.tile([[0.0, 1.0], [1.0, 0.0]], (20, 1)))
    for form in ("one-way", "consistency"):
        assert intraclass_correlation(apart, form, **NONE).value == pytest.approx(-1, abs=1e-12)
    # Of few units the term for habits is below 0: 40 units, two raters, -1 / (1 - 2/40).
    assert intraclass_correlation(apart, "agreement", **NONE).value == pytest.approx(-1 / 0.95, abs=1e-12)


def test_units_that_do_not_vary():
    for table, form in ([[[1.0, 2.0]] * 3, "consistency"], [[[0.0, 1.0], [1.0, 0.0]], "agreement"]):
        estimate = intraclass_correlation(open_scale(np.array(table)), form, **NONE)
        assert (estimate.value, estimate.reason) == (None, remark("equal_units"))


def test_values_of_unequal_units_never_come_from_rounding(rng):
    """A resample may hold one value only, and 0.1 three times is not 0.3: then there is nothing to correlate."""
    table = np.full((6, 3), 0.1)
    table[0] = [0.7, 0.1, 0.3]
    for form in FORMS:
        estimate = intraclass_correlation(open_scale(table), form, interval="bootstrap", rng=rng)
        assert "undefined left out" in estimate.method


@pytest.mark.parametrize(("form", "truth"), [("one-way", 1 / 2), ("consistency", 1 / (1 + 0.5))])
def test_the_interval_holds_the_truth(form, truth):
    """Units vary by 1, raters by 0.5, the rest by 0.5; one-way, each rates other units. Two units a sample."""
    held, values = 0, []
    runs, units = 300, 80
    rng = np.random.default_rng(19)
    for _ in range(runs):
        habit = np.sqrt(0.5) * rng.normal(size=(units, 3) if form == "one-way" else 3)
        table = rng.normal(size=(units, 1)) + habit + np.sqrt(0.5) * rng.normal(size=(units, 3))
        estimate = intraclass_correlation(open_scale(table, np.arange(units) // 2), form, interval="influence")
        held += estimate.low <= truth <= estimate.high
        values.append(estimate.value)
    assert np.mean(values) == pytest.approx(truth, abs=0.02)
    assert 0.91 <= held / runs <= 0.98


def test_beside_alpha():
    """Of the same ratings and the same numbers, two ratings of every unit: alpha of intervals is nearly ICC(1,1)."""
    table = gapped(3, units=400, raters=2, missing=0.0)
    ratings = open_scale(table)
    alpha = krippendorff_alpha(ratings, "interval", **NONE).value
    assert intraclass_correlation(ratings, **NONE).value == pytest.approx(alpha, abs=2e-3)
