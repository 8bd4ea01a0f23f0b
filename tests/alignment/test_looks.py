"""Looks at the locked test part are paid for."""

import math

import numpy as np
import pytest
from scipy import stats

from alignment import Estimate, at_threshold, cost_of_look, kappa_at_look, level_of_look, widening


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
    ("k", "words"),
    [
        (1, "first look: 97.0 % interval, 1.1 times as wide"),
        (3, "third look: 99.66 % interval, 1.5 times as wide"),
        (10, "tenth look: 99.970 % interval, 1.8 times as wide"),
        (11, "11th look: 99.975 % interval, 1.9 times as wide"),
        (21, "21st look: 99.9931 % interval, 2.0 times as wide"),
        (112, "112th look: 99.99976 % interval, 2.4 times as wide"),
        (1002, "1002nd look: 99.9999970 % interval, 2.8 times as wide"),
    ],
)
def test_the_cost_in_words(k, words):
    assert cost_of_look(k) == words


@pytest.mark.parametrize(
    ("k", "alpha", "message"), [(0, 0.05, "counted from 1, not 0"), (1, 0.0, "alpha lies between"), (1, 1.0, "alpha")]
)
def test_looks_that_cannot_be(k, alpha, message):
    with pytest.raises(ValueError, match=message):
        level_of_look(k, alpha)


def test_kappa_at_a_look_by_the_formula():
    kappa = Estimate(0.7, 0.55, 0.82, n=300, clusters=60, method="Cohen's kappa")
    widened = kappa_at_look(kappa, 2)
    level = level_of_look(2)
    arm = 0.15 / (1 - 0.49) * stats.t.ppf((1 + level) / 2, 59) / stats.t.ppf(0.975, 59)
    assert (widened.low, widened.high) == pytest.approx(tuple(np.tanh(np.arctanh(0.7) + np.array([-arm, arm]))))
    assert (widened.value, widened.level, widened.n, widened.clusters) == (0.7, level, 300, 60)
    assert widened.method == "Cohen's kappa; for look 2 on the scale of atanh"


def test_later_looks_are_wider_and_stay_within_kappas_bounds():
    kappa = Estimate(0.9, 0.6, 1.0, n=20, clusters=20)
    widths = [(widened := kappa_at_look(kappa, k)).high - widened.low for k in (1, 2, 5, 50, 1000)]
    assert widths == sorted(widths)
    assert kappa_at_look(kappa, 1000).high <= 1


def test_kappa_without_an_interval_stays_without():
    for kappa in (Estimate.undefined("no units"), Estimate(1.0, None, None, reason="nothing varies")):
        widened = kappa_at_look(kappa, 3)
        assert (widened.value, widened.low, widened.reason) == (kappa.value, None, kappa.reason)
        assert widened.level == level_of_look(3)
    with pytest.raises(ValueError, match="lies between -1 and 1, not"):
        kappa_at_look(Estimate(1.0, 0.9, 1.0, clusters=9), 3)


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
