"""What a look at the test part shows: everything that was fitted on dev, measured where nothing was chosen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignment.base.arrays import cluster_rows
from alignment.base.estimate import NO_UNITS, Estimate, estimates_as_dicts
from alignment.base.interval import Plan, proportion
from alignment.base.tables import FN, FP, TN, TP
from alignment.calibration.fit import NotFitted
from alignment.calibration.reliability import CalibrationFigures, calibration_figures, evaluate_calibrator
from alignment.judging.looks import kappa_at_look, level_of_look
from alignment.judging.trust import trust_verdict
from alignment.report.calibration import bins_for, chosen_calibrator, cutpoint_calibrator
from alignment.report.comparison import Comparison
from alignment.report.decisions import LEVEL, Decided, on_test
from alignment.report.judged import Judged
from alignment.report.people import ceiling_difference
from alignment.report.planned import more_samples, share_of
from alignment.report.triaged import region_on_test
from alignment.report.trust import caveat_of, trust_as_dict

_CALIBRATED = ("kappa", "brier", "log_loss", "ece", "ece_if_perfect")
#: The cell of a confusion matrix, by people's verdict and the judge's.
_CELL = {(False, False): TN, (False, True): FP, (True, False): FN, (True, True): TP}


@dataclass(frozen=True, eq=False, slots=True)
class Looked:
    """row: the figures as plain JSON. dev: the samples that threshold and calibrators were fitted on. test: of each
    sample that was looked at, its units by people and judge: [tn, fp, fn, tp]."""

    row: dict[str, Any]
    dev: list[str]
    test: dict[str, list[int]]


def looked(judged: Judged, look: int) -> Looked:
    """Threshold, calibrator, cut-points, certified region and trust verdict on the test part.

    ``look``: its number, from 1. Every interval, and the region, has the level that it leaves
    (alignment.judging.looks). When there is nothing to see, the row's ``reason`` says why, and it holds no more than
    that of ``on_test``.
    """
    level = level_of_look(look)
    decided = on_test(judged, look)
    if decided.row["reason"] is not None:
        return Looked(decided.row, [], {})
    calibrated = _calibrated(judged, look)
    auc = judged.roc_auc(judged.test, "test roc_auc", level)
    one = Comparison(
        judged=judged,
        said=judged.said,
        row={"at_threshold": decided.row},
        scores=judged.scores,
        labels=judged.labels,
        decisions=decided.decisions,
    )
    ceiling = ceiling_difference(judged.reference, one, level)
    test_units = set(judged.test)
    found = trust_verdict(
        kappa=Estimate(**decided.row["kappa"]),
        calibrated=None if calibrated["calibrator"] is None else Estimate(**calibrated["kappa"]),
        auc=auc,
        ceiling=ceiling,
        labels=sum(unit in test_units for unit in judged.reference.evidence.units),
        clusters=decided.row["kappa"]["clusters"],
        more=more_samples,
        part="test",
        share=share_of(judged.reference, dev=False),
    )
    row = {
        **decided.row,
        "note": decided.note,
        "caveat": caveat_of(judged, judged.test),
        "answers": _answers(judged),
        "roc_auc": auc.as_dict(),
        "error": _error(judged, decided, level).as_dict(),
        "calibrated": calibrated,
        "cutpoints": _cutpoints(judged, look),
        "region": region_on_test(judged, decided.row["threshold"], level),
        "ceiling": ceiling.as_dict(),
        "trust": trust_as_dict(found, "test"),
    }
    cells: dict[str, list[int]] = {}
    for unit, said in decided.decisions.items():
        cells.setdefault(unit[0], [0, 0, 0, 0])[_CELL[judged.reference.positive[unit], said]] += 1
    return Looked(row, sorted({sample for sample, _ in judged.dev}), cells)


def _answers(judged: Judged) -> list[dict[str, Any]] | None:
    """How a judge's labels are read: as which score, and whether they pass; None for a judge that gives scores."""
    if not judged.answers_labels:
        return None
    return [
        {"value": value, "score": judged.score_of(value), "passes": value in judged.criterion.passes}
        for value in judged.criterion.levels
    ]


def _error(judged: Judged, decided: Decided, level: float) -> Estimate:
    """Share of a sample's decisions that are wrong, averaged over samples: what a drift watch holds audits against."""
    positive = judged.reference.positive
    wrong = np.array([said != positive[unit] for unit, said in decided.decisions.items()], dtype=np.float64)
    row, rows = cluster_rows(judged.reference.clusters(decided.decisions))
    shares = np.bincount(row, wrong, rows) / np.bincount(row, minlength=rows)
    plan = Plan("auto", judged.rng("test error"), level)
    found = proportion(shares, np.ones(rows), plan, name="error rate, mean over samples", undefined=NO_UNITS)
    return replace(found, n=len(decided.decisions))


def _calibrated(judged: Judged, look: int) -> dict[str, Any]:
    """The calibrator that dev chose, and what its probabilities and verdicts are worth on test."""
    fitted = chosen_calibrator(judged)
    if isinstance(fitted, NotFitted):
        undefined = dict.fromkeys(_CALIBRATED, Estimate.undefined(fitted.reason, level=level_of_look(look)).as_dict())
        return {"calibrator": None, **undefined, "points": [], "reason": fitted.reason}
    scores, positive, samples = judged.columns(judged.test)

    def figures(level: float) -> CalibrationFigures:
        return calibration_figures(
            fitted.verdict(scores),
            positive,
            samples,
            probability=fitted.probability(scores),
            bins=bins_for(len(scores)),
            rng=judged.rng("test calibrated"),
            level=level,
        )

    found = _paid(figures, look)
    points = [
        {
            "lowest": point.lowest,
            "highest": point.highest,
            "predicted": point.predicted,
            "observed": point.observed.as_dict(),
        }
        for point in found.points
    ]
    return {
        "calibrator": fitted.as_dict(),
        **estimates_as_dicts(found, _CALIBRATED),
        "points": points,
        "reason": None,
    }


def _paid(figures: Callable[[float], CalibrationFigures], look: int) -> CalibrationFigures:
    return replace(figures(level_of_look(look)), kappa=kappa_at_look(figures(LEVEL).kappa, look))


def _cutpoints(judged: Judged, look: int) -> dict[str, Any]:
    """The judge's scores read as the criterion's levels, on the test units with a level by people."""
    fitted = cutpoint_calibrator(judged)
    if isinstance(fitted, NotFitted):
        kappa = Estimate.undefined(fitted.reason, level=level_of_look(look)).as_dict()
        return {"calibrator": None, "levels": None, "confusion": None, "kappa": kappa, "reason": fitted.reason}
    levels, labels = judged.criterion.levels, judged.reference.labels()
    place = {value: at for at, value in enumerate(levels)}
    units = [unit for unit in judged.test if unit in labels]
    human = [place[labels[unit]] for unit in units]
    scores, samples = [judged.scores[unit] for unit in units], judged.reference.clusters(units)

    def figures(level: float) -> CalibrationFigures:
        rng = judged.rng("test cutpoints")
        return evaluate_calibrator(fitted, scores, human, samples, levels=len(levels), rng=rng, level=level)

    cells = np.array(human, dtype=np.int64) * len(levels) + fitted.verdict(scores)
    return {
        "calibrator": fitted.as_dict(),
        "levels": levels,
        # Rows people, columns the judge.
        "confusion": np.bincount(cells, minlength=len(levels) ** 2).reshape(len(levels), -1).tolist(),
        "kappa": _paid(figures, look).kappa.as_dict(),
        "reason": None,
    }
