"""Calibration: fitted on dev, cross-fitted on dev for dev's own figures, and applied to test by whoever holds it."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Array, Floats, Ints, sums_by
from alignment.calibrators import Calibrator, Method
from alignment.columns import cluster_rows, finite, level_positions, same_length
from alignment.fits import fit_cutpoints, fit_isotonic, fit_platt, fit_threshold
from alignment.reasons import NO_NEGATIVE, NO_POSITIVE, NO_UNITS, ONE_CATEGORY

EQUAL_SCORES = "all scores are equal"
NOTHING_THERE = "better scores do not go with better labels: there is nothing to calibrate"


@dataclass(frozen=True, slots=True)
class NotFitted:
    """There is no calibrator on these data, and why."""

    reason: str


@dataclass(frozen=True, eq=False, slots=True)
class CrossFit:
    """What calibrators say of units they were not fitted on; arrays of shape (units,). No probability: None."""

    probability: Floats | None
    verdict: Array
    fold: Ints


def fit_calibrator(
    method: Method, score: ArrayLike, human: ArrayLike, *, levels: int = 2, higher_is_better: bool = True
) -> Calibrator | NotFitted:
    """The calibrator of ``method`` on the dev part; which one a judge takes is decided on dev as well.

    ``human`` is people's verdict (0 or 1), for "cutpoints" the position 0..levels-1 of people's level; shape (units,).

    * threshold: the observed score with the greatest kappa, as ``sweep`` finds it.
    * platt: the logistic curve of greatest likelihood, against targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1
      and 0, so that it exists even when scores separate passes from fails entirely.
    * isotonic: the never falling steps with the least squared error; each step's share of passes at both its ends.
    * cutpoints: the cuts with the greatest quadratic kappa (``best_cuts``).

    ``NotFitted``: no units; all scores equal; people used only one category; better scores don't go with better
    labels (no kappa above 0, a slope of 0 or less, a single step). ValueError: a score that isn't finite, values of
    ``human`` outside the levels, unequal lengths, more than two levels for a method other than cutpoints.

    Source: Platt (1999), Probabilistic Outputs for SVMs; Zadrozny & Elkan (2002), KDD.

    >>> fit_calibrator("threshold", [1, 2, 3, 4], [0, 0, 1, 1])
    ThresholdCalibrator(threshold=3.0, higher_is_better=True)
    >>> fit_calibrator("platt", [1, 2, 3, 4], [1, 1, 1, 1])
    NotFitted(reason='no unit is negative by people')
    """
    if method not in get_args(Method):
        raise ValueError(f"no method {method!r}; there are {', '.join(get_args(Method))}")
    if levels < 2 or (levels > 2 and method != "cutpoints"):
        raise ValueError(f"{method} is not for {levels} levels")
    scores, human = finite(score, "score"), level_positions(human, levels, "human")
    same_length(score=scores, human=human)
    reason = _refusal(scores, human, levels)
    if reason is not None:
        return NotFitted(reason)
    fitted: Calibrator | None
    if method == "threshold":
        fitted = fit_threshold(scores, human, higher_is_better)
    elif method == "platt":
        fitted = fit_platt(scores, human, higher_is_better)
    elif method == "isotonic":
        fitted = fit_isotonic(scores, human, higher_is_better)
    else:
        fitted = fit_cutpoints(scores, human, levels, higher_is_better)
    return fitted or NotFitted(NOTHING_THERE)


def cross_fit(
    method: Method,
    score: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    rng: np.random.Generator,
    folds: int = 5,
    levels: int = 2,
    higher_is_better: bool = True,
) -> CrossFit | NotFitted:
    """Each unit judged by a calibrator fitted on the other folds: dev's figures without the luck of fitting.

    Whole clusters are dealt to ``folds`` folds of equal size (within one), spread evenly over the clusters' mean
    labels. The intervals of figures made of this take the calibrators as given.

    ``NotFitted``: fewer clusters than folds; no calibrator without some fold. ValueError: as ``fit_calibrator``, and
    fewer than 2 folds.
    """
    if folds < 2:
        raise ValueError(f"cross-fitting needs 2 folds or more, not {folds}")
    human, (row, rows) = level_positions(human, levels, "human"), cluster_rows(cluster)
    same_length(human=human, cluster=row)
    if rows < folds:
        return NotFitted(f"{rows} clusters are fewer than {folds} folds")
    mean = sums_by(row, human, rows) / np.bincount(row)
    dealt = np.empty(rows, dtype=np.int64)
    dealt[np.lexsort((rng.random(rows), mean))] = np.arange(rows) % folds
    return cross_fit_on(method, score, human, dealt[row], levels=levels, higher_is_better=higher_is_better)


def cross_fit_on(
    method: Method,
    score: ArrayLike,
    human: ArrayLike,
    fold: ArrayLike,
    *,
    levels: int = 2,
    higher_is_better: bool = True,
) -> CrossFit | NotFitted:
    """``cross_fit`` on folds that were dealt already: ``fold`` holds each unit's, from 0, shape (units,).

    >>> found = cross_fit_on("threshold", [1, 2, 3, 4, 1, 2, 3, 4], [0, 0, 1, 1] * 2, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> found.verdict.tolist()
    [False, False, True, True, False, False, True, True]
    """
    scores, human = finite(score, "score"), level_positions(human, levels, "human")
    fold = np.asarray(fold, dtype=np.int64)
    same_length(score=scores, human=human, fold=fold)
    occurring = np.unique(fold).tolist()
    probability, verdict = np.full(scores.size, np.nan), np.empty(scores.size, dtype=np.int64)
    for place, left_out in enumerate(occurring, start=1):
        inside = fold == left_out
        fitted = fit_calibrator(
            method, scores[~inside], human[~inside], levels=levels, higher_is_better=higher_is_better
        )
        if isinstance(fitted, NotFitted):
            return NotFitted(f"without fold {place} of {len(occurring)}: {fitted.reason}")
        likely = fitted.probability(scores[inside])
        probability[inside] = np.nan if likely is None else likely
        verdict[inside] = fitted.verdict(scores[inside])
    has_probability = method in ("platt", "isotonic")
    return CrossFit(
        probability if has_probability else None, verdict if method == "cutpoints" else verdict.astype(np.bool_), fold
    )


def _refusal(scores: Floats, human: Ints, levels: int) -> str | None:
    if not scores.size:
        return NO_UNITS
    if human.min() == human.max():
        if levels > 2:
            return ONE_CATEGORY
        return NO_NEGATIVE if human[0] else NO_POSITIVE
    # By halves, as positions between the ends are reckoned: ends too close for that are equal, too.
    return EQUAL_SCORES if scores.max() / 2 - scores.min() / 2 == 0 else None
