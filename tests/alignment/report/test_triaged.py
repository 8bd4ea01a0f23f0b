"""Triage as reports and looks show it, held against the definitions."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from alignment.base.estimate import remark
from alignment.judging.looks import level_of_look
from alignment.judging.share_bound import mean_share_bound
from alignment.judging.triage import RISK
from alignment.report import (
    Chance,
    Criterion,
    Evidence,
    Judged,
    JudgeScores,
    Option,
    compare,
    on_test,
    reference_of,
    region_on_test,
    report_figures,
)
from alignment.report.lots import whole_or_by_lot
from alignment.report.triaged import triage_figures

ASKED = Criterion("ok", 1, "OK", "claim", "binary", "Right?", (Option(True, "Yes"), Option(False, "No")), (True,))


def evidence(samples=600, per_sample=2, noise=0.5, *, lower=False, seed=5):
    """People's verdicts on claims, and a judge whose score is theirs (1 or -1) with normal noise."""
    rng = np.random.default_rng(seed)
    units = [(f"s{sample:04}", f"claim:{claim}") for sample in range(samples) for claim in range(per_sample)]
    truth = rng.random(len(units)) < 0.5
    score = (2.0 * truth - 1) * (-1 if lower else 1) + rng.normal(0, noise, len(units))
    return Evidence(
        criterion=ASKED,
        seed=7,
        units=units,
        raters=["ann"] * len(units),
        values=truth.tolist(),
        verdicts={},
        judges=[JudgeScores("j", "1", "ok", not lower, dict(zip(units, score.tolist(), strict=True)))],
        is_dev={f"s{sample:04}": sample % 2 == 0 for sample in range(samples)},
    )


def judged(found):
    return Judged(reference_of(found), found.judges[0])


def best_threshold(score, human, lower):
    """By trying every score; of equal kappas the lowest."""
    kappas = {one: cohen_kappa_score(human, score <= one if lower else score >= one) for one in sorted(set(score))}
    return next(one for one, kappa in kappas.items() if kappa >= max(kappas.values()) - 1e-12)


@pytest.mark.parametrize("lower", [False, True])
def test_risk_and_coverage_by_the_definition(lower):
    found = evidence(samples=120, noise=1.0, lower=lower)
    reference, scores = reference_of(found), found.judges[0].numbers
    dev = [unit for unit in found.units if found.is_dev[unit[0]]]
    score, human = (np.array([of[unit] for unit in dev]) for of in (scores, reference.positive))
    fold = np.array([reference.fold_of[sample] for sample, _ in dev])
    cut = np.array([best_threshold(score[fold != one], human[fold != one], lower) for one in range(5)])[fold]
    away, wrong = abs(score - cut), (score <= cut if lower else score >= cut) != human

    one = compare(reference, found.judges[0])
    shown = triage_figures(reference, one)
    # Every fold has a unit right at its threshold; those are one step.
    assert 95 <= len(shown["curve"]["coverage"]) <= 100
    for coverage, risk in zip(*shown["curve"].values(), strict=True):
        surest = np.argsort(-away)[: round(coverage * len(dev))]
        assert risk == pytest.approx(wrong[surest].mean())
    assert [round(row["coverage"], 2) for row in shown["rows"]] == pytest.approx(np.arange(1, 11) / 10, abs=0.01)
    for row in shown["rows"]:
        kept = away >= row["distance"] * (1 - 1e-9)
        assert row["coverage"] == pytest.approx(kept.mean())
        assert row["error"]["value"] == pytest.approx(wrong[kept].mean())
        assert (row["error"]["n"], row["error"]["reason"]) == (kept.sum(), None)
        assert row["error"]["clusters"] == len({sample for (sample, _), far in zip(dev, kept, strict=True) if far})
    assert shown["aurc"]["value"] == pytest.approx(np.mean([wrong[away >= unit].mean() for unit in away]))
    assert shown["aurc"]["low"] < shown["aurc"]["value"] < shown["aurc"]["high"]
    # All decisions kept, and the confusion matrix that stands beside it, err alike.
    assert shown["curve"]["risk"][-1] == pytest.approx(1 - one.row["at_threshold"]["accuracy"]["value"])


def test_scores_that_tie_are_kept_together():
    found = evidence(samples=60)
    said = found.judges[0]
    coarse = replace(said, numbers={unit: float(np.round(score)) for unit, score in said.numbers.items()})
    shown = triage_figures(reference_of(found), compare(reference_of(found), coarse))
    steps = len(set(coarse.numbers.values()))
    assert len(shown["curve"]["risk"]) <= 2 * steps
    assert shown["curve"]["coverage"][-1] == 1


def test_no_curve_says_why():
    found = evidence(samples=40)
    reference, said = reference_of(found), found.judges[0]
    labels = replace(said, numbers={}, labels={unit: score > 0 for unit, score in said.numbers.items()})
    for judge, why in ((labels, "no_distance"), (replace(said, numbers={}), "no_scores")):
        shown = triage_figures(reference, compare(reference, judge))
        assert shown["curve"] == {"coverage": [], "risk": []}
        assert shown["rows"] == []
        assert shown["reason"] == remark(why)
        assert shown["aurc"]["reason"] == shown["reason"]


def test_scores_further_apart_than_the_greatest_number():
    found = evidence(samples=40)
    one = compare(reference_of(found), found.judges[0])
    far = replace(one, margins={unit: math.inf if margin > 0 else margin for unit, margin in one.margins.items()})
    shown = triage_figures(reference_of(found), far)
    assert shown["rows"][0]["distance"] == sys.float_info.max
    assert shown["curve"]["coverage"][0] == pytest.approx(np.mean([margin > 0 for margin in one.margins.values()]))


def test_nothing_of_test_is_in_it():
    found = evidence(samples=100)
    said = found.judges[0]
    other = {unit: score if found.is_dev[unit[0]] else -score for unit, score in said.numbers.items()}
    turned = report_figures(replace(found, judges=[replace(said, numbers=other)]))
    plain = report_figures(found)
    assert turned["judges"][0]["roc_auc"] != plain["judges"][0]["roc_auc"]
    assert turned["judges"][0]["triage"] == plain["judges"][0]["triage"]


@pytest.mark.parametrize("lower", [False, True])
def test_the_region_is_the_widest_of_its_steps_whose_bounds_on_test_stay_under_the_risk(lower):
    one, level = judged(evidence(noise=0.8, lower=lower)), level_of_look(2)
    threshold = on_test(one).row["threshold"]
    region = region_on_test(one, threshold, level)
    assert (region["threshold"], region["risk"], region["confidence"]) == (threshold, RISK, level)
    held = []
    for step in region["tried"]:
        bounds = []
        for name, people in (("false_passes", False), ("false_fails", True)):
            units = [
                unit
                for unit in one.test
                if abs(one.scores[unit] - threshold) >= step["distance"] and one.reference.positive[unit] is people
            ]
            passed = {unit: one.scores[unit] <= threshold if lower else one.scores[unit] >= threshold for unit in units}
            wrong = np.array([passed[unit] is not people for unit in units])
            samples = np.array([int(sample[1:]) for sample, _ in units])
            bounds.append(
                mean_share_bound(
                    wrong, samples, np.ones(len(units)), level, single=False, name=name.replace("_", " "), undefined={}
                )
            )
            assert step[name] == bounds[-1].as_dict()
        if max(bound.high for bound in bounds) <= RISK:
            held.append(step)
    assert region["distance"] == held[-1]["distance"] == min(step["distance"] for step in held)
    assert {name: region[name] for name in ("false_passes", "false_fails")} == {
        name: held[-1][name] for name in ("false_passes", "false_fails")
    }
    assert region["tried"][: len(held)] == held
    inside = sum(abs(one.scores[unit] - threshold) >= region["distance"] for unit in one.test)
    assert 0 < inside < len(one.test)
    assert region["inside"]["value"] == pytest.approx(inside / len(one.test))
    assert region["inside"]["level"] == level


def test_what_the_judge_left_out_lies_outside_the_region():
    found = evidence(noise=0.5)
    said, threshold = found.judges[0], 0.0
    left_out = {unit for unit in found.units if unit[1] == "claim:1" and int(unit[0][1:]) % 4 == 1}
    numbers = {unit: score for unit, score in said.numbers.items() if unit not in left_out}
    full, part = (
        region_on_test(judged(replace(found, judges=[replace(said, numbers=given)])), threshold)
        for given in (said.numbers, numbers)
    )
    assert part["inside"]["n"] == full["inside"]["n"] == 600
    assert part["distance"] == full["distance"] == 0.0
    assert (full["inside"]["value"], part["inside"]["value"]) == (1.0, 0.75)


def test_labels_stand_for_as_many_as_their_chance_says_and_chosen_ones_for_none():
    found = evidence(noise=0.5)
    said, truth = found.judges[0].numbers, zip(found.units, found.values, strict=True)
    wrong = {unit[0] for unit, value in truth if (said[unit] >= 0) != value}
    samples = {sample for sample, _ in found.units}
    plain = region_on_test(judged(found), 0.0)
    alike = region_on_test(judged(replace(found, chances=dict.fromkeys(samples, Chance(0.4, 1)))), 0.0)
    assert {**alike, "inside": None} == {**plain, "inside": None}
    # Samples with an error stand for five each, as the judge's outcomes decided who was asked.
    heavy = {sample: Chance(0.2, 2) if sample in wrong else Chance(1.0, 1) for sample in samples}
    weighed = region_on_test(judged(replace(found, chances=heavy)), 0.0)
    assert weighed["tried"][-1]["false_passes"]["value"] > 3 * plain["tried"][-1]["false_passes"]["value"]
    # Those that were chosen are in no promise.
    right = {sample: Chance(1.0, 1) for sample in samples - wrong}
    only = region_on_test(judged(replace(found, chances=right)), 0.0)
    assert only["false_passes"]["value"] == only["false_fails"]["value"] == 0
    assert only["inside"]["n"] == 2 * len([sample for sample in right if not found.is_dev[sample]])


def test_a_later_look_certifies_less():
    one = judged(evidence(noise=0.9))
    first, ninth = (region_on_test(one, 0.0, level_of_look(look)) for look in (1, 9))
    assert ninth["distance"] is None or ninth["distance"] > first["distance"]
    assert first["distance"] is not None


def test_no_region_says_why():
    weak = region_on_test(judged(evidence(noise=5.0)), 0.0)
    assert weak["distance"] is None
    assert (weak["reason"]["code"], weak["reason"]["why"]["code"]) == ("no_region", "false_passes_above_risk")
    assert weak["false_passes"]["value"] > RISK
    assert weak["inside"]["value"] is None
    few = region_on_test(judged(evidence(samples=20)), 0.0)
    assert (few["distance"], [step["distance"] for step in few["tried"]]) == (None, [0.0])
    assert few["reason"]["why"]["code"] == "few_failed_groups"
    labels = region_on_test(judged(evidence()), None)
    assert (labels["distance"], labels["tried"]) == (None, [])
    assert labels["reason"] == labels["false_passes"]["reason"] == labels["inside"]["reason"]
    assert labels["reason"] == remark("no_distance")


def test_of_a_group_that_was_drawn_in_part_one_sample_counts_which_is_chosen_by_lot():
    units = [(f"s{place}", "answer") for place in range(400)]
    found = replace(
        evidence(samples=1),
        units=units,
        groups={sample: f"g{place // 4}" for place, (sample, _) in enumerate(units)},
        chances={sample: Chance(0.5, 1) for place, (sample, _) in enumerate(units) if place % 4 < 3},
    )
    drawn = [unit for unit in units if unit[0] in found.chances]
    kept = whole_or_by_lot(found, drawn)
    assert len({found.group_of(sample) for sample, _ in kept}) == len(kept)
    # The lot falls on each of four alike, drawn or not, whatever is said of them.
    assert 60 < len(kept) < 90
    assert kept == whole_or_by_lot(replace(found, values=[not value for value in found.values]), drawn)
    # By one chance, all of it was drawn: it is whole.
    whole = replace(found, chances=dict.fromkeys((sample for sample, _ in units), Chance(0.5, 1)))
    assert whole_or_by_lot(whole, units) == units
    # In parts by different chances it isn't, however much of it was.
    parts = replace(whole, chances={**whole.chances, **{f"s{place}": Chance(1.0, 0) for place in range(0, 400, 4)}})
    assert len(whole_or_by_lot(parts, units)) == 100
    # A member of which nothing is known but that there is one.
    more = replace(whole, groups={**whole.groups, "unasked": "g0"})
    assert len(whole_or_by_lot(more, units)) in (396, 397)
    for alone in (replace(found, chances={}), replace(found, groups={})):
        assert whole_or_by_lot(alone, units) == units


def test_chances_that_only_dev_has_count_on_test():
    """Of samples that hardly ever come, often none is on test; that makes no other label say more."""
    found = evidence(noise=0.5)
    samples = sorted({sample for sample, _ in found.units})
    seldom = {sample for sample in samples if found.is_dev[sample]} - set(samples[:400])
    chances = {sample: Chance(0.02, 2) if sample in seldom else Chance(0.5, 1) for sample in samples}
    alike = dict.fromkeys(samples, Chance(0.5, 1))
    some, none = (region_on_test(judged(replace(found, chances=one)), 0.0) for one in (alike, chances))
    assert some["distance"] is not None
    assert none["distance"] is None
