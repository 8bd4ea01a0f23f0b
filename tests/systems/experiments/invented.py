"""An experiment's figures as `manage.py experiment --format json` prints them, with invented numbers: v2 is better on
faithfulness and worse on declining what it should decline, of which the judge alone says the opposite."""

from __future__ import annotations

from typing import Any

NOT_JUDGED = {"code": "measured_without_judge"}
ENOUGH = {"labels": None, "questions": None}
MORE = {"labels": None, "questions": 1500}


def estimate(value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> dict[str, Any]:
    reason = more.pop("reason", None if low is not None else {"code": "no_labelled"})
    whole = {"level": 0.95, "n": 720, "clusters": 700, "method": "mean", "reason": reason}
    return {"value": value, "low": low, "high": high, **whole, **more}


def three(people: Any, raw: Any, corrected: Any) -> dict[str, Any]:
    decisive = "people" if corrected["value"] is None else "corrected"
    return {"people": people, "raw": raw, "corrected": corrected, "decisive": decisive}


def judged(low: float, value: float, high: float, raw: float) -> dict[str, Any]:
    """People alone have the wider interval."""
    people = estimate(value, low - 0.02, high + 0.02)
    return three(people, estimate(raw, raw - 0.01, raw + 0.01), estimate(value, low, high))


def measured(low: float, value: float, high: float) -> dict[str, Any]:
    found = estimate(value, low, high)
    return three(estimate(None, reason=NOT_JUDGED), found, found)


def level(version: str, figures: dict[str, Any], *, labelled: int = 120, unresolved: int = 2) -> dict[str, Any]:
    counts = {"questions": 720, "answered": 715, "failed": 5, "undefined": 0, "repeats": 1, "rates": None, "band": None}
    of_people = {"drawn": labelled, "labelled": labelled, "unresolved": unresolved}
    return {"version": version, **counts, **of_people, **figures}


def difference(b: str, figures: dict[str, Any], verdict: str, **more: Any) -> dict[str, Any]:
    return {"a": "v1", "b": b, **figures, "verdict": verdict, "reason": None, "needed": ENOUGH} | more


def metric(name: str, title: str, role: str, margin: float | None, **more: Any) -> dict[str, Any]:
    about = {"metric": name, "title": title, "role": role, "direction": "higher", "unit": "share", "margin": margin}
    about["bands"] = None
    return {**about, **more}


def invented() -> dict[str, Any]:
    """v2 against v1."""
    return {
        "schema": 1,
        "experiment": "smaller-chunks",
        "set": "support@4",
        "baseline": "v1",
        "versions": ["v1", "v2"],
        "population": 720,
        "left_out": 0,
        "rule": {
            "primary": "faithfulness",
            "margin": 0.02,
            "guards": [{"metric": "abstention", "margin": 0.05}, {"metric": "latency_ms", "margin": 500}],
            "level": 0.95,
        },
        "rule_number": 1,
        "rule_set_at": "2026-11-20T10:00:00+00:00",
        "labels_before_rule": 0,
        "after_figures": False,
        "seed": 7,
        "metrics": [
            metric(
                "relevancy",
                "Answer relevancy",
                "exploratory",
                None,
                levels=[
                    level("v1", three(estimate(None), estimate(0.9, 0.88, 0.92), estimate(None)), labelled=0),
                    level("v2", three(estimate(None), estimate(0.95, 0.93, 0.97), estimate(None)), labelled=0),
                ],
                differences=[
                    difference(
                        "v2",
                        three(estimate(None), estimate(0.05, 0.03, 0.07), estimate(None)),
                        "cannot_tell",
                        reason={"code": "no_labelled"},
                    )
                ],
            ),
            metric(
                "faithfulness",
                "Faithfulness",
                "primary",
                0.02,
                levels=[level("v1", judged(0.66, 0.72, 0.78, 0.74)), level("v2", judged(0.78, 0.84, 0.9, 0.94))],
                differences=[
                    difference("v2", judged(0.03, 0.12, 0.21, 0.2), "better", sequential=estimate(0.12, -0.01, 0.25))
                ],
            ),
            metric(
                "abstention",
                "Right abstention",
                "guard",
                0.05,
                levels=[
                    level("v1", judged(0.85, 0.9, 0.95, 0.88), labelled=48),
                    level("v2", judged(0.74, 0.81, 0.88, 0.94), labelled=48),
                ],
                differences=[difference("v2", judged(-0.15, -0.09, -0.03, 0.06), "worse")],
            ),
            metric(
                "latency_ms",
                "Latency",
                "guard",
                500.0,
                direction="lower",
                unit="ms",
                levels=[
                    level("v1", measured(2300, 2500, 2700), labelled=0, unresolved=0),
                    level("v2", measured(2700, 2900, 3100), labelled=0, unresolved=0),
                ],
                differences=[difference("v2", measured(250, 400, 550), "cannot_tell", needed=MORE)],
            ),
        ],
        "verdict": "worse",
        "verdicts": [{"b": "v2", "verdict": "worse"}],
        "parts": [],
        "preferences": [],
    }  # fmt: skip
