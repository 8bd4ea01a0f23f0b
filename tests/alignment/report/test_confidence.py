"""Whether a judge is right about as often as it is sure: dev alone, by scikit-learn, and with a planted truth."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from alignment.report import Comparison, JudgeScores, compare, reference_of, report_figures
from alignment.report.confidence import confidence_figures
from tests.alignment.report.building import KINDS, evidence


def planted(samples=200, *, tells=True, seed=3, **fields):
    """A judge of labels that is right with a planted probability of .5 to .95, and says a quarter of its doubt. tells:
    or says the same of other units."""
    base = evidence(samples, right=1.0, seed=seed)
    rng = np.random.default_rng(seed)
    truth = dict(zip(base.units, base.values, strict=True))
    sure = dict(zip(truth, rng.uniform(0.5, 0.95, len(truth)).tolist(), strict=True))
    labels = {
        unit: value if rng.random() < sure[unit] else {"pass": "fail", "fail": "pass"}[value]
        for unit, value in truth.items()
    }
    said = sure if tells else dict(zip(sure, rng.permutation(list(sure.values())).tolist(), strict=True))
    confidence = {unit: 1 - (1 - one) / 4 for unit, one in said.items()}
    given = {"labels": labels, "confidence": confidence, **fields}
    return replace(base, judges=[JudgeScores("j", "1", "ok", True, **given)])


def compared_of(found) -> Comparison:
    return compare(reference_of(found), found.judges[0])


def test_both_against_scikit_learn_and_the_planted_truth():
    found = planted()
    one = compared_of(found)
    dev = list(one.judged.dev)
    assert {found.is_dev[sample] for sample, _ in dev} == {True}
    sure = np.array([one.said.confidence[unit] for unit in dev])
    agrees = np.array([one.decisions[unit] == one.judged.reference.positive[unit] for unit in dev])
    fold = np.array([one.judged.reference.fold_of[sample] for sample, _ in dev])
    likely = np.empty(sure.size)
    for own in range(5):
        model = IsotonicRegression(out_of_bounds="clip").fit(sure[fold != own], agrees[fold != own])
        likely[fold == own] = model.predict(sure[fold == own])
    row = report_figures(found)["judges"][0]["confidence"]
    as_is, calibrated, constant = row["as_is"], row["calibrated"], row["constant"]
    assert as_is["brier"]["value"] == pytest.approx(brier_score_loss(agrees, sure))
    assert calibrated["brier"]["value"] == pytest.approx(brier_score_loss(agrees, likely))
    assert constant["brier"] == pytest.approx(brier_score_loss(agrees, np.full(agrees.size, agrees.mean())))
    assert (row["units"], row["samples"], row["without"]) == (200, 100, 0)
    assert calibrated["brier"]["value"] < constant["brier"] < as_is["brier"]["value"]
    # What it says of its doubt is a quarter of it, and is found to be so; calibrated the probabilities hold.
    holds = [point["low"] <= 1 - 4 * (1 - point["predicted"]) <= point["high"] for point in as_is["points"]]
    assert (len(holds), sum(holds)) == (15, 14), "intervals at 95 %"
    over = [point["low"] <= point["predicted"] <= point["high"] for point in as_is["points"]]
    assert sum(over) < 10
    assert calibrated["ece"]["value"] < as_is["ece"]["value"] / 2


def test_nothing_of_the_test_half_is_in_it():
    found = planted(60)
    (judge,) = found.judges
    turned = {unit: one if found.is_dev[unit[0]] else 1 - one for unit, one in judge.confidence.items()}
    labels = {unit: one if found.is_dev[unit[0]] else "pass" for unit, one in judge.labels.items()}
    other = replace(found, judges=[replace(judge, confidence=turned, labels=labels)])
    assert confidence_figures(compared_of(other)) == confidence_figures(compared_of(found))


def test_a_confidence_of_other_units_is_no_better_than_one_for_all():
    row = confidence_figures(compared_of(planted(tells=False)))
    calibrated = row["calibrated"]
    assert calibrated["reason"] is not None or calibrated["brier"]["value"] >= row["constant"]["brier"] - 0.005


def test_what_is_undefined_says_why():
    found = planted(60)
    (judge,) = found.judges

    def of(**fields):
        row = confidence_figures(compared_of(replace(found, judges=[replace(judge, **fields)])))
        json.dumps(row, allow_nan=False)
        return row

    assert of(confidence={}) is None
    assert "confidence" not in report_figures(replace(found, judges=[replace(judge, confidence={})]))["judges"][0]
    on_test = {unit: one for unit, one in judge.confidence.items() if not found.is_dev[unit[0]]}
    assert of(confidence=on_test)["reason"] == {"code": "no_confidence_on_dev", "n": 60}
    half = of(confidence=on_test | dict(list(judge.confidence.items())[:40]))
    assert (half["units"], half["without"]) == (20, 40)
    equal = of(confidence=dict.fromkeys(judge.labels, 0.75))
    assert equal["calibrated"]["reason"]["why"] == {"code": "equal_confidence"}
    assert equal["as_is"]["brier"]["value"] is not None
    right = of(labels=dict(zip(found.units, found.values, strict=True)))
    assert right["calibrated"]["reason"]["why"] == {"code": "always_agrees"}
    turned = of(confidence={unit: 1 - one for unit, one in judge.confidence.items()})
    assert turned["calibrated"]["reason"]["why"] == {"code": "confidence_tells_nothing"}
    few = confidence_figures(compared_of(planted(8)))
    assert few["calibrated"]["reason"] is not None
    kinds = dict.fromkeys(judge.labels, "a")
    words = replace(found, criterion=KINDS, values=["a"] * len(found.values), judges=[replace(judge, labels=kinds)])
    assert confidence_figures(compared_of(words))["reason"]["code"] == "no_passes"
