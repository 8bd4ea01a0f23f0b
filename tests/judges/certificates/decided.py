"""Looks and certificates with the decision that a test is about, without figures behind it."""

from __future__ import annotations

from typing import Any

from alignment.base.estimate import Estimate, remark
from alignment.judging.decision import Verdict
from judges.models import PROMISE, Certificate, JudgeVersion, Look

REASON = remark("kappa_reached", kappa=remark("figure", value=0.7, low=0.6, high=0.8), bar=0.4)
CERTIFIED = remark("region_certified", share=0.6, risk=0.1)
KAPPA = Estimate(0.7, 0.6, 0.8, n=120, clusters=100, level=0.97)
_ERROR = Estimate(0.02, 0.0, 0.08, n=60, clusters=60, level=0.97).as_dict()
REGION = {
    "threshold": 0.5, "distance": 0.3, "risk": 0.1, "confidence": 0.97, "reason": None,
    "false_passes": _ERROR, "false_fails": _ERROR, "inside": Estimate(0.6, 0.5, 0.7, n=120, clusters=100).as_dict(),
    "tried": [{"distance": 0.3, "false_passes": _ERROR, "false_fails": _ERROR}],
}  # fmt: skip
NO_REGION = {**REGION, "distance": None, "reason": remark("region_after_endpoint")}
UNKNOWN = Estimate.undefined(remark("no_units")).as_dict()
ENDPOINT = {"name": "kappa", "bar": 0.4, "risk": 0.1, "coverage": 0.9}


def decided(version: JudgeVersion, verdict: Verdict, *, key: str | None = None, **change: Any) -> Look:
    """A look with the version at the criterion that it measures, or the one named; change: of its result."""
    project = version.judge.project
    dimension = version.scores.values_list("dimension", flat=True).first() or ""
    criterion = project.criteria.get(key=key or dimension, is_current=True)
    result = {
        "endpoint": ENDPOINT,
        "figure": KAPPA.as_dict(),
        "if_right": 0.75,
        "coverage": Estimate(0.97, 0.9, 1.0, n=120, clusters=100).as_dict(),
        "drawn": {"units": 120, "samples": 100, "left_out": 7},
        "drawn_by": [{"how": "all", "samples": 100, "by": "Alma", "day": "2026-11-20", "batch": 1}],
        "people": [],
        "decision": {
            "verdict": verdict, "reason": CERTIFIED if verdict == "alone_in_region" else REASON,
            "more": None, "hours": None, "for": [], "against": [], "part": "test",
        },
        "region": REGION if verdict == "alone_in_region" else NO_REGION,
        "threshold": 0.5,
        "answers": None,
        "confusion": [[40, 8], [6, 46]],
        "calibrated": {
            "calibrator": None, "reason": remark("no_units"), "kappa": UNKNOWN, "brier": UNKNOWN, "points": [],
        },
        "cutpoints": {"calibrator": None, "levels": None, "reason": remark("no_units")},
        "error": Estimate(0.14, 0.1, 0.2, n=100, clusters=100).as_dict(),
        **{name: KAPPA.as_dict() for name in ("kappa", "tpr", "tnr", "roc_auc", "ceiling")},
        **change,
    }  # fmt: skip
    return Look.objects.create(
        project=project,
        criterion_key=criterion.key,
        criterion=criterion,
        judge=version.judge,
        version=version,
        dimension=dimension,
        number=Look.objects.filter(project=project, criterion_key=criterion.key).count() + 1,
        level=0.97,
        promise=PROMISE,
        fingerprint="f",
        result=result,
        samples={"dev": [], "test": {f"t{place}": CELLS[place % len(CELLS)] for place in range(40)}},
    )


# Of a sample on test, by people and judge: [tn, fp, fn, tp].
CELLS = ([1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0])


def certified(version: JudgeVersion, verdict: Verdict, **change: Any) -> Certificate:
    look = decided(version, verdict, **change)
    number = Certificate.objects.filter(project=look.project_id).count() + 1
    return Certificate.objects.create(project=look.project, number=number, look=look, judge_hash=version.content_hash)
