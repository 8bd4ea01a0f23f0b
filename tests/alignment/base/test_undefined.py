"""Undefined is None with a reason: never 0, never 1, never NaN. Each statistic's reasons are in `test_properties`."""

import numpy as np
import pytest

from alignment import (
    Estimate,
    agreement_summary,
    at_threshold,
    cohen_kappa,
    gwet_ac1,
    judge_label_kappa,
    kendall,
    pairwise,
    percent_agreement,
    prevalence,
    roc_auc,
    sweep,
)
from alignment.base.estimate import remark

NONE = {"interval": "none"}
A, B = "rater 0", "rater 1"


def test_roc_auc():
    assert roc_auc([1, 2], [True, True], [1, 2], **NONE).reason == remark("no_negative")
    assert roc_auc([1, 2], [False, False], [1, 2], **NONE).reason == remark("no_positive")
    assert roc_auc([], [], [], **NONE).value is None


def test_rates_without_units_in_their_denominator(rng):
    negative = at_threshold([0.1, 0.2], [False, False], [1, 2], 0.5, rng=rng)
    assert negative.confusion == [[2, 0], [0, 0]]
    assert negative.tpr.reason == remark("no_positive")
    assert negative.precision.reason == remark("no_positive_by_judge")
    assert negative.f1.reason == remark("no_positive_by_either")
    assert negative.kappa.reason == remark("one_category")
    assert negative.mcc.reason == remark("one_category_by_either")
    assert (negative.tnr.value, negative.accuracy.value) == (1.0, 1.0)
    positive = at_threshold([0.8, 0.9], [True, True], [1, 2], 0.5, rng=rng)
    assert positive.tnr.reason == remark("no_negative")


def test_no_units(rng):
    empty = at_threshold([], [], [], 0.5, rng=rng)
    assert empty.confusion == [[0, 0], [0, 0]]
    assert (empty.kappa.reason, empty.accuracy.reason) == (remark("no_units"), remark("no_units"))
    swept = sweep([], [])
    assert (swept.best_index, swept.best_threshold, swept.best_kappa, swept.reason) == (
        None,
        None,
        None,
        remark("no_units"),
    )
    labels = judge_label_kappa([], [], [], scale="binary", levels=[0, 1], rng=rng)
    assert labels.kappa.reason == remark("few_common_units")


def test_sweep_without_a_defined_kappa():
    swept = sweep([0.5, 0.5], [True, True])
    assert swept.best_kappa is None
    assert swept.reason == remark("one_category_at_every_threshold")
    assert np.isnan(swept.kappa).all()


def test_no_ratings_at_all(from_rows, rng):
    ratings = from_rows([], ["no", "yes"], "binary")
    summary = agreement_summary(ratings, rng)
    assert all(estimate.value is None and estimate.reason for estimate in summary.values())
    assert pairwise(ratings, rng=rng) == []
    assert [tuple(share) for share in prevalence(ratings)] == [("no", None, 0), ("yes", None, 0)]
    bare = from_rows([], None, "interval")
    assert all(estimate.value is None for estimate in agreement_summary(bare, rng).values())
    assert prevalence(bare) == []


def test_a_scale_without_levels_has_alpha_of_numbers_and_icc_only(from_rows):
    summary = agreement_summary(from_rows([[0.1, 0.4, 0.9] * 4, [0.2, 0.4, 0.8] * 4], None, "interval"), **NONE)
    defined = {name for name, estimate in summary.items() if estimate.value is not None}
    assert defined == {
        "krippendorff_alpha_interval",
        "krippendorff_alpha_ratio",
        "icc_one_way",
        "icc_agreement",
        "icc_consistency",
    }


def test_one_category_is_perfect_for_ac1_by_intent(from_rows):
    assert gwet_ac1(from_rows([[1, 1], [1, 1]], [1, 2]), **NONE).value == 1.0


def test_one_cluster_has_a_value_and_no_interval(from_rows, rng):
    ratings = from_rows([[1, 2, 1, 2], [1, 2, 2, 2]], [1, 2], clusters=[0, 0, 0, 0])
    for estimate in (cohen_kappa(ratings, A, B, rng=rng), percent_agreement(ratings, rng=rng)):
        assert estimate.value is not None
        assert (estimate.low, estimate.reason) == (None, remark("few_clusters"))


def test_mostly_undefined_resamples_void_the_interval(rng):
    # A bootstrap of two clusters misses one of them half the time, and AUC needs both.
    estimate = roc_auc([0.1, 0.9], [False, True], [1, 2], rng=np.random.default_rng(2))
    assert estimate.value == 1.0
    assert estimate.low is None


def test_kendall_has_no_bootstrap_of_many_clusters(rng):
    column = rng.normal(size=2_001)
    estimate = kendall(column, column + rng.normal(size=2_001), range(2_001), interval="bootstrap", rng=rng)
    assert estimate.value is not None
    assert estimate.reason == remark("many_clusters", n=2000)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((float("nan"), None, None, 0.95, 1, 1, "", "x"), "finite"),
        ((0.5, float("-inf"), 0.6, 0.95, 1, 1, "", None), "finite"),
        ((0.5, 0.4, None, 0.95, 1, 1, "", "x"), "both ends"),
        ((0.5, None, None), "needs a reason"),
    ],
)
def test_an_estimate_that_cannot_be(fields, message):
    with pytest.raises(ValueError, match=message):
        Estimate(*fields)
