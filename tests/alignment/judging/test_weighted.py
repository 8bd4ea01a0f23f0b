"""Weighted estimates: textbook formulas, the plain figures where all are drawn alike, no bias in simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from alignment import Design, allocate, at_threshold, draw, weighted_at_threshold, weighted_mean
from alignment.base.estimate import remark

SCORES, VERDICTS = [0.9, 0.2, 0.8, 0.1], [1, 1, 0, 0]


def population(rng, samples=2000):
    """A judge that follows people, and that is unsure of some; strata by its score."""
    human = rng.random(samples) < 0.8
    score = 0.5 + 0.3 * (2 * human - 1) + rng.normal(0, 0.25, samples)
    return score, human, np.digitize(score, [0.3, 0.7])


def error(estimate, df):
    return (estimate.high - estimate.value) / stats.t.ppf(0.975, df)


def test_everything_drawn_is_the_plain_figure(rng):
    score, human, _ = population(rng, 300)
    cluster = np.arange(300) // 2
    ones = np.ones(300)
    weighted = weighted_at_threshold(score, human, cluster, 0.5, ones, ones.astype(int), interval="influence")
    plain = at_threshold(score, human, cluster, 0.5, interval="influence")
    for name in ("kappa", "tpr", "tnr", "accuracy"):
        mine, theirs = getattr(weighted, name), getattr(plain, name)
        assert (mine.value, mine.n, mine.clusters) == (pytest.approx(theirs.value), theirs.n, theirs.clusters)
    assert (weighted.kappa.low, weighted.kappa.high) == pytest.approx((plain.kappa.low, plain.kappa.high))
    # Shares are on the logit scale, so compared where it is nearly straight: by width.
    assert weighted.accuracy.high - weighted.accuracy.low == pytest.approx(
        plain.accuracy.high - plain.accuracy.low, rel=0.02
    )


def test_a_stratified_mean_by_the_textbook():
    """Ȳ = Σ N_h ȳ_h/N; its variance Σ (N_h/N)² (1 - f_h) s_h²/n_h, and σ²/N for all there are."""
    rng = np.random.default_rng(5)
    sizes, taken = np.array([400, 100]), np.array([20, 30])
    stratum = np.repeat([0, 1], taken)
    value = rng.normal(stratum * 2.0, 1 + stratum)
    probability = (taken / sizes)[stratum]
    found = weighted_mean(value, np.arange(50), probability, stratum, interval="influence")
    means = [value[stratum == h].mean() for h in (0, 1)]
    assert found.value == pytest.approx((400 * means[0] + 100 * means[1]) / 500)
    drawing = sum(
        (sizes[h] / 500) ** 2 * (1 - taken[h] / sizes[h]) * value[stratum == h].var(ddof=1) / taken[h] for h in (0, 1)
    )
    source = ((value - found.value) ** 2 / probability).sum() / 500**2
    assert error(found, 48) == pytest.approx(np.sqrt(drawing + source))
    assert found.method == "weighted mean (Hájek); influence functions by cluster, t with 48 df"


def test_heavy_samples_that_were_not_seen_count():
    """20 of 1,000 passes were labelled, all right: the judge may have passed some 17 % that people fail."""
    human = np.repeat([True, False, True], [20, 50, 10])
    judge = np.repeat([1.0, 0.0, 0.0], [20, 50, 10])
    chance = np.repeat([0.02, 1.0, 1.0], [20, 50, 10])
    found = weighted_at_threshold(judge, human, np.arange(80), 0.5, chance, (chance < 1).astype(int)).kappa
    assert found.value > 0.9
    assert found.low < 0.5


def test_one_stratum_drawn_at_random_is_the_plain_mean(rng):
    value = rng.random(200) < 0.3
    found = weighted_mean(value, np.arange(200), np.full(200, 0.01), np.zeros(200, int))
    assert found.value == pytest.approx(value.mean())
    assert error(found, 199) == pytest.approx(value.std() / np.sqrt(200), rel=0.01)


def test_weighted_figures_are_right_where_unweighted_ones_are_not():
    """2,000 samples, 150 labelled, few of them where the judge is sure of a pass: 200 such draws of one population."""
    rng = np.random.default_rng(12)
    score, human, stratum = population(rng)
    every = np.arange(score.size)
    truth = at_threshold(score, human, every, 0.5, interval="none")
    taken = allocate(stratum, [3.0, 4.0, 1.0], 150)
    weighted, plain = [], []
    for _ in range(200):
        found = draw(stratum, taken, rng)
        at = np.flatnonzero(found.drawn)
        one = weighted_at_threshold(score[at], human[at], at, 0.5, found.probability[at], stratum[at], interval="none")
        other = at_threshold(score[at], human[at], at, 0.5, interval="none")
        share = weighted_mean(human[at], at, found.probability[at], stratum[at], interval="none")
        weighted.append([one.kappa.value, one.tpr.value, one.tnr.value, one.accuracy.value, share.value])
        plain.append([other.kappa.value, other.tpr.value, other.tnr.value, other.accuracy.value, human[at].mean()])
    expected = [truth.kappa.value, truth.tpr.value, truth.tnr.value, truth.accuracy.value, human.mean()]
    # Hájek's ratio is unbiased up to 1/n; three standard errors of 200 runs are below .015.
    assert np.mean(weighted, axis=0) == pytest.approx(expected, abs=0.015)
    kappa, tpr, _, accuracy, mean = np.abs(np.mean(plain, axis=0) - expected)
    assert min(kappa, tpr, accuracy, mean) > 0.06


def test_intervals_hold_the_truth():
    rng = np.random.default_rng(21)
    held = {"kappa": 0, "tpr": 0, "tnr": 0}
    right = stats.norm.cdf(0.3 / 0.25)
    chance = 0.8 * (0.8 * right + 0.2 * (1 - right)) + 0.2 * (0.2 * right + 0.8 * (1 - right))
    truth = {"kappa": (right - chance) / (1 - chance), "tpr": right, "tnr": right}
    for _ in range(150):
        score, human, stratum = population(rng)
        found = draw(stratum, allocate(stratum, [1.0, 3.0, 1.0], 200), rng)
        at = np.flatnonzero(found.drawn)
        result = weighted_at_threshold(score[at], human[at], at, 0.5, found.probability[at], stratum[at])
        for name in held:
            estimate = getattr(result, name)
            held[name] += estimate.low <= truth[name] <= estimate.high
    assert all(135 <= count <= 149 for count in held.values())


def test_units_of_a_sample_count_together(rng):
    score, human, stratum = population(rng, 120)
    probability = np.array([0.2, 0.9, 0.5])[stratum]
    once = weighted_at_threshold(score, human, np.arange(120), 0.5, probability, stratum)
    copies = np.repeat(np.arange(120), 3)
    thrice = weighted_at_threshold(score[copies], human[copies], copies, 0.5, probability[copies], stratum[copies])
    for name in ("kappa", "tpr", "tnr", "accuracy"):
        one, three = getattr(once, name), getattr(thrice, name)
        assert (three.value, three.low, three.high) == pytest.approx((one.value, one.low, one.high))
        assert (three.n, three.clusters) == (3 * one.n, one.clusters)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 2)), min_size=3, max_size=40), st.integers(0, 9)
)
def test_order_and_names_do_not_matter(rows, seed):
    score, human, stratum = (np.array(column) for column in zip(*rows, strict=True))
    probability = np.array([0.1, 0.5, 1.0])[stratum]
    rng = np.random.default_rng(seed)
    order, named = rng.permutation(score.size), rng.permutation(100)
    one = weighted_at_threshold(score, human, np.arange(score.size), 0.5, probability, stratum)
    other = weighted_at_threshold(
        score[order], human[order], named[: score.size][order], 0.5, probability[order], 7 - stratum[order]
    )
    for name in ("kappa", "tpr", "tnr", "accuracy"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert mine.reason == theirs.reason
        assert [mine.value, mine.low, mine.high] == pytest.approx([theirs.value, theirs.low, theirs.high])
    mine = weighted_mean(score, np.arange(score.size), probability, stratum)
    theirs = weighted_mean(score[order], named[: score.size][order], probability[order], 7 - stratum[order])
    assert [mine.value, mine.low, mine.high] == pytest.approx([theirs.value, theirs.low, theirs.high])
    assert score.min() - 1e-12 <= mine.value <= score.max() + 1e-12


def test_lower_may_be_better():
    up = weighted_at_threshold(SCORES, VERDICTS, range(4), 0.5, [0.5] * 4, [0] * 4)
    down = weighted_at_threshold(
        [-score for score in SCORES], VERDICTS, range(4), -0.5, [0.5] * 4, [0] * 4, higher_is_better=False
    )
    assert (up.kappa, up.tpr) == (down.kappa, down.tpr)


def in_strata(rng, strata, groups=150, each=6):
    """Answers of a group alike; three in ten drawn from each of the strata, in which they lie at random."""
    group = np.repeat(np.arange(groups), each)
    value, stratum = (rng.random(groups) < 2 / 3)[group], rng.integers(0, strata, group.size)
    sizes = np.bincount(stratum, minlength=strata)
    found = draw(stratum, np.round(0.3 * sizes).astype(int), rng)
    at = np.flatnonzero(found.drawn)
    return value[at], group[at], found.probability[at], stratum[at]


def test_a_group_in_several_strata_is_one_group(rng):
    found = [weighted_mean(*in_strata(rng, strata), bounds=(0.0, 1.0)) for strata in (1, 8)]
    one, eight = (estimate.high - estimate.low for estimate in found)
    assert eight == pytest.approx(one, rel=0.1)
    assert all(estimate.clusters <= 150 for estimate in found)


@pytest.mark.parametrize("second", [0.2, -0.2])
def test_the_variance_of_clusters_in_several_strata_by_hand(second):
    """What two parts of a cluster have in common counts whole, but the variance of the source is never below 0."""
    design = Design.of([1, 1, 2, 2, 3], [0.5, 0.1, 0.5, 0.1, 0.1], [0, 1, 0, 1, 1])
    assert (design.clusters, design.freedom) == (3, 2)
    influence = np.array([0.3, second, 0.4, -0.2, -0.5])
    drawing = 0.5 * 2 * influence[[0, 2]].var() * 2 + 0.9 * 3 / 2 * influence[[1, 3, 4]].var() * 3
    source = 0.5 * (0.3**2 + 0.4**2) + 0.1 * (0.2**2 + 0.2**2 + 0.5**2) + 2 * (0.3 * second - 0.4 * 0.2)
    assert (source < 0) is (second < 0)
    assert design.standard_error(influence) == pytest.approx(np.sqrt(drawing + max(0, source)))


def test_few_heavy_samples_are_worth_few(rng):
    """1,000 were known, and 20 of 1,000 drawn: of these 20 the variance is, whatever the number of all."""
    at = np.arange(1020)
    human = rng.random(1020) < 0.5
    judge = np.where(rng.random(1020) < 0.4, human, rng.random(1020) < 0.5)
    weight = np.where(at < 1000, 1.0, 50.0)
    assert Design.of(at, 1 / weight, at >= 1000).alike == pytest.approx((1000 + 20 * 50**2) ** 2 / (1000 + 20 * 50**4))
    kappa = weighted_at_threshold(judge.astype(float), human, at, 0.5, 1 / weight, at >= 1000).kappa
    rarer = [weight[min((said, ~said), key=lambda kind: weight[kind].sum())] for said in (human, judge)]
    df = min((held**2).sum() ** 2 / (held**4).sum() for held in rarer) - 1
    assert df < 12
    assert kappa.method.endswith(f"t with {df:.4g} df")


def test_samples_labelled_before_join_with_probability_1():
    """They stand for themselves alone; the draw stands for the 90 others."""
    found = weighted_mean([1] * 10 + [0, 1, 0], range(13), [1.0] * 10 + [3 / 90] * 3, [0] * 10 + [1] * 3)
    assert found.value == pytest.approx((10 + 30) / 100)


def test_a_sample_alone_in_its_stratum_is_not_taken_for_certain():
    alone = Design.of([1, 2, 3], [0.5, 0.5, 0.1], [0, 0, 1])
    assert alone.standard_error(np.array([0.1, -0.1, 0.4])) == pytest.approx(
        np.sqrt(0.5 * 2 * 0.02 + 0.9 * 0.16 + 0.5 * 0.02 + 0.1 * 0.16)
    )
    assert alone.freedom == 1


def test_undefined():
    one = weighted_at_threshold([0.9, 0.1], [1, 1], [1, 2], 0.5, [0.5, 0.5], [0, 0])
    assert one.tnr.reason == remark("no_negative")
    assert (one.tnr.n, one.tpr.n) == (0, 2)
    same = weighted_at_threshold([0.9, 0.8], [1, 1], [1, 2], 0.5, [0.5, 0.5], [0, 0])
    assert same.kappa.reason == remark("one_category")
    assert (same.tpr.value, same.tpr.high) == (1.0, 1.0)
    assert 0 < same.tpr.low < 0.5
    empty = weighted_at_threshold([], [], [], 0.5, [], [])
    assert (empty.kappa.reason, empty.accuracy.reason) == (remark("no_units"), remark("no_units"))
    assert empty.tpr.reason == remark("no_positive")
    assert weighted_mean([], [], [], []).reason == remark("no_units")
    assert weighted_mean([1.0], [1], [0.5], [0]).reason == remark("few_clusters")
    assert weighted_mean([1, 0], [1, 2], [0.5, 0.5], [0, 0], interval="none").reason == remark("no_interval_asked")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 2], [0.5], [0, 0]), "differ in length"),
        (([1, 2], [0.0, 0.5], [0, 1]), "above 0, up to 1"),
        (([1, 2], [0.5, 1.5], [0, 1]), "above 0, up to 1"),
        (([1, 2], [0.5, 0.4], [0, 0]), "stratum has more than one probability"),
    ],
)
def test_designs_that_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        Design.of(*given)


def test_calls_that_cannot_be():
    with pytest.raises(ValueError, match="'influence' or 'none', not 'bootstrap'"):
        weighted_mean([1.0], [1], [0.5], [0], interval="bootstrap")
    with pytest.raises(ValueError, match="not nan"):
        weighted_at_threshold(SCORES, VERDICTS, range(4), float("nan"), [0.5] * 4, [0] * 4)
    with pytest.raises(ValueError, match="differ in length"):
        weighted_mean([1.0], [1, 2], [0.5, 0.5], [0, 0])
