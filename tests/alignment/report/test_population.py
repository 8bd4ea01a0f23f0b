"""The share of all that would pass: against ppi_mean on columns made here by hand, and why there may be none."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from alignment import ppi_mean
from alignment.report import Chance, JudgeScores
from alignment.report.judged import NO_REFERENCE, NO_SCORES
from alignment.report.planned import ALL_LABELLED, FEW_LABELLED, population_figures
from alignment.report.reference import NO_PASSES
from tests.alignment.report.building import KINDS, compared, evidence

PARTS = ("classical", "tuned", "plain")


def figures(found):
    return population_figures(compared(found)[1].judged)


def half_labelled(keep=lambda unit: int(unit[0][1:]) < 60, **fields):
    """120 samples of two claims with scores, of which those kept have labels."""
    found = evidence(**fields)
    rows = [
        row for row in zip(found.units, found.raters, found.values, strict=True) if keep(row[0]) and row[0][0] != "s007"
    ]
    units, raters, values = zip(*rows, strict=True)
    return replace(found, units=units, raters=raters, values=values)


def by_hand(found, score_of):
    """ppi_mean of a plain count of votes, sample names as clusters."""
    votes = {}
    for unit, value in zip(found.units, found.values, strict=True):
        votes.setdefault(unit, []).append(value == "pass")
    scored = list(found.judges[0].numbers or found.judges[0].labels)
    labelled = sorted(unit for unit in scored if unit in votes and 2 * sum(votes[unit]) != len(votes[unit]))
    others = [unit for unit in scored if unit not in votes]
    human = [float(2 * sum(votes[unit]) > len(votes[unit])) for unit in labelled]
    columns = [score_of(unit) for unit in labelled], [unit[0] for unit in labelled]
    return (
        human,
        columns[1],
        ppi_mean(
            human,
            *columns,
            [score_of(unit) for unit in others],
            [unit[0] for unit in others],
            bounds=(0.0, 1.0),
            interval="jackknife",
        ),
    )


def same(shown, expected):
    for name in PARTS:
        hand = getattr(expected, name)
        for end in ("value", "low", "high"):
            assert shown[name][end] == pytest.approx(getattr(hand, end), abs=1e-12)
        assert (shown[name]["n"], shown[name]["clusters"]) == (hand.n, hand.clusters)
    assert shown["weight"] == pytest.approx(expected.weight, abs=1e-12)


WHOLE_SAMPLES = pytest.param(lambda unit: int(unit[0][1:]) < 60, id="whole samples")
ONE_OF_TWO_CLAIMS = pytest.param(lambda unit: unit[1] == "claim:0", id="one of two claims")


@pytest.mark.parametrize("keep", [WHOLE_SAMPLES, ONE_OF_TWO_CLAIMS])
def test_scores_as_they_are(keep):
    found = half_labelled(keep, people=("ann", "bob"))
    human, samples, expected = by_hand(found, found.judges[0].numbers.__getitem__)
    shown = figures(found)
    same(shown, expected)
    assert 0.1 < shown["weight"] < 1
    labelled = set(found.units)
    assert shown["ties"] == len(labelled) - len(human) > 0
    assert shown["labelled"] == {"units": len(human), "samples": len(set(samples))}
    others = found.judges[0].numbers.keys() - labelled
    assert shown["unlabelled"] == {"units": len(others), "samples": len({sample for sample, _ in others})}
    assert shown["reason"] is None
    assert shown["drawn"] is False
    json.dumps(shown, allow_nan=False)


def test_labels_alone_are_a_mean_with_its_error_over_samples():
    found = half_labelled()
    human, samples, _ = by_hand(found, found.judges[0].numbers.__getitem__)
    mean, names = np.mean(human), sorted(set(samples))
    sums = np.array([sum(h - mean for h, at in zip(human, samples, strict=True) if at == name) for name in names])
    error = np.sqrt((sums**2).sum()) / len(human)
    shown = figures(found)["classical"]
    assert shown["value"] == pytest.approx(mean)
    # As wide as t times the error, but for what an exact interval adds, and on the farther side of one half.
    half = stats.t.ppf(0.975, len(names) - 1) * error
    assert shown["high"] - shown["low"] == pytest.approx(2 * half, rel=0.1)


def test_lower_scores_may_be_better():
    found = half_labelled()
    judge = found.judges[0]
    turned = replace(judge, higher_is_better=False, numbers={unit: -score for unit, score in judge.numbers.items()})
    assert figures(replace(found, judges=[turned])) == figures(found)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_labels_are_pass_and_fail(higher_is_better):
    found = half_labelled()
    labels = {unit: "pass" if score > 0.5 else "fail" for unit, score in found.judges[0].numbers.items()}
    found = replace(found, judges=[JudgeScores("judge", "1", "ok", higher_is_better, labels=labels)])
    shown = figures(found)
    same(shown, by_hand(found, lambda unit: float(labels[unit] == "pass"))[2])
    assert shown["weight"] > 0.1


def test_both_halves_count():
    """No threshold is chosen, so unlike the figures at one it rests on all labelled units, test and dev."""
    found = half_labelled()
    assert figures(replace(found, is_dev=dict.fromkeys(found.is_dev, True))) == figures(found)
    _, one = compared(found)
    assert population_figures(one.judged)["labelled"]["units"] == len(one.judged.dev) + len(one.judged.test)


def test_a_verdict_is_a_label_and_goes_before_the_votes():
    found = half_labelled()
    unit, other = found.units[0], ("s007", "claim:0")
    before, passes = figures(found), compared(found)[0].positive[unit]
    shown = figures(replace(found, verdicts={unit: "fail" if passes else "pass", other: "pass"}))
    assert shown["labelled"]["units"] == before["labelled"]["units"] + 1
    assert shown["unlabelled"]["units"] == before["unlabelled"]["units"] - 1
    n, passed = before["labelled"]["units"], before["classical"]["value"] * before["labelled"]["units"]
    assert shown["classical"]["value"] == pytest.approx((passed + (-1 if passes else 1) + 1) / (n + 1))


def test_unequal_chances_are_told():
    """s000 is labelled, s100 is not; a labelled sample without a chance was chosen."""
    alike = dict.fromkeys((f"s{n:03}" for n in range(120)), Chance(0.5, 1))
    for chances, told in (
        (alike, False),
        ({**alike, "s000": Chance(1, 0)}, True),
        ({"s000": Chance(1, 0)}, True),
        ({"s100": Chance(0.5, 1)}, False),
    ):
        assert figures(half_labelled(chances=chances))["drawn"] is told


def test_why_there_is_none():
    every = evidence()
    shown = figures(every)
    assert shown["reason"] == shown["tuned"]["reason"] == shown["plain"]["reason"] == ALL_LABELLED
    assert (shown["tuned"]["value"], shown["plain"]["value"], shown["weight"]) == (None, None, None)
    assert shown["classical"]["value"] == pytest.approx(np.mean(list(compared(every)[0].positive.values())))
    assert shown["unlabelled"] == {"units": 0, "samples": 0}

    nobody = figures(evidence(units=[], raters=[], values=[], is_dev={}))
    assert nobody["unlabelled"] == {"units": 240, "samples": 120}
    strangers = {("z1", "claim:0"): 0.4, ("z2", "claim:0"): 0.6}
    elsewhere = figures(replace(every, judges=[replace(every.judges[0], numbers=strangers)]))
    silent = figures(replace(every, judges=[replace(every.judges[0], numbers={})]))
    kinds = figures(evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={}))
    whys = (nobody, NO_REFERENCE), (elsewhere, NO_SCORES), (silent, NO_SCORES), (kinds, NO_PASSES)
    for shown, reason in whys:
        assert shown["reason"] == reason
        for name in PARTS:
            assert (shown[name]["value"], shown[name]["reason"]) == (None, reason)
        json.dumps(shown, allow_nan=False)


def of_versions(found, of):
    return replace(found, versions={sample: of(int(sample[1:])) for sample, _ in found.judges[0].numbers})


def test_each_version_of_a_pipeline_has_its_own_share():
    found = of_versions(half_labelled(people=("ann", "bob")), lambda place: "v2" if place % 3 else "v1")
    shown = figures(found)
    same(shown, by_hand(found, found.judges[0].numbers.__getitem__)[2])
    assert [one["version"] for one in shown["versions"]] == ["v1", "v2"]
    for one in shown["versions"]:
        mine = {sample for sample, version in found.versions.items() if version == one["version"]}
        rows = zip(found.units, found.raters, found.values, strict=True)
        units, raters, values = zip(*[row for row in rows if row[0][0] in mine], strict=True)
        numbers = {unit: score for unit, score in found.judges[0].numbers.items() if unit[0] in mine}
        judges = [replace(found.judges[0], numbers=numbers)]
        alone = replace(found, units=units, raters=raters, values=values, judges=judges, versions={})
        _, samples, expected = by_hand(alone, numbers.__getitem__)
        same(one, expected)
        assert one["labelled"]["samples"] == len(set(samples)) >= 20
        assert one["reason"] is None
    json.dumps(shown, allow_nan=False)


def test_a_version_with_few_labels_has_no_share(monkeypatch):
    worked_out = []

    def counting(*columns, **how):
        worked_out.append(len(set(columns[2])))
        return ppi_mean(*columns, **how)

    monkeypatch.setattr("alignment.report.planned.ppi_mean", counting)
    found = of_versions(half_labelled(), lambda place: ("v1" if place < 19 else "v2") if place < 100 else "v3")
    first, second, third = figures(found)["versions"]
    for one, samples in ((first, 18), (third, 0)):
        assert (one["labelled"]["samples"], one["reason"]) == (samples, FEW_LABELLED)
        assert all(one[name]["value"] is None and one[name]["reason"] == FEW_LABELLED for name in PARTS)
    assert second["tuned"]["value"] is not None
    assert worked_out == [59, 41], "of all, and of the version with enough labels"


def test_one_version_is_no_part():
    assert "versions" not in figures(half_labelled())
    assert "versions" not in figures(of_versions(half_labelled(), lambda place: "v1"))
