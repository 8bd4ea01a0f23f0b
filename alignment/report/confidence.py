"""Whether a judge is right about as often as it is sure: its confidence against its agreement with people, on dev."""

from dataclasses import replace
from typing import Any

import numpy as np

from alignment.base.estimate import Remark, estimates_as_dicts, remark
from alignment.calibration.fit import CrossFit, NotFitted
from alignment.calibration.reliability import CalibrationFigures
from alignment.report.calibration import columns_of, figures_of, point_as_dict
from alignment.report.comparison import Comparison
from alignment.report.units import ByUnit

# Of scores, and what is the same of a confidence.
_WHY = {
    "no_positive": remark("never_agrees"),
    "no_negative": remark("always_agrees"),
    "equal_scores": remark("equal_confidence"),
    "nothing_to_calibrate": remark("confidence_tells_nothing"),
}


def confidence_figures(one: Comparison) -> dict[str, Any] | None:
    """The confidence taken for the probability that people decide as the judge does: `as_is`, and `calibrated` by
    isotonic regression, each unit by one that was fitted on the other folds. None for a judge that has no confidence.

    `constant` is the yardstick: what one gets who gives every unit the same, the share on which the judge agrees.
    `without`: units with a decision on dev and no confidence, which are in no figure.
    """
    judged, decisions = one.judged, one.decisions
    if not one.said.confidence:
        return None
    sure = ByUnit.of(judged.reference.units, one.said.confidence, np.float64)
    places = np.flatnonzero(decisions.known & sure.known)
    counts = {"units": places.size, "without": len(decisions) - places.size}
    if not places.size:
        missing = remark("no_confidence_on_dev", n=len(decisions)) if len(decisions) else None
        return {"reason": one.row["at_threshold"]["reason"] or missing, **counts}
    agrees = decisions.values_at[places] == judged.reference.positive.values_at[places]
    columns = columns_of(judged, judged.reference.units.at(places), agrees.astype(np.int64), 2, higher_is_better=True)
    columns = replace(columns, score=sure.values_at[places])
    plain = CrossFit(columns.score, columns.score >= 0.5, columns.fold)
    fitted = columns.cross_fit("isotonic")
    share = float(agrees.mean())
    return {
        "reason": None,
        **counts,
        "samples": int(columns.sample.max()) + 1,
        "constant": {"share": share, "brier": share * (1 - share)},
        "as_is": _row(figures_of(columns, plain)),
        "calibrated": {"reason": _as_confidence(fitted.reason)}
        if isinstance(fitted, NotFitted)
        else _row(figures_of(columns, fitted)),
    }


def _row(figures: CalibrationFigures) -> dict[str, Any]:
    return {
        "reason": None,
        **estimates_as_dicts(figures, ("brier", "ece")),
        "ece_if_perfect": figures.ece_if_perfect.value,
        "points": [point_as_dict(point) for point in figures.points],
    }


def _as_confidence(why: Remark) -> Remark:
    if "why" in why:
        return {**why, "why": _as_confidence(why["why"])}
    return _WHY.get(why["code"], why)
