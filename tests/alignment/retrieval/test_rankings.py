"""Retrieval against all relevant documents: published figures, a second way to work them out, and what has none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from alignment import retrieval_figures

GRADES = {"q1": {"15": 1, "42": 1, "103": 1}, "q2": {"a": 3, "b": 2, "c": 1, "d": 0, "e": 3}, "q3": {"x": 1}}
RANKINGS = {"q1": ["42", "15", "88", "103", "12"], "q2": ["b", "d", "zz", "a"], "q3": ["y", "z"]}


def test_known_answers() -> None:
    found = retrieval_figures(GRADES, RANKINGS, k=5)
    assert found.per_question["q1"] == pytest.approx(
        {"AP": 0.916667, "P": 0.6, "R": 1, "nDCG": 0.967468, "RR": 1, "Rprec": 0.666667, "Judged": 0.6, "Success": 1},
        abs=1e-6,
    )
    assert found.per_question["q2"] == pytest.approx(
        {"AP": 0.375, "P": 0.4, "R": 0.5, "nDCG": 0.520605, "RR": 1, "Rprec": 0.5, "Judged": 0.75, "Success": 1},
        abs=1e-6,
    )
    assert set(found.per_question["q3"].values()) == {0.0}
    means = {name: estimate.value for name, estimate in found.metrics.items()}
    assert means == pytest.approx(
        {
            "AP": 0.430556, "nDCG": 0.496024, "RR": 0.666667, "R": 0.5, "P": 0.333333, "Success": 0.666667,
            "Judged": 0.45, "Rprec": (2 / 3 + 1 / 2) / 3,
        },
        abs=1e-6,
    )  # fmt: skip
    assert {estimate.n for estimate in found.metrics.values()} == {3}


def test_by_their_formulas() -> None:
    """Random rankings and grades, and what counts as relevant: each measure as its definition says."""
    rng = np.random.default_rng(11)
    documents = [f"d{number}" for number in range(30)]
    for relevant_from in (1, 2):
        grades = {f"q{q}": {d: int(rng.integers(0, 4)) for d in rng.permutation(documents)[:12]} for q in range(20)}
        rankings = {q: list(rng.permutation(documents)[: int(rng.integers(1, 15))]) for q in grades}
        found = retrieval_figures(grades, rankings, k=4, relevant_from=relevant_from)
        for question, ranking in rankings.items():
            expected = _by_hand(grades[question], ranking, 4, relevant_from)
            assert found.per_question[question] == pytest.approx(expected, abs=1e-9), question


def _by_hand(grades: dict[str, int], ranking: list[str], k: int, relevant_from: int) -> dict[str, float]:
    relevant = {document for document, grade in grades.items() if grade >= relevant_from}
    hits = [document in relevant for document in ranking]
    first = [rank for rank, hit in enumerate(hits, 1) if hit]

    def dcg(gains: list[int]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))

    ideal = dcg(sorted(grades.values(), reverse=True))
    return {
        "P": sum(hits[:k]) / k,
        "R": sum(hits[:k]) / len(relevant),
        "Success": float(any(hits[:k])),
        "RR": 1 / first[0] if first else 0.0,
        "AP": sum(sum(hits[:rank]) / rank for rank in first) / len(relevant),
        "nDCG": dcg([grades.get(document, 0) for document in ranking]) / ideal,
        "Rprec": sum(hits[: len(relevant)]) / len(relevant),
        "Judged": sum(document in grades for document in ranking[:k]) / len(ranking[:k]),
    }


def test_what_is_undefined_and_what_scores_nothing() -> None:
    grades = {"none relevant": {"a": 0}, "found": {"a": 1}, "no answer": {"a": 1}}
    rankings: dict[str, list[str]] = {"none relevant": ["a"], "not judged": ["a"], "found": ["a"], "no answer": []}
    found = retrieval_figures(grades, rankings, k=1)
    assert (list(found.undefined), list(found.unanswered)) == (["none relevant", "not judged"], ["no answer"])
    assert set(found.per_question["not judged"].values()) == {None}
    assert found.per_question["no answer"] == {**dict.fromkeys(found.metrics, 0.0), "Judged": None}
    assert (found.metrics["R"].value, found.metrics["R"].n) == (0.5, 2)
    assert (found.metrics["Judged"].value, found.metrics["Judged"].n) == (1.0, 1)


def test_without_questions_there_is_a_reason() -> None:
    found = retrieval_figures({}, {"q": ["a"]}, k=5)
    assert {(estimate.value, estimate.reason["code"]) for estimate in found.metrics.values() if estimate.reason} == {
        (None, "no_units")
    }


def test_ranks_break_ties_not_names() -> None:
    """Whatever the documents are called, the first is first."""
    for names in (("a", "b"), ("b", "a")):
        found = retrieval_figures({"q": {names[0]: 1}}, {"q": list(names)}, k=1)
        assert found.metrics["P"].value == 1


def test_intervals_go_by_group() -> None:
    """Questions that are copies of each other are one piece of evidence each."""
    grades = {f"q{q}-{copy}": {"a": 1} for q in range(40) for copy in range(3)}
    rankings = {name: ["a" if int(name[1:].split("-")[0]) % 4 else "b"] for name in grades}
    group = {name: name.split("-")[0] for name in grades}
    single = {name: ranking for name, ranking in rankings.items() if name.endswith("-0")}
    alone = retrieval_figures(grades, single, k=1).metrics["R"]
    grouped = retrieval_figures(grades, rankings, k=1, group=group).metrics["R"]
    plain = retrieval_figures(grades, rankings, k=1).metrics["R"]
    assert (grouped.value, grouped.clusters, grouped.n) == (alone.value, 40, 120)
    assert grouped.low == pytest.approx(alone.low, abs=0.02)
    assert grouped.low is not None
    assert plain.low is not None
    assert plain.low > grouped.low + 0.02


@pytest.mark.parametrize(
    ("grades", "rankings", "k", "said"),
    [
        ({"q": {"a": 1}}, {"q": ["a", "b", "a"]}, 5, "question q has document a twice in its ranking"),
        ({"q": {"a": -1}}, {"q": ["a"]}, 5, "question q has a grade below 0"),
        ({"q": {"a": 1}}, {"q": ["a"]}, 0, "k is 1 or more, not 0"),
    ],
)
def test_what_is_refused(grades: dict[str, dict[str, int]], rankings: dict[str, list[str]], k: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        retrieval_figures(grades, rankings, k=k)


def test_relevant_documents_may_be_named_and_grades_go_into_ndcg_alone() -> None:
    named = {question: {d for d, grade in judged.items() if grade >= 2} for question, judged in GRADES.items()}
    found = retrieval_figures(GRADES, RANKINGS, k=5, relevant=named)
    from_two = retrieval_figures(GRADES, RANKINGS, k=5, relevant_from=2)
    assert found.per_question == from_two.per_question
    assert list(found.undefined) == ["q1", "q3"]
    mixed = retrieval_figures(GRADES, RANKINGS, k=5, relevant={**named, "q1": {"103"}})
    assert mixed.per_question["q1"]["P"] == pytest.approx(0.2)
    assert mixed.per_question["q1"]["nDCG"] == pytest.approx(0.967468, abs=1e-6)
    with pytest.raises(ValueError, match="question q1 has a relevant document without a grade"):
        retrieval_figures(GRADES, RANKINGS, k=5, relevant={"q1": {"88"}})


def test_repeats_are_averaged_within_the_question() -> None:
    """A question that was asked twice counts once."""
    rankings = {"first": RANKINGS["q1"], "second": ["88"], "third": [], "q2": RANKINGS["q2"]}
    question_of = {"first": "q1", "second": "q1", "third": "q1", "q2": "q2"}
    found = retrieval_figures(GRADES, rankings, k=5, question_of=question_of)
    assert found.per_question["q1"]["P"] == pytest.approx(0.6 / 3)
    # What did not come back has none.
    assert found.per_question["q1"]["Judged"] == pytest.approx((0.6 + 0) / 2)
    assert found.metrics["P"].value == pytest.approx((0.2 + 0.4) / 2)
    assert (found.metrics["P"].n, found.metrics["P"].clusters) == (2, 2)
    assert list(found.unanswered) == ["third"]
