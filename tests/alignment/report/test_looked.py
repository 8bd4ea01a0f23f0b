"""What a look decides, and that no figure of it knows a label without its chance."""

from dataclasses import replace

import numpy as np
import pytest

from alignment import Endpoint, level_of_look
from alignment.base.estimate import remark
from alignment.report import (
    Chance,
    DrawnBy,
    Evidence,
    Judged,
    applied,
    evidence_as_dict,
    evidence_from_dict,
    looked,
    reference_of,
    report_figures,
)
from tests.alignment.report.building import GRADES, evidence

ALL = Chance(1.0, 1)


def world(samples=200, **fields):
    """All samples drawn for certain."""
    found = evidence(samples, **fields)
    return replace(found, chances=dict.fromkeys(sorted(found.is_dev), ALL))


def look(found, number=1, **more):
    return looked(Judged(reference_of(found), found.judges[0]), number, **more)


def without_scores(found, left_out):
    said = found.judges[0]
    numbers = {unit: score for unit, score in said.numbers.items() if not left_out(unit)}
    return replace(found, judges=[replace(said, numbers=numbers)])


def test_the_endpoint_alone_has_the_level_of_the_look():
    found = look(world(), 4).row
    assert found["figure"]["level"] == found["region"]["confidence"] == level_of_look(4)
    others = [found[name] for name in ("kappa", "tpr", "tnr", "accuracy", "roc_auc", "error", "ceiling", "coverage")]
    assert {one["level"] for one in others} == {0.95}
    assert found["figure"]["value"] == pytest.approx(found["kappa"]["value"])


def test_labels_without_a_known_chance_are_in_no_figure():
    """Neither what people said of them nor what the judge did changes anything but how many are left out."""
    found = world()
    chosen = {f"s{place:03}" for place in range(0, 200, 3) if not found.is_dev[f"s{place:03}"]}
    known = {name: chance for name, chance in found.chances.items() if name not in chosen}
    some = replace(found, chances=known, drawn_by=[DrawnBy("all", len(known), "Ann", "2026-11-23", 1)])
    turned = ["fail" if value == "pass" else "pass" for value in found.values]
    otherwise = replace(
        some, values=[turned[at] if unit[0] in chosen else some.values[at] for at, unit in enumerate(some.units)]
    )
    one, other = look(some), look(otherwise)
    assert one.row == other.row
    assert one.test == other.test
    assert not chosen & one.test.keys()
    assert one.row["drawn"] == {
        "units": 2 * (100 - len(chosen)),
        "samples": 100 - len(chosen),
        "left_out": 2 * len(chosen),
    }
    assert one.row["drawn_by"][0]["by"] == "Ann"
    assert one.chances == dict.fromkeys(one.test, ALL)


def test_a_label_counts_as_often_as_its_chance_says():
    """Every value is that of data in which a sample drawn by half is there twice."""
    found = evidence(160, criterion=GRADES, values=[1 + (place // 3 + place // 12) % 4 for place in range(960)])
    halved = {name: int(name[1:]) % 3 == 0 and not is_dev for name, is_dev in found.is_dev.items()}
    chances = {name: Chance(0.5, 2) if rare else ALL for name, rare in halved.items()}
    weighted = look(replace(found, chances=chances)).row
    again = [at for at, unit in enumerate(found.units) if halved[unit[0]]]
    copy = lambda unit: (f"{unit[0]}b", unit[1])  # noqa: E731
    said = found.judges[0]
    twice = replace(
        found,
        units=[*found.units, *(copy(found.units[at]) for at in again)],
        raters=[*found.raters, *(found.raters[at] for at in again)],
        values=[*found.values, *(found.values[at] for at in again)],
        judges=[replace(said, numbers=said.numbers | {copy(u): s for u, s in said.numbers.items() if halved[u[0]]})],
        is_dev=dict(found.is_dev) | {f"{name}b": False for name, rare in halved.items() if rare},
    )
    plain = look(twice).row
    for name in ("kappa", "tpr", "tnr", "accuracy", "roc_auc", "error", "ceiling"):
        assert weighted[name]["value"] == pytest.approx(plain[name]["value"]), name
    assert weighted["cutpoints"]["kappa"]["value"] == pytest.approx(plain["cutpoints"]["kappa"]["value"])
    assert weighted["calibrated"]["kappa"]["value"] == pytest.approx(plain["calibrated"]["kappa"]["value"])
    assert weighted["calibrated"]["brier"]["value"] == pytest.approx(plain["calibrated"]["brier"]["value"])
    unweighted = look(replace(found, chances=dict.fromkeys(chances, ALL))).row
    assert weighted["roc_auc"]["value"] != pytest.approx(unweighted["roc_auc"]["value"])


def test_applying_knows_the_chances():
    found = world(200)
    rare = replace(found, chances={name: Chance(0.5, 2) if int(name[1:]) % 3 else ALL for name in found.chances})
    shares = []
    for one in (rare, found):
        seen = look(one)
        twice = {f"{name}b": counts for name, counts in seen.test.items() if one is found and int(name[1:]) % 3}
        given = (seen.row, seen.test | twice, [0.2, 0.9, 0.8], [None] * 3)
        chances = seen.chances | dict.fromkeys(twice, ALL)
        rate = applied(*given, chances=chances, higher_is_better=True, groups={}).rate
        shares.append((rate.tpr.value, rate.tnr.value))
    assert shares[0] == pytest.approx(shares[1])


def test_without_a_known_chance_nothing_is_permitted():
    found = look(evidence(200, judge_right=0.97, right=0.95)).row
    assert found["decision"]["verdict"] == "cannot_tell"
    assert found["decision"]["reason"] == remark("endpoint_kappa_unknown", why=remark("no_known_chance"))
    assert found["drawn"] == {"units": 0, "samples": 0, "left_out": 200}
    assert found["figure"]["value"] is None
    assert (found["region"]["distance"], found["region"]["reason"]) == (None, remark("region_after_endpoint"))
    # They describe these labels.
    assert found["kappa"]["value"] > 0.8


def test_where_chances_are_known_of_others_only_there_is_nothing_to_see():
    found = world()
    dev = {name: chance for name, chance in found.chances.items() if found.is_dev[name]}
    assert look(replace(found, chances=dev)).row["reason"] == remark("none_drawn_on_test", n=200)


def test_what_was_not_scored_counts_as_decided_wrongly():
    found = world(400, judge_right=0.95)
    left_out = lambda unit: unit[1] == "claim:1" and int(unit[0][1:]) % 4 == 1  # noqa: E731
    part = look(without_scores(found, left_out)).row
    assert part["coverage"]["value"] == pytest.approx(0.75)
    assert part["decision"]["verdict"] == "cannot_tell"
    assert part["decision"]["reason"]["code"] == "coverage_low"
    # By hand: the judge wrong on all of these.
    reference = reference_of(found)
    said = found.judges[0]
    forced = {
        unit: (0.0 if reference.positive[unit] else 1.0) if left_out(unit) and not found.is_dev[unit[0]] else score
        for unit, score in said.numbers.items()
    }
    wrong = look(replace(found, judges=[replace(said, numbers=forced)])).row
    assert part["figure"]["value"] == pytest.approx(wrong["kappa"]["value"])
    assert part["kappa"]["value"] > part["figure"]["value"] + 0.3
    right = {unit: float(reference.positive[unit]) if left_out(unit) else said.numbers[unit] for unit in forced}
    best = look(replace(found, judges=[replace(said, numbers=right)])).row
    assert part["if_right"] == pytest.approx(best["kappa"]["value"])
    assert look(found).row["if_right"] is None


def test_a_region_is_tried_once_the_endpoint_has_passed_and_keeps_the_declared_risk():
    good = world(600, judge_right=0.995, right=1.0)
    assert look(good).row["decision"]["verdict"] == "alone_in_region"
    asked = look(replace(good, endpoint=Endpoint(risk=0.02))).row
    assert asked["region"]["risk"] == 0.02
    strict = look(replace(good, endpoint=Endpoint(bar=0.99))).row
    assert strict["decision"]["verdict"] == "cannot_tell"
    assert (strict["region"]["tried"], strict["region"]["reason"]) == ([], remark("region_after_endpoint"))


def test_the_declared_endpoint_decides():
    found = world(300, judge_right=0.9)
    less = look(replace(found, endpoint=Endpoint("kappa_less_people", -0.3))).row
    assert less["endpoint"]["name"] == "kappa_less_people"
    assert less["figure"]["value"] == pytest.approx(less["ceiling"]["value"])
    assert less["decision"]["reason"]["code"] == "less_people_reached"
    assert "kappa_reached" in [one["code"] for one in less["decision"]["for"]]


def test_hours_are_those_of_people_so_far():
    found = world(120, judge_right=0.65)
    known = look(found, seconds=60.0).row["decision"]
    assert known["verdict"] == "cannot_tell"
    assert known["hours"] == pytest.approx(known["more"] / 60)
    assert look(found).row["decision"]["hours"] is None


def test_dev_decides_provisionally_and_never_for_a_region():
    found = world(600, judge_right=1.0)
    (judge,) = report_figures(found)["judges"]
    assert (judge["decision"]["verdict"], judge["decision"]["part"]) == ("with_a_person", "dev")
    assert judge["drawn"] == {"units": 600, "samples": 300, "left_out": 0}
    (unknown,) = report_figures(replace(found, chances={}))["judges"]
    assert unknown["decision"]["reason"]["why"] == remark("no_known_chance")


def test_the_endpoint_goes_with_the_evidence():
    found = world(20)
    asked = replace(found, endpoint=Endpoint("kappa_less_people", -0.1, 0.05, 0.8))
    assert evidence_from_dict(evidence_as_dict(asked)).endpoint == asked.endpoint
    before = {name: one for name, one in evidence_as_dict(found).items() if name != "endpoint"}
    assert evidence_from_dict(before).endpoint == Endpoint()
    assert isinstance(evidence_from_dict(before), Evidence)
    assert np.isfinite(look(world(60)).row["kappa"]["value"])


def test_the_certified_error_rate_counts_what_was_not_scored_as_wrong():
    """As the watch does with audits; what nobody asked about is in neither."""
    found = world()
    gone = {unit for unit in found.judges[0].numbers if unit[0].endswith("7") and not found.is_dev[unit[0]]}
    bare = without_scores(found, gone.__contains__)
    failed = replace(bare, judges=[replace(bare.judges[0], failed=dict.fromkeys(gone, "refused"))])
    whole, unasked, refused = (look(one).row["error"] for one in (found, bare, failed))
    wrong = sum(fp + fn for _, fp, fn, _ in look(bare).test.values())
    assert refused["n"] == whole["n"] == unasked["n"] + len(gone)
    assert refused["value"] == pytest.approx((wrong + len(gone)) / whole["n"])
