"""What a judge's scores are worth as probabilities, or as grades: calibration on dev, cross-fitted, as plain JSON.

No figure here has seen the test part. A look at it takes the calibrator from here: fitted on all of dev, by the method
that dev chose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import entr

from alignment.base.arrays import Floats, Ints
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.ratings import encode
from alignment.calibration.calibrators import Calibrator, Method
from alignment.calibration.fit import CrossFit, NotFitted, cross_fit_on, fit_calibrator
from alignment.calibration.reliability import BINS, CalibrationFigures, ReliabilityPoint, calibration_figures
from alignment.report.judged import Judged
from alignment.report.units import UnitKey

#: The methods that give probabilities, the simplest first.
Probable = Literal["platt", "isotonic"]

METHODS: tuple[Probable, ...] = get_args(Probable)

ANSWERS_LABELS = remark("answers_labels")
NOT_GRADED = remark("not_graded")
# Of a share of fewer units than this a reliability diagram says nothing.
UNITS_PER_BIN = 10


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """A judge's scores of dev units beside people: the position of their level, of ``levels``; all of shape (units,).

    ``higher_is_better``: whether higher scores go with higher positions.
    """

    score: Floats
    human: Ints
    sample: Ints
    fold: Ints
    levels: int
    higher_is_better: bool

    def fit(self, method: Method) -> Calibrator | NotFitted:
        return fit_calibrator(
            method, self.score, self.human, levels=self.levels, higher_is_better=self.higher_is_better
        )

    def cross_fit(self, method: Method) -> CrossFit | NotFitted:
        return cross_fit_on(
            method, self.score, self.human, self.fold, levels=self.levels, higher_is_better=self.higher_is_better
        )


@dataclass(frozen=True, eq=False, slots=True)
class Calibration:
    """On dev, cross-fitted. figures: of every method that could be fitted; refused: why the others could not.

    chosen: the method with the lowest log loss, or why there is none.
    """

    columns: Columns
    figures: dict[Probable, CalibrationFigures]
    refused: dict[Probable, Remark]
    chosen: Probable | NotFitted


def chosen_calibrator(judged: Judged) -> Calibrator | NotFitted:
    """Scores to probabilities, fitted on all of dev; by the method with the lowest cross-fitted log loss there."""
    found = calibration_on_dev(judged)
    if isinstance(found, NotFitted):
        return found
    return found.chosen if isinstance(found.chosen, NotFitted) else found.columns.fit(found.chosen)


def cutpoint_calibrator(judged: Judged) -> Calibrator | NotFitted:
    """Scores to grades, by the cuts with the greatest quadratic kappa on all of dev.

    For an ordinal criterion of more than two levels; positions count in the order of its options.
    """
    columns = graded_columns(judged)
    return columns if isinstance(columns, NotFitted) else columns.fit("cutpoints")


def passing_columns(judged: Judged) -> Columns | NotFitted:
    """The dev units with a score and a pass or fail by people."""
    reason = judged.refusal() or judged.one_class(judged.dev, "dev")
    if judged.answers_labels:
        reason = ANSWERS_LABELS
    if reason is not None:
        return NotFitted(reason)
    human = judged.columns(judged.dev)[1].astype(np.int64)
    return columns_of(judged, judged.dev, human, 2, judged.said.higher_is_better)


def graded_columns(judged: Judged) -> Columns | NotFitted:
    """The dev units with a score and a level by people: the verdict, else what more than half of them chose."""
    criterion = judged.criterion
    levels = criterion.levels
    if criterion.scale not in ("ordinal", "interval") or len(levels) < 3:
        return NotFitted(NOT_GRADED)
    if judged.answers_labels:
        return NotFitted(ANSWERS_LABELS)
    reason = judged.refusal()
    if reason is not None:
        return NotFitted(reason)
    place, labels = {level: at for at, level in enumerate(levels)}, judged.reference.labels()
    places = judged.reference.units.places(judged.dev)
    places = places[labels.known[places]]
    human = np.array([place[label] for label in labels.values_at[places].tolist()], dtype=np.int64)
    # Where the lowest level passes and the highest fails, better is further down.
    falls = levels[0] in criterion.passes and levels[-1] not in criterion.passes
    higher_is_better = judged.said.higher_is_better != falls
    return columns_of(judged, judged.reference.units.at(places), human, len(levels), higher_is_better)


def calibration_on_dev(judged: Judged) -> Calibration | NotFitted:
    """Platt and isotonic, each unit by a calibrator that was fitted on the other folds.

    A threshold gives no probabilities; its figures are those of ``decisions.on_dev``, on the same folds.

    NotFitted: there are no scores to calibrate.
    """
    columns = passing_columns(judged)
    if isinstance(columns, NotFitted):
        return columns
    figures: dict[Probable, CalibrationFigures] = {}
    refused: dict[Probable, Remark] = {}
    for method in METHODS:
        found = columns.cross_fit(method)
        if isinstance(found, NotFitted):
            refused[method] = found.reason
        else:
            figures[method] = figures_of(columns, found)
    return Calibration(columns, figures, refused, _chosen(figures, refused))


def bins_for(units: int) -> int:
    """How many bins of a reliability diagram this many units fill."""
    return min(BINS, max(1, units // UNITS_PER_BIN))


def _chosen(figures: dict[Probable, CalibrationFigures], refused: dict[Probable, Remark]) -> Probable | NotFitted:
    losses = {method: found.log_loss for method, found in figures.items()}
    known = {method: loss.value for method, loss in losses.items() if loss.value is not None}
    if known:
        return min(known, key=known.__getitem__)  # of equal losses the simpler method's
    reasons = {**refused, **{method: remark("no_log_loss", why=loss.reason) for method, loss in losses.items()}}
    return NotFitted(remark("no_method", platt=reasons["platt"], isotonic=reasons["isotonic"]))


def figures_of(columns: Columns, found: CrossFit) -> CalibrationFigures:
    return calibration_figures(
        found.verdict,
        columns.human,
        columns.sample,
        probability=found.probability,
        levels=columns.levels,
        bins=bins_for(columns.score.size),
        interval="jackknife",
    )


def columns_of(judged: Judged, units: Sequence[UnitKey], human: Ints, levels: int, higher_is_better: bool) -> Columns:
    reference = judged.reference
    score, _, group = judged.columns(units)
    return Columns(
        score=score,
        human=human,
        sample=encode(group.tolist())[0],
        fold=reference.of_samples(reference.fold_of, -1, np.int64)[reference.units.places(units)],
        levels=levels,
        higher_is_better=higher_is_better,
    )


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
        points = [point_as_dict(point) for point in found.figures[found.chosen].points]
        chosen = {"chosen": found.chosen, "why_none": None, "points": points}
    share = float(found.columns.human.mean())
    return {
        "reason": None,
        "units": found.columns.human.size,
        "samples": int(found.columns.sample.max()) + 1,
        **chosen,
        "constant": {"share": share, "brier": share * (1 - share), "log_loss": float(entr(share) + entr(1 - share))},
        "as_is": _as_is(found.columns),
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
        kappa = figures_of(columns, found).kappa
    return {
        "reason": None,
        "kappa": kappa.as_dict(),
        "higher_is_better": columns.higher_is_better,
        "levels": [option.label for option in judged.criterion.options],
        "cuts": fitted.as_dict()["cuts"],
    }


def _as_is(columns: Columns) -> dict[str, Any] | None:
    if columns.score.min() < 0 or columns.score.max() > 1:
        return None
    likely = columns.score if columns.higher_is_better else 1 - columns.score
    return _row(figures_of(columns, CrossFit(likely, likely >= 0.5, columns.fold)))


def _row(figures: CalibrationFigures) -> dict[str, Any]:
    estimates = estimates_as_dicts(figures, ("kappa", "brier", "log_loss", "ece"))
    return {"reason": None, **estimates, "ece_if_perfect": figures.ece_if_perfect.value}


def point_as_dict(point: ReliabilityPoint) -> dict[str, Any]:
    return {
        "lowest": point.lowest,
        "highest": point.highest,
        "predicted": point.predicted,
        "observed": point.observed.value,
        "low": point.observed.low,
        "high": point.observed.high,
        "n": point.observed.n,
    }
