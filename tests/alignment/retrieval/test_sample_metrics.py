"""RAG metrics of one sample: definitions by hand, scikit-learn where it has them, undefined cases, and their mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from alignment import (
    context_entity_recall,
    context_precision,
    context_recall,
    faithfulness,
    mean_over_samples,
    ndcg_at_k,
    noise_sensitivity,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    retrieved_precision,
)
from alignment.base.estimate import remark

HITS = st.lists(st.booleans(), min_size=1, max_size=12)
GRADES = st.lists(st.integers(0, 3), min_size=2, max_size=12)


@pytest.mark.parametrize("metric", [faithfulness, context_recall, context_entity_recall])
def test_shares(metric):
    found = metric([True, True, False, True])
    assert (found.value, found.n, found.low, found.reason) == (0.75, 4, None, remark("one_sample"))
    assert metric([False]).value == 0.0


@given(HITS)
def test_context_precision_is_scikit_learns(hits):
    expected = average_precision_score(hits, -np.arange(len(hits))) if any(hits) else 0.0
    assert context_precision(hits).value == pytest.approx(expected)


@given(GRADES, st.integers(1, 15))
def test_ndcg_is_scikit_learns(grades, k):
    expected = ndcg_score([grades], [-np.arange(len(grades))], k=k)
    assert ndcg_at_k(grades, k).value == pytest.approx(expected)


@pytest.mark.parametrize(("k", "value"), [(1, 1.0), (2, 0.5), (3, 2 / 3), (4, 0.5), (10, 0.2)])
def test_precision_at_k_divides_by_k(k, value):
    assert precision_at_k([True, False, True], k).value == pytest.approx(value)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 1 / 3), (4, 2 / 3), (9, 2 / 3)])
def test_recall_at_k(k, value):
    assert recall_at_k(["x", "a", "a", "b"], ["a", "b", "c", "c"], k).value == pytest.approx(value)
    assert recall_at_k(["x"], ["a", "b", "c", "c"], k).n == 3


@given(HITS)
def test_reciprocal_rank(hits):
    expected = 1 / (hits.index(True) + 1) if True in hits else 0.0
    assert reciprocal_rank(hits).value == expected


@given(GRADES, st.integers(1, 12))
def test_the_best_order_has_ndcg_1(grades, k):
    best = ndcg_at_k(sorted(grades, reverse=True), k).value
    assert best == (1.0 if any(grades) else 0.0)
    assert ndcg_at_k(grades, k).value <= 1 + 1e-12


@given(HITS, GRADES, st.sets(st.integers(0, 12), min_size=1), st.integers(1, 15))
def test_all_lie_between_0_and_1(hits, grades, known, k):
    misled = noise_sensitivity(np.ones(len(hits), bool), hits, relevant_context=True)
    shares = [metric(hits) for metric in (faithfulness, context_recall, context_entity_recall, retrieved_precision)]
    ranked = [context_precision(hits), precision_at_k(hits, k), reciprocal_rank(hits), ndcg_at_k(grades, k)]
    for found in (*shares, misled, *ranked, recall_at_k(range(len(hits)), known, k)):
        assert 0 <= found.value <= 1 + 1e-12
        assert (found.low, found.clusters, found.reason) == (None, 1, remark("one_sample"))
        assert found.as_dict()["n"] > 0


@given(st.permutations(range(8)), st.integers(0, 255), st.integers(0, 255), st.integers(1, 8))
def test_what_has_no_rank_may_come_in_any_order(order, first, second, k):
    one, other = (np.array([bits >> place & 1 for place in range(8)]) for bits in (first, second))
    for metric in (faithfulness, context_recall, context_entity_recall):
        assert metric(one) == metric(one[order])
    assert noise_sensitivity(one, other, relevant_context=True) == noise_sensitivity(
        one[order], other[order], relevant_context=True
    )
    within = [place for place in order if place < k] + list(range(k, 8))
    assert precision_at_k(one, k) == precision_at_k(one[within], k)
    known = [f"d{place}" for place in np.flatnonzero(one)]
    ids = np.array([f"d{place}" for place in range(8)])
    assert recall_at_k(ids.tolist(), known, k) == recall_at_k(ids[within].tolist(), known[::-1], k)


@given(GRADES, st.integers(1, 12), st.data())
def test_a_better_one_further_up_lowers_nothing(grades, k, data):
    """Two neighbours change places, the better one first; and grades may have any unit."""
    at = data.draw(st.integers(0, len(grades) - 2))
    moved = [*grades[:at], *sorted(grades[at : at + 2], reverse=True), *grades[at + 2 :]]
    hits, better = np.array(grades) >= 2, np.array(moved) >= 2
    for metric in (context_precision, reciprocal_rank):
        assert metric(better).value >= metric(hits).value - 1e-12
    assert precision_at_k(better, k).value >= precision_at_k(hits, k).value
    assert ndcg_at_k(moved, k).value >= ndcg_at_k(grades, k).value - 1e-12
    assert ndcg_at_k([0.3 * grade for grade in grades], k).value == pytest.approx(ndcg_at_k(grades, k).value)


def test_nothing_relevant_scores_0():
    none = [False, False]
    of_hits = [metric(none) for metric in (context_precision, retrieved_precision, reciprocal_rank)]
    for found in (*of_hits, precision_at_k(none, 2), ndcg_at_k([0, 0], 2)):
        assert found.value == 0.0
    assert recall_at_k([], ["a"], 3).value == 0.0


@pytest.mark.parametrize(
    ("wrong", "by_irrelevant", "value"),
    [([1, 1, 0], [1, 0, 1], 0.5), ([1], [1], 1.0), ([1, 1], [0, 0], 0.0), ([0, 1], [1, 0], 0.0)],
)
def test_noise_sensitivity(wrong, by_irrelevant, value):
    found = noise_sensitivity(wrong, by_irrelevant, relevant_context=True)
    assert (found.value, found.n) == (value, sum(wrong))


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (faithfulness([]), remark("no_claims")),
        (context_recall([]), remark("no_key_facts")),
        (context_entity_recall([]), remark("no_entities")),
        (context_precision([]), remark("no_contexts")),
        (precision_at_k([], 3), remark("no_contexts")),
        (reciprocal_rank([]), remark("no_contexts")),
        (retrieved_precision([]), remark("no_contexts")),
        (ndcg_at_k([], 3), remark("no_contexts")),
        (recall_at_k(["a"], [], 3), remark("nothing_relevant")),
        (noise_sensitivity([0, 0], [1, 0], relevant_context=True), remark("no_wrong_claim")),
        (noise_sensitivity([], [], relevant_context=True), remark("no_wrong_claim")),
        (noise_sensitivity([1, 0], [1, 0], relevant_context=False), remark("no_relevant_context")),
    ],
)
def test_undefined_is_not_1(found, reason):
    assert (found.value, found.low, found.reason) == (None, None, reason)


IMPOSSIBLE = {
    "precision at 0": (lambda: precision_at_k([True], 0), "k is at least 1"),
    "recall at 0": (lambda: recall_at_k(["a"], ["a"], 0), "k is at least 1"),
    "nDCG at -1": (lambda: ndcg_at_k([1], -1), "k is at least 1"),
    "a negative grade": (lambda: ndcg_at_k([1, -2], 2), "one is -2"),
    "a grade of nan": (lambda: ndcg_at_k([1, float("nan")], 2), "not finite"),
    "half a fact": (lambda: context_recall([0.5]), "found holds booleans"),
    "half an entity": (lambda: context_entity_recall([0.5]), "found holds booleans"),
    "half a context": (lambda: context_precision([0.5]), "relevant holds booleans"),
    "half a first context": (lambda: reciprocal_rank([0.5]), "relevant holds booleans"),
    "half a claim": (lambda: faithfulness([0.5]), "supported holds booleans"),
    "claims too few": (lambda: noise_sensitivity([1], [1, 0], relevant_context=True), "differ in length"),
    "clusters too many": (
        lambda: mean_over_samples([faithfulness([True])], [1, 2], interval="none"),
        "differ in length",
    ),
    "two metrics": (
        lambda: mean_over_samples([faithfulness([1]), context_recall([1])], [1, 2], interval="none"),
        "of one metric, not of context recall, faithfulness",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be(case):
    call, message = IMPOSSIBLE[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_the_mean_leaves_out_what_is_undefined_and_says_so(rng):
    found = [faithfulness(claims) for claims in ([1, 0], [1, 1, 1], [], [1, 0, 0, 0])]
    mean = mean_over_samples(found, ["a", "b", "c", "d"], rng=rng)
    assert (mean.value, mean.n, mean.clusters) == (pytest.approx((0.5 + 1 + 0.25) / 3), 3, 3)
    assert mean.method.startswith("mean faithfulness, undefined in 1; ")
    assert 0 <= mean.low < mean.value < mean.high <= 1


def test_answers_to_one_question_are_one_cluster(rng):
    values = [faithfulness(rng.random(4) < share) for share in rng.random(60)]
    apart, together = (
        mean_over_samples(values, cluster, interval="influence") for cluster in (range(60), np.arange(60) // 3)
    )
    assert (apart.clusters, together.clusters) == (60, 20)
    assert apart.value == pytest.approx(together.value)
    assert apart.high != together.high


def test_a_mean_of_plain_yes_and_no_is_exact(rng):
    found = [reciprocal_rank([hit]) for hit in (True, True, False, True)]
    assert "Clopper-Pearson" in mean_over_samples(found, range(4), rng=rng).method


def test_no_mean(rng):
    assert mean_over_samples([], [], rng=rng).reason == remark("no_samples")
    assert mean_over_samples([faithfulness([])], [1], rng=rng).reason == remark("undefined_in_every_sample")
