"""How calibrators are fitted on dev, and cross-fitted on dev for dev's own figures.

In the functions for each kind, scores and people's levels (``human``, positions) have shape (units,); both vary, which
``fit_calibrator`` has checked. They return None where better scores don't go with better labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import expit

from alignment.agreement.cohen import kappa_statistic
from alignment.base.arrays import Array, Floats, Ints, cluster_rows, finite, level_positions, same_length, sums_by
from alignment.base.estimate import NO_NEGATIVE, NO_POSITIVE, NO_UNITS, ONE_CATEGORY, Remark, remark
from alignment.base.tables import disagreement
from alignment.calibration.calibrators import (
    Calibrator,
    CutpointCalibrator,
    IsotonicCalibrator,
    Method,
    PlattCalibrator,
    ThresholdCalibrator,
    position,
)
from alignment.judging.threshold import EQUAL, sweep

MOST_ROUNDS = 100


def best_cuts(place: Ints, level: Ints, levels: int) -> tuple[Ints, float]:
    """Where to cut ranked scores into ``levels`` levels for the greatest quadratic kappa with people, and that kappa.

    ``place`` is each unit's rank 0..m-1 among the distinct scores, 0 the worst, ``level`` the position of people's
    level, both of shape (units,); people used at least two levels. Returns cuts c_1 ≤ … ≤ c_{levels-1}, shape
    (levels - 1,): places from c_j on have level j or more; c_j = m means that none has. Of equal kappas, later cuts
    stand as low as they can.

    The exact maximum over all cuts, found without trying them. κ = 1 - N Σ_i v(h_i, j_i) / Σ_i g(j_i), where g(j) is
    the sum of v(h, j) over all people's levels: people's shares are fixed, so both sums run over units, and for a
    given ratio r the best levels minimise Σ_i (N v - r g). That is a shortest path through the ranked scores, level by
    level, O(m · levels). Its ratio is the next r, until r stops falling, which takes a handful of rounds.

    Source: the ratio of sums as in Dinkelbach (1967), Management Science 13(7).

    >>> cuts, kappa = best_cuts(np.arange(6), np.array([0, 0, 1, 1, 2, 2]), 3)
    >>> cuts.tolist(), kappa
    ([2, 4], 1.0)
    """
    apart = disagreement(levels, "quadratic")
    places = int(place.max()) + 1
    table = np.bincount(place * levels + level, minlength=places * levels).reshape(places, levels).astype(np.float64)
    # Costs of the places before each cut, by the level they are given: shape (levels, places + 1), whole numbers.
    observed = _before(table @ apart * level.size)
    expected = _before(np.outer(table.sum(axis=1), table.sum(axis=0) @ apart))
    least = 1.0
    cuts = np.full(levels - 1, places)
    for _ in range(MOST_ROUNDS):
        found = _cheapest(observed - least * expected, EQUAL * expected.max())
        ratio = _along(observed, found) / _along(expected, found)
        if ratio >= least - EQUAL:
            break
        cuts, least = found, ratio
    given = np.searchsorted(cuts, place, side="right")
    cells = np.bincount(level * levels + given, minlength=levels * levels).astype(np.float64)
    return cuts, float(kappa_statistic(apart)(cells))


def _before(costs: Floats) -> Floats:
    """Running sums along places, from nothing on: (places, levels) -> (levels, places + 1)."""
    return np.concatenate([np.zeros((1, costs.shape[1])), costs.cumsum(axis=0)]).T.copy()


def _along(before: Floats, cuts: Ints) -> float:
    """The cost of all places when levels change at ``cuts``."""
    ends = np.concatenate([[0], cuts, [before.shape[1] - 1]])
    return float(sum(before[level, ends[level + 1]] - before[level, ends[level]] for level in range(before.shape[0])))


def _cheapest(before: Floats, equal: float) -> Ints:
    """The cuts of least cost: forwards the cheapest way to be at each place on each level, backwards where it came by.

    Costs within ``equal`` are equal: rounding must not choose.
    """
    levels, places = before.shape[0], before.shape[1] - 1
    entering = []
    cost = before[0]
    for level in range(1, levels):
        entry = cost - before[level]
        entering.append(entry)
        cost = before[level] + np.minimum.accumulate(entry)
    cuts = np.empty(levels - 1, dtype=np.int64)
    end = places
    for level in range(levels - 1, 0, -1):
        entry = entering[level - 1][: end + 1]
        end = cuts[level - 1] = int(np.flatnonzero(entry <= entry.min() + equal)[0])
    return cuts


NEWTON_STEPS = 100


def fit_threshold(scores: Floats, human: Ints, higher_is_better: bool) -> ThresholdCalibrator | None:
    """The best threshold of ``sweep``."""
    found = sweep(scores, human, higher_is_better=higher_is_better)
    if found.best_threshold is None or found.best_kappa is None or found.best_kappa <= EQUAL:
        return None
    return ThresholdCalibrator(found.best_threshold, higher_is_better)


def fit_platt(scores: Floats, human: Ints, higher_is_better: bool) -> PlattCalibrator | None:
    """Newton's method in two parameters, halving a step that doesn't descend; the loss is convex and has a minimum."""
    lowest, highest = float(scores.min()), float(scores.max())
    z, (fails, passes) = _by_score(position(scores, lowest, highest, higher_is_better), human)
    count = fails + passes
    low, high = 1 / (fails.sum() + 2), (passes.sum() + 1) / (passes.sum() + 2)
    target = low * fails + high * passes
    features = np.stack([np.ones_like(z), z])

    def loss(parameters: Floats) -> float:
        height = parameters @ features
        return float(count @ np.logaddexp(0, height) - target @ height)

    parameters = np.array([np.log(target.sum() / (count.sum() - target.sum())), 0.0])
    for _ in range(NEWTON_STEPS):
        likely = expit(parameters @ features)
        gradient = features @ (count * likely - target)
        curvature = (features * (count * likely * (1 - likely))) @ features.T
        step = np.linalg.lstsq(curvature, gradient)[0]
        before = loss(parameters)
        while loss(parameters - step) > before and np.abs(step).max() > EQUAL:
            step = step / 2
        parameters = parameters - step
        if np.abs(step).max() <= EQUAL:
            break
    intercept, slope = parameters.tolist()
    return PlattCalibrator(lowest, highest, slope, intercept, higher_is_better) if slope > EQUAL else None


def fit_isotonic(scores: Floats, human: Ints, higher_is_better: bool) -> IsotonicCalibrator | None:
    """Pool adjacent violators; a step is kept as its two ends, a step of a single score as one."""
    score, (fails, passes) = _by_score(scores if higher_is_better else -scores, human)
    count = fails + passes
    # scipy loads this part of it when it is first named.
    starts = scipy.optimize.isotonic_regression(passes / count, weights=count).blocks[:-1]
    if starts.size == 1:
        return None
    ends = np.append(starts[1:], score.size) - 1
    share = np.add.reduceat(passes, starts) / np.add.reduceat(count, starts)
    knots = np.unique(np.concatenate([starts, ends]))
    heights = share[np.searchsorted(starts, knots, side="right") - 1]
    at = score[knots]
    if not higher_is_better:
        at, heights = -at[::-1], heights[::-1]
    return IsotonicCalibrator(tuple(at.tolist()), tuple(heights.tolist()), higher_is_better)


def fit_cutpoints(scores: Floats, human: Ints, higher_is_better: bool, levels: int) -> CutpointCalibrator | None:
    """The cuts of ``best_cuts``, as scores."""
    distinct, place = np.unique(scores if higher_is_better else -scores, return_inverse=True)
    cuts, kappa = best_cuts(place, human, levels)
    if kappa <= EQUAL:
        return None
    at = distinct if higher_is_better else -distinct
    return CutpointCalibrator(tuple(float(at[cut]) if cut < distinct.size else None for cut in cuts), higher_is_better)


def _by_score(score: Floats, human: Ints) -> tuple[Floats, Floats]:
    """Distinct scores, ascending, and how many units that people fail and pass have them, shape (2, scores)."""
    distinct, place = np.unique(score, return_inverse=True)
    counts = np.bincount(human * distinct.size + place, minlength=2 * distinct.size)
    return distinct, counts.reshape(2, distinct.size).astype(np.float64)


EQUAL_SCORES = remark("equal_scores")
NOTHING_THERE = remark("nothing_to_calibrate")


@dataclass(frozen=True, slots=True)
class NotFitted:
    """There is no calibrator on these data, and why."""

    reason: Remark


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
    NotFitted(reason={'code': 'no_negative'})
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
    fit: dict[Method, Callable[[Floats, Ints, bool], Calibrator | None]] = {
        "threshold": fit_threshold,
        "platt": fit_platt,
        "isotonic": fit_isotonic,
        "cutpoints": partial(fit_cutpoints, levels=levels),
    }
    return fit[method](scores, human, higher_is_better) or NotFitted(NOTHING_THERE)


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
        return NotFitted(remark("fewer_clusters_than_folds", n=rows, folds=folds))
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
            return NotFitted(remark("without_fold", fold=place, folds=len(occurring), why=fitted.reason))
        likely = fitted.probability(scores[inside])
        probability[inside] = np.nan if likely is None else likely
        verdict[inside] = fitted.verdict(scores[inside])
    has_probability = method in ("platt", "isotonic")
    return CrossFit(
        probability if has_probability else None, verdict if method == "cutpoints" else verdict.astype(np.bool_), fold
    )


def _refusal(scores: Floats, human: Ints, levels: int) -> Remark | None:
    if not scores.size:
        return NO_UNITS
    if human.min() == human.max():
        if levels > 2:
            return ONE_CATEGORY
        return NO_NEGATIVE if human[0] else NO_POSITIVE
    # By halves, as positions between the ends are reckoned: ends too close for that are equal, too.
    return EQUAL_SCORES if scores.max() / 2 - scores.min() / 2 == 0 else None
