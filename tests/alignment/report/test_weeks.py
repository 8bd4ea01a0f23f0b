"""Weeks: counted by hand, also where a year ends."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest

from alignment.report import JudgeScores
from alignment.report.slices import MAX_WEEKS, NO_DATES, judge_weeks, labelled_units
from tests.alignment.report.building import KINDS, compared, evidence


def dated(found, day_of):
    return replace(found, days=[day_of(place) for place in range(len(found.units))])


def weeks(found):
    reference, one = compared(found)
    return reference, one, judge_weeks(reference, one, labelled_units(reference))


def test_counted_by_hand():
    start = date(2026, 3, 2)
    found = dated(evidence(), lambda place: (start + timedelta(days=place // 24)).isoformat())
    reference, one, shown = weeks(found)
    last = {}
    for unit, day in zip(found.units, found.days, strict=True):
        last[unit] = max(day, last.get(unit, ""))
    units, wrong = Counter(), Counter()
    for unit, passes in one.decisions.items():
        week = date.fromisoformat(last[unit]).strftime("%G-W%V")
        units[week] += 1
        wrong[week] += passes != reference.positive[unit]
    assert {row["week"]: (row["units"], row["wrong"]) for row in shown["weeks"]} == {
        week: (units[week], wrong[week]) for week in units
    }
    assert [row["monday"] for row in shown["weeks"]][:2] == ["2026-03-02", "2026-03-09"]
    for row in shown["weeks"]:
        assert row["error"]["value"] == pytest.approx(row["wrong"] / row["units"])
        assert row["error"]["low"] < row["error"]["value"] < row["error"]["high"]
        assert row["labels"] == 3 * row["units"]
    assert shown["error"]["value"] == pytest.approx(wrong.total() / units.total())
    assert shown["error"]["value"] == pytest.approx(1 - one.row["at_threshold"]["accuracy"]["value"])
    assert (shown["undated"], shown["left_out"], shown["reason"]) == (0, 0, None)


def test_the_last_label_of_a_unit_says_its_week_also_where_a_year_ends():
    days = ("2026-12-20", None, "2027-01-03")
    _, one, shown = weeks(dated(evidence(), lambda place: days[place % 3]))
    assert [(row["week"], row["monday"]) for row in shown["weeks"]] == [("2026-W53", "2026-12-28")]
    assert shown["weeks"][0]["units"] == len(one.decisions)


def test_units_without_a_date_are_counted():
    found = dated(evidence(), lambda place: "2026-03-02" if place < 360 else None)
    _, one, shown = weeks(found)
    assert shown["undated"] == len(one.decisions) - shown["weeks"][0]["units"] > 0


def test_without_dates_a_reason():
    assert weeks(evidence())[2]["reason"] == NO_DATES
    shown = weeks(dated(evidence(), lambda place: None))[2]
    assert (shown["reason"], shown["weeks"], shown["error"]["value"]) == (NO_DATES, [], None)
    assert shown["undated"] > 0


def test_the_latest_weeks_are_listed():
    found = dated(evidence(), lambda place: (date(2026, 1, 5) + timedelta(weeks=place // 18)).isoformat())
    shown = weeks(found)[2]
    assert (len(shown["weeks"]), shown["left_out"]) == (MAX_WEEKS, 40 - MAX_WEEKS)
    assert shown["weeks"][-1]["week"] == "2026-W41"


def test_labels_where_nothing_passes():
    plain = evidence(criterion=KINDS, values=["abc"[place // 3 % 3] for place in range(720)], is_dev={})
    labels = {unit: "abc"[place % 4 % 3] for place, unit in enumerate(sorted(set(plain.units)))}
    judge = JudgeScores("labels", "1", "kind", True, labels=labels)
    found = dated(replace(plain, judges=[judge]), lambda place: "2026-03-02")
    people = dict(zip(found.units, found.values, strict=True))
    _, _, shown = weeks(found)
    assert shown["weeks"][0]["wrong"] == sum(labels[unit] != people[unit] for unit in labels)
    assert shown["weeks"][0]["units"] == len(labels)
