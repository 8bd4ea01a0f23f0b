"""A judge against people: what the library checks leave open."""

import numpy as np
import pytest

from alignment import (
    at_threshold,
    cohen_kappa,
    judge_label_kappa,
    kendall,
    pearson,
    roc_auc,
    spearman,
    sweep,
)
from alignment.base.estimate import remark


def test_of_equal_kappas_the_lowest_threshold():
    # At .2 and at .8 one of the four verdicts is wrong, with the same kappa.
    swept = sweep([0.1, 0.2, 0.8, 0.9], [False, False, True, True])
    assert swept.best_threshold == 0.8
    tied = sweep([0.1, 0.2, 0.3, 0.4], [False, True, False, True])
    assert tied.kappa == pytest.approx([0, 0.5, 0, 0.5])
    assert (tied.best_threshold, tied.best_index) == (0.2, 1)
    lower = sweep([0.1, 0.2, 0.3, 0.4], [True, False, True, False], higher_is_better=False)
    assert lower.kappa == pytest.approx([0.5, 0, 0.5, 0])
    assert lower.best_threshold == 0.1


def test_a_score_on_the_threshold_is_positive_in_both_directions():
    for higher_is_better in (True, False):
        result = at_threshold([0.5], [True], [1], 0.5, higher_is_better=higher_is_better, interval="none")
        assert result.confusion == [[0, 0], [0, 1]]


def test_sweep_of_many_units_is_one_sort():
    rng = np.random.default_rng(3)
    score = rng.random(200_000)
    swept = sweep(score, score + rng.normal(0, 0.3, size=200_000) > 0.5)
    assert swept.thresholds.size == 200_000
    assert swept.best_threshold == pytest.approx(0.5, abs=0.05)


def test_labels_are_two_raters(from_rows):
    human, judge = [1, 2, 3, 3, 1, 2] * 8, [1, 2, 3, 2, 1, 3] * 8
    result = judge_label_kappa(human, judge, range(48), scale="ordinal", levels=[1, 2, 3], interval="influence")
    ratings = from_rows([human, judge], [1, 2, 3])
    for name, weights in (("kappa", None), ("linear", "linear"), ("quadratic", "quadratic")):
        assert getattr(result, name) == cohen_kappa(ratings, *ratings.raters, weights, interval="influence")
    assert result.percent.value == pytest.approx(2 / 3)


def test_nominal_labels_have_no_weighted_kappa(rng):
    result = judge_label_kappa("xyzx", "xyzz", range(4), scale="nominal", levels="xyz", rng=rng)
    assert result.kappa.value is not None
    assert result.linear.reason == result.quadratic.reason == remark("no_order")


NONE = {"interval": "none"}
REFUSED = {
    "a missing score": (lambda: at_threshold([0.1, np.nan], [0, 1], [1, 2], 0.5, **NONE), "score nan at position 1"),
    "no threshold": (lambda: at_threshold([0.1], [0], [1], np.nan, **NONE), "the threshold is a number"),
    "an infinite score": (lambda: sweep([0.1, np.inf], [0, 1]), "score inf at position 1"),
    "an infinite score for tau": (lambda: kendall([0.1, -np.inf], [0, 1], [1, 2], **NONE), "score -inf at position 1"),
    "a missing human value": (
        lambda: pearson([0.1, 0.2], [0, np.nan], [1, 2], **NONE),
        "human value nan at position 1",
    ),
    "too few clusters": (lambda: roc_auc([0.1, 0.2], [0, 1], [1], **NONE), "columns differ in length"),
    "too few values": (lambda: spearman([0.1, 0.2], [0], [1, 2], **NONE), "columns differ in length"),
    "a grade for a verdict": (lambda: roc_auc([0.1, 0.2], [0, 2], [1, 2], **NONE), "positive holds booleans"),
    "a matrix of verdicts": (lambda: roc_auc([0.1, 0.2], [[0, 1]], [1, 2], **NONE), "flat array"),
    "a matrix of scores": (lambda: sweep([[0.1, 0.2]], [0, 1]), "flat array"),
    "a label that is no level": (
        lambda: judge_label_kappa([1, 2], [1, 5], [1, 2], scale="binary", levels=[1, 2], **NONE),
        "judge label 5 at position 1",
    ),
    "too few labels": (
        lambda: judge_label_kappa([1, 2], [1], [1, 2], scale="binary", levels=[1, 2], **NONE),
        "columns differ in length",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_columns_that_do_not_fit(what):
    call, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("a", "b", "weights", "message"),
    [
        ("a", "a", None, "compares two raters"),
        ("a", "nobody", None, "no rater 'nobody'; there are 'a', 'b'"),
        ("a", "b", "cubic", "linear, quadratic"),
        ("a", "b", np.zeros((3, 3)), "shape"),
        ("a", "b", np.ones((2, 2)), "zeros on the diagonal"),
    ],
)
def test_kappas_that_cannot_be(from_confusion, a, b, weights, message):
    with pytest.raises(ValueError, match=message):
        cohen_kappa(from_confusion([[3, 1], [1, 3]]), a, b, weights, interval="none")
