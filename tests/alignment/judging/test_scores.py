"""Scores against people: the precision-recall curve, Bland and Altman's limits."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logit
from sklearn import metrics

from alignment import bland_altman, on_scale, pr_auc
from alignment.base.estimate import remark
from alignment.base.interval import standard_error

NONE = {"interval": "none"}

# Bland & Altman (1986), table 1: peak expiratory flow by two meters, first readings, 17 subjects.
WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


# Average precision


units = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30)


@settings(max_examples=200, deadline=None)
@given(units, st.booleans(), st.randoms(use_true_random=False))
def test_average_precision_is_scikit_learns(rows, higher_is_better, random):
    score, positive = (np.array(column) for column in zip(*rows, strict=True))
    found = pr_auc(score, positive, range(len(rows)), higher_is_better=higher_is_better, interval="influence")
    if positive.all() or not positive.any():
        assert found.value is None
        assert found.reason in (remark("no_positive"), remark("no_negative"))
        return
    direction = 1 if higher_is_better else -1
    expected = metrics.average_precision_score(positive, direction * score)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.value <= 1
    order = list(range(len(rows)))
    random.shuffle(order)
    again = pr_auc(
        7 * score[order] + 1, positive[order], order, higher_is_better=higher_is_better, interval="influence"
    )
    assert (again.value, again.low) == pytest.approx((found.value, found.low), abs=1e-12)


def test_influence_is_the_derivative_by_weights():
    rng = np.random.default_rng(2)
    score, positive = np.round(rng.normal(size=80), 1), rng.random(80) < 0.3
    step = 1e-6

    def weighted(weights):
        return metrics.average_precision_score(positive, score, sample_weight=weights)

    ones = np.ones(80)
    slopes = np.array([(weighted(ones + step * one) - weighted(ones - step * one)) / (2 * step) for one in np.eye(80)])
    found = pr_auc(score, positive, range(80), interval="influence")
    half = (logit(found.high) - logit(found.low)) / 2
    error = half / stats.t.ppf(0.975, 79) * found.value * (1 - found.value)
    assert error == pytest.approx(standard_error(slopes), rel=1e-6)
    assert logit(found.high) - logit(found.value) == pytest.approx(half)


def test_perfect_and_chance(rng):
    positive = np.repeat([True, False], [300, 700])
    perfect = pr_auc(positive.astype(float), positive, range(1000), rng=rng)
    assert (perfect.value, perfect.reason) == (1.0, remark("no_variation"))
    assert pr_auc(np.ones(1000), positive, range(1000), **NONE).value == pytest.approx(0.3)
    guess = pr_auc(rng.random(1000), positive, range(1000), rng=rng)
    assert guess.low < 0.3 < guess.high


def test_average_precision_is_resampled_only_when_asked(rng):
    positive = rng.random(120) < 0.4
    given_ = (positive + rng.normal(size=120), positive, np.arange(120) // 4)
    by_logit, by_bootstrap = pr_auc(*given_, rng=rng), pr_auc(*given_, interval="bootstrap", rng=rng)
    assert by_logit.method.endswith("influence functions by cluster on the logit scale, t with 29 df")
    assert "cluster bootstrap" in by_bootstrap.method
    for found in (by_logit, by_bootstrap):
        assert 0 < found.low < found.value < found.high < 1
    assert pr_auc(*given_[:2], np.zeros(120), rng=rng).reason == remark("few_clusters")


@pytest.mark.parametrize(
    ("positive", "reason"),
    [([0, 0], remark("no_positive")), ([1, 1], remark("no_negative")), ([], None)],
)
def test_average_precision_of_one_kind_of_unit(positive, reason):
    found = pr_auc(range(len(positive)), positive, range(len(positive)), **NONE)
    assert (found.value, found.reason) == (None, reason or remark("no_positive"))
    json.dumps(found.as_dict(), allow_nan=False)


# Limits of agreement


def test_bland_and_altman_1986():
    found = bland_altman(WRIGHT, MINI, range(17), interval="influence")
    assert found.bias.value == pytest.approx(-2.1, abs=0.05)
    # The paper takes two standard deviations, 38.8 each, for 1.96.
    for limit, sign in ((found.lower_limit, -1), (found.upper_limit, 1)):
        assert limit.value == pytest.approx(-2.118 + sign * 1.96 * 38.765, abs=0.01)
    # Printed: bias -22.0 to 17.8. Ours divides by n, theirs by n - 1.
    half = (found.bias.high - found.bias.low) / 2 * np.sqrt(17 / 16)
    assert (found.bias.value - half, found.bias.value + half) == pytest.approx((-22.0, 17.8), abs=0.1)
    assert found.bias.n == 17


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=30), st.floats(-100, 100))
def test_limits_by_hand(rows, shift):
    score, human = np.array(rows, dtype=float).T
    apart = score - human
    found = bland_altman(score + shift, human, range(len(rows)), **NONE)
    width = stats.norm.ppf(0.975) * apart.std(ddof=1)
    assert found.bias.value == pytest.approx(apart.mean() + shift, abs=1e-9)
    assert found.lower_limit.value == pytest.approx(apart.mean() + shift - width, abs=1e-9)
    assert found.upper_limit.value == pytest.approx(apart.mean() + shift + width, abs=1e-9)
    # Exchanged, judge and people have the opposite bias.
    other = bland_altman(human, score + shift, range(len(rows)), **NONE)
    assert other.bias.value == pytest.approx(-found.bias.value, abs=1e-9)
    assert other.lower_limit.value == pytest.approx(-found.upper_limit.value, abs=1e-9)


def test_error_of_normal_limits(rng):
    """Independent normal differences: √(s²/n + 1.96² s²/2n), Bland & Altman (1986)."""
    apart = rng.normal(3, 2, size=20_000)
    found = bland_altman(apart, np.zeros(20_000), range(20_000), interval="influence")
    z = stats.norm.ppf(0.975)
    for limit in (found.lower_limit, found.upper_limit):
        error = (limit.high - limit.low) / 2 / stats.t.ppf(0.975, 19_999)
        assert error == pytest.approx(2 * np.sqrt((1 + z * z / 2) / 20_000), rel=0.03)
    assert np.mean((apart > found.lower_limit.value) & (apart < found.upper_limit.value)) == pytest.approx(
        0.95, abs=0.01
    )


def test_large_numbers_keep_their_spread():
    rng = np.random.default_rng(1)
    apart = rng.normal(size=200)
    near, far = (bland_altman(apart + offset, np.zeros(200), range(200), interval="influence") for offset in (0, 1e9))
    assert far.upper_limit.value - far.bias.value == pytest.approx(near.upper_limit.value - near.bias.value, rel=1e-5)
    assert far.upper_limit.low is not None


def test_copies_in_a_cluster_widen_nothing(rng):
    apart = rng.normal(size=60)
    copies = np.repeat(np.arange(60), 5)
    one = bland_altman(apart, np.zeros(60), range(60), interval="influence")
    five = bland_altman(apart[copies], np.zeros(300), copies, interval="influence")
    assert (five.bias.low, five.bias.high) == pytest.approx((one.bias.low, one.bias.high))
    assert (five.bias.n, five.bias.clusters) == (300, 60)


def test_limits_of_few_units():
    nothing = bland_altman([], [], [], **NONE)
    assert (nothing.bias.reason, nothing.lower_limit.reason) == (remark("no_units"), remark("few_units"))
    one = bland_altman([1], [3], [1], **NONE)
    assert (one.bias.value, one.upper_limit.reason) == (-2.0, remark("few_units"))
    json.dumps(one.upper_limit.as_dict(), allow_nan=False)


def test_equal_differences_have_limits_and_no_interval():
    found = bland_altman([0.1 + 0.2, 1.3, 2.3], [0.2, 1.2, 2.2], [1, 2, 3], interval="influence")
    for estimate in (found.bias, found.lower_limit, found.upper_limit):
        assert estimate.value == pytest.approx(0.1)
        assert estimate.reason == remark("no_variation")


def test_bootstrap_of_limits(rng):
    apart = rng.normal(size=30)
    found = bland_altman(apart, np.zeros(30), range(30), interval="bootstrap", rng=rng)
    for estimate in (found.bias, found.lower_limit, found.upper_limit):
        assert "cluster bootstrap" in estimate.method
        assert estimate.low < estimate.value < estimate.high


# The human scale


@given(st.floats(0, 1), st.booleans())
def test_scores_on_the_human_scale(share, higher_is_better):
    score = -2 + 4 * share
    placed = on_scale([score, -2, 2], (-2, 2), (1, 5), higher_is_better=higher_is_better)
    assert placed[0] == pytest.approx(1 + 4 * (share if higher_is_better else 1 - share))
    assert sorted(placed[1:]) == [1, 5]


@pytest.mark.parametrize(
    ("score", "ends", "human_ends", "message"),
    [
        ([0.5, 1.2], (0, 1), (1, 5), "score 1.2 at position 1 lies beyond the ends"),
        ([0.5], (1, 1), (1, 5), "ends of the scores are in order"),
        ([0.5], (0, 1), (5, 1), "ends of the human values are in order"),
        ([np.nan], (0, 1), (1, 5), "score nan at position 0 is not finite"),
    ],
)
def test_scales_that_do_not_fit(score, ends, human_ends, message):
    with pytest.raises(ValueError, match=message):
        on_scale(score, ends, human_ends)
