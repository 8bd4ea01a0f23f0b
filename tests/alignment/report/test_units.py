"""What is said of units, by number: it reads as a dictionary of the same would."""

import numpy as np
import pytest

from alignment.report import Criterion, Evidence, Option, reference_of
from alignment.report.units import ByUnit, Units, by_unit, without

A0, A2, A10, B0 = ("a", "claim:0"), ("a", "claim:2"), ("a", "claim:10"), ("b", "claim:0")
UNITS = Units.of([B0, A2, A0, A10, A2])


def test_units_are_in_order_and_know_their_samples():
    assert list(UNITS) == [A0, A10, A2, B0]
    assert (UNITS.samples, UNITS.sample.tolist(), UNITS.number.tolist()) == (["a", "b"], [0, 0, 0, 1], [0, 10, 2, 0])
    assert [UNITS[UNITS.of_sample(name)] for name in ("a", "b", "c")] == [[A0, A10, A2], [B0], []]
    assert UNITS.places([B0, ("b", "claim:1"), A10]).tolist() == [3, -1, 1]
    assert UNITS.places(UNITS.at(np.array([2, 0]))).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("given", "kind"),
    [({B0: True, A2: False}, np.bool_), ({B0: 0.5}, np.float64), ({A0: "x", B0: 4}, object), ({}, object)],
)
def test_it_reads_as_a_dictionary(given, kind):
    found = ByUnit.of(UNITS, {**given, ("stranger", "answer"): 1}, kind)
    assert dict(found) == given == dict(found.items()) == dict(zip(found, found.values(), strict=True))
    assert list(found) == sorted(given)
    assert len(found) == len(given)
    assert all(found[unit] is value for unit, value in given.items() if not isinstance(value, float))
    assert all((unit in found) == (unit in given) and found.get(unit) == given.get(unit) for unit in (*UNITS, "else"))
    with pytest.raises(KeyError):
        found[A10]


def test_units_of_elsewhere_are_found_by_name():
    others = Units.of([("c", "answer"), A10, B0])
    fewer = Units.of([A10, B0])
    for one in (others, fewer, others):
        assert UNITS.places(one).tolist() == [UNITS.place(unit) for unit in one]
    assert UNITS.places(others).tolist() == [1, 3, -1]
    assert UNITS.places(ByUnit.of(others, {B0: 1, ("c", "answer"): 2}, np.int64)).tolist() == [3, -1]
    assert list(UNITS.with_all(others)) == [A0, A10, A2, B0, ("c", "answer")]
    assert UNITS.with_all([A2]) is UNITS is Units.of(UNITS.at(np.array([0, 1, 2, 3, 3])))
    assert list(Units.of(UNITS.at(np.array([3, 1, 3])))) == [A10, B0]
    assert (Units.of([]).places([A0]).tolist(), list(Units.of([]).with_all([A0])), A0 in Units.of([])) == (
        [-1],
        [A0],
        False,
    )


def test_rows_are_numbered_in_the_order_of_their_units():
    rows = Units.coded(["b", "left out", "a"], np.array([2, 0, 2, 2]), ["claim:2", "claim:0"], np.array([0, 1, 0, 1]))
    assert (list(rows), list(rows.items), rows.codes.tolist()) == ([A2, B0, A2, A0], [A0, A2, B0], [1, 2, 1, 0])
    assert dict(ByUnit.of_rows(rows[1:], ["x", "y", "z"])) == {A0: "z", A2: "y", B0: "x"}


def test_what_is_said_of_some_samples_is_left_out():
    said = ByUnit.of(UNITS, {A2: 2.5, B0: 3.5}, np.float64)
    assert dict(without(said, {"a"})) == without(dict(said), {"a"}) == {B0: 3.5}
    assert Units.of(without(said, {"a"})).samples == ["b"]


def test_true_is_no_number():
    said = by_unit({A0: True, A2: 1, B0: 1.0}, object)
    assert [type(value) for value in said.values()] == [bool, int, float]
    more = said.with_all(ByUnit.of(said.units, {A2: True}, object))
    assert [type(value) for value in more.values()] == [bool, bool, float]
    assert dict(said.read_as(str, object)) == {A0: "True", A2: "1", B0: "1.0"}


def test_two_are_joined_and_parted():
    first, second = (ByUnit.of(UNITS, values, np.int64) for values in ({A0: 1, A2: 2}, {A2: 3, B0: 4}))
    assert dict(first.with_all(second)) == {A0: 1, A2: 3, B0: 4}
    assert dict(first.only(np.array([True, True, False, True]))) == {A0: 1}


def test_the_reference_of_a_small_world():
    """By hand: of claims by three people, with a verdict against the majority, a verdict alone, and a tie."""
    options = (Option("no", "No"), Option("yes", "Yes"))
    criterion = Criterion("ok", 1, "OK", "claim", "binary", "Is it?", options, ("yes",))
    rows = [
        *((A0, "ann", "yes"), (A0, "ben", "yes"), (A0, "cat", "no")),
        *((A10, "ann", "yes"), (A10, "ben", "no")),
        *((A2, "ann", "yes"), (A2, "ben", "yes")),
        (B0, "cat", "no"),
    ]
    units, raters, values = (list(column) for column in zip(*rows, strict=True))
    alone = ("c", "claim:0")
    found = reference_of(
        Evidence(criterion, 1, units, raters, values, {A2: "no", alone: "yes"}, unsettled={B0: "single"})
    )
    assert dict(found.positive) == {A0: True, A2: False, alone: True}
    assert dict(found.share) == {A0: 2 / 3, A10: 0.5, A2: 1.0}
    assert found.labels() == {A0: "yes", A2: "no", alone: "yes"}
    assert (found.ties, found.mean, found.strata()) == (1, None, {"a": True, "c": True})
    assert (list(found.counted), found.single_labels) == ([A0, A10, A2, alone], 0)
