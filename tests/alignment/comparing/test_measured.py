"""Means of what was measured, and their differences: by second sources, and where there are none."""

import re

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from alignment import compare_measured
from alignment.base.estimate import remark
from alignment.comparing.measured import NOTHING_MEASURED, compare_shares
from bench.promises import at_least


def test_a_mean_is_students_and_a_difference_the_paired_one():
    rng = np.random.default_rng(1)
    first, second = rng.gamma(9, 100, 50), rng.gamma(9, 110, 50)
    version, question = np.repeat([0, 1], 50), np.tile(np.arange(50), 2)
    found = compare_measured(version, question, np.append(first, second), 2)
    for level, values in zip(found.levels, (first, second), strict=True):
        assert (level.value, level.low, level.high) == pytest.approx(with_its_df(values, level), rel=1e-3)
    (difference,) = found.differences
    assert (difference.a, difference.b) == (0, 1)
    figure = difference.figure
    assert (figure.value, figure.low, figure.high) == pytest.approx(with_its_df(second - first, figure), rel=1e-3)
    assert difference.variance.by_labels == 0
    assert difference.variance.error == pytest.approx((figure.high - figure.value) / stats.t.ppf(0.975, 49))


def with_its_df(values, figure):
    half = stats.t.ppf((1 + figure.level) / 2, freedom(figure)) * stats.sem(values)
    return values.mean(), values.mean() - half, values.mean() + half


def freedom(figure):
    return float(re.search(r"t with ([\d.]+) df", figure.method)[1])


def test_values_that_lie_alike_leave_all_degrees_of_freedom_and_a_few_far_ones_hardly_any():
    version, question = np.repeat([0, 1], 50), np.tile(np.arange(50), 2)
    even, far = np.tile([-1.0, 1.0], 25), np.where(np.arange(50) < 7, 1.0, 0.0)
    assert freedom(compare_measured(version, question, np.append(even, even), 2).levels[0]) == 49
    found = compare_measured(version, question, np.append(far, even), 2).levels[0]
    assert freedom(found) == pytest.approx(50 * 0.14 * 0.86 / 0.72**2 - 1, abs=0.01)


def test_the_error_of_groups_is_that_of_statsmodels():
    rng = np.random.default_rng(2)
    group, version = rng.integers(20, size=300), rng.integers(2, size=300)
    value = rng.normal(size=300) + rng.normal(size=20)[group]
    found = compare_measured(version, group, value, 2, comparison_level=0.99).differences[0].figure
    fit = sm.OLS(value, sm.add_constant(version.astype(float))).fit(
        cov_type="cluster", cov_kwds={"groups": group}, use_t=True
    )
    half = fit.bse[1] / np.sqrt(299 / 298) * stats.t.ppf(0.995, freedom(found))
    assert (found.value, found.low, found.high) == pytest.approx(
        (fit.params[1], *(fit.params[1] + [-half, half])), rel=1e-3
    )
    assert (found.n, found.clusters, found.level) == (300, 20, 0.99)


def test_a_baseline_in_the_middle_and_a_version_of_which_nothing_was_measured():
    found = compare_measured([0, 0, 1, 1], ["q", "r", "q", "r"], [1.0, 2.0, 4.0, 8.0], 3, baseline=1)
    assert [(one.a, one.b) for one in found.differences] == [(1, 0), (1, 2)]
    assert found.differences[0].figure.value == -4.5
    nothing = remark("nothing_measured")
    assert found.levels[2].reason == found.differences[1].figure.reason == nothing
    assert found.differences[1].variance is None


def test_no_interval():
    one = compare_measured([0, 1], [1, 1], [1.0, 2.0], 2).differences[0]
    assert (one.figure.value, one.figure.low, one.variance) == (1, None, None)
    assert one.figure.reason == remark("few_clusters")


def test_what_never_differs_may_have_been_missed():
    """100 questions: groups that lie as far off as values can may be 1 - .025^(1/100) of all."""
    version, question = np.repeat([0, 1], 100), np.tile(np.arange(100), 2)
    missed = 1 - 0.025**0.01
    answered = compare_shares(version, question, np.ones(200), 2)
    assert ends(answered.differences[0].figure) == pytest.approx((0, -missed, missed))
    # Of what is no share as far as the greatest of them lies from 0.
    later = np.append(np.full(100, 40.0), np.full(100, 42.0))
    found = compare_measured(version, question, later, 2).differences[0]
    assert ends(found.figure) == pytest.approx((2, 2 - 42 * missed, 2 + 42 * missed))
    assert found.variance.error == pytest.approx(42 * missed / stats.t.ppf(0.975, 99))
    assert ends(compare_measured(version, question, later - 42, 2).levels[0]) == pytest.approx(
        (-2, -2 - 2 * missed, -2 + 2 * missed)
    )
    # A group of half of the questions weighs as much.
    heavy = compare_measured(version, question // 50, np.ones(200), 2).differences[0].figure
    assert heavy.high == pytest.approx(1 - 0.025**0.5)
    free = compare_measured(version, question, np.zeros(200), 2)
    assert ends(free.differences[0].figure) == ends(free.levels[0]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("shares", "questions"), [((1, 0.98), 30), ((1, 0.98), 100), ((0.99, 0.97), 100), ((0.9, 0.85), 60)]
)
def test_the_share_that_was_answered_is_held(shares, questions):
    """300 worlds, seeded. By t with all degrees of freedom the first held in 44 %, the second in 86 %."""
    rng, held = np.random.default_rng(3), 0
    version, question = np.repeat([0, 1], questions), np.tile(np.arange(questions), 2)
    for _ in range(300):
        answered = (rng.random((2, questions)) < np.array(shares)[:, None]).astype(float)
        figure = compare_shares(version, question, answered.ravel(), 2).differences[0].figure
        held += figure.low <= shares[1] - shares[0] <= figure.high
    assert at_least(held, 300, 0.95)


def ends(figure):
    return figure.value, figure.low, figure.high


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": [1.0, np.nan]}, "not finite"),
        ({"version": [0, 2]}, "versions are numbered 0 to 1"),
        ({"version": [-1, 0]}, "versions are numbered 0 to 1"),
        ({"baseline": 2}, "the baseline is one of versions 0 to 1, not 2"),
        ({"group": [1]}, "differ in length"),
        ({"group": [1, 1], "level": 0}, "the level lies between 0 and 1"),
        ({"comparison_level": 1.0}, "the level lies between 0 and 1"),
    ],
)
def test_refused(change, said):
    given = {"version": [0, 1], "group": [1, 2], "value": [1.0, 2.0], "versions": 2}
    with pytest.raises(ValueError, match=said):
        compare_measured(**(given | change))


def test_shares_are_as_what_is_measured_but_end_at_one():
    rng = np.random.default_rng(2)
    version, group = np.repeat([0, 1], 300), np.tile(np.arange(150), 4)
    value = (rng.random(600) < np.where(version == 1, 0.7, 0.5)).astype(float)
    plain, shares = (compare(version, group, value, 2) for compare in (compare_measured, compare_shares))
    for one, other in zip(plain.levels, shares.levels, strict=True):
        assert one.value == pytest.approx(other.value)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.01)
    one, other = plain.differences[0].figure, shares.differences[0].figure
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=0.002)
    alike = compare_shares([0] * 40 + [1] * 40, [*range(40)] * 2, [0.0] * 80, 2)
    assert alike.levels[0].low == 0 < alike.levels[0].high < 0.1
    assert -0.1 < alike.differences[0].figure.low < 0 < alike.differences[0].figure.high < 0.1
    assert compare_shares([0, 0], [1, 2], [1.0, 0.0], 2).levels[1].reason == NOTHING_MEASURED
