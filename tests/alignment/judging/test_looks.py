"""Looks at the locked test part are paid for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from alignment import Estimate, at_threshold, kappa_at_look, level_of_look, widening
from alignment.base.estimate import remark


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.01])
def test_all_looks_together_spend_no_more_than_alpha(alpha):
    looks = range(1, 20_001)
    spent = math.fsum(1 - level_of_look(k, alpha) for k in looks)
    # What is left is the tail, Σ_{k > K} 6α/(π²k²), about 6α/(π²K).
    assert spent <= alpha
    assert alpha - spent == pytest.approx(6 * alpha / (math.pi**2 * 20_000), rel=1e-3)


def test_later_looks_cost_more():
    levels = [level_of_look(k) for k in range(1, 200)]
    assert (np.diff(levels) > 0).all()
    assert levels[0] > 0.95


def test_widening_is_the_ratio_of_normal_quantiles():
    expected = stats.norm.ppf(1 - 0.05 * 6 / math.pi**2 / 9 / 2) / stats.norm.ppf(0.975)
    assert widening(3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("k", "alpha", "message"), [(0, 0.05, "counted from 1, not 0"), (1, 0.0, "alpha lies between"), (1, 1.0, "alpha")]
)
def test_looks_that_cannot_be(k, alpha, message):
    with pytest.raises(ValueError, match=message):
        level_of_look(k, alpha)


def wilson(share, x):
    """Both ends, from the definition: the shares whose score test is not rejected; x = z²/n."""

    def beyond(other):
        return (other - share) ** 2 - x * other * (1 - other)

    return (
        optimize.brentq(beyond, 0, share) if share > 0 else 0.0,
        optimize.brentq(beyond, share, 1) if share < 1 else 1.0,
    )


@pytest.mark.parametrize("value", [0.7, 0.95, 0.0, -0.4])
def test_kappa_at_a_look_by_the_definition(value):
    kappa = Estimate(value, value - 0.15, min(1.0, value + 0.12), n=300, clusters=60, method="Cohen's kappa")
    widened = kappa_at_look(kappa, 2)
    level = level_of_look(2)
    stretch = stats.t.ppf((1 + level) / 2, 59) / stats.t.ppf(0.975, 59)
    share = (1 - value) / 2
    x = optimize.brentq(lambda x: np.diff(wilson(share, x))[0] / 2 - 0.15 / 2, 1e-6, 10)
    lowest, highest = wilson(share, stretch**2 * x)
    assert widened.low == pytest.approx(min(1 - 2 * highest, value - stretch * 0.15), abs=1e-9)
    assert widened.high == pytest.approx(min(1, max(1 - 2 * lowest, value + stretch * 0.15)), abs=1e-9)
    assert (widened.value, widened.level, widened.n, widened.clusters) == (value, level, 300, 60)
    assert widened.method == "Cohen's kappa; for look 2 on Wilson's scale"


def test_turned_round_kappa_has_its_interval_turned_round():
    up, down = (kappa_at_look(Estimate(value, value - 0.2, value + 0.2, clusters=30), 4) for value in (0.6, -0.6))
    assert (up.low, up.high) == pytest.approx((-down.high, -down.low))


def test_a_perfect_kappa_with_an_interval():
    widened = kappa_at_look(Estimate(1.0, 0.86, 1.0, n=50, clusters=50), 2)
    assert -1 < widened.low < 0.86
    assert widened.high == 1


def test_an_arm_that_says_nothing():
    widened = kappa_at_look(Estimate(0.2, -0.8, 0.9, clusters=4), 1)
    assert (widened.low, widened.high) == (-1, 1)


@given(st.floats(-1, 1), st.floats(1e-9, 2), st.floats(1e-9, 2), st.integers(2, 500), st.integers(1, 2000))
def test_later_looks_are_wider_and_stay_within_kappas_bounds(value, below, above, clusters, k):
    kappa = Estimate(value, max(-1.0, value - below), min(1.0, value + above), clusters=clusters)
    now, later = kappa_at_look(kappa, k), kappa_at_look(kappa, k + 1)
    assert -1 <= later.low <= now.low <= kappa.low <= kappa.high <= now.high <= later.high <= 1


def test_kappa_without_an_interval_stays_without():
    for kappa in (Estimate.undefined(remark("no_units")), Estimate(1.0, None, None, reason=remark("no_variation"))):
        widened = kappa_at_look(kappa, 3)
        assert (widened.value, widened.low, widened.reason) == (kappa.value, None, kappa.reason)
        assert widened.level == level_of_look(3)


def test_kappa_at_a_look_misses_no_more_than_its_level_allows():
    """Seeded and small; bench/certainty.py runs whole series of looks."""
    rng = np.random.default_rng(2)
    level, missed, plainly = level_of_look(3), 0, 0
    for _ in range(400):
        human = rng.random(50) < 0.5
        judge = (human ^ (rng.random(50) < 0.1)).astype(float)
        kappa, plain = (
            at_threshold(judge, human, np.arange(50), 0.5, interval="influence", level=one).kappa
            for one in (0.95, level)
        )
        widened = kappa_at_look(kappa, 3)
        missed += widened.low is not None and not widened.low <= 0.8 <= widened.high
        plainly += plain.low is not None and not plain.low <= 0.8 <= plain.high
    # 0.34 % of 400 are 1.4.
    assert missed <= 4 < plainly
