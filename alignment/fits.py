"""How each kind of calibrator is fitted. None: better scores don't go with better labels.

Scores and people's levels (``human``, positions) have shape (units,); both vary, which ``fit_calibrator`` has checked.
"""

import numpy as np
from scipy.special import expit

from alignment.arrays import Floats, Ints
from alignment.calibrators import (
    CutpointCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    ThresholdCalibrator,
    position,
)
from alignment.cutpoints import best_cuts
from alignment.threshold import EQUAL, sweep

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
    z, (fails, passes) = _by_score(position(scores, lowest, highest, higher_is_better), human, 2)
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
    # Here, not above: scipy.optimize takes half a second to load, and most processes fit nothing.
    from scipy.optimize import isotonic_regression

    score, (fails, passes) = _by_score(scores if higher_is_better else -scores, human, 2)
    count = fails + passes
    starts = isotonic_regression(passes / count, weights=count).blocks[:-1]
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


def fit_cutpoints(scores: Floats, human: Ints, levels: int, higher_is_better: bool) -> CutpointCalibrator | None:
    """The cuts of ``best_cuts``, as scores."""
    distinct, place = np.unique(scores if higher_is_better else -scores, return_inverse=True)
    cuts, kappa = best_cuts(place, human, levels)
    if kappa <= EQUAL:
        return None
    at = distinct if higher_is_better else -distinct
    return CutpointCalibrator(tuple(float(at[cut]) if cut < distinct.size else None for cut in cuts), higher_is_better)


def _by_score(score: Floats, human: Ints, levels: int) -> tuple[Floats, Floats]:
    """Distinct scores, ascending, and how many units of each level have them, shape (levels, scores)."""
    distinct, place = np.unique(score, return_inverse=True)
    counts = np.bincount(human * distinct.size + place, minlength=levels * distinct.size)
    return distinct, counts.reshape(levels, distinct.size).astype(np.float64)
