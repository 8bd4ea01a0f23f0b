"""Figures of a calibration: against scikit-learn and by hand, undefined cases, intervals."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

from alignment import calibration_figures
from alignment.base.estimate import remark
from alignment.calibration.reliability import equal_mass_bins
from tests.alignment.base.test_intervals import jackknife

NONE = {"interval": "none"}


def forecast(seed, units=300, digits=2):
    rng = np.random.default_rng(seed)
    probability = np.round(np.clip(rng.beta(2, 2, size=units), 0.01, 0.99), digits)
    return probability, rng.random(units) < probability**1.3


def figures_of(probability, human, cluster=None, **how):
    cluster = np.arange(len(human)) if cluster is None else cluster
    return calibration_figures(np.asarray(probability) >= 0.5, human, cluster, probability=probability, **how)


@pytest.mark.parametrize("seed", range(4))
def test_scores_against_scikit_learn(seed):
    probability, human = forecast(seed)
    figures = figures_of(probability, human, **NONE)
    assert figures.brier.value == pytest.approx(metrics.brier_score_loss(human, probability), abs=1e-12)
    assert figures.log_loss.value == pytest.approx(metrics.log_loss(human, probability), abs=1e-12)
    assert figures.kappa.value == pytest.approx(metrics.cohen_kappa_score(human, probability >= 0.5), abs=1e-12)


def test_points_against_scikit_learn():
    probability, human = forecast(1, 300, 9)
    figures = figures_of(probability, human, **NONE)
    observed, predicted = calibration_curve(human, probability, n_bins=15, strategy="quantile")
    assert [point.observed.value for point in figures.points] == pytest.approx(observed)
    assert [point.predicted for point in figures.points] == pytest.approx(predicted)
    assert [point.observed.n for point in figures.points] == [20] * 15
    assert figures.ece.value == pytest.approx(np.abs(observed - predicted).mean())


@pytest.mark.parametrize("seed", range(4))
def test_ece_is_the_points_weighted_by_their_units(seed):
    probability, human = forecast(seed, 200, 1)
    figures = figures_of(probability, human, **NONE)
    gaps = [abs(point.predicted - point.observed.value) * point.observed.n for point in figures.points]
    assert figures.ece.value == pytest.approx(sum(gaps) / 200)
    assert sum(point.observed.n for point in figures.points) == 200
    for below, above in zip(figures.points, figures.points[1:], strict=False):
        assert below.lowest - 1e-12 < below.predicted < below.highest + 1e-12
        assert below.highest < above.lowest


@given(values=st.lists(st.integers(0, 12), min_size=1, max_size=80), bins=st.integers(1, 15))
def test_bins_never_part_ties_and_are_about_equal(values, bins):
    column = np.array(values, dtype=float)
    bin_of = equal_mass_bins(column, bins)
    assert bin_of.min() >= 0
    assert bin_of.max() < bins
    order = np.argsort(column)
    assert (np.diff(bin_of[order]) >= 0).all()
    for value in set(values):
        assert np.unique(bin_of[column == value]).size == 1
    # A bin holds its share, and at most half of the tied values that stick out at either end.
    largest_tie = max(values.count(value) for value in values)
    assert np.bincount(bin_of).max() <= len(values) / bins + largest_tie


def test_equal_mass_without_ties():
    assert np.bincount(equal_mass_bins(np.arange(150.0), 15)).tolist() == [10] * 15
    assert equal_mass_bins(np.full(9, 0.3), 15).tolist() == [7] * 9


def test_a_constant_probability_has_one_bin():
    human = np.arange(100) < 40
    figures = figures_of(np.full(100, 0.3), human, **NONE)
    assert len(figures.points) == 1
    assert figures.ece.value == pytest.approx(0.1)
    assert figures.ece.method.startswith("ECE, 1 bins")
    assert figures.ece_if_perfect.value == pytest.approx(np.sqrt(2 / np.pi * 100 * 0.21) / 100)


def test_perfect_calibration_shows_about_the_yardstick():
    rng = np.random.default_rng(4)
    found, expected = [], []
    for _ in range(100):
        probability = rng.random(150)
        figures = figures_of(probability, rng.random(150) < probability, **NONE)
        found.append(figures.ece.value)
        expected.append(figures.ece_if_perfect.value)
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.05)
    assert np.mean(found) > 0.08
    # Above 0 though the truth is 0: an interval made from the data would miss it.
    shown = figures_of(probability, rng.random(150) < probability, rng=rng)
    for figure in (shown.ece, shown.ece_if_perfect):
        assert (figure.low, figure.high, figure.reason) == (None, None, remark("above_0_by_luck"))


@pytest.mark.parametrize("name", ["brier", "log_loss", "kappa"])
def test_influence_against_deleting_each_cluster(name):
    probability, human = forecast(2)
    cluster = np.arange(300) // 3
    left_out = [
        getattr(figures_of(probability[cluster != one], human[cluster != one], **NONE), name).value
        for one in range(100)
    ]
    estimate = getattr(figures_of(probability, human, cluster, interval="influence"), name)
    assert (estimate.high - estimate.low) / 2 / 1.984 == pytest.approx(jackknife(left_out), rel=0.03)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_bootstrap_against_influence(name, rng):
    probability, human = forecast(2, 3000)
    cluster = np.arange(3000) // 3
    one, other = (
        getattr(figures_of(probability, human, cluster, interval=kind, rng=rng), name)
        for kind in ("influence", "bootstrap")
    )
    assert one.value == other.value
    assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.2)


def test_points_have_clustered_intervals(rng):
    probability, human = forecast(2)
    single = figures_of(probability, human, rng=rng).points[3].observed
    assert single.method.endswith(f"Clopper-Pearson, of {single.n} effective trials")
    assert single.low < single.value < single.high
    copied = figures_of(np.repeat(probability, 2), np.repeat(human, 2), np.repeat(np.arange(300), 2), rng=rng)
    assert (copied.points[3].observed.n, copied.points[3].observed.clusters) == (2 * single.n, single.n)
    assert copied.points[3].observed.low == pytest.approx(single.low, abs=0.03)


def test_invariances(rng):
    probability, human = forecast(2)
    cluster = np.arange(300) // 3
    figures = figures_of(probability, human, cluster, interval="influence")
    order = rng.permutation(300)
    named = np.array([f"sample {code}" for code in cluster])
    moved = figures_of(probability[order], human[order], named[order], interval="influence")
    # Passing and failing change places; a bin's edge that falls on a unit may then go to its other side.
    turned = calibration_figures(probability < 0.5, ~human, cluster, probability=1 - probability, interval="influence")
    for other, names in ((moved, ("kappa", "brier", "log_loss", "ece")), (turned, ("kappa", "brier", "log_loss"))):
        for name in names:
            for end in ("value",) if name == "ece" else ("value", "low", "high"):
                expected = getattr(getattr(figures, name), end)
                assert getattr(getattr(other, name), end) == pytest.approx(expected, abs=1e-12)


def test_levels_have_quadratic_kappa(rng):
    human = rng.integers(4, size=120)
    given = np.clip(human + rng.integers(-1, 2, size=120), 0, 3)
    figures = calibration_figures(given, human, np.arange(120), levels=4, rng=rng)
    assert figures.kappa.value == pytest.approx(metrics.cohen_kappa_score(human, given, weights="quadratic"))
    assert figures.kappa.method.startswith("Cohen's kappa, quadratic weights")


def test_undefined(rng):
    certain = figures_of([0.0, 1.0, 0.7], [True, True, True], **NONE)
    assert certain.log_loss.reason == remark("infinite_log_loss", wrong=1, n=3)
    assert certain.brier.value == pytest.approx((1 + 0.09) / 3)
    right = figures_of([0.0, 1.0], [False, True], rng=rng)
    assert (right.log_loss.value, right.brier.value, right.ece.value) == (0.0, 0.0, 0.0)
    assert right.brier.reason == remark("no_variation")
    empty = figures_of([], [], rng=rng)
    for figure in (empty.kappa, empty.brier, empty.log_loss, empty.ece, empty.ece_if_perfect):
        assert (figure.value, figure.reason) == (None, remark("no_units"))
    one = figures_of([0.7, 0.8], [True, True], rng=rng)
    assert one.kappa.reason == remark("one_category")
    assert one.brier.value is not None
    for figures in (certain, right, empty, one):
        json.dumps([figures.brier.as_dict(), figures.log_loss.as_dict(), figures.ece.as_dict()], allow_nan=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures_of([1.2], [True], **NONE), "probabilities lie between 0 and 1"),
        (lambda: figures_of([np.nan], [True], **NONE), "probability nan"),
        (lambda: figures_of([0.5], [2], **NONE), "human holds positions"),
        (lambda: calibration_figures([1], [1, 0], [1, 2], **NONE), "columns differ in length"),
        (lambda: calibration_figures([1], [2], [1], probability=[0.5], levels=3, **NONE), "go with two levels"),
        (lambda: figures_of([0.1], [1]), "pass rng"),
    ],
)
def test_columns_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
