"""The same rater on the same unit, twice or more."""

import json
from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignment import percent_agreement, self_consistency
from alignment.base.estimate import remark
from alignment.base.interval import exact_share

NONE = {"interval": "none"}


def by_hand(unit, rater, value, wanted=None):
    """Agreement, flip rate and how many units, from every pair of a rater's ratings of a unit."""
    ratings = defaultdict(list)
    for one in zip(unit, rater, value, strict=True):
        ratings[one[:2]].append(one[2])
    repeated = [
        values for (_, name), values in ratings.items() if len(values) > 1 and (wanted is None or name == wanted)
    ]
    if not repeated:
        return None, None, 0
    agreement = np.mean([np.mean([x == y for x, y in combinations(values, 2)]) for values in repeated])
    return agreement, np.mean([len(set(values)) > 1 for values in repeated]), len(repeated)


rows = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["ann", "bob", "judge"]), st.integers(0, 2)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_any_ratings(rows, random):
    def found_in(rows, scale=1):
        unit, rater, value = zip(*rows, strict=True) if rows else ((), (), ())
        return self_consistency(
            [f"u{one}" for one in unit], rater, value, [scale * (one // 2) for one in unit], interval="influence"
        )

    found = found_in(rows)
    unit, rater, value = zip(*rows, strict=True) if rows else ((), (), ())
    assert [one.rater for one in found.raters] == sorted(set(rater))
    for one in (found.pooled, *found.raters):
        agreement, flips, n = by_hand(unit, rater, value, one.rater)
        for estimate, expected in ((one.agreement, agreement), (one.flip_rate, flips)):
            assert estimate.value == (None if expected is None else pytest.approx(expected))
            assert estimate.n == n
            if expected is None:
                assert estimate.reason in (remark("nothing_rated_twice"), remark("rater_rated_nothing_twice"))
        if n and one.ratings == 2 * n:
            assert one.agreement.value + one.flip_rate.value == pytest.approx(1)
    # Order of rows, and what clusters are called.
    other = list(rows)
    random.shuffle(other)
    again = found_in(other, scale=-7)
    for one, same in zip((found.pooled, *found.raters), (again.pooled, *again.raters), strict=True):
        for estimate, twin in ((one.agreement, same.agreement), (one.flip_rate, same.flip_rate)):
            assert (estimate.n, estimate.clusters, estimate.method) == (twin.n, twin.clusters, twin.method)
            assert (estimate.value, estimate.low) == pytest.approx((twin.value, twin.low), abs=1e-12)


def test_three_repeats_tell_agreement_and_flips_apart():
    found = self_consistency([1] * 3 + [2] * 3, ["judge"] * 6, "xxyyyy", [1] * 3 + [2] * 3, **NONE).pooled
    assert found.agreement.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.flip_rate.value == 0.5
    assert (found.ratings, found.agreement.n, found.agreement.clusters) == (6, 2, 2)


def test_two_repeats_are_two_raters_who_agree_in_percent(from_rows, rng):
    """Asked twice, a rater is two raters; percent agreement knows them already, its interval as well."""
    first, second = rng.integers(3, size=(2, 90))
    second = np.where(rng.random(90) < 0.7, first, second)
    cluster = np.arange(90) // 2
    found = self_consistency(
        np.tile(np.arange(90), 2), np.repeat("ann", 180), np.concatenate([first, second]), np.tile(cluster, 2), rng=rng
    ).pooled
    expected = percent_agreement(from_rows([first, second], range(3), "nominal", clusters=cluster), rng=rng)
    assert (found.agreement.value, found.agreement.low, found.agreement.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
    assert "effective trials" in found.agreement.method
    assert found.flip_rate.low == pytest.approx(1 - found.agreement.high)


def test_single_units_have_the_exact_interval(rng):
    value = np.concatenate([np.zeros(50), np.arange(50) < 10])
    found = self_consistency(np.tile(np.arange(50), 2), ["j"] * 100, value, np.tile(np.arange(50), 2), rng=rng).pooled
    assert (found.flip_rate.low, found.flip_rate.high) == pytest.approx(exact_share(0.2, 50, 0.95))


def test_someone_who_never_changes_their_mind(rng):
    found = self_consistency([1, 1, 2, 2, 3, 3], ["ann"] * 6, [1] * 6, [1, 1, 2, 2, 3, 3], rng=rng).raters[0]
    assert (found.agreement.value, found.flip_rate.value) == (1.0, 0.0)
    assert found.agreement.low > 0


def test_a_rater_without_repeats_beside_one_with(rng):
    found = self_consistency([1, 1, 1], ["bob", "ann", "bob"], "xyx", [1, 1, 1], rng=rng)
    ann, bob = found.raters
    assert (ann.rater, ann.ratings, ann.agreement.reason) == ("ann", 0, remark("rater_rated_nothing_twice"))
    assert (bob.rater, bob.ratings, bob.agreement.value) == ("bob", 2, 1.0)
    assert bob.agreement.reason == remark("few_clusters")
    json.dumps(ann.flip_rate.as_dict(), allow_nan=False)


@pytest.mark.parametrize("columns", [([], [], [], []), ([1], ["ann"], [1], [1])])
def test_no_unit_rated_twice(columns):
    pooled = self_consistency(*columns, **NONE).pooled
    assert (pooled.agreement.value, pooled.flip_rate.value) == (None, None)
    assert pooled.agreement.reason == remark("nothing_rated_twice")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1, 1], ["a", "a"], [1.0, float("nan")], [1, 1]), "a value is NaN"),
        (([1, 1], ["a", "a"], np.array([1.0, np.nan]), [1, 1]), "a value is NaN"),
        ((["u", "u"], ["a", "a"], [1, 1], [1, 2]), "unit 'u' lies in more than one cluster"),
        (([1, 1], ["a"], [1, 1], [1, 1]), "columns differ in length"),
    ],
)
def test_what_cannot_be(columns, message):
    with pytest.raises(ValueError, match=message):
        self_consistency(*columns, **NONE)


def test_many_ratings(rng):
    unit = np.repeat(np.arange(100_000), 4)
    value = rng.integers(3, size=unit.size)
    found = self_consistency(unit, np.tile([0, 0, 1, 1], 100_000), value, unit // 5, interval="influence")
    assert found.pooled.agreement.n == 200_000
    assert found.pooled.agreement.value == pytest.approx(1 / 3, abs=0.01)
    assert [one.rater for one in found.raters] == ["0", "1"]
