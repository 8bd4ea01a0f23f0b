"""Asked again: agreement, flips and distances of pairs, counted one by one."""

from dataclasses import replace
from itertools import combinations
from statistics import mean

import numpy as np
import pytest

from alignment.report import JudgeScores
from alignment.report.values import NO_THRESHOLD, ONCE, judge_steadiness
from tests.alignment.report.building import KINDS, compared, evidence


def asked_again(found, seed=3):
    rng = np.random.default_rng(seed)
    judge = found.judges[0]
    again = {
        unit: [float(np.clip(score + rng.normal(0, 0.2), 0, 1)) for _ in range(1 + place % 2)]
        for place, (unit, score) in enumerate(judge.numbers.items())
        if place % 3
    }
    return replace(found, judges=[replace(judge, again=again)])


@pytest.mark.parametrize("higher", [True, False])
def test_pairs_one_by_one(higher):
    found = asked_again(evidence())
    judge = found.judges[0]
    if not higher:
        turned = {unit: 1 - score for unit, score in judge.numbers.items()}
        again = {unit: [1 - score for score in scores] for unit, scores in judge.again.items()}
        found = replace(found, judges=[replace(judge, numbers=turned, again=again, higher_is_better=False)])
        judge = found.judges[0]
    reference, one = compared(found)
    shown = judge_steadiness(reference, one)
    threshold = one.row["at_threshold"]["threshold"]
    answers = {unit: [judge.numbers[unit], *more] for unit, more in judge.again.items() if found.is_dev[unit[0]]}
    passes = {u: [score >= threshold if higher else score <= threshold for score in s] for u, s in answers.items()}
    agreement = mean(mean(a == b for a, b in combinations(said, 2)) for said in passes.values())
    assert shown["agreement"]["value"] == pytest.approx(agreement)
    assert shown["flip_rate"]["value"] == pytest.approx(mean(len(set(said)) > 1 for said in passes.values()))
    assert shown["moved"]["value"] == pytest.approx(
        mean(mean(abs(a - b) for a, b in combinations(said, 2)) for said in answers.values())
    )
    assert shown["moved"]["low"] < shown["moved"]["value"] < shown["moved"]["high"]
    assert (shown["units"], shown["answers"]) == (len(answers), sum(map(len, answers.values())))
    assert shown["scores"] == [min(map(min, answers.values())), max(map(max, answers.values()))]


def test_labels():
    plain = evidence(criterion=KINDS, values=["abc"[place // 3 % 3] for place in range(720)], is_dev={})
    units = sorted(set(plain.units))
    labels = {unit: "abc"[place % 3] for place, unit in enumerate(units)}
    # A number among its labels is a failure.
    again = {unit: [labels[unit] if place % 4 else "a", 0.5] for place, unit in enumerate(units[:40])}
    judge = JudgeScores("labels", "1", "kind", True, labels=labels, again=again)
    shown = judge_steadiness(*compared(replace(plain, judges=[judge])))
    assert (shown["basis"], shown["units"], shown["answers"], shown["moved"]) == ("labels", 40, 80, None)
    flips = sum(again[unit][0] != labels[unit] for unit in again)
    assert shown["flip_rate"]["value"] == pytest.approx(flips / 40)


def test_labels_that_pass_are_read_as_pass():
    plain = evidence()
    labels = {unit: "pass" if score > 0.5 else "fail" for unit, score in plain.judges[0].numbers.items()}
    judge = JudgeScores("labels", "1", "ok", True, labels=labels, again={unit: [labels[unit]] for unit in labels})
    shown = judge_steadiness(*compared(replace(plain, judges=[judge])))
    assert (shown["basis"], shown["agreement"]["value"], shown["flip_rate"]["value"]) == ("pass or fail", 1.0, 0.0)


def test_asked_once_and_without_a_threshold():
    once = judge_steadiness(*compared(evidence()))
    assert (once["reason"], once["agreement"]["reason"], once["moved"]) == (ONCE, ONCE, None)
    everything = asked_again(evidence(values=["pass"] * 720))
    shown = judge_steadiness(*compared(everything))
    assert (shown["reason"], shown["basis"], shown["agreement"]["reason"]) == (None, None, NO_THRESHOLD)
    assert shown["moved"]["value"] > 0
