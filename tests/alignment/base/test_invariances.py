"""What the figures of a scale must not depend on: names, direction and units of its levels. Order and names of units,
raters and clusters are in `test_properties`."""

import numpy as np
import pytest

from alignment import (
    Ratings,
    agreement_summary,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    intraclass_correlation,
    kendall,
    krippendorff_alpha,
    mean_pairwise_kappa,
    mean_pairwise_pi,
    percent_agreement,
    pr_auc,
    reference_majority,
    roc_auc,
    scott_pi,
    spearman,
    sweep,
)

INFLUENCE = {"interval": "influence"}

NOMINAL = {
    "percent agreement": lambda ratings: percent_agreement(ratings, **INFLUENCE),
    "fleiss": lambda ratings: fleiss_kappa(ratings, **INFLUENCE),
    "ac1": lambda ratings: gwet_ac1(ratings, **INFLUENCE),
    "alpha nominal": lambda ratings: krippendorff_alpha(ratings, **INFLUENCE),
    "mean kappa": lambda ratings: mean_pairwise_kappa(ratings, **INFLUENCE),
    "mean kappa by units": lambda ratings: mean_pairwise_kappa(ratings, None, 10, True, **INFLUENCE),
    "cohen": lambda ratings: cohen_kappa(ratings, *ratings.raters[:2], **INFLUENCE),
    "brennan prediger": lambda ratings: brennan_prediger(ratings, **INFLUENCE),
    "scott": lambda ratings: scott_pi(ratings, *ratings.raters[:2], **INFLUENCE),
    "mean pi": lambda ratings: mean_pairwise_pi(ratings, **INFLUENCE),
}
ORDERED = {
    "alpha ordinal": lambda ratings: krippendorff_alpha(ratings, "ordinal", **INFLUENCE),
    "alpha interval": lambda ratings: krippendorff_alpha(ratings, "interval", **INFLUENCE),
    "icc one-way": lambda ratings: intraclass_correlation(ratings, "one-way", **INFLUENCE),
    "icc agreement": lambda ratings: intraclass_correlation(ratings, "agreement", **INFLUENCE),
    "icc consistency": lambda ratings: intraclass_correlation(ratings, "consistency", **INFLUENCE),
    "ac2 linear": lambda ratings: gwet_ac2(ratings, "linear", **INFLUENCE),
    "ac2 quadratic": lambda ratings: gwet_ac2(ratings, "quadratic", **INFLUENCE),
    "mean linear": lambda ratings: mean_pairwise_kappa(ratings, "linear", **INFLUENCE),
    "mean quadratic": lambda ratings: mean_pairwise_kappa(ratings, "quadratic", **INFLUENCE),
    "cohen linear": lambda ratings: cohen_kappa(ratings, *ratings.raters[:2], "linear", **INFLUENCE),
    "cohen quadratic": lambda ratings: cohen_kappa(ratings, *ratings.raters[:2], "quadratic", **INFLUENCE),
}
OF_RANKS = {
    "roc auc": lambda score, positive, human, cluster: roc_auc(score, positive, cluster, **INFLUENCE),
    "pr auc": lambda score, positive, human, cluster: pr_auc(score, positive, cluster, **INFLUENCE),
    "spearman": lambda score, positive, human, cluster: spearman(score, human, cluster, **INFLUENCE),
    "kendall": lambda score, positive, human, cluster: kendall(score, human, cluster, **INFLUENCE),
}


def same(estimate, other):
    for name in ("value", "low", "high"):
        assert getattr(estimate, name) == pytest.approx(getattr(other, name), abs=1e-12)
    assert (estimate.n, estimate.clusters, estimate.method) == (other.n, other.clusters, other.method)


def rebuilt(ratings, **changes):
    fields = ("unit", "rater", "value", "cluster", "levels", "scale", "raters")
    return Ratings(**{name: changes.get(name, getattr(ratings, name)) for name in fields})


def columns(seed=5, units=200):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, size=units) / 3
    score = np.round(human + rng.normal(0, 0.4, size=units), 1)
    return score, human >= 0.6, human, np.arange(units) // 2


@pytest.mark.parametrize("name", NOMINAL)
def test_names_of_levels(with_gaps, name):
    ratings = with_gaps(1)
    relabelled = rebuilt(
        ratings, value=np.array([2, 0, 3, 1])[ratings.value], levels=("q", "p", "s", "r"), scale="nominal"
    )
    same(NOMINAL[name](relabelled), NOMINAL[name](ratings))


@pytest.mark.parametrize("name", ORDERED)
def test_direction_of_levels(with_gaps, name):
    ratings = with_gaps(1)
    turned = rebuilt(ratings, value=3 - ratings.value, levels=tuple(-level for level in ratings.levels[::-1]))
    same(ORDERED[name](turned), ORDERED[name](ratings))


def test_units_of_interval_levels(with_gaps):
    ratings = with_gaps(1)
    scaled = rebuilt(ratings, levels=tuple(50 * level - 200 for level in ratings.levels))
    same(krippendorff_alpha(scaled, "interval", **INFLUENCE), krippendorff_alpha(ratings, "interval", **INFLUENCE))


def test_interval_alpha_with_and_without_a_list_of_levels(with_gaps):
    ratings = with_gaps(1)
    bare = rebuilt(ratings, value=np.array(ratings.levels)[ratings.value], levels=None, scale="interval")
    same(krippendorff_alpha(bare, "interval", **INFLUENCE), krippendorff_alpha(ratings, "interval", **INFLUENCE))


def test_units_of_ratio_levels(with_gaps):
    ratings = with_gaps(1)
    scaled = rebuilt(ratings, levels=tuple(50 * level for level in ratings.levels))
    same(krippendorff_alpha(scaled, "ratio", **INFLUENCE), krippendorff_alpha(ratings, "ratio", **INFLUENCE))


def test_ratio_alpha_with_and_without_a_list_of_levels(with_gaps):
    ratings = with_gaps(1)
    bare = rebuilt(ratings, value=np.array(ratings.levels)[ratings.value], levels=None, scale="interval")
    same(krippendorff_alpha(bare, "ratio", **INFLUENCE), krippendorff_alpha(ratings, "ratio", **INFLUENCE))


def test_two_levels_have_one_weighting(with_gaps):
    ratings = with_gaps(2, levels=2)
    plain = cohen_kappa(ratings, "rater 0", "rater 1", **INFLUENCE)
    for weights in ("linear", "quadratic"):
        weighted = cohen_kappa(ratings, "rater 0", "rater 1", weights, **INFLUENCE)
        assert (weighted.value, weighted.low) == pytest.approx((plain.value, plain.low), abs=1e-12)


def test_weights_are_on_positions_not_numbers(with_gaps):
    ratings = with_gaps(1)
    uneven = rebuilt(ratings, levels=(0, 50, 100, 1000))
    for weights in ("linear", "quadratic"):
        same(
            cohen_kappa(uneven, "rater 0", "rater 1", weights, **INFLUENCE),
            cohen_kappa(ratings, "rater 0", "rater 1", weights, **INFLUENCE),
        )


@pytest.mark.parametrize("name", OF_RANKS)
def test_rank_statistics_see_ranks_only(name):
    score, positive, human, cluster = columns()
    same(OF_RANKS[name](np.exp(3 * score), positive, human, cluster), OF_RANKS[name](score, positive, human, cluster))


def test_turning_the_score_turns_the_sweep():
    score, positive, _, _ = columns()
    up, down = sweep(score, positive), sweep(-score, positive, higher_is_better=False)
    assert up.best_kappa == pytest.approx(down.best_kappa, abs=1e-12)
    assert (down.thresholds == -up.thresholds[::-1]).all()
    assert down.kappa[::-1] == pytest.approx(up.kappa, abs=1e-12, nan_ok=True)


def test_the_same_seed_gives_the_same_summary(with_gaps):
    ratings = with_gaps(4, units=60)
    one, other = (agreement_summary(ratings, np.random.default_rng(11)) for _ in range(2))
    assert one == other
    assert all("jackknife" in estimate.method for name, estimate in one.items() if name != "percent_agreement")


def test_a_majority_does_not_hang_on_the_order_of_raters(with_gaps):
    ratings = with_gaps(1)
    one = reference_majority(ratings, [3, 4])
    other = reference_majority(ratings.select_raters(ratings.raters[::-1]), [3, 4])
    assert one.unit_ids == other.unit_ids
    assert (one.positive == other.positive).all()
    assert one.ties == other.ties
