"""The alternative-annotator test: the paper's own figures, and the definition followed item by item."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from alignment import Ratings, alternative_annotator_test
from alignment.base.estimate import remark

JUDGES = ("gemini_flash", "gemini_pro", "gpt-4o", "gpt-4o-mini", "llama-31", "mistral-v03")
NONE = {"interval": "none"}


def with_judge(ratings, scores, name="the judge"):
    """People's ratings with a judge's values (units by id) as one more rater."""
    known = {
        ratings.unit_id(code): (code, cluster) for code, cluster in zip(ratings.unit, ratings.cluster, strict=True)
    }
    given = [(known[unit], ratings.levels.index(value)) for unit, value in scores.items() if unit in known]
    return Ratings(
        np.concatenate([ratings.unit, [code for (code, _), _ in given]]),
        np.concatenate([ratings.rater, np.full(len(given), len(ratings.raters))]),
        np.concatenate([ratings.value, [value for _, value in given]]),
        np.concatenate([ratings.cluster, [cluster for (_, cluster), _ in given]]),
        ratings.levels,
        ratings.scale,
        (*ratings.raters, name),
        ratings.unit_ids,
    )


def test_all_judges_are_covered(mtbench):
    assert tuple(sorted(mtbench.reference["alt_test"]["by_judge"])) == JUDGES


@pytest.mark.parametrize("judge", JUDGES)
def test_mtbench(mtbench, judge):
    expected = mtbench.reference["alt_test"]["by_judge"][judge]
    ratings = with_judge(mtbench.ratings("preference"), mtbench.scores(judge))
    found = alternative_annotator_test(ratings, "the judge", expected["epsilon"], interval="influence")
    assert found.winning_rate.value == pytest.approx(expected["winning_rate"], abs=1e-6)
    assert found.advantage.value == pytest.approx(expected["advantage_probability"], abs=1e-6)
    assert found.passes is (expected["winning_rate"] >= 0.5)
    # Every conversation pair is its own cluster here.
    for row in found.annotators:
        assert row.p_clustered == pytest.approx(row.p, abs=1e-12)
    assert (found.advantage.n, found.advantage.clusters) == (120, 120)


def by_hand(ratings, judge, scoring, epsilon, min_items, q):
    """Winning rate, advantage probability and p per annotator, as the paper words it."""
    values = ratings.value if ratings.levels is None else np.array(ratings.levels)[ratings.value]
    said = {}
    for unit, rater, value in zip(ratings.unit, ratings.rater, values, strict=True):
        said.setdefault(unit, {})[ratings.raters[rater]] = value

    def score(value, others):
        others = np.array(others)
        return np.mean(others == value) if scoring == "match" else -np.sqrt(np.mean((others - value) ** 2))

    tests, advantages = {}, {}
    for name in ratings.raters:
        if name == judge:
            continue
        d, won = [], []
        for unit in said.values():
            others = [value for rater, value in unit.items() if rater not in (name, judge)]
            if name in unit and judge in unit and others:
                judge_score, own_score = score(unit[judge], others), score(unit[name], others)
                won.append(judge_score >= own_score - 1e-12)
                d.append(int(own_score >= judge_score - 1e-12) - int(won[-1]))
        if len(d) >= min_items:
            tests[name] = ttest_1samp(d, epsilon, alternative="less").pvalue
            advantages[name] = np.mean(won)
    rejected = multipletests(list(tests.values()), alpha=q, method="fdr_by")[0]
    return np.mean(rejected), np.mean(list(advantages.values())), tests


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.45])
@pytest.mark.parametrize("scoring", ["match", "rmse"])
@pytest.mark.parametrize("seed", [1, 2])
def test_by_hand(with_gaps, scoring, epsilon, seed):
    ratings = with_gaps(seed, units=150, levels=4)
    rate, advantage, tests = by_hand(ratings, "rater 2", scoring, epsilon, 60, 0.05)
    found = alternative_annotator_test(ratings, "rater 2", epsilon, scoring, min_items=60, **NONE)
    assert found.winning_rate.value == pytest.approx(rate)
    assert found.advantage.value == pytest.approx(advantage)
    assert found.passes is bool(rate >= 0.5)
    assert {row.annotator: row.p for row in found.annotators if row.p is not None} == pytest.approx(tests)
    assert len(tests) >= 3


def test_numbers_without_levels(rng):
    unit = np.tile(np.arange(80), 4)
    truth = rng.normal(size=80)
    values = np.concatenate([truth + rng.normal(0, 0.3, 80) for _ in range(4)])
    names = ("ann", "bob", "cat", "judge")
    ratings = Ratings(unit, np.repeat(np.arange(4), 80), values, unit, None, "interval", names)
    rate, advantage, tests = by_hand(ratings, "judge", "rmse", 0.15, 30, 0.05)
    found = alternative_annotator_test(ratings, "judge", 0.15, "rmse", **NONE)
    assert (found.winning_rate.value, found.advantage.value) == pytest.approx((rate, advantage))
    assert {row.annotator: row.p for row in found.annotators} == pytest.approx(tests)


def test_equal_distances_are_ties_whatever_the_rounding():
    # The others' mean is 0.2; 0.1 and 0.3 are equally far, though not in floats.
    unit = np.repeat(np.arange(40), 4)
    values = np.tile([0.1, 0.2, 0.2, 0.3], 40)
    ratings = Ratings(unit, np.tile([0, 1, 2, 3], 40), values, unit, None, "interval", ("ann", "bob", "cat", "judge"))
    row = alternative_annotator_test(ratings, "judge", 0.1, "rmse", **NONE).annotators[0]
    assert (row.advantage.value, row.difference.value) == (1.0, 0.0)


def clustered(rng, copies):
    """Forty items, each copied within its cluster."""
    truth = rng.integers(2, size=40)
    said = np.stack([np.where(rng.random(40) < 0.8, truth, 1 - truth) for _ in range(4)])
    unit = np.arange(40 * copies)
    return Ratings(
        np.tile(unit, 4),
        np.repeat(np.arange(4), unit.size),
        np.repeat(said, copies, axis=1).ravel(),
        np.tile(unit // copies, 4),
        (0, 1),
        "binary",
        ("ann", "bob", "cat", "judge"),
    )


def test_copies_within_clusters_do_not_count_for_the_clustered_test():
    once, often = (
        alternative_annotator_test(clustered(np.random.default_rng(3), copies), "judge", 0.3, **NONE)
        for copies in (1, 5)
    )
    for single, copied in zip(once.annotators, often.annotators, strict=True):
        assert copied.p_clustered == pytest.approx(single.p)
        assert copied.p != pytest.approx(single.p)
        assert (copied.n, copied.clusters) == (200, 40)
    assert often.winning_rate_clustered.value == once.winning_rate.value


def test_one_cluster_cannot_be_tested_by_clusters(rng):
    ratings = clustered(rng, 40)
    one = replace(ratings, cluster=np.zeros_like(ratings.cluster), scale="binary")
    found = alternative_annotator_test(one, "judge", 0.3, **NONE)
    assert [row.p_clustered for row in found.annotators] == [None] * 3
    assert (found.winning_rate_clustered.value, found.passes_clustered) == (0.0, False)


def test_a_perfect_judge_among_people_who_agree(from_rows, rng):
    ratings = from_rows([[1, 2] * 20] * 4, [1, 2])
    found = alternative_annotator_test(ratings, "rater 3", 0.1, rng=rng)
    assert (found.winning_rate.value, found.advantage.value, found.passes) == (1.0, 1.0, True)
    assert [row.p for row in found.annotators] == [0.0] * 3
    assert found.winning_rate.low is None
    assert found.winning_rate.reason == remark("no_interval_of_tests")


def test_too_few_items(from_rows):
    found = alternative_annotator_test(from_rows([[1, 2] * 5] * 3, [1, 2]), "rater 2", 0.1, **NONE)
    assert (found.winning_rate.value, found.passes, found.passes_clustered) == (None, None, None)
    assert found.winning_rate.reason == found.advantage.reason == remark("no_annotator_with_items", n=30)
    assert [(row.n, row.reason, row.rejected) for row in found.annotators] == [
        (10, remark("few_items", n=30), False)
    ] * 2


def test_single_labels(from_rows):
    found = alternative_annotator_test(from_rows([[1, 2] * 20, [1, 2] * 20], [1, 2]), "rater 1", 0.1, **NONE)
    assert found.annotators[0].n == 0
    assert found.annotators[0].advantage.reason == remark("no_shared_item")
    assert found.winning_rate.reason == remark("no_annotator_with_items", n=30)


def test_no_annotators(from_rows):
    empty = from_rows([], [1, 2])
    with pytest.raises(ValueError, match="no rater 'judge'"):
        alternative_annotator_test(empty, "judge", 0.1, **NONE)
    alone = alternative_annotator_test(from_rows([[1, 2]], [1, 2]), "rater 0", 0.1, **NONE)
    assert alone.annotators == []
    assert alone.winning_rate.reason == remark("no_annotator_with_items", n=30)


@pytest.mark.parametrize(
    ("levels", "scale", "scoring", "reason"),
    [
        (None, "interval", "match", remark("no_levels")),
        ("xy", "nominal", "rmse", remark("not_numbers")),
    ],
)
def test_scoring_without_meaning(from_rows, levels, scale, scoring, reason):
    rows = [[0.1, 0.2]] * 3 if levels is None else ["xy"] * 3
    found = alternative_annotator_test(from_rows(rows, levels, scale), "rater 2", 0.1, scoring, **NONE)
    assert found.winning_rate.reason == found.advantage.reason == reason


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"epsilon": 1.0}, "epsilon lies in"),
        ({"epsilon": -0.1}, "epsilon lies in"),
        ({"scoring": "f1"}, "match, rmse"),
        ({"min_items": 1}, "at least 2 items"),
    ],
)
def test_nonsense(from_rows, asked, message):
    with pytest.raises(ValueError, match=message):
        alternative_annotator_test(
            from_rows(["xy"] * 3, "xy", "nominal"), "rater 2", **{"epsilon": 0.1} | asked, **NONE
        )
