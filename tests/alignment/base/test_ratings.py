"""Ratings: what they accept, and what they say when they don't."""

import numpy as np
import pytest

from alignment import Ratings, mean_value, reference_majority


def ratings_of(units, raters, values, clusters=None, scale="ordinal", levels=(1, 2, 3)):
    return Ratings.from_columns(
        units, raters, values, units if clusters is None else clusters, scale=scale, levels=levels
    )


def test_columns_become_sorted_codes():
    ratings = ratings_of(["v", "u", "u"], ["bob", "bob", "ann"], [3, 1, 2], ["t", "s", "s"])
    assert ratings.raters == ("ann", "bob")
    assert ratings.unit_ids == ("v", "u")
    assert ratings.unit.tolist() == [0, 1, 1]
    assert ratings.rater.tolist() == [1, 0, 1]
    assert ratings.value.tolist() == [2, 1, 0]
    assert (len(ratings), ratings.n_units, ratings.n_clusters) == (3, 2, 2)


def test_levels_are_matched_by_value():
    ratings = ratings_of([1, 2], ["ann", "ann"], [50, np.float64(100.0)], levels=[0.0, 50.0, 100.0], scale="interval")
    assert ratings.value.tolist() == [1, 2]
    assert ratings.level_numbers.tolist() == [0, 50, 100]


def test_values_without_levels_are_floats():
    ratings = ratings_of([1, 2], ["ann", "ann"], [0.5, 7], levels=None, scale="interval")
    assert ratings.value.tolist() == [0.5, 7.0]
    assert ratings.level_numbers is None


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ((["u", "v"], ["ann", "ann"], [1, 9]), {}, "value 9 at position 1 is not one of 1, 2, 3"),
        ((["u"], ["ann"], [None]), {}, "value None at position 0"),
        ((["u", "u"], ["ann", "ann"], [1, 2]), {}, "rater 'ann' rated unit 'u' more than once"),
        ((["u", "u"], ["ann", "bob"], [1, 2], ["s", "t"]), {}, "unit 'u' lies in more than one cluster"),
        ((["u"], ["ann", "bob"], [1]), {}, "columns differ in length: 1 units, 2 raters, 1 values"),
        ((["u"], ["ann"], [float("nan")]), {"levels": None, "scale": "interval"}, "value nan at position 0"),
        ((["u"], ["ann"], ["x"]), {"levels": None, "scale": "interval"}, "value 'x' at position 0"),
        ((["u"], ["ann"], [1]), {"levels": None}, "an? ordinal scale needs levels"),
        ((["u"], ["ann"], [1]), {"scale": "ratio"}, "binary, nominal, ordinal, interval"),
        ((["u"], ["ann"], [1]), {"scale": "binary"}, "two levels, not 3"),
        ((["u"], ["ann"], [1]), {"levels": [1]}, "at least two levels"),
        ((["u"], ["ann"], [1]), {"levels": [1, 1, 2]}, "levels repeat"),
        ((["u"], ["ann"], ["x"]), {"levels": "xy", "scale": "interval"}, "are numbers"),
    ],
)
def test_what_does_not_fit(columns, options, message):
    with pytest.raises(ValueError, match=message):
        ratings_of(*columns, **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": [0, 5]}, "value codes must lie in 0..1"),
        ({"rater": [0, 2]}, "rater codes must lie in 0..1"),
        ({"unit": [0, -1], "unit_ids": ("u", "v")}, "unit codes must lie in 0..1"),
        ({"cluster": [0]}, "flat arrays of one length"),
        ({"levels": None, "scale": "interval", "value": [0.0, np.inf]}, "finite"),
    ],
)
def test_codes_that_do_not_fit(changes, message):
    fields = {
        "unit": [0, 1],
        "rater": [0, 1],
        "value": [0, 1],
        "cluster": [0, 1],
        "levels": ("no", "yes"),
        "scale": "binary",
        "raters": ("ann", "bob"),
    } | changes
    arrays = {name: np.array(fields.pop(name)) for name in ("unit", "rater", "value", "cluster")}
    with pytest.raises(ValueError, match=message):
        Ratings(**arrays, **fields)


def test_select_raters_keeps_units():
    ratings = ratings_of(["u", "u", "v"], ["ann", "bob", "cid"], [1, 2, 3])
    part = ratings.select_raters(["cid", "ann"])
    assert part.raters == ("cid", "ann")
    assert [(part.unit_id(unit), part.raters[rater]) for unit, rater in zip(part.unit, part.rater, strict=True)] == [
        ("u", "ann"),
        ("v", "cid"),
    ]
    with pytest.raises(ValueError, match="no rater 'dan'; there are 'ann', 'bob', 'cid'"):
        ratings.select_raters(["dan"])


def test_the_caller_keeps_its_arrays():
    unit = np.array([1, 0])
    ratings = Ratings(unit, np.array([0, 0]), np.array([1, 0]), unit, ("no", "yes"), "binary", ("ann",))
    assert unit.tolist() == [1, 0]
    assert ratings.unit.tolist() == [0, 1]


def test_a_majority_is_more_than_half():
    ratings = ratings_of(
        ["u", "u", "v", "v", "v", "w"], ["ann", "bob", "ann", "bob", "cid", "ann"], [3, 1, 3, 3, 1, 1], ["s"] * 6
    )
    reference = reference_majority(ratings, [2, 3])
    assert reference.unit_ids == ("v", "w")
    assert reference.positive.tolist() == [True, False]
    assert reference.cluster.tolist() == [0, 0]
    assert reference.ties == 1


def test_references_refuse_what_has_no_meaning():
    ratings = ratings_of(["u"], ["ann"], ["x"], levels="xyz", scale="nominal")
    with pytest.raises(ValueError, match=r"passes \['q'\] are not among the levels"):
        reference_majority(ratings, ["q"])
    with pytest.raises(ValueError, match="ordered levels that are numbers"):
        mean_value(ratings)
    bare = ratings_of(["u"], ["ann"], [0.25], levels=None, scale="interval")
    with pytest.raises(ValueError, match="this scale has none"):
        reference_majority(bare, [1])
    assert mean_value(bare).value.tolist() == [0.25]
