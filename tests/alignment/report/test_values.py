"""Scores as they stand: average precision of scikit-learn, distances by hand, and scales nobody knows."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from alignment.base.estimate import remark
from alignment.report import Criterion, JudgeScores
from alignment.report.values import NO_DIRECTION, NO_SCALE, NOTHING_SCORED, TWO_LEVELS, UNKNOWN_SCALE, judge_values
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


def test_scales_that_nobody_knows():
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
