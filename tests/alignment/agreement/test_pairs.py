"""All pairs at once against one pair at a time."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignment import Ratings, agreement_summary, cohen_kappa, mean_pairwise_kappa, pairwise, percent_agreement
from alignment.agreement.cohen import kappa_statistic
from alignment.agreement.pairs import PairCounts, influences
from alignment.base.arrays import ranges, renumbered, run_starts
from alignment.base.bootstrap import middle
from alignment.base.estimate import remark
from alignment.base.tables import disagreement
from alignment.base.totals import Totals

KAPPAS = {"kappa": None, "linear": "linear", "quadratic": "quadratic"}


def alone(ratings, pair, **how):
    """The pair's four estimates from functions that know of two raters only."""
    both = ratings.select_raters([pair.a, pair.b])
    common = np.bincount(both.unit)[both.unit] == 2
    columns = (getattr(both, name)[common] for name in ("unit", "rater", "value", "cluster"))
    both = Ratings(*columns, both.levels, both.scale, both.raters)
    return {"percent": percent_agreement(both, **how)} | {
        name: cohen_kappa(ratings, pair.a, pair.b, weights, **how) for name, weights in KAPPAS.items()
    }


def same(estimate, other):
    for name in ("value", "low", "high"):
        assert getattr(estimate, name) == pytest.approx(getattr(other, name), abs=1e-12), name
    for name in ("level", "n", "clusters", "method", "reason"):
        assert getattr(estimate, name) == getattr(other, name)


# Few common units, some pairs without any, and raters who say one thing only.
MANY = {"dense": (6, 90, 4, 3), "sparse": (12, 60, 3, 1), "two levels": (5, 30, 2, 2), "one unit each": (9, 12, 3, 1)}


def ratings_of(raters, units, levels, per_cluster, seed=3):
    rng = np.random.default_rng(seed)
    rater, unit = np.nonzero(rng.random((raters, units)) < (0.7 if raters < 9 else 0.25))
    value = np.where(rng.random(rater.size) < 0.6, unit % levels, rng.integers(levels, size=rater.size))
    value[rater == 0] = 0
    names = tuple(f"rater {code}" for code in range(raters))
    return Ratings(unit, rater, value, unit // per_cluster, tuple(range(levels)), "ordinal", names)


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("interval", ["none", "influence"])
def test_each_pair_as_if_alone(name, interval):
    ratings = ratings_of(*MANY[name])
    pairs = pairwise(ratings, interval=interval)
    assert pairs
    for pair in pairs:
        for one, expected in alone(ratings, pair, interval=interval).items():
            same(getattr(pair, one), expected)


@pytest.mark.parametrize("name", MANY)
def test_auto_makes_the_kind_of_interval_that_the_pair_would_have_alone(name, rng):
    ratings = ratings_of(*MANY[name])
    for pair in pairwise(ratings, rng=rng):
        for one, expected in alone(ratings, pair, rng=rng).items():
            estimate = getattr(pair, one)
            assert (estimate.value, estimate.n, estimate.clusters) == (expected.value, expected.n, expected.clusters)
            # Which resamples are undefined is luck, and with few units so is whether most are.
            if pair.n > 10:
                assert estimate.method.split(",")[0] == expected.method.split(",")[0]
                assert estimate.reason == expected.reason


@pytest.mark.parametrize("groups", [6, 60])
def test_intervals_are_those_of_the_pair_alone(rng, groups):
    ratings = ratings_of(4, 200, 4, groups)
    for pair in pairwise(ratings, rng=rng):
        for one, expected in alone(ratings, pair, rng=rng).items():
            estimate = getattr(pair, one)
            assert estimate.method == expected.method
            assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))


def test_the_same_seed_gives_the_same_pairs():
    ratings = ratings_of(*MANY["dense"])
    one, other = (pairwise(ratings, rng=np.random.default_rng(5)) for _ in range(2))
    assert one == other


def test_rows_in_blocks(monkeypatch, rng):
    ratings = ratings_of(*MANY["dense"])
    whole, mean = pairwise(ratings, rng=rng), mean_pairwise_kappa(ratings, rng=rng)
    monkeypatch.setattr("alignment.agreement.pairs.ROWS_AT_ONCE", 7)
    assert (pairwise(ratings, rng=rng), mean_pairwise_kappa(ratings, rng=rng)) == (whole, mean)


def test_all_pairs_have_no_bootstrap(rng):
    for statistic in (pairwise, mean_pairwise_kappa):
        with pytest.raises(ValueError, match="none of all pairs"):
            statistic(ratings_of(4, 20, 4, 6), interval="bootstrap", rng=rng)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_influence_by_hand_is_the_complex_step(weights):
    """The one derivative that is written out, against the one that is not."""
    ratings = ratings_of(*MANY["dense"])
    counts, apart = PairCounts.of(ratings, 2), disagreement(4, weights)
    by_entry = influences(counts, apart)
    for pair in range(len(counts)):
        own = counts.pair == pair
        cells = Totals.of(counts.row[own], 4 * counts.first[own] + counts.second[own], np.ones(own.sum()), 16)
        by_cluster = np.bincount(counts.row[own] - counts.row[own].min(), weights=by_entry[own])
        assert by_cluster == pytest.approx(cells.influence(kappa_statistic(apart)), abs=1e-14, nan_ok=True)


def test_few_common_units_are_left_out():
    ratings = ratings_of(*MANY["sparse"])
    every = pairwise(ratings, interval="none")
    assert {pair.n for pair in every} > {1, 2, 3}
    assert pairwise(ratings, 4, interval="none") == [pair for pair in every if pair.n >= 4]
    assert pairwise(ratings, 1000, interval="none") == []


def test_without_levels_pairs_are_named_and_nothing_else(from_rows):
    (pair,) = pairwise(from_rows([[0.1, 0.2], [0.1, 0.3]], None, "interval"), interval="none")
    assert (pair.a, pair.b, pair.n) == ("rater 0", "rater 1", 2)
    assert pair.percent.reason == pair.kappa.reason == pair.quadratic.reason == remark("no_levels")


def test_nominal_pairs_have_no_weighted_kappa(from_rows, rng):
    (pair,) = pairwise(from_rows(["xyxzx" * 3, "xyyzx" * 3], "xyz", "nominal"), rng=rng)
    assert pair.linear.reason == pair.quadratic.reason == remark("no_order")
    assert pair.kappa.low is not None
    assert pair.percent.low is not None


@st.composite
def tables(draw):
    raters, units, levels = draw(st.integers(2, 5)), draw(st.integers(1, 12)), draw(st.integers(2, 4))
    given_ = draw(st.lists(st.tuples(st.integers(0, raters - 1), st.integers(0, units - 1)), min_size=1, unique=True))
    value = draw(st.lists(st.integers(0, levels - 1), min_size=len(given_), max_size=len(given_)))
    rater, unit = np.array(given_).T
    names = tuple(f"rater {code}" for code in range(raters))
    return Ratings(unit, rater, np.array(value), unit // 2, tuple(range(levels)), "ordinal", names)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_any_table(ratings):
    for pair in pairwise(ratings, interval="influence"):
        for one, expected in alone(ratings, pair, interval="influence").items():
            same(getattr(pair, one), expected)


@given(st.lists(st.integers(-3, 10**6)))
def test_renumbered_is_numpys_unique(codes):
    array = np.array(codes, dtype=np.int64)
    for one in (array, np.abs(array) % 17):
        present, place = renumbered(one)
        expected, inverse = np.unique(one, return_inverse=True)
        assert present.tolist() == expected.tolist()
        assert place.tolist() == inverse.tolist()
        counts = np.unique(one, return_counts=True)[1]
        assert run_starts(np.sort(one)).tolist() == (np.cumsum(counts) - counts).tolist()


def test_ranges_of_nothing():
    nothing = np.empty(0, np.int64)
    assert ranges(nothing, nothing).size == 0
    assert run_starts(nothing).size == 0


@given(st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_middle_is_numpys_quantiles_of_what_is_defined(values, level):
    found = middle(np.array(values), level)
    defined = [value for value in values if value == value]
    assert found.lost == len(values) - len(defined)
    if defined:
        expected = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-12)
        assert found.spread == max(defined) - min(defined)


def sparse(units, raters, per_unit=3):
    rng = np.random.default_rng(9)
    first = rng.integers(raters, size=units)
    rater = (first[:, None] + np.arange(per_unit) * rng.integers(1, raters // per_unit, size=units)[:, None]) % raters
    hidden = rng.integers(4, size=units)
    value = np.where(rng.random((units, per_unit)) < 0.7, hidden[:, None], rng.integers(4, size=(units, per_unit)))
    unit = np.repeat(np.arange(units), per_unit)
    return Ratings(
        unit,
        rater.ravel(),
        value.ravel(),
        unit // 5,
        (1, 2, 3, 4),
        "ordinal",
        tuple(f"rater {code}" for code in range(raters)),
    )


def test_a_summary_takes_memory_by_ratings():
    ratings = sparse(20_000, 1_000)
    tracemalloc.start()
    summary = agreement_summary(ratings, interval="influence")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A matrix of units by raters in floats would take 160 MB; the ratings take 2.
    assert peak < 40_000_000
    for name in ("fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1"):
        assert 0.45 < summary[name].value < 0.55
        assert summary[name].low < summary[name].value < summary[name].high
    assert summary["cohen_kappa_mean"].reason == remark("no_pair_with_common_units", n=10)


def test_many_pairs():
    ratings = sparse(5_000, 40)
    pairs = pairwise(ratings, interval="influence")
    assert sum(pair.n for pair in pairs) == 15_000
    mean = mean_pairwise_kappa(ratings, None, 10, True, interval="influence")
    assert 0.45 < mean.low < mean.value < mean.high < 0.55
