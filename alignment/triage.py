"""Which of a judge's decisions it may take alone: risk against coverage, and a region with a certified risk."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Array, Bools, Floats, Ints, sums_by
from alignment.columns import cluster_rows, finite, same_length, verdicts
from alignment.estimate import Estimate
from alignment.interval import Kind, Plan, Sampling, with_interval
from alignment.reasons import NO_UNITS
from alignment.totals import Totals, ratio

#: Distances closer than this, relatively, are one: .6 and .4 are equally far from .5.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class RiskCoverage:
    """What keeping only the surest decisions buys; arrays of shape (distances,), from the surest to all.

    Of the decisions at least ``distance`` from the threshold, which are the share ``coverage`` of all, the share
    ``risk`` is wrong. ``aurc`` is the area under risk over coverage.
    """

    distance: Floats
    coverage: Floats
    risk: Floats
    aurc: Estimate


def risk_coverage(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    threshold: float,
    *,
    higher_is_better: bool = True,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> RiskCoverage:
    """The share of wrong decisions among those kept, when only scores far enough from the threshold are kept.

    A decision is as sure as |score - threshold| is large; decisions equally far are kept together. Calibrated
    probabilities with threshold ½ serve as scores just as well. ``score``, ``positive`` (people's verdict) and
    ``cluster`` have shape (units,).

    AURC = mean over units i of R_i, the share of wrong decisions among the units at least as sure as i: the mean risk
    over all coverages. The influence of unit i is what it moves in its own R and in those of all less sure. 0 is best;
    a judge whose sureness says nothing has its error rate. Undefined: no units.

    Source: El-Yaniv & Wiener (2010), JMLR 11; area: Geifman, Uziel & El-Yaniv (2019), ICLR.

    >>> curve = risk_coverage([0.1, 0.4, 0.7, 0.9], [0, 1, 1, 1], [1, 2, 3, 4], 0.5, interval="none")
    >>> curve.coverage.tolist(), curve.risk.tolist(), curve.aurc.value
    ([0.5, 0.75, 1.0], [0.0, 0.0, 0.25], 0.0625)
    """
    plan = Plan(interval, rng, level)
    scores, human, (row, rows) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row)
    wrong = wrong_decisions(scores, human, threshold, higher_is_better)
    distance, step = _steps(np.abs(scores - threshold))
    name, n, steps = "area under risk over coverage", scores.size, distance.size
    if n == 0:
        return RiskCoverage(distance, distance, distance, Estimate.undefined(NO_UNITS, method=name, level=level))
    here = sums_by(step, np.ones(n), steps)
    kept = here.cumsum()
    risk = sums_by(step, wrong, steps).cumsum() / kept
    value = float(here @ risk / n)

    def area(columns: Array) -> Array:
        of_step, errors = columns[..., :steps], columns[..., steps:]
        risks = ratio(errors.cumsum(axis=-1), of_step.cumsum(axis=-1))
        # Steps before the first unit of a resample have no risk, and no unit that would count it.
        return ratio((of_step * np.nan_to_num(risks)).sum(axis=-1), of_step.sum(axis=-1))

    def influence() -> Floats:
        # Of a step and all less sure ones: Σ units/kept, and the same times their risk.
        weight = (here / kept)[::-1].cumsum()[::-1]
        weighted_risk = (here / kept * risk)[::-1].cumsum()[::-1]
        return sums_by(row, (risk[step] + wrong * weight[step] - weighted_risk[step] - value) / n, rows)

    counts = Totals(
        np.tile(row, 2), np.concatenate([step, step + steps]), np.concatenate([np.ones(n), wrong]), rows, 2 * steps
    )
    sampling = Sampling(rows, 2 * steps, influence, lambda weights: counts.resample(area, weights))
    aurc = with_interval(value, sampling, plan, name=name, n=n, clusters=rows, bounds=(0.0, 1.0))
    return RiskCoverage(distance, kept / n, risk, aurc)


def wrong_decisions(scores: Floats, human: Bools, threshold: float, higher_is_better: bool) -> Bools:
    """Whether the judge's verdict at the threshold differs from people's, shape (units,)."""
    if not np.isfinite(threshold):
        raise ValueError(f"the threshold is a finite number, not {threshold}")
    judge = scores >= threshold if higher_is_better else scores <= threshold
    wrong: Bools = judge != human
    return wrong


def _steps(distance: Floats) -> tuple[Floats, Ints]:
    """Distinct distances, falling, each the least of those that count as one; and each unit's place among them."""
    order = np.argsort(-distance, kind="stable")
    falling = distance[order]
    starts = np.ones(falling.size, dtype=np.bool_)
    starts[1:] = falling[1:] < falling[:-1] * (1 - ROUNDING)
    step = np.empty(falling.size, dtype=np.int64)
    step[order] = starts.cumsum() - 1
    ends = np.append(np.flatnonzero(starts)[1:], falling.size) - 1 if falling.size else np.empty(0, np.int64)
    return falling[ends], step
