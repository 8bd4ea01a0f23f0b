"""Looks at the locked test part are paid for."""

import math

import numpy as np
import pytest
from scipy import stats

from alignment import cost_of_look, level_of_look, widening


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
