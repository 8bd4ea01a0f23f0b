from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.errors import Invalid
from annotate.core.scales import is_missing, normalise
from annotate.models import Criterion


def criterion(*values: Any, scale: str = "ordinal") -> Criterion:
    return Criterion(key="c", scale=scale, options=[{"value": value, "label": str(value)} for value in values])


GRADES = criterion(1, 2, 3, 4)
WORDS = criterion("yes", "no", "1", scale="nominal")
TRUTH = criterion(True, False, scale="binary")
HALVES = criterion(0.5, 1.0, 1.5)
OPEN = Criterion(key="c", scale="interval", options=[])


@pytest.mark.parametrize(
    ("asked", "written", "meant"),
    [
        (GRADES, 4, 4), (GRADES, 4.0, 4), (GRADES, "4", 4), (GRADES, "4.0", 4), (GRADES, "4e0", 4), (GRADES, "+4", 4),
        (WORDS, "yes", "yes"), (WORDS, "1", "1"),
        (TRUTH, True, True), (TRUTH, "true", True), (TRUTH, "FALSE", False), (TRUTH, False, False),
        (HALVES, 1, 1.0), (HALVES, "0.50", 0.5), (HALVES, ".5", 0.5),
        (OPEN, 3, 3.0), (OPEN, "-2.5e-3", -0.0025), (OPEN, 0.1, 0.1), (OPEN, -0.0, 0.0),
    ],
)  # fmt: skip
def test_a_value_becomes_the_option_it_means(asked: Criterion, written: Any, meant: Any) -> None:
    found = normalise(asked, written)
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        *((GRADES, value) for value in (
            0, 5, True, False, "5", "four", "", " 4", "4 ", "4_0", "٤", "４",
            4.5, math.nan, math.inf, None, [4], {"value": 4},
            10**400, "nan", "1e999", b"4",
        )),
        *((WORDS, value) for value in ("Yes", "yes ", "YES", 1, 1.0, True, None, "", ["yes"], "yes\x00")),
        *((TRUTH, value) for value in (1, 0, "1", "yes", None, "", 1.0)),
        *((OPEN, value) for value in (
            True, False, "", "abc", "inf", "-Infinity", "nan",
            math.nan, math.inf, None, [], {}, 10**400, "1" * 400, "1_000",
            " 1", "１",
        )),
    ],
)  # fmt: skip
def test_anything_else_is_refused_and_named(asked: Criterion, written: Any) -> None:
    with pytest.raises(Invalid) as refused:
        normalise(asked, written)
    assert refused.value.code == "not_an_option"
    assert refused.value.status == 422
    assert "“c”" in refused.value.message


def test_a_refusal_lists_what_is_accepted_and_stays_short() -> None:
    with pytest.raises(Invalid, match="Must be one of 1, 2, 3, 4"):
        normalise(GRADES, "x" * 10_000)
    with pytest.raises(Invalid) as refused:
        normalise(GRADES, "x" * 10_000)
    assert len(refused.value.message) < 200


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_open_scale_keeps_every_finite_number(number: float) -> None:
    assert normalise(OPEN, number) == number
    assert normalise(OPEN, repr(number)) == number


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_normalising_twice_changes_nothing(written: Any) -> None:
    for asked in (GRADES, WORDS, TRUTH, HALVES, OPEN):
        try:
            once = normalise(asked, written)
        except Invalid:
            continue
        assert normalise(asked, once) == once
        assert not asked.options or any(once is level or once == level for level in asked.levels)


@pytest.mark.parametrize("value", [None, "", math.nan])
def test_missing(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, False, " ", "NA", "null", 0.0, [], math.inf])
def test_not_missing(value: Any) -> None:
    assert not is_missing(value)
