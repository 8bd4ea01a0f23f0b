"""What to label next: strata, judges' views, allocation against brute force, and draws with known chances."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from alignment import allocate, draw, expected_spread, guessed_spread, judge_views, kappa_influence, strata, worth

STRATA = st.lists(st.integers(0, 4), min_size=1, max_size=60).map(
    lambda codes: np.unique(np.array(codes), return_inverse=True)[1]
)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 5))
def test_bins_are_ordered_and_ties_stay_together(scores, bins):
    scores = np.array(scores)
    found = strata(scores, np.zeros(scores.size), score_bins=bins)
    assert set(found) == set(range(found.max() + 1))
    assert found.max() < bins
    order = np.argsort(scores)
    assert (np.diff(found[order]) >= 0).all()
    for value in scores:
        assert np.unique(found[scores == value]).size == 1


def test_bins_without_ties_have_equal_sizes(rng):
    assert np.bincount(strata(rng.random(60), np.zeros(60), score_bins=4)).tolist() == [15] * 4
    both = strata(rng.random(800), rng.random(800), score_bins=4, disagreement_bins=2)
    assert both.max() == 7
    assert (np.abs(np.bincount(both) - 100) < 30).all()


def test_samples_without_a_judge_are_a_stratum_of_their_own():
    score = [0.1, 0.9, np.nan, np.nan]
    assert strata(score, score, score_bins=2, disagreement_bins=1).tolist() == [0, 1, 2, 2]


def test_judge_views_are_mid_ranks(rng):
    sample, judge = np.repeat(np.arange(30), 3), np.tile([5, 7, 9], 30)
    score = np.round(rng.normal(size=90), 1) * judge
    kept = rng.random(90) < 0.8
    mean, apart = judge_views(sample[kept], judge[kept], score[kept], 31)
    shares = np.full((31, 3), np.nan)
    for column, who in enumerate((5, 7, 9)):
        mine = kept & (judge == who)
        shares[sample[mine], column] = (rankdata(score[mine]) - 0.5) / mine.sum()
    there = ~np.isnan(shares).all(axis=1)
    assert mean[there] == pytest.approx(np.nanmean(shares[there], axis=1))
    assert apart[there] == pytest.approx(np.nanstd(shares[there], axis=1), abs=1e-9)
    assert np.isnan(mean[~there]).all()
    assert np.isnan(apart[~there]).all()


def test_judge_views_do_not_hang_on_scales(rng):
    sample, judge, score = np.repeat(np.arange(20), 2), np.tile([0, 1], 20), rng.normal(size=40)
    stretched = np.where(judge == 1, np.exp(score), score)
    for one, other in zip(
        judge_views(sample, judge, score, 20), judge_views(sample, judge, stretched, 20), strict=True
    ):
        assert one == pytest.approx(other)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=40), st.integers(0, 10**6))
def test_order_and_names_of_samples_do_not_matter(rows, seed):
    """Of scores, disagreements and strata, in another order; and of judges and samples under other names."""
    score, apart, code = np.array(rows).T
    stratum, rng = np.unique(code, return_inverse=True)[1], np.random.default_rng(seed)
    order, influence = rng.permutation(code.size), rng.normal(size=code.size)
    assert (strata(score, apart)[order] == strata(score[order], apart[order])).all()
    assert (strata(score, apart) == strata(np.exp(score), apart**3)).all()
    guess, known = guessed_spread(stratum, score / 9), expected_spread(stratum, influence, np.arange(code.size))
    assert guessed_spread(stratum[order], score[order] / 9) == pytest.approx(guess)
    assert expected_spread(stratum[order], influence[order], np.arange(code.size)) == pytest.approx(known)
    assert ((guess >= np.sqrt(0.05 * 0.95) - 1e-12) & (guess <= 0.5)).all()
    assert (known > 0).all()
    total = np.minimum(np.bincount(stratum), 2).sum()
    total = int(rng.integers(total, code.size + 1))
    taken = allocate(stratum, known, total)
    assert (allocate(stratum[order], 4 * known, total) == taken).all()
    assert worth(stratum[order], 4 * known, taken) == pytest.approx(worth(stratum, known, taken))
    entry, judge = np.unique(np.column_stack([apart, code]), axis=0).T
    mean, spread = judge_views(entry, judge, score[: entry.size], 10)
    shuffled, names, judges = rng.permutation(entry.size), rng.permutation(10), rng.permutation(10)
    views = judge_views(names[entry[shuffled]], judges[judge[shuffled]], score[: entry.size][shuffled], 10)
    assert views[0][names] == pytest.approx(mean, nan_ok=True)
    assert views[1][names] == pytest.approx(spread, nan_ok=True, abs=1e-9)
    there = ~np.isnan(mean)
    assert ((mean[there] > 0) & (mean[there] < 1) & (spread[there] < 0.5)).all()


def variance(sizes, spread, taken):
    return sum((size * s) ** 2 / n for size, s, n in zip(sizes, spread, taken, strict=True) if n)


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=3), st.lists(st.floats(0.1, 3), min_size=3, max_size=3), st.data()
)
def test_no_other_allocation_has_less_variance(sizes, spread, data):
    spread = spread[: len(sizes)]
    least = [min(2, size) for size in sizes]
    total = data.draw(st.integers(sum(least), sum(sizes)))
    found = allocate(np.repeat(np.arange(len(sizes)), sizes), spread, total)
    assert found.sum() == total
    every = itertools.product(*(range(low, size + 1) for low, size in zip(least, sizes, strict=True)))
    best = min(variance(sizes, spread, taken) for taken in every if sum(taken) == total)
    assert variance(sizes, spread, found) == pytest.approx(best)


def test_allocation_is_neymans_when_there_is_room():
    stratum = np.repeat([0, 1, 2], [600, 300, 100])
    assert allocate(stratum, [1.0, 2.0, 4.0], 160).tolist() == [60, 60, 40]


def test_a_stratum_is_never_overdrawn():
    assert allocate(np.repeat([0, 1], [5, 500]), [100.0, 1.0], 50).tolist() == [5, 45]
    assert allocate([0, 0, 0, 1], [0.0, 0.0], 3).tolist() == [2, 1]


@given(STRATA, st.integers(0, 10**6))
def test_a_draw_takes_what_was_allocated(stratum, seed):
    rng = np.random.default_rng(seed)
    size = np.bincount(stratum)
    wanted = rng.integers(0, size + 1)
    found = draw(stratum, wanted, rng)
    assert np.bincount(stratum[found.drawn], minlength=size.size).tolist() == wanted.tolist()
    assert found.probability == pytest.approx((wanted / size)[stratum])
    assert (found.drawn <= (found.probability > 0)).all()


def test_every_sample_is_drawn_as_often_as_its_probability_says():
    stratum, rng = np.array([0] * 8 + [1] * 4), np.random.default_rng(2)
    draws = [draw(stratum, [2, 3], rng).drawn for _ in range(4000)]
    assert np.mean(draws, axis=0) == pytest.approx(draw(stratum, [2, 3], rng).probability, abs=0.03)


def test_the_same_seed_draws_the_same():
    stratum = np.arange(100) % 3
    one, other = (draw(stratum, [5, 5, 5], np.random.default_rng(7)) for _ in range(2))
    assert (one.drawn == other.drawn).all()


def test_skipped_samples_lower_the_probability(rng):
    found = draw(np.repeat([0, 1], [10, 20]), [4, 10], rng)
    labelled = found.drawn.copy()
    labelled[np.flatnonzero(labelled)[:2]] = False
    answered = found.labelled(labelled)
    assert answered.probability == pytest.approx(np.repeat([0.2, 0.5], [10, 20]))
    assert (answered.drawn == labelled).all()
    with pytest.raises(ValueError, match="has labels but was not drawn"):
        found.labelled(~found.drawn)


def test_strata_without_a_label_are_counted(rng):
    found = draw(np.repeat([0, 1, 2], [10, 20, 5]), [4, 10, 0], rng)
    assert found.unseen == 5
    assert found.labelled(found.drawn & (found.stratum == 1)).unseen == 15


@settings(max_examples=40)
@given(st.lists(st.integers(2, 30), min_size=1, max_size=4), st.lists(st.floats(0.1, 3), min_size=4, max_size=4))
def test_no_allocation_is_worth_less_than_drawing_from_all_alike(sizes, spread):
    """Of the least sizes that have whole numbers for both."""
    stratum, spread = np.repeat(np.arange(len(sizes)), np.array(sizes) * 4), spread[: len(sizes)]
    alike = np.array(sizes)
    assert worth(stratum, spread, alike) == pytest.approx(1)
    assert worth(stratum, spread, allocate(stratum, spread, alike.sum())) >= 1 - 1e-9


def test_worth_in_labels():
    """Simulated: the variance of the stratified mean, drawn either way."""
    rng, stratum = np.random.default_rng(8), np.repeat([0, 1], [4000, 1000])
    value, spread = rng.normal(0, np.where(stratum, 4.0, 1.0)), [1.0, 4.0]
    variances = []
    for allocation in (allocate(stratum, spread, 100), np.array([80, 20])):
        means = []
        for _ in range(500):
            drawn = draw(stratum, allocation, rng).drawn
            means.append(0.8 * value[drawn & (stratum == 0)].mean() + 0.2 * value[drawn & (stratum == 1)].mean())
        variances.append(np.var(means))
    assert worth(stratum, spread, allocate(stratum, spread, 100)) == pytest.approx(
        variances[1] / variances[0], rel=0.15
    )


def test_worth_of_nothing():
    assert worth([0, 0, 1, 1], [0.0, 0.0], [1, 1]) is None
    assert worth([0, 0, 1, 1], [1.0, 1.0], [0, 0]) is None
    assert worth([0, 0, 1, 1], [1.0, 1.0], [2, 0]) == 0.0
    assert worth([0, 0, 1, 1], [1.0, 0.0], [2, 0]) == pytest.approx(2.0)


def test_labels_go_where_they_make_kappa_surer(rng):
    """From labels to the next draw: the judge errs on samples of stratum 1 only, so most labels go there."""
    stratum = np.arange(1000) % 3 % 2
    human = rng.random(1000) < 0.5
    judge = np.where((stratum == 1) & (rng.random(1000) < 0.5), ~human, human)
    labelled, influence = kappa_influence(judge[:200], human[:200], np.arange(200))
    rest = np.arange(200, 1000)
    spread = expected_spread(stratum, influence, labelled)
    allocation = allocate(stratum[rest], spread, 60)
    sizes = np.bincount(stratum[rest])
    assert allocation[1] / sizes[1] > 1.5 * allocation[0] / sizes[0]
    assert worth(stratum[rest], spread, allocation) > 1.05


def test_spread_before_there_are_labels():
    stratum = [0, 0, 1, 1, 2]
    assert guessed_spread(stratum, [0.5, 0.5, 1, 1, 0]) == pytest.approx(
        [0.5, np.sqrt(0.05 * 0.95), np.sqrt(0.05 * 0.95)]
    )


def test_spread_from_labels(rng):
    stratum = np.repeat([0, 1, 2], 500)
    labelled = np.arange(1000)
    influence = rng.normal(0, np.where(stratum[labelled] == 1, 3.0, 1.0))
    found = expected_spread(stratum, influence, labelled)
    assert found[:2] == pytest.approx([1.0, 3.0], rel=0.1)
    # Nothing is known of stratum 2, so it is taken for an average one.
    assert found[2] == pytest.approx(influence.std())


def test_few_labels_say_little_of_a_stratum():
    stratum, labelled = np.array([0] * 50 + [1] * 50), np.array([0, 1, 50, 51, 52, 53, 54, 55])
    influence = np.array([0.0, 0.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    found = expected_spread(stratum, influence, labelled)
    assert 0.5 < found[0] < found[1]


@pytest.mark.parametrize(("influence", "labelled"), [([], []), ([1.0], [3]), ([0.5, 0.5], [0, 3])])
def test_without_labels_strata_are_alike(influence, labelled):
    assert expected_spread([0, 0, 1, 1], influence, labelled).tolist() == [1.0, 1.0]


IMPOSSIBLE = {
    "scores without disagreement": (lambda: strata([0.1], [0.1, 0.2]), "differ in length"),
    "no bins": (lambda: strata([0.1], [0.1], score_bins=0), "at least one bin of score"),
    "an infinite score": (lambda: strata([float("inf")], [0.1]), "not finite"),
    "a sample too many": (lambda: judge_views([3], [0], [0.5], 3), "numbered 0 to 2"),
    "a score of nan": (lambda: judge_views([0], [0], [float("nan")], 3), "not finite"),
    "a share of nan": (lambda: guessed_spread([0], [float("nan")]), "not finite"),
    "a share too few": (lambda: guessed_spread([0, 0], [0.5]), "differ in length"),
    "an influence too few": (lambda: expected_spread([0, 0], [0.5], [0, 1]), "differ in length"),
    "an infinite influence": (lambda: expected_spread([0], [float("inf")], [0]), "not finite"),
    "a spread too few": (lambda: allocate([0, 0, 1, 1], [1.0], 4), "differ in length"),
    "a negative spread": (lambda: allocate([0, 0, 1, 1], [1.0, -1.0], 4), "not negative"),
    "too few samples": (lambda: allocate([0, 0, 1, 1], [1.0, 1.0], 3), "from 2 strata between 4 and 4 samples, not 3"),
    "an allocation too few": (lambda: worth([0, 0, 1], [1.0, 1.0], [1]), "differ in length"),
    "worth of a negative spread": (lambda: worth([0, 0], [-1.0], [1]), "not negative"),
    "more than there are": (lambda: draw([0, 0], [3], np.random.default_rng(1)), r"the sizes \[2\], not \[3\]"),
    "a negative stratum": (lambda: draw([0, -1], [1, 1], np.random.default_rng(1)), "numbers from 0 on"),
    "half a stratum": (lambda: draw([0.5], [1], np.random.default_rng(1)), "numbers from 0 on"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be(case):
    call, message = IMPOSSIBLE[case]
    with pytest.raises(ValueError, match=message):
        call()
