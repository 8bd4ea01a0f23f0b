"""Two judges on the same units: differences of known figures, their intervals, and the units that flipped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score

from alignment import at_threshold, judge_label_kappa, paired_at_thresholds, paired_labels
from alignment.base.estimate import remark
from bench.promises.pairs import compared, equal_judges

NONE, INFLUENCE = {"interval": "none"}, {"interval": "influence"}
FIGURES = ("kappa", "tpr", "tnr", "accuracy")


def columns(seed=3, units=240, per_cluster=1):
    """Two judges who err on the same hard units, the second less often."""
    rng = np.random.default_rng(seed)
    positive = rng.random(units) < 0.6
    hard = rng.normal(0, 0.3, units)
    first = positive + hard + rng.normal(0, 0.3, units)
    second = positive + hard + rng.normal(0, 0.1, units)
    return first, second, positive, np.arange(units) // per_cluster


def test_differences_are_scikit_learns():
    first, second, positive, cluster = columns()
    found = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.6), **NONE)
    said = first >= 0.5, second >= 0.6
    for name, score in (
        ("kappa", cohen_kappa_score),
        ("tpr", recall_score),
        ("tnr", lambda human, judge: recall_score(human, judge, pos_label=False)),
        ("accuracy", accuracy_score),
    ):
        expected = score(positive, said[1]) - score(positive, said[0])
        assert getattr(found, name).value == pytest.approx(expected)
    assert found.first.kappa == at_threshold(first, positive, cluster, 0.5, **NONE).kappa
    assert found.second.kappa == at_threshold(second, positive, cluster, 0.6, **NONE).kappa
    assert (found.tpr.n, found.tnr.n, found.kappa.n) == (positive.sum(), (~positive).sum(), positive.size)


@pytest.mark.parametrize("per_cluster", [1, 4])
def test_error_is_the_jackknifes(per_cluster):
    first, second, positive, cluster = columns(units=240, per_cluster=per_cluster)
    found = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **INFLUENCE)
    left = []
    for each in np.unique(cluster):
        kept = cluster != each
        part = paired_at_thresholds(first[kept], second[kept], positive[kept], cluster[kept], (0.5, 0.5), **NONE)
        left.append([getattr(part, figure).value for figure in FIGURES])
    clusters = len(left)
    jackknife = np.sqrt((clusters - 1) * np.var(left, axis=0))
    for figure, error in zip(FIGURES, jackknife, strict=True):
        estimate = getattr(found, figure)
        half = (estimate.high - estimate.low) / 2
        assert half / stdtrit(estimate.clusters - 1, 0.975) == pytest.approx(error, rel=0.04)


def test_shared_errors_cancel():
    first, second, positive, cluster = columns()
    found = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **INFLUENCE)
    apart = np.hypot(*(judge.kappa.high - judge.kappa.low for judge in (found.first, found.second)))
    assert found.kappa.high - found.kappa.low < 0.85 * apart


def test_few_clusters_have_an_interval(rng):
    first, second, positive, cluster = columns(units=120, per_cluster=4)
    found = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), rng=rng).accuracy
    assert (found.clusters, "jackknife" in found.method) == (30, True)
    assert found.low < found.value < found.high


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans(), st.integers(0, 5)), min_size=1))
def test_swapping_the_judges_turns_the_sign(rows):
    first, second, positive, cluster = (np.array(column) for column in zip(*rows, strict=True))
    one = paired_at_thresholds(first, second, positive, cluster, (2, 3), **INFLUENCE)
    other = paired_at_thresholds(second, first, positive, cluster, (3, 2), **INFLUENCE)
    order = np.argsort(first + 10 * second, kind="stable")
    shuffled = paired_at_thresholds(
        first[order], second[order], positive[order], 7 * cluster[order], (2, 3), **INFLUENCE
    )
    for name in FIGURES:
        figure, turned, moved = (getattr(each, name) for each in (one, other, shuffled))
        assert figure.reason == turned.reason == moved.reason
        if figure.value is not None:
            assert turned.value == pytest.approx(-figure.value)
            assert moved.value == pytest.approx(figure.value)
            assert -2 <= figure.value <= 2
        if figure.low is not None:
            assert (turned.low, turned.high) == pytest.approx((-figure.high, -figure.low))
            assert (moved.low, moved.high) == pytest.approx((figure.low, figure.high))
    flips = one.flips
    assert flips.index.tolist() == np.flatnonzero((first >= 2) != (second >= 3)).tolist()
    assert (flips.gain == np.where(flips.second == positive[flips.index], 1, -1)).all()
    assert (other.flips.gain == -flips.gain).all()
    assert one.accuracy.value == pytest.approx(flips.gain.sum() / len(rows))


def test_directions_of_scores():
    first, second, positive, cluster = columns()
    up = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **NONE)
    down = paired_at_thresholds(-first, second, positive, cluster, (-0.5, 0.5), higher_is_better=(False, True), **NONE)
    assert down.kappa == up.kappa
    assert down.flips.index.tolist() == up.flips.index.tolist()


def test_judges_who_never_differ(rng):
    first, _, positive, cluster = columns()
    found = paired_at_thresholds(first, first, positive, cluster, (0.5, 0.5), rng=rng)
    assert (found.kappa.value, found.kappa.low) == (0.0, None)
    assert found.kappa.reason == remark("no_variation")
    assert found.flips.index.size == 0


def test_undefined():
    found = paired_at_thresholds([1, 0], [0, 1], [False, False], [1, 2], (0.5, 0.5), **NONE)
    assert found.tpr.reason == remark("no_positive")
    assert (found.tnr.value, found.accuracy.value, found.kappa.value) == (0.0, 0.0, 0.0)
    positive = paired_at_thresholds([1, 1], [1, 1], [True, True], [1, 2], (0.5, 0.5), **NONE)
    assert positive.tnr.reason == remark("no_negative")
    assert positive.kappa.reason == remark("one_category")
    empty = paired_at_thresholds([], [], [], [], (0.5, 0.5), **NONE)
    assert (empty.kappa.reason, empty.accuracy.reason) == (remark("no_units"), remark("no_units"))


@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
def test_labels(scale):
    rng = np.random.default_rng(8)
    human = rng.integers(0, 3, 200)
    first, second = (np.where(rng.random(200) < right, human, rng.integers(0, 3, 200)) for right in (0.5, 0.8))
    cluster = np.arange(200) // 2
    asked = {"scale": scale, "levels": (0, 1, 2), **INFLUENCE}
    found = paired_labels(human, first, second, cluster, **asked)
    assert found.first == judge_label_kappa(human, first, cluster, **asked)
    for name in ("percent", "kappa", "linear", "quadratic"):
        figure, ends = getattr(found, name), [getattr(judge, name).value for judge in (found.first, found.second)]
        if name in ("linear", "quadratic") and scale == "nominal":
            assert figure.reason == remark("no_order")
        else:
            assert figure.value == pytest.approx(ends[1] - ends[0])
            assert figure.low < figure.value < figure.high
    flips = found.flips
    assert flips.index.tolist() == np.flatnonzero(first != second).tolist()
    assert set(flips.gain) == {-1, 0, 1}
    assert found.percent.value == pytest.approx(flips.gain.sum() / 200)


def test_two_levels_are_a_threshold():
    first, second, positive, cluster = columns(per_cluster=3)
    scores = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **INFLUENCE)
    labels = paired_labels(
        positive, first >= 0.5, second >= 0.5, cluster, scale="binary", levels=(False, True), **INFLUENCE
    )
    for name in ("value", "low", "high", "n", "clusters"):
        assert getattr(labels.kappa, name) == pytest.approx(getattr(scores.kappa, name))
        assert getattr(labels.percent, name) == pytest.approx(getattr(scores.accuracy, name))


def test_no_labels(rng):
    empty = paired_labels([], [], [], [], scale="nominal", levels="xy", rng=rng)
    assert (empty.percent.reason, empty.kappa.reason) == (remark("no_units"), remark("few_common_units"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_at_thresholds([1], [1, 0], [True], [1], (0.5, 0.5), **NONE), "differ in length: .*first"),
        (lambda: paired_at_thresholds([1], [np.nan], [True], [1], (0.5, 0.5), **NONE), "second score nan at position"),
        (lambda: paired_at_thresholds([1], [1], [True], [1], (0.5, np.nan), **NONE), "the threshold is a number"),
        (lambda: paired_labels("x", "x", "z", [1], scale="nominal", levels="xy", **NONE), "judge label 'z'"),
        (lambda: paired_labels("x", "x", "", [1], scale="nominal", levels="xy", **NONE), "columns differ in length"),
    ],
)
def test_nonsense(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_of_many_comparisons_has_the_level_that_bonferroni_asks_for():
    """Kappa's interval alone; of labels the unweighted one."""
    first, second, positive, cluster = columns()
    asked = dict(INFLUENCE, among=45)
    many = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **asked)
    one = paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **INFLUENCE)
    assert (
        many.kappa
        == paired_at_thresholds(first, second, positive, cluster, (0.5, 0.5), **INFLUENCE, level=1 - 0.05 / 45).kappa
    )
    assert many.kappa.level == pytest.approx(1 - 0.05 / 45)
    assert (many.tpr, many.accuracy, many.first.kappa) == (one.tpr, one.accuracy, one.first.kappa)
    said = positive, first >= 0.5, second >= 0.5
    labels = [
        paired_labels(*(list(column) for column in said), cluster, scale="ordinal", levels=[False, True], **how)
        for how in (asked, INFLUENCE)
    ]
    assert labels[0].kappa == many.kappa
    assert labels[0].linear == labels[1].linear


def test_of_ten_equal_judges_hardly_ever_is_one_shown_to_differ_from_the_best():
    """40 worlds; bench.promises.pairs has 2,000."""
    worlds = np.random.default_rng(7)
    found = np.array([compared(equal_judges(worlds, samples=100, judges=10), worlds) for _ in range(40)])
    alone, shown, _ = found.mean(axis=0)
    assert alone > 0.5
    assert shown < 0.1
