"""Scores as they stand: average precision of scikit-learn, distances by hand, and unknown scales; and scores
that were asked for again, counted one by one."""

from dataclasses import replace
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from alignment.base.estimate import remark
from alignment.report import Criterion, JudgeScores
from alignment.report.values import (
    NO_DIRECTION,
    NO_SCALE,
    NO_THRESHOLD,
    NOTHING_SCORED,
    ONCE,
    TWO_LEVELS,
    UNKNOWN_SCALE,
    judge_steadiness,
    judge_values,
)
from tests.alignment.report.building import GRADES, KINDS, compared, evidence

OPEN = Criterion("seconds", 1, "Seconds", "claim", "interval", "How long?", (), ())


@pytest.mark.parametrize("higher", [True, False])
def test_areas_by_scikit_learn(higher):
    found = evidence()
    found = replace(found, judges=[replace(found.judges[0], higher_is_better=higher)])
    reference, one = compared(found)
    area = judge_values(reference, one)["pr_auc"]
    units = list(reference.positive)
    positive = np.array([reference.positive[unit] for unit in units])
    scores = np.array([one.scores[unit] for unit in units]) * (1 if higher else -1)
    assert area["passes"]["value"] == pytest.approx(average_precision_score(positive, scores))
    assert area["fails"]["value"] == pytest.approx(average_precision_score(~positive, -scores))
    assert area["share"] == pytest.approx(positive.mean())


def graded(scores, criterion=GRADES, higher=True, values=None):
    """Each of two people's grades of as many claims as there are scores."""
    units = [(f"s{place:03}", "claim:0") for place in range(len(scores)) for _ in range(2)]
    values = values or [grade for place in range(len(scores)) for grade in (1 + place % 4, min(4, 2 + place % 4))]
    numbers = dict(zip(units[::2], scores, strict=True))
    found = evidence(
        criterion=criterion,
        units=units,
        raters=["ann", "bob"] * len(scores),
        values=values,
        judges=[JudgeScores("judge", "1", "x", higher, numbers)],
        is_dev={unit[0]: True for unit in units},
    )
    people = np.array(values, dtype=float).reshape(-1, 2).mean(axis=1)
    return judge_values(*compared(found))["distance"], people


def test_distance_on_peoples_own_scale():
    scores = [1.0 + 3 * place / 79 for place in range(80)]
    found, people = graded(scores)
    apart = np.array(scores) - people
    assert (found["reason"], found["ends"], found["scale"]) == (None, None, [1.0, 4.0])
    assert found["bias"]["value"] == pytest.approx(apart.mean())
    limits = [apart.mean() + sign * 1.959964 * apart.std(ddof=1) for sign in (-1, 1)]
    assert [found["lower_limit"]["value"], found["upper_limit"]["value"]] == pytest.approx(limits)
    # People's means are 1.5, 2.5, 3.5 and 4: half-way counts to the level above.
    assert [(band["low"], band["n"]) for band in found["bands"]] == [(2.0, 20), (3.0, 20), (4.0, 40)]
    assert found["bands"][0]["bias"] == pytest.approx(apart[people == 1.5].mean())
    assert found["bands"][0]["judge"] == pytest.approx(np.array(scores)[people == 1.5].mean())


@pytest.mark.parametrize(("higher", "sign"), [(True, 1), (False, -1)])
def test_scores_from_0_to_1_are_put_on_peoples_scale(higher, sign):
    scores = [place / 79 for place in range(80)]
    found, people = graded(scores, higher=higher)
    placed = 2.5 + sign * 3 * (np.array(scores) - 0.5)
    assert found["ends"] == [0.0, 1.0]
    assert found["bias"]["value"] == pytest.approx((placed - people).mean())


def test_unknown_scales():
    assert graded([-0.5, *[1.0] * 19])[0]["reason"] == UNKNOWN_SCALE
    assert graded([0.5, *[5.0] * 19])[0]["reason"] == UNKNOWN_SCALE
    seconds = [float(place) for place in range(40)]
    found, people = graded(seconds[:20], OPEN, values=seconds)
    assert (found["reason"], found["ends"], found["scale"]) == (None, None, None)
    assert found["bias"]["value"] == pytest.approx(9.5 - people.mean())
    assert len(found["bands"]) == 5
    assert graded(seconds[:20], OPEN, higher=False, values=seconds)[0]["reason"] == NO_DIRECTION


def test_what_is_no_scale():
    assert judge_values(*compared(evidence()))["distance"]["reason"] == TWO_LEVELS
    kinds = evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={})
    shown = judge_values(*compared(kinds))
    assert shown["distance"]["reason"] == NO_SCALE
    assert shown["pr_auc"]["share"] is None
    assert shown["pr_auc"]["passes"]["reason"] == remark("no_passes")
    silent = evidence(criterion=GRADES, values=[1, 4, 3] * 240, judges=[JudgeScores("silent", "1", "x", True)])
    shown = judge_values(*compared(silent))
    assert shown["distance"]["reason"] == NOTHING_SCORED
    assert shown["pr_auc"]["passes"]["reason"] == remark("no_scores")


def test_labels_are_on_peoples_scale_already():
    plain = evidence(criterion=GRADES, values=[2, 3, 4] * 240)
    labels = dict.fromkeys(plain.units, 4)
    judge = JudgeScores("labels", "1", "x", False, labels=labels)
    found = judge_values(*compared(replace(plain, judges=[judge])))["distance"]
    assert (found["ends"], found["bias"]["value"]) == (None, 1.0)


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


def test_labels_asked_again():
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
