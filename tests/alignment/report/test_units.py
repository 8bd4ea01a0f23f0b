"""What is said of units, by number: it reads as a dictionary of the same would."""

import numpy as np
import pytest

from alignment.report import Criterion, Evidence, Option, reference_of
from alignment.report.units import ByUnit, Units

A0, A2, A10, B0 = ("a", "claim:0"), ("a", "claim:2"), ("a", "claim:10"), ("b", "claim:0")
UNITS = Units([B0, A2, A0, A10, A2])


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
