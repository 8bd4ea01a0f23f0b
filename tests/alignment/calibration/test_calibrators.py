"""Fitted calibrators: immutable, exact through JSON, and defined for every finite score."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignment import (
    Calibrator,
    CutpointCalibrator,
    IsotonicCalibrator,
    NotFitted,
    PlattCalibrator,
    ThresholdCalibrator,
    fit_calibrator,
)

METHODS = ("threshold", "platt", "isotonic", "cutpoints")
finite = st.floats(allow_nan=False, allow_infinity=False)
units = st.lists(st.tuples(finite, st.integers(0, 2)), min_size=1, max_size=30)


@given(units=units, method=st.sampled_from(METHODS), higher_is_better=st.booleans(), new=st.lists(finite, max_size=20))
def test_exact_through_json(units, method, higher_is_better, new):
    score, human = (np.array(column) for column in zip(*units, strict=True))
    levels = 3 if method == "cutpoints" else 2
    fitted = fit_calibrator(
        method, score, np.minimum(human, levels - 1), levels=levels, higher_is_better=higher_is_better
    )
    if isinstance(fitted, NotFitted):
        assert fitted.reason
        return
    stored = json.loads(json.dumps(fitted.as_dict(), allow_nan=False))
    again = Calibrator.from_dict(stored)
    assert again == fitted
    assert type(again) is type(fitted)
    for scores in (score, np.array(new)):
        assert (again.verdict(scores) == fitted.verdict(scores)).all()
        probability = fitted.probability(scores)
        assert (probability is None) == (method in ("threshold", "cutpoints"))
        if probability is not None:
            assert (again.probability(scores) == probability).all()
            assert ((probability >= 0) & (probability <= 1)).all()
            assert (fitted.verdict(scores) == (probability >= 0.5)).all()


@given(units=units, method=st.sampled_from(METHODS), higher_is_better=st.booleans())
def test_a_better_score_never_fares_worse(units, method, higher_is_better):
    score, human = (np.array(column) for column in zip(*units, strict=True))
    levels = 3 if method == "cutpoints" else 2
    fitted = fit_calibrator(
        method, score, np.minimum(human, levels - 1), levels=levels, higher_is_better=higher_is_better
    )
    if isinstance(fitted, NotFitted):
        return
    ascending = np.sort(score) if higher_is_better else np.sort(score)[::-1]
    assert (np.diff(fitted.verdict(ascending).astype(int)) >= 0).all()
    probability = fitted.probability(ascending)
    if probability is not None:
        # Straight lines between two nearly equal heights may be off by the last digit.
        assert (np.diff(probability) >= -1e-15).all()


def test_beyond_what_was_seen_nothing_is_surer():
    rng = np.random.default_rng(1)
    score = rng.normal(size=200)
    human = score + rng.normal(size=200) > 0
    for method in ("platt", "isotonic"):
        fitted = fit_calibrator(method, score, human)
        ends = fitted.probability([score.min(), score.max()])
        assert (fitted.probability([-1e308, 1e308]) == ends).all()
    assert fit_calibrator("threshold", score, human).verdict([-1e308, 1e308]).tolist() == [False, True]
    assert fit_calibrator("cutpoints", score, human.astype(int) * 2, levels=3).verdict([-1e308, 1e308]).tolist() == [
        0,
        2,
    ]


def test_no_scores():
    for fitted in (
        ThresholdCalibrator(0.5, True),
        PlattCalibrator(0.0, 1.0, 1.0, 0.0, True),
        IsotonicCalibrator((0.0, 1.0), (0.2, 0.8), True),
        CutpointCalibrator((0.5, None), True),
    ):
        assert fitted.verdict([]).shape == (0,)


def test_calibrators_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ThresholdCalibrator(0.5, True).threshold = 0.6


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "no method None; there are threshold, platt, isotonic, cutpoints"),
        ({"method": "beta"}, "no method 'beta'"),
        ({"method": "threshold", "threshold": 0.5}, r"threshold has the fields \['higher_is_better', 'threshold'\]"),
        ({"method": "threshold", "threshold": "0.5", "higher_is_better": True}, "threshold holds finite numbers"),
        ({"method": "threshold", "threshold": float("nan"), "higher_is_better": True}, "finite numbers, not"),
        (
            {"method": "platt", "lowest": 1, "highest": 1, "slope": 1, "intercept": 0, "higher_is_better": True},
            "a highest score above the lowest",
        ),
        (
            {"method": "platt", "lowest": 0, "highest": 1, "slope": -1, "intercept": 0, "higher_is_better": True},
            "a slope above 0",
        ),
        (
            {"method": "isotonic", "scores": [1, 1], "probabilities": [0, 1], "higher_is_better": True},
            "ascending scores and as many",
        ),
        (
            {"method": "isotonic", "scores": [1, 2], "probabilities": [1, 0], "higher_is_better": True},
            "don't fall as the score gets better",
        ),
        (
            {"method": "isotonic", "scores": [1, 2], "probabilities": [0, 2], "higher_is_better": True},
            "lie between 0 and 1",
        ),
        ({"method": "cutpoints", "cuts": [None, 1], "higher_is_better": True}, "that none reaches"),
        ({"method": "cutpoints", "cuts": [1, 2], "higher_is_better": False}, "from the worst score to the best"),
        ({"method": "cutpoints", "cuts": [], "higher_is_better": False}, "cutpoints run"),
    ],
)
def test_fields_that_do_not_fit(values, message):
    with pytest.raises(ValueError, match=message):
        Calibrator.from_dict(values)
