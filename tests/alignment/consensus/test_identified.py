"""Which ratings can carry a Dawid–Skene model at all."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from alignment import Ratings
from alignment.base.estimate import Remark, remark
from alignment.consensus.dawid_skene import FEWEST_UNITS, why_unidentified


def table(rows: Iterable[tuple[int, str, str]], levels: str = "xy") -> Ratings:
    units, raters, values = zip(*rows, strict=True)
    return Ratings.from_columns(units, raters, values, units, scale="nominal", levels=levels)


def rows(units: int, panels: list[str], levels: str = "xy") -> list[tuple[int, str, str]]:
    return [(unit, rater, levels[unit % len(levels)]) for unit in range(units) for rater in panels[unit % len(panels)]]


def test_three_who_meet_are_enough() -> None:
    assert why_unidentified(table(rows(FEWEST_UNITS, ["abc"]))) is None
    assert why_unidentified(table(rows(FEWEST_UNITS, ["abc"], "xyz"), "xyz")) is None


@pytest.mark.parametrize(
    ("panels", "reason"),
    [
        (["a"], remark("few_people", n=0, needed=3)),
        (["ab"], remark("few_people", n=2, needed=3)),
        (["ab", "c"], remark("few_people", n=2, needed=3)),
        # Three marginals and three pairs fix 6; the class share and six error rates are 7.
        (["ab", "bc", "ca"], remark("little_overlap", unknown=7, fixed=6)),
    ],
)
def test_too_few_meet(panels: list[str], reason: Remark) -> None:
    assert why_unidentified(table(rows(90, panels))) == reason


def test_four_in_pairs_are_enough() -> None:
    pairs = ["ab", "bc", "cd", "da", "ac", "bd"]
    assert why_unidentified(table(rows(90, pairs))) is None
    assert why_unidentified(table(rows(90, pairs, "xyz"), "xyz")) is None
    assert why_unidentified(table(rows(90, ["ab", "bc", "cd"]))) is not None, "a chain of them is not"


def test_too_few_units() -> None:
    assert str(FEWEST_UNITS - 1) in str(why_unidentified(table(rows(FEWEST_UNITS - 1, ["abc"]))))
    single = [(1000 + unit, "a", "x") for unit in range(100)]
    assert why_unidentified(table(rows(FEWEST_UNITS - 1, ["abc"]) + single)) is not None, "single labels don't count"


def test_one_value_says_nothing_about_errors() -> None:
    assert why_unidentified(table(rows(40, ["abc"], "x"))) == remark("one_value")


def test_nothing_at_all() -> None:
    assert why_unidentified(Ratings.from_columns([], [], [], [], scale="nominal", levels="xy")) is not None
