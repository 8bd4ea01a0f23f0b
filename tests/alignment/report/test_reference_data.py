"""Real data: figures that independent libraries gave, stored beside the data, to 1e-6."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtrit

from alignment import (
    agreement_summary,
    at_threshold,
    fleiss_kappa,
    gwet_ac1,
    judge_label_kappa,
    kendall,
    krippendorff_alpha,
    mean_pairwise_kappa,
    mean_value,
    pairwise,
    pearson,
    percent_agreement,
    prevalence,
    reference_majority,
    roc_auc,
    spearman,
    sweep,
)
from alignment.base.estimate import remark
from alignment.base.ratings import Ratings
from alignment.judging.annotator_errors import pass_or_fail

DIMENSIONS = ("naturalness", "appropriateness", "completeness", "faithfulness", "win_rate")
SCORED = DIMENSIONS[:-1]
JUDGES = ("RougeL", "Bert-Rec", "Bert-KPrec", "RB_agg", "RB_llm", "RL_F", "conditional_idk")
VOTERS = ("author_0", "author_4", "expert_24")


def close(value):
    return pytest.approx(value, abs=1e-6)


def test_every_dimension_and_judge_is_covered(mtrag):
    assert tuple(mtrag.reference["human"]) == DIMENSIONS
    assert set(mtrag.reference["judges"]) == set(JUDGES)
    assert all(tuple(figures) == SCORED for figures in mtrag.reference["judges"].values())


def check_pairs(ratings, expected):
    pairs = {(pair.a, pair.b): pair for pair in pairwise(ratings, min_common=2, interval="none")}
    assert set(pairs) == {tuple(sorted(row["raters"])) for row in expected["pairs"]}
    for row in expected["pairs"]:
        pair = pairs[tuple(sorted(row["raters"]))]
        assert pair.n == row["n"]
        assert pair.percent.value == close(row["percent_agreement"])
        for name, estimate in (("unweighted", pair.kappa), ("linear", pair.linear), ("quadratic", pair.quadratic)):
            if row[name] is None:
                assert estimate.value is None
                assert estimate.reason in (remark("one_category"), remark("no_order"))
            elif row[name] == 0:
                assert estimate.value == 0.0
            else:
                assert estimate.value == close(row[name])


def check_means(ratings, expected):
    for min_common in (2, 10, 30):
        figures = expected[f"min_common_{min_common}"]
        for name, weights in (("unweighted", None), ("linear", "linear"), ("quadratic", "quadratic")):
            if name not in figures:
                continue
            plain = mean_pairwise_kappa(ratings, weights, min_common, interval="none")
            weighted = mean_pairwise_kappa(ratings, weights, min_common, True, interval="none")
            assert plain.value == close(figures[name]["mean"])
            assert weighted.value == close(figures[name]["mean_weighted_by_common_units"])
            undefined = figures[name]["undefined_pairs"]
            assert f"over {figures['pairs'] - undefined} pairs with" in plain.method
            assert f"common units, {undefined} undefined" in plain.method
        pairs = pairwise(ratings, min_common, interval="none")
        assert np.mean([pair.percent.value for pair in pairs]) == close(figures["percent_agreement_mean"])


def check_multirater(ratings, expected):
    summary = agreement_summary(ratings, interval="none")
    irr = expected["irrcac"]
    assert summary["fleiss_kappa"].value == close(irr["fleiss_with_missing"]["value"])
    assert summary["percent_agreement"].value == close(irr["fleiss_with_missing"]["pa"])
    assert summary["gwet_ac1"].value == close(irr["gwet_ac1"]["value"])
    assert summary["krippendorff_alpha_nominal"].value == close(irr["krippendorff_nominal"]["value"])
    for metric, alpha in expected["krippendorff_alpha"].items():
        if metric != "library":
            assert summary[f"krippendorff_alpha_{metric}"].value == close(alpha)
    counts = {str(share.level): share.count for share in prevalence(ratings)}
    assert counts == expected["value_counts"]
    assert ratings.n_units == expected["n_units"]
    assert len(ratings.raters) == expected["n_raters"]
    assert len(ratings) == expected["n_ratings"]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_mtrag_people(mtrag, dimension):
    ratings, expected = mtrag.ratings(dimension), mtrag.reference["human"][dimension]
    check_pairs(ratings, expected["cohen_kappa_pairwise"])
    check_means(ratings, expected["cohen_kappa_pairwise"])
    check_multirater(ratings, expected)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_fleiss_on_the_units_everyone_of_three_rated(mtrag, dimension):
    ratings, expected = mtrag.ratings(dimension), mtrag.reference["human"][dimension]["fleiss_kappa"]
    complete = np.bincount(ratings.unit)[ratings.unit] == expected["ratings_per_unit"]
    part = replace(
        ratings,
        unit=ratings.unit[complete],
        rater=ratings.rater[complete],
        value=ratings.value[complete],
        cluster=ratings.cluster[complete],
    )
    kappa = fleiss_kappa(part, interval="none")
    assert kappa.value == close(expected["value"])
    assert kappa.n == expected["n_units"]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_mtrag_errors_of_agreement(mtrag, dimension):
    """irrCAC's errors divide by n(n - 1), ours by n²; for alpha it linearises a little differently."""
    ratings, irr = mtrag.ratings(dimension), mtrag.reference["human"][dimension]["irrcac"]
    n = ratings.n_units
    for statistic, name, tolerance in (
        (gwet_ac1, "gwet_ac1", 1e-6),
        (fleiss_kappa, "fleiss_with_missing", 1e-6),
        (krippendorff_alpha, "krippendorff_nominal", 0.01),
    ):
        estimate = statistic(ratings, interval="influence")
        error = (estimate.high - estimate.low) / 2 / stdtrit(n - 1, 0.975)
        assert error * np.sqrt(n / (n - 1)) == pytest.approx(irr[name]["se"], rel=tolerance)


def check_judge(ratings, passes, scores, expected, rng):
    reference = reference_majority(ratings, passes)
    scored = [position for position, unit in enumerate(reference.unit_ids) if unit in scores]
    score = np.array([scores[reference.unit_ids[position]] for position in scored])
    positive, cluster = reference.positive[scored], reference.cluster[scored]
    figures = expected["binary"]
    assert (len(scored), int(positive.sum()), reference.ties) == (
        figures["n"],
        figures["positives"],
        figures["ties_left_out"],
    )
    assert roc_auc(score, positive, cluster, rng=rng).value == close(figures["roc_auc"])
    swept = sweep(score, positive)
    assert swept.best_threshold == figures["best"]["threshold"]
    for at in ("best", "at_half_of_scale"):
        if at not in figures:
            continue
        result = at_threshold(score, positive, cluster, figures[at]["threshold"], interval="none")
        assert result.kappa.value == close(figures[at]["kappa"])
        assert result.accuracy.value == close(figures[at]["accuracy"])
        assert result.f1.value == close(figures[at]["f1"])
    best = swept.best_index
    assert swept.best_kappa == close(figures["best"]["kappa"])
    assert swept.accuracy[best] == close(figures["best"]["accuracy"])
    assert swept.f1[best] == close(figures["best"]["f1"])

    # On a nominal scale the reference takes the share of ratings that pass for the human value.
    human = mean_value(ratings if ratings.ordered else pass_or_fail(ratings, passes))
    scored = [position for position, unit in enumerate(human.unit_ids) if unit in scores]
    score = np.array([scores[human.unit_ids[position]] for position in scored])
    assert len(scored) == expected["n"]
    for statistic, name in ((spearman, "spearman"), (kendall, "kendall_tau_b"), (pearson, "pearson")):
        estimate = statistic(score, human.value[scored], human.cluster[scored], rng=rng)
        assert estimate.value == close(expected[name])
        assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize("dimension", SCORED)
@pytest.mark.parametrize("judge", JUDGES)
def test_mtrag_judges(mtrag, judge, dimension, rng):
    check_judge(
        mtrag.ratings(dimension),
        mtrag.passes(dimension),
        mtrag.scores(judge),
        mtrag.reference["judges"][judge][dimension],
        rng,
    )


def test_expertqa_judge(expertqa, rng):
    check_judge(
        expertqa.ratings("support"),
        expertqa.passes("support"),
        expertqa.scores("baseline_token_recall"),
        expertqa.reference["judges"]["baseline_token_recall"]["support"],
        rng,
    )


def test_expertqa_has_no_agreement(expertqa, rng):
    for dimension, expected in expertqa.reference["human"].items():
        ratings = expertqa.ratings(dimension)
        assert {str(share.level): share.count for share in prevalence(ratings)} == expected["value_counts"]
        summary = agreement_summary(ratings, rng)
        assert all(estimate.value is None and estimate.reason for estimate in summary.values())
        assert percent_agreement(ratings, rng=rng).reason == remark("no_pairs")


def test_mtbench_people(mtbench):
    ratings, expected = mtbench.ratings("preference"), mtbench.reference["human"]["preference"]
    check_pairs(ratings, expected["cohen_kappa_pairwise"])
    check_means(ratings, expected["cohen_kappa_pairwise"])
    check_multirater(ratings, expected)


def test_mtbench_judges(mtbench, rng):
    ratings = mtbench.ratings("preference")
    for judge, figures in mtbench.reference["judges"].items():
        check_judge(ratings, mtbench.passes("preference"), mtbench.scores(judge), figures["preference"], rng)


@pytest.mark.parametrize("voter", VOTERS)
def test_mtbench_judges_against_each_voter(mtbench, voter):
    # The reference weighs the steps between the votes, so the scale is taken for ordered here.
    ratings = mtbench.ratings("preference", "ordinal").select_raters([voter])
    votes = np.array(ratings.levels)[ratings.value]
    for judge, figures in mtbench.reference["judges"].items():
        scores = mtbench.scores(judge)
        given = [scores[ratings.unit_id(code)] for code in ratings.unit]
        expected = next(row for row in figures["preference"]["same_scale_against_each_rater"] if row["rater"] == voter)
        result = judge_label_kappa(
            votes, given, ratings.cluster, scale="ordinal", levels=ratings.levels, interval="none"
        )
        assert result.kappa.n == expected["n"]
        assert result.kappa.value == close(expected["kappa"])
        assert result.quadratic.value == close(expected["kappa_quadratic"])
        units = range(len(given))
        both = Ratings.from_columns(
            [*units, *units],
            ["human"] * len(given) + ["judge"] * len(given),
            [*votes, *given],
            [*units, *units],
            scale="ordinal",
            levels=ratings.levels,
        )
        for metric in ("nominal", "ordinal", "interval"):
            assert krippendorff_alpha(both, metric, interval="none").value == close(expected[f"alpha_{metric}"])
