"""p-values against statsmodels and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from alignment import benjamini_yekutieli, holm
from alignment.base.significance import p_mean_below

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(P_VALUES)
def test_holm_by_its_definition(p):
    adjusted = holm(np.array(p))
    for alpha in (0.01, 0.05, 0.2):
        rejected, left = set(), sorted(range(len(p)), key=p.__getitem__)
        while left and p[left[0]] * len(left) <= alpha:
            rejected.add(left.pop(0))
        assert set(np.flatnonzero(adjusted <= alpha)) == rejected


@pytest.mark.parametrize("seed", range(5))
def test_holm(seed):  # statsmodels takes a tenth of a second for each
    p = np.random.default_rng(seed).random(10) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(P_VALUES, st.sampled_from([0.01, 0.05, 0.2]))
def test_benjamini_yekutieli(p, q):
    assert benjamini_yekutieli(np.array(p), q).tolist() == multipletests(p, alpha=q, method="fdr_by")[0].tolist()


def test_no_tests():
    assert holm(np.array([])).tolist() == []
    assert benjamini_yekutieli(np.array([]), 0.05).tolist() == []


def test_values_that_are_their_own_clusters_give_students_test(rng):
    values = rng.normal(0.1, 1, 40)
    expected = ttest_1samp(values, 0.2, alternative="less").pvalue
    assert p_mean_below(values, rng.permutation(40), 0.2) == pytest.approx(expected, abs=1e-12)


def test_copies_in_a_cluster_count_once(rng):
    values = rng.normal(0, 1, 25)
    once = p_mean_below(values, np.arange(25), 0.1)
    assert p_mean_below(np.repeat(values, 4), np.repeat(np.arange(25), 4), 0.1) == pytest.approx(once, abs=1e-12)
    assert p_mean_below(np.repeat(values, 4), np.arange(100), 0.1) != pytest.approx(once, abs=1e-3)


def test_what_does_not_vary_or_has_one_cluster():
    assert p_mean_below(np.zeros(30), np.arange(30), 0.1) == 0.0
    assert p_mean_below(np.full(30, 0.1), np.arange(30), 0.1) == 1.0
    assert p_mean_below(np.arange(30.0), np.zeros(30, dtype=int), 0.1) is None
