"""Parts of the data: kappas of scikit-learn, a bad part that is found, and keys that tell nothing apart; and weeks."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest
from sklearn.metrics import cohen_kappa_score

from alignment.base.estimate import remark
from alignment.report import JudgeScores
from alignment.report.slices import (
    MAX_KEYS,
    MAX_SLICES,
    MAX_WEEKS,
    NO_DATES,
    NO_KEY,
    NO_METADATA,
    judge_slices,
    judge_weeks,
    labelled_units,
)
from tests.alignment.report.building import KINDS, compared, evidence


def with_metadata(found, keys):
    samples = sorted(found.is_dev)
    return replace(
        found,
        metadata={
            sample: {key: value for key, of in keys.items() if (value := of(place)) is not None}
            for place, sample in enumerate(samples)
        },
    )


def language(place):
    return ("en", "de", "fr")[place // 2 % 3]


def test_each_part_by_scikit_learn():
    found = with_metadata(evidence(), {"language": language})
    reference, one = compared(found)
    shown = judge_slices(reference, one)
    assert (shown["reason"], shown["tested"], shown["skipped"]) == (None, 3, [])
    assert [(part["key"], part["value"]) for part in shown["slices"]] == [
        ("language", each) for each in ("de", "en", "fr")
    ]
    for part in shown["slices"]:
        parted = {True: [], False: []}
        for unit, passes in one.decisions.items():
            here = found.metadata[unit[0]]["language"] == part["value"]
            parted[here].append((reference.positive[unit], passes))
        kappa = {here: cohen_kappa_score(*zip(*rows, strict=True)) for here, rows in parted.items()}
        assert part["n"] == len(parted[True])
        assert part["kappa"] == pytest.approx(kappa[True])
        assert part["difference"]["value"] == pytest.approx(kappa[True] - kappa[False])
        assert part["tpr"] == pytest.approx(
            sum(judge for human, judge in parted[True] if human) / sum(human for human, _ in parted[True])
        )


def test_a_bad_part_is_called_worse():
    found = with_metadata(evidence(300, judge_right=0.95), {"language": language})
    judge = found.judges[0]
    turned = {
        unit: 1 - score if found.metadata[unit[0]]["language"] == "fr" and unit[1] == "claim:0" else score
        for unit, score in judge.numbers.items()
    }
    found = replace(found, judges=[replace(judge, numbers=turned)])
    worse = {part["value"]: part["worse"] for part in judge_slices(*compared(found))["slices"]}
    assert worse == {"de": False, "en": False, "fr": True}


def test_keys_that_tell_nothing_apart_are_named():
    keys = {
        "id": str,
        "always": lambda place: "x",
        "rare": lambda place: f"r{place // 2 % 15}",
        "half": lambda place: True if place % 4 < 2 else None,
        "tail": lambda place: "rare" if place < 6 else "usual" if place < 80 else "other",
    }
    shown = judge_slices(*compared(with_metadata(evidence(), keys)))
    assert {one["key"]: one["reason"] for one in shown["skipped"]} == {
        "id": remark("many_values", n=20),
        "always": remark("same_value_everywhere"),
        "rare": remark("no_large_value", n=10),
        "half": remark("same_value_everywhere"),
    }
    # Three samples of dev are too few to be a part of their own; they stay in the rest of the others.
    assert [part["value"] for part in shown["slices"]] == ["other", "usual"]


def test_there_is_an_end_to_parts():
    keys = {f"k{number:02}": (lambda place, n=number: f"v{(place // 2 + n) % 5}") for number in range(12)}
    shown = judge_slices(*compared(with_metadata(evidence(), keys)))
    assert len({part["key"] for part in shown["slices"]}) == MAX_KEYS
    assert (len(shown["slices"]), shown["skipped_in_all"]) == (40, 4)
    assert [one["reason"] for one in shown["skipped"]] == [remark("enough_others")] * 4
    wide = {f"k{number}": (lambda place, n=number: f"v{(place // 2 + n) % 16}") for number in range(5)}
    many = judge_slices(*compared(with_metadata(evidence(400, claims=1), wide)))
    assert len(many["slices"]) == 48 <= MAX_SLICES


def test_without_metadata_without_keys_and_without_passes():
    assert judge_slices(*compared(evidence()))["reason"] == NO_METADATA
    assert judge_slices(*compared(with_metadata(evidence(), {"id": str})))["reason"] == NO_KEY
    labels = evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={})
    assert judge_slices(*compared(labels))["reason"] == remark("no_passes")
    silent = with_metadata(evidence(judges=[JudgeScores("silent", "1", "ok", True)]), {"language": language})
    assert judge_slices(*compared(silent))["reason"] == remark("no_scores")


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


def test_weeks_of_labels_where_nothing_passes():
    plain = evidence(criterion=KINDS, values=["abc"[place // 3 % 3] for place in range(720)], is_dev={})
    labels = {unit: "abc"[place % 4 % 3] for place, unit in enumerate(sorted(set(plain.units)))}
    judge = JudgeScores("labels", "1", "kind", True, labels=labels)
    found = dated(replace(plain, judges=[judge]), lambda place: "2026-03-02")
    people = dict(zip(found.units, found.values, strict=True))
    _, _, shown = weeks(found)
    assert shown["weeks"][0]["wrong"] == sum(labels[unit] != people[unit] for unit in labels)
    assert shown["weeks"][0]["units"] == len(labels)
