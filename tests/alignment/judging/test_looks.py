"""Looks at the locked test part are paid for."""

import math

import numpy as np
import pytest
from scipy import stats

from alignment import at_threshold, level_of_look, widening


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


def test_kappa_at_a_look_misses_no_more_than_its_level_allows():
    """Seeded and small; bench/promises/ledger.py runs whole series of looks."""
    rng = np.random.default_rng(2)
    level, missed = level_of_look(3), 0
    for _ in range(400):
        human = rng.random(50) < 0.5
        judge = (human ^ (rng.random(50) < 0.1)).astype(float)
        kappa = at_threshold(judge, human, np.arange(50), 0.5, interval="jackknife", level=level).kappa
        missed += kappa.low is not None and not kappa.low <= 0.8 <= kappa.high
    # 0.34 % of 400 are 1.4.
    assert missed <= 4
