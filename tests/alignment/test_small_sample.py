"""Intervals from few clusters: t instead of normal quantiles, BCa, the logit scale, smoothing, and the warning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from alignment import binary, cohen_kappa
from alignment.cohen import confusion_kinds
from alignment.interval import Plan
from alignment.resampling import cluster_bootstrap, made_up_mass, made_up_size, smoothed_bootstrap
from alignment.small_sample import bca_shares, logit_interval, reach, tails
from alignment.tables import agreement_columns, agreement_kinds, coincidence_kinds, coincidences
from alignment.totals import Totals, estimate

UNITS = st.floats(0.001, 0.999)


def test_a_bootstrap_reaches_out_as_t_does():
    assert reach(0.95, 20) == pytest.approx(stats.t.ppf(0.975, 19) * np.sqrt(20 / 19))
    assert tails(0.95, 20) == pytest.approx((stats.norm.cdf(-reach(0.95, 20)), stats.norm.cdf(reach(0.95, 20))))
    assert tails(0.95, 10**7) == pytest.approx((0.025, 0.975), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_bca_is_that_of_scipy(seed):
    """Of the mean of skewed numbers, from the same resamples; scipy's quantiles are normal, so ours are told to be."""
    rng = np.random.default_rng(seed)
    numbers = rng.exponential(size=25)
    expected = stats.bootstrap((numbers,), np.mean, method="BCa", n_resamples=4000, rng=rng)
    below, above = bca_shares(expected.bootstrap_distribution, numbers.mean(), numbers - numbers.mean(), 1.959963985)
    low, high = np.quantile(expected.bootstrap_distribution, [below, above])
    assert (low, high) == pytest.approx(tuple(expected.confidence_interval), abs=2e-3)


def test_bca_without_bias_or_skewness_is_percentiles():
    symmetric = np.arange(-1000.0, 1001.0)
    assert bca_shares(symmetric, 0.0, np.array([-1.0, 1.0]), 1.96) == pytest.approx(stats.norm.cdf([-1.96, 1.96]))
    assert bca_shares(symmetric, 0.0, np.zeros(3), 1.96) == pytest.approx(stats.norm.cdf([-1.96, 1.96]))


def test_bca_of_a_value_beyond_all_resamples_stays_finite():
    shares = bca_shares(np.arange(100.0), 1000.0, np.array([-1.0, 0.0, 9.0]), 3.0)
    assert all(0 <= share <= 1 for share in shares)


@given(value=UNITS, half=st.floats(1e-6, 5), lowest=st.sampled_from([-1.0, 0.0]))
def test_the_logit_scale_keeps_within_its_bounds(value, half, lowest):
    within = lowest + value * (1 - lowest)
    low, high = logit_interval(within, half, (lowest, 1.0))
    assert lowest <= low <= within <= high <= 1


def test_the_logit_scale_is_fishers_z_between_minus_one_and_one():
    low, high = logit_interval(0.8, 0.1, (-1.0, 1.0))
    half = 0.1 / (1 - 0.8**2)
    assert (low, high) == pytest.approx(np.tanh(np.arctanh(0.8) + np.array([-half, half])))
    assert logit_interval(0.5, 1e-6, (0.0, 1.0)) == pytest.approx((0.5 - 1e-6, 0.5 + 1e-6), abs=1e-11)


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.0, np.inf), (0.0, 1.0)])
def test_without_bounds_or_at_one_the_interval_is_plain(bounds):
    assert logit_interval(1.0, 0.25, bounds) == (0.75, 1.25)


def test_smoothing_is_a_dirichlet_posterior(rng):
    """Three clusters and a prior of two spread over four kinds: shares have its means and variances."""
    mass = np.append(np.ones(3), made_up_mass(4))
    seen = []

    def resample(weights):
        seen.append(weights)
        return weights[:, 0]

    values = smoothed_bootstrap(resample, mass=mass, width=1, resamples=20_000, rng=rng)
    weights = np.concatenate(seen)
    assert weights.sum(axis=1) == pytest.approx(np.full(20_000, 5.0))
    expected = stats.dirichlet(mass)
    assert (weights / 5).mean(axis=0) == pytest.approx(expected.mean(), abs=0.005)
    assert (weights / 5).var(axis=0) == pytest.approx(expected.var(), abs=0.003)
    assert (values == weights[:, 0]).all()


def test_equal_clusters_may_share_a_row(rng):
    """A share of 30 hits in 40 clusters, written as 40 rows and as 2, has one distribution."""
    hits = np.repeat([1.0, 0.0], [30, 10])
    apart = smoothed_bootstrap(
        lambda weights: weights @ hits / weights.sum(axis=1), mass=np.ones(40), width=1, resamples=20_000, rng=rng
    )
    together = smoothed_bootstrap(
        lambda weights: weights[:, 0] / weights.sum(axis=1),
        mass=np.array([30.0, 10.0]),
        width=1,
        resamples=20_000,
        rng=rng,
    )
    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.quantile(apart, levels) == pytest.approx(np.quantile(together, levels), abs=0.01)


def test_the_bootstrap_draws_as_many_clusters_as_there_are(rng):
    weights = []
    cluster_bootstrap(lambda drawn: weights.append(drawn) or drawn[:, 0], rows=7, width=1, resamples=50, rng=rng)
    assert (np.concatenate(weights).sum(axis=1) == 7).all()


def test_a_made_up_cluster_lies_between_one_unit_and_a_whole_cluster():
    assert made_up_size(100, 100) == 1.0
    assert made_up_size(500, 100) == pytest.approx(5**0.5)


def test_the_kinds_of_units_are_what_such_units_add(from_rows):
    """Each kind's row is what the table counts for one unit with these two ratings."""
    kinds = [(i, j) for i in range(3) for j in range(3)]
    for build, made_up in (
        (coincidences, coincidence_kinds(3)),
        (lambda r: agreement_columns(r)[0], agreement_kinds(3)),
    ):
        for row, (i, j) in enumerate(kinds):
            counted = build(from_rows([[i], [j]], [0, 1, 2])).sums()
            mine = made_up.cluster == row
            assert np.bincount(made_up.column[mine], made_up.amount[mine], made_up.size) == pytest.approx(counted)
    confusion = confusion_kinds(3)
    assert (confusion.cluster == confusion.column).all()
    assert confusion.rows == confusion.size == 9


def test_smoothing_hardly_matters_with_many_clusters(from_confusion, rng):
    ratings = from_confusion([[70, 12], [11, 90]])
    smoothed, plain = cohen_kappa(ratings, "a", "b", rng=rng), cohen_kappa(ratings, "a", "b", interval="influence")
    expected = logit_interval(plain.value, plain.high - plain.value, (-1.0, 1.0))
    assert (smoothed.low, smoothed.high) == pytest.approx(expected, abs=0.015)


def test_rare_category_few_samples(rng):
    """Simulated, 30 samples of which one in ten is positive, true kappa .3: the influence interval holds it in 69 %."""
    held = {"influence": 0, "auto": 0}
    for _ in range(150):
        cell = np.repeat(np.arange(4), rng.multinomial(30, [0.837, 0.063, 0.063, 0.037]))
        table = Totals(np.arange(30), cell, np.ones(30), 30, 4)
        for kind in held:
            plan = Plan(kind, rng, 0.95)
            found = estimate(table, binary.kappa, plan, name="", n=30, undefined="-", kinds=confusion_kinds(2))
            held[kind] += found.low is not None and found.low <= 0.3 <= found.high
    assert held["influence"] < 0.8 * 150 < 0.9 * 150 < held["auto"]
