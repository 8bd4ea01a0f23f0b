"""Triage as reports and looks show it, held against the definitions."""

import numpy as np
import pytest

from alignment.figures import Criterion, Evidence, Judged, JudgeScores, Option, on_test, reference_of, region_on_test
from alignment.looks import level_of_look
from alignment.region import RISK, error_bound

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


@pytest.mark.parametrize("lower", [False, True])
def test_the_region_is_the_widest_of_its_steps_whose_bound_on_test_stays_under_the_risk(lower):
    one, level = judged(evidence(lower=lower)), level_of_look(2)
    threshold = on_test(one, level).row["threshold"]
    region = region_on_test(one, threshold, level)
    assert (region["threshold"], region["risk"], region["confidence"]) == (threshold, RISK, level)
    steps = {}
    for step in region["tried"]:
        units = [unit for unit in one.test if abs(one.scores[unit] - threshold) >= step["distance"]]
        passed = {unit: one.scores[unit] <= threshold if lower else one.scores[unit] >= threshold for unit in units}
        wrong = np.array([passed[unit] != one.reference.positive[unit] for unit in units])
        samples = np.array([int(sample[1:]) for sample, _ in units])
        steps[step["distance"]] = error_bound(wrong, samples, level)
        assert step["error"] == steps[step["distance"]].as_dict()
    held = [distance for distance, bound in steps.items() if bound.high <= RISK]
    assert region["distance"] == min(held)
    assert region["error"] == steps[min(held)].as_dict()
    assert list(steps)[: len(held)] == held
    inside = sum(abs(one.scores[unit] - threshold) >= region["distance"] for unit in one.test)
    assert 0 < inside < len(one.test)
    assert region["inside"]["value"] == pytest.approx(inside / len(one.test))
    assert region["inside"]["level"] == level


def test_a_later_look_certifies_less():
    one = judged(evidence(noise=0.8))
    first, ninth = (region_on_test(one, 0.0, level_of_look(look)) for look in (1, 9))
    assert ninth["distance"] is None or ninth["distance"] > first["distance"]
    assert first["distance"] is not None


def test_no_region_says_why():
    weak = region_on_test(judged(evidence(noise=5.0)), 0.0)
    assert weak["distance"] is None
    assert weak["reason"].startswith("no region: of the ")
    assert weak["error"]["value"] > RISK
    assert weak["inside"]["value"] is None
    few = region_on_test(judged(evidence(samples=20)), 0.0)
    assert (few["distance"], [step["distance"] for step in few["tried"]]) == (None, [0.0])
    labels = region_on_test(judged(evidence()), None)
    assert (labels["distance"], labels["tried"]) == (None, [])
    assert labels["reason"] == labels["error"]["reason"] == labels["inside"]["reason"]
    assert "answers with labels" in labels["reason"]
