"""Whether a calibrator's probabilities and verdicts hold: kappa, Brier, ECE, log loss, reliability points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from alignment.agreement.cohen import confusion, kappa_name, kappa_statistic
from alignment.base.arrays import (
    Bools,
    Floats,
    Ints,
    cluster_rows,
    finite,
    level_positions,
    same_length,
)
from alignment.base.estimate import NO_UNITS, ONE_CATEGORY, Estimate, remark
from alignment.base.interval import Kind, Plan, share_of_trials
from alignment.base.tables import Weighting, agreement_of_confusion, disagreement
from alignment.base.totals import Totals, column_ratio, estimate

BINS = 15
NO_PROBABILITIES = remark("no_probabilities")
ABOVE_0_BY_LUCK = remark("above_0_by_luck")


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Units of about one probability: ``predicted`` is its mean over them, ``observed`` the share that people pass."""

    lowest: float
    highest: float
    predicted: float
    observed: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """Probabilities and verdicts against people. Without probabilities all but kappa is undefined, and no points."""

    kappa: Estimate
    brier: Estimate
    log_loss: Estimate
    ece: Estimate
    ece_if_perfect: Estimate
    points: tuple[ReliabilityPoint, ...]


def calibration_figures(
    verdict: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    probability: ArrayLike | None = None,
    levels: int = 2,
    bins: int = BINS,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> CalibrationFigures:
    """Verdicts, and probabilities p where there are any, against people's verdicts y; all of shape (units,).

    * kappa of verdicts and people; with more than two ``levels`` (then both are positions of levels) quadratic.
    * Brier = mean (p - y)², from 0 (best) to 1.
    * log loss = mean of -ln p where people pass and -ln(1 - p) where they fail.
    * ECE = Σ_b |Σ_{i in b} (p_i - y_i)| / n over at most ``bins`` bins of equal numbers of units by p. Units of one
      p are never parted: a value of p belongs to bin ⌊bins · (units below it + half of its own) / n⌋, so ties leave
      fewer bins.
    * ece_if_perfect: the ECE that a perfectly calibrated judge with these p would show on as many independent units by
      luck alone, Σ_b √(2/π Σ p(1 - p)) / n. Neither has an interval: made from data, it would lie above 0 even then.
    * points: per bin, the mean p and the share that people pass, with its (clustered) interval.

    Undefined: no units; kappa when one category was used only; log loss when some p is 0 or 1 and wrong (it is
    infinite); everything but kappa without ``probability``. ValueError: a probability outside [0, 1], verdicts or
    ``human`` outside the levels, unequal lengths.

    Source: Brier (1950), Mon. Weather Rev. 78; bins of equal mass: Naeini, Cooper & Hauskrecht (2015), AAAI.

    >>> figures = calibration_figures([1, 1, 0], [1, 0, 0], [1, 2, 3], probability=[0.9, 0.6, 0.2], interval="none")
    >>> round(figures.brier.value, 4), figures.kappa.value
    (0.1367, 0.4)
    """
    plan = Plan(interval, rng, level)
    given, people = level_positions(verdict, levels, "verdict"), level_positions(human, levels, "human")
    row, rows = cluster_rows(cluster)
    same_length(verdict=given, human=people, cluster=row)
    weights: Weighting | None = "quadratic" if levels > 2 else None
    kappa = estimate(
        confusion(row, people, given, levels),
        kappa_statistic(disagreement(levels, weights)),
        plan,
        name=kappa_name(weights),
        n=given.size,
        undefined=ONE_CATEGORY if given.size else NO_UNITS,
        agreement=agreement_of_confusion(levels, weighted=weights is not None),
    )
    if probability is None:
        none = Estimate.undefined(NO_PROBABILITIES, level=level)
        return CalibrationFigures(kappa, none, none, none, none, ())
    likely, passed = finite(probability, "probability"), people.astype(np.bool_)
    if likely.size and not (likely.min() >= 0 and likely.max() <= 1):
        raise ValueError("probabilities lie between 0 and 1")
    same_length(probability=likely, human=people)
    if levels > 2:
        raise ValueError("probabilities are of passing: they go with two levels")
    bin_of = equal_mass_bins(likely, bins)
    used = np.unique(bin_of)
    over = np.bincount(bin_of, likely - passed)
    by_luck = np.sqrt(2 / np.pi * np.bincount(bin_of, likely * (1 - likely)))
    return CalibrationFigures(
        kappa=kappa,
        brier=_mean((likely - passed) ** 2, row, plan, "Brier score", 1.0),
        log_loss=_log_loss(likely, passed, row, rows, plan),
        ece=_without_interval(np.abs(over), f"ECE, {used.size} bins of equal mass", given.size, rows, level),
        ece_if_perfect=_without_interval(by_luck, "ECE if perfect, independent units", given.size, rows, level),
        points=tuple(_point(likely, passed, row, bin_of == number, plan) for number in used),
    )


def equal_mass_bins(values: Floats, bins: int) -> Ints:
    """Bins of equal numbers of values, shape (values,), none of which parts equal values.

    >>> equal_mass_bins(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0]), 3).tolist()
    [0, 1, 1, 1, 2, 2]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    # Twice the middle rank, a whole number, so that no rounding decides.
    middle = 2 * count.cumsum() - count
    return (bins * middle // (2 * max(values.size, 1)))[place]


def _mean(amount: Floats, row: Ints, plan: Plan, name: str, highest: float) -> Estimate:
    totals, bounds = Totals.of_columns(row, np.stack([amount, np.ones(amount.size)])), (0.0, highest)
    return estimate(totals, column_ratio(0, 1), plan, name=name, n=amount.size, undefined=NO_UNITS, bounds=bounds)


def _log_loss(likely: Floats, passed: Bools, row: Ints, rows: int, plan: Plan) -> Estimate:
    wrong = int((likely == np.where(passed, 0.0, 1.0)).sum())
    if wrong:
        reason = remark("infinite_log_loss", wrong=wrong, n=likely.size)
        return Estimate.undefined(reason, n=likely.size, clusters=rows, method="log loss", level=plan.level)
    loss = -(xlogy(passed, likely) + xlog1py(~passed, -likely))
    return _mean(loss, row, plan, "log loss", np.inf)


def _without_interval(of_bins: Floats, name: str, n: int, rows: int, level: float) -> Estimate:
    """Σ_b of_bins / n."""
    if not n:
        return Estimate.undefined(NO_UNITS, method=name, level=level)
    return Estimate(float(of_bins.sum() / n), None, None, level, n, rows, name, ABOVE_0_BY_LUCK)


def _point(likely: Floats, passed: Bools, row: Ints, inside: Bools, plan: Plan) -> ReliabilityPoint:
    here = likely[inside]
    observed = share_of_trials(passed[inside], row[inside], plan, name="share of passes", undefined=NO_UNITS)
    return ReliabilityPoint(float(here.min()), float(here.max()), float(here.mean()), observed)
