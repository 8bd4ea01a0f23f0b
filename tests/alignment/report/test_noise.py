"""People's errors: with a known truth, the line lies at the truth and the plain figure below it."""

import pytest

from alignment.base.estimate import remark
from alignment.report.people import ALONE, NO_LABELS, judge_behind_noise
from tests.alignment.report.building import KINDS, compared, evidence


def test_independent_errors_are_taken_out():
    shown = judge_behind_noise(*compared(evidence(4000, claims=1, right=0.8, judge_right=0.9, seed=2)))
    assert [line["model"] for line in shown["lines"]] == ["one rate", "two rates"]
    for line in shown["lines"]:
        assert line["human_tpr"]["value"] == pytest.approx(0.8, abs=0.025)
        assert line["accuracy"]["value"] == pytest.approx(0.9, abs=0.03)
        assert line["accuracy"]["low"] < 0.9 < line["accuracy"]["high"]
    # A majority of three is right in 0.8³ + 3 · 0.8² · 0.2 = 0.896 of units.
    assert shown["observed"]["value"] == pytest.approx(0.9 * 0.896 + 0.1 * 0.104, abs=0.03)


def test_two_people_know_one_rate_only():
    one, two = judge_behind_noise(*compared(evidence(people=("ann", "bob"))))["lines"]
    assert one["accuracy"]["value"] is not None
    assert (two["accuracy"]["value"], two["accuracy"]["reason"]) == (None, remark("no_triples"))


def test_nothing_is_invented_from_single_labels():
    shown = judge_behind_noise(*compared(evidence(people=("ann",))))
    assert (shown["reason"], shown["lines"], shown["observed"]["value"]) == (ALONE, [], None)
    assert judge_behind_noise(*compared(evidence(units=[], raters=[], values=[], is_dev={})))["reason"] == NO_LABELS
    kinds = evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={})
    assert judge_behind_noise(*compared(kinds))["reason"] == remark("no_passes")
