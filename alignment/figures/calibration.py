"""Calibration of a judge on dev, as plain JSON."""

from typing import Any

from scipy.special import entr

from alignment.calibration import CrossFit, NotFitted
from alignment.estimate import Estimate
from alignment.figures.calibrated import METHODS, NOT_GRADED, Columns, calibration_on_dev, figures_of, graded_columns
from alignment.figures.judged import Judged
from alignment.reliability import CalibrationFigures, ReliabilityPoint


def probability_figures(judged: Judged) -> dict[str, Any]:
    """Platt and isotonic, cross-fitted. `points` are the chosen method's.

    `constant` is the yardstick: what one gets who gives every unit the same probability, the share that people pass.
    `as_is`: the scores taken for probabilities as they stand; None where they don't lie between 0 and 1.
    """
    found = calibration_on_dev(judged)
    if isinstance(found, NotFitted):
        return {"reason": found.reason}
    if isinstance(found.chosen, NotFitted):
        chosen: dict[str, Any] = {"chosen": None, "why_none": found.chosen.reason, "points": []}
    else:
        points = [_point(point) for point in found.figures[found.chosen].points]
        chosen = {"chosen": found.chosen, "why_none": None, "points": points}
    share = float(found.columns.human.mean())
    return {
        "reason": None,
        "units": found.columns.human.size,
        "samples": int(found.columns.sample.max()) + 1,
        **chosen,
        "constant": {"share": share, "brier": share * (1 - share), "log_loss": float(entr(share) + entr(1 - share))},
        "as_is": _as_is(judged, found.columns),
        "methods": {
            method: _row(found.figures[method]) if method in found.figures else {"reason": found.refused[method]}
            for method in METHODS
        },
    }


def grade_figures(judged: Judged) -> dict[str, Any] | None:
    """Scores cut into the criterion's own levels: the cuts on all of dev, and their quadratic kappa, cross-fitted.

    None for a criterion without ordered levels beyond pass and fail.
    """
    columns = graded_columns(judged)
    if isinstance(columns, NotFitted):
        return None if columns.reason == NOT_GRADED else {"reason": columns.reason}
    fitted, found = columns.fit("cutpoints"), columns.cross_fit("cutpoints")
    if isinstance(fitted, NotFitted):
        return {"reason": fitted.reason}
    if isinstance(found, NotFitted):
        kappa = Estimate.undefined(found.reason)
    else:
        kappa = figures_of(judged, columns, found, "cutpoints").kappa
    return {
        "reason": None,
        "kappa": kappa.as_dict(),
        "higher_is_better": columns.higher_is_better,
        "levels": [option.label for option in judged.criterion.options],
        "cuts": fitted.as_dict()["cuts"],
    }


def _as_is(judged: Judged, columns: Columns) -> dict[str, Any] | None:
    if columns.score.min() < 0 or columns.score.max() > 1:
        return None
    likely = columns.score if columns.higher_is_better else 1 - columns.score
    return _row(figures_of(judged, columns, CrossFit(likely, likely >= 0.5, columns.fold), "as it is"))


def _row(figures: CalibrationFigures) -> dict[str, Any]:
    estimates = {name: getattr(figures, name).as_dict() for name in ("kappa", "brier", "log_loss", "ece")}
    return {"reason": None, **estimates, "ece_if_perfect": figures.ece_if_perfect.value}


def _point(point: ReliabilityPoint) -> dict[str, Any]:
    return {
        "lowest": point.lowest,
        "highest": point.highest,
        "predicted": point.predicted,
        "observed": point.observed.value,
        "low": point.observed.low,
        "high": point.observed.high,
        "n": point.observed.n,
    }
