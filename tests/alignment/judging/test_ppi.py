"""PPI++: figures of ppi_py on real data, the classical mean, clusters, the weight, and undefined cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from alignment import ppi_mean, reference_majority
from alignment.base.estimate import remark

INFLUENCE = {"interval": "influence"}
NUMBERS = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=15)


def simulated(seed=1, labelled=60, unlabelled=200, units=3):
    """A judge that is often wrong, and unsure of its scores."""
    rng = np.random.default_rng(seed)

    def judged(clusters):
        human = np.repeat(rng.random(clusters) < 0.7, units)
        said = np.where(rng.random(clusters).repeat(units) < 0.75, human, ~human)
        return human.astype(float), 0.7 * said + 0.3 * rng.random(human.size)

    (human, judge), (_, other) = judged(labelled), judged(unlabelled)
    return human, judge, np.arange(human.size) // units, other, labelled + np.arange(other.size) // units


def error(estimate, df):
    return (estimate.high - estimate.value) / stats.t.ppf(0.975, df)


@pytest.mark.parametrize("number", [0, 1])
def test_the_figures_of_ppi_py(mtrag, number):
    """Its intervals take normal quantiles; ours are t's, so errors are compared."""
    case = mtrag.reference["ppi"]["cases"][number]
    reference = reference_majority(mtrag.ratings(case["dimension"]), mtrag.passes(case["dimension"]))
    scores = mtrag.scores(case["judge"])
    units = sorted(range(len(reference.unit_ids)), key=lambda place: "\t".join(reference.unit_ids[place]))
    human = reference.positive[units].astype(float)
    judge = np.array([scores[reference.unit_ids[place]] for place in units])
    labelled = np.arange(judge.size) % 5 == 0
    at = np.arange(judge.size)
    found = ppi_mean(human[labelled], judge[labelled], at[labelled], judge[~labelled], at[~labelled], **INFLUENCE)
    assert (labelled.sum(), (~labelled).sum()) == (case["n"], case["N"])
    for estimate, expected, interval in (
        (found.classical, case["classical_mean"], case["classical_ci"]),
        (found.plain, case["ppi_lambda_1"]["estimate"], case["ppi_lambda_1"]["ci"]),
        (found.tuned, case["ppi_power_tuned"]["estimate"], case["ppi_power_tuned"]["ci"]),
    ):
        assert estimate.value == pytest.approx(expected, abs=1e-6)
        half = error(estimate, case["n"] - 1) * stats.norm.ppf(0.975)
        assert (estimate.value - half, estimate.value + half) == pytest.approx(interval, abs=1e-6)


def test_the_three_differ_by_their_weight():
    human, judge, at, other, other_at = simulated()
    found = ppi_mean(human, judge, at, other, other_at, **INFLUENCE)
    correction = other.mean() - judge.mean()
    assert found.classical.value == pytest.approx(human.mean())
    assert found.plain.value == pytest.approx(human.mean() + correction)
    assert found.tuned.value == pytest.approx(human.mean() + found.weight * correction)
    assert 0 < found.weight < 1
    assert (found.classical.n, found.classical.clusters) == (180, 60)
    assert (found.tuned.n, found.tuned.clusters) == (780, 260)


def test_the_error_by_hand_with_every_unit_its_own_cluster():
    human, judge, _, other, _ = simulated(units=1)
    found = ppi_mean(human, judge, range(60), other, range(60, 260), **INFLUENCE)
    for estimate, weight in ((found.classical, 0.0), (found.plain, 1.0), (found.tuned, found.weight)):
        variance = (human - weight * judge).var() / 60 + weight**2 * other.var() / 200
        assert error(estimate, 59) == pytest.approx(np.sqrt(variance))
    pooled = np.concatenate([judge, other]).var(ddof=1)
    assert found.weight == pytest.approx(np.cov(human, judge, ddof=0)[0, 1] / (1 + 60 / 200) / pooled)


def test_the_weight_leaves_least_variance_with_clusters():
    given = simulated(units=4)
    best = ppi_mean(*given, **INFLUENCE)
    human, judge, at, other, other_at = given
    # A judge whose scores are scaled by s is a judge with weight s: errors over a grid of weights.
    errors = [
        error(ppi_mean(human, judge * scale, at, other * scale, other_at, **INFLUENCE).plain, 59)
        for scale in np.linspace(0.01, 1.5, 150)
    ]
    assert error(best.tuned, 59) <= min(errors) * 1.005


def test_copies_in_a_cluster_are_worth_one_unit():
    once = simulated(units=1)
    thrice = [np.repeat(column, 3) for column in once]
    one, three = ppi_mean(*once, **INFLUENCE), ppi_mean(*thrice, **INFLUENCE)
    for name in ("tuned", "plain", "classical"):
        single, copied = getattr(one, name), getattr(three, name)
        # The pooled variance has one degree of freedom less than units, so the weight moves a little.
        assert (copied.value, copied.low, copied.high) == pytest.approx(
            (single.value, single.low, single.high), abs=2e-3
        )


def test_a_judge_that_says_one_thing_has_no_weight():
    human, _, at, other, other_at = simulated()
    found = ppi_mean(human, np.full(human.size, 0.1 + 0.2), at, np.full(other.size, 0.3), other_at, **INFLUENCE)
    assert found.weight == 0.0
    assert found.tuned.value == found.classical.value


@pytest.mark.parametrize("cluster", [[1, 1, 1, 1], [1, 2, 1, 2]])
def test_clusters_that_score_alike_have_no_weight(cluster):
    """One cluster with units on both sides, or two with the same sum: nothing varies between them, up to rounding."""
    found = ppi_mean([1, 0], [0.1, 0.3], cluster[:2], [0.3, 0.1], cluster[2:], **INFLUENCE)
    assert found.weight == 0.0
    assert (found.tuned.value, found.plain.value) == (0.5, pytest.approx(0.5))


def test_a_judge_against_people_has_no_weight():
    human, judge, at, other, other_at = simulated()
    assert ppi_mean(human, -judge, at, -other, other_at, **INFLUENCE).weight == 0.0


def test_the_bootstrap_resembles_influence(rng):
    given = simulated()
    one, other = ppi_mean(*given, interval="bootstrap", rng=rng), ppi_mean(*given, rng=rng)
    for name in ("tuned", "plain", "classical"):
        drawn, plain = getattr(one, name), getattr(other, name)
        assert "influence" in plain.method
        assert (drawn.low, drawn.high) == pytest.approx((plain.low, plain.high), abs=0.015)


@settings(max_examples=40)
@given(st.floats(-3, 3), st.floats(0.1, 3))
def test_units_of_the_value(shift, scale):
    human, judge, at, other, other_at = simulated()
    one = ppi_mean(human, judge, at, other, other_at, **INFLUENCE)
    moved = ppi_mean(
        *(scale * column + shift for column in (human, judge)), at, scale * other + shift, other_at, **INFLUENCE
    )
    for name in ("tuned", "plain", "classical"):
        before, after = getattr(one, name), getattr(moved, name)
        assert (after.value, after.low) == pytest.approx((scale * before.value + shift, scale * before.low + shift))


def test_undefined(rng):
    alone = ppi_mean([1, 0], [0.5, 0.4], [1, 2], [], [], rng=rng)
    assert (alone.tuned.reason, alone.plain.reason) == (remark("no_unlabelled"), remark("no_unlabelled"))
    assert alone.weight is None
    assert alone.classical.value == 0.5
    empty = ppi_mean([], [], [], [0.5], [1], rng=rng)
    assert empty.tuned.reason == empty.plain.reason == empty.classical.reason == remark("no_labelled")
    lone = ppi_mean([1, 0], [0.5, 0.4], [1, 1], [0.1, 0.2], [2, 3], rng=rng)
    assert (lone.tuned.low, lone.tuned.reason) == (None, remark("few_clusters"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1], [0.5, 0.4], [1, 2], [0.5], [3]), "differ in length"),
        (([1, 0], [0.5, 0.4], [1, 2], [0.5], [3, 4]), "differ in length"),
        (([1, float("nan")], [0.5, 0.4], [1, 2], [0.5], [3]), "value nan at position 1"),
        (([1, 0], [0.5, 0.4], [1, 2], [float("inf")], [3]), "unlabelled score inf"),
    ],
)
def test_columns_that_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        ppi_mean(*given, **INFLUENCE)
