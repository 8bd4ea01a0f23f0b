"""Which of a judge's decisions it may take alone: risk against coverage, and a region with a certified risk (Learn then
Test): the scores a judge may decide alone, with a bound on how many of those decisions are wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from alignment.base.arrays import Array, Bools, Floats, Ints, cluster_rows, finite, same_length, sums_by, verdicts
from alignment.base.estimate import NO_UNITS, Estimate, Remark, remark, rounded_share
from alignment.base.interval import Kind, Plan, Sampling, share_of_trials, with_interval
from alignment.base.totals import Totals, ratio
from alignment.judging.threshold import decide

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
    return decide(scores, threshold, higher_is_better) != human


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


RISK = 0.05
CONFIDENCE = 0.95
STEPS = 20
FIRST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class CertifiedRegion:
    """Scores at least ``distance`` from ``threshold``; ``distance`` is None, with the reason, when there is no region.

    ``error`` is the share of wrong decisions there on test, from 0 to the certified bound (one-sided, at
    ``confidence``); without a region, that of the first step, which failed. ``tried`` holds every step's distance and
    error up to the first that failed.
    """

    threshold: float
    distance: float | None
    risk: float
    confidence: float
    error: Estimate
    tried: tuple[tuple[float, Estimate], ...]
    reason: Remark | None

    def inside(self, score: ArrayLike) -> Bools:
        """Which scores the judge may decide alone, shape (scores,); none without a region."""
        scores = finite(score, "score")
        if self.distance is None:
            return np.zeros(scores.size, dtype=np.bool_)
        return far_from(scores, self.threshold, self.distance)


def certified_region(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    threshold: float,
    distances: Sequence[float],
    *,
    risk: float = RISK,
    confidence: float = CONFIDENCE,
    higher_is_better: bool = True,
) -> CertifiedRegion:
    """The widest region on test of which one can be ``confidence`` sure that at most ``risk`` of decisions are wrong.

    ``score``, ``positive`` (people's verdict) and ``cluster`` are test, shape (units,); ``threshold`` and
    ``distances`` (falling) were fixed before test was looked at (``distance_steps``). From the first distance on, each
    step's hypothesis "more than ``risk`` of the decisions at least this far are wrong" is tested at level
    1 - confidence by the upper Clopper-Pearson bound, until one can't be rejected; the last rejected is the region. In
    a fixed sequence every test has the full level, and the chance that a region is certified whose true risk is above
    ``risk`` is at most 1 - confidence. Later looks at the same test cost: pass ``level_of_look(k)`` as confidence.

    Clustered decisions: those of one cluster may all be wrong together, and larger clusters may err more. The bound
    (``error_bound``) takes the spread of the errors between clusters from those seen, and for what was not seen adds
    one large cluster that is all wrong. With every decision its own cluster, and for copies in clusters of one
    size, it is exact; otherwise approximate (docs/certainty.md: it kept the risk in every case tried, also where only
    the largest clusters err).

    No region: the first step fails. ValueError: distances that don't fall or are negative, a risk or confidence
    outside (0, 1), and as ``risk_coverage``.

    Source: Angelopoulos, Bates, Candès, Jordan & Lei (2021), Learn then Test; Clopper & Pearson (1934), Biometrika 26;
    clustered: Fay & Feuer (1997), Statistics in Medicine 16.

    >>> test = np.linspace(0, 1, 400)
    >>> region = certified_region(test, test > 0.58, range(400), 0.5, [0.3, 0.2, 0.1, 0.0])
    >>> region.distance, round(region.error.high, 4), region.inside([0.05, 0.45, 0.61]).tolist()
    (0.1, 0.0093, [True, False, True])
    """
    scores, human, (row, _) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row)
    steps = finite(distances, "distance")
    if not steps.size or steps[-1] < 0 or (steps[1:] >= steps[:-1]).any():
        raise ValueError("distances are one or more, fall, and are not negative")
    for name, share in (("risk", risk), ("confidence", confidence)):
        if not 0 < share < 1:
            raise ValueError(f"the {name} lies between 0 and 1, not {share}")
    wrong = wrong_decisions(scores, human, threshold, higher_is_better)
    tried: list[tuple[float, Estimate]] = []
    passed: tuple[float, Estimate] | None = None
    for distance in steps.tolist():
        far = far_from(scores, threshold, distance)
        error = error_bound(wrong[far], row[far], confidence)
        tried.append((distance, error))
        if error.high is None or error.high > risk:
            break
        passed = tried[-1]
    distance, error = passed or (None, tried[0][1])
    reason = None if passed else _why_none(error, risk, confidence)
    return CertifiedRegion(float(threshold), distance, risk, confidence, error, tuple(tried), reason)


def distance_steps(
    dev_score: ArrayLike,
    threshold: float,
    clusters: int,
    *,
    steps: int = STEPS,
    risk: float = RISK,
    confidence: float = CONFIDENCE,
) -> list[float]:
    """Distances for ``certified_region`` from dev's scores: from those so far that few are farther, down to 0.

    ``clusters`` is the number of samples on test. The first step holds the share of dev that should bring enough
    decisions on test for a bound of ``risk`` if none is wrong (``decisions_needed``), with two standard deviations to
    spare, and at least a fifth, because one early error must not end a long sequence; the others follow in equal
    shares. Without scores on dev, or with too few samples on test, only 0.

    >>> distance_steps(np.linspace(0, 1, 1001), 0.5, clusters=200, steps=4)
    [0.309, 0.206, 0.103, 0.0]
    """
    away = np.abs(finite(dev_score, "score") - threshold)
    needed = (1 + math.sqrt(1 + decisions_needed(risk, confidence))) ** 2
    if not away.size or needed >= clusters:
        return [0.0]
    shares = np.linspace(max(needed / clusters, FIRST_SHARE), 1, steps)[:-1]
    quantiles = np.quantile(away, 1 - shares, method="higher")
    return [*sorted({float(f"{away:.12g}") for away in quantiles if away > 0}, reverse=True), 0.0]


def decisions_needed(risk: float = RISK, confidence: float = CONFIDENCE) -> int:
    """How many independent decisions without an error certify ``risk``: the least n with (1 - risk)^n ≤ 1 - confidence.

    >>> decisions_needed()
    59
    """
    return math.ceil(math.log(1 - confidence) / math.log(1 - risk))


def error_bound(wrong: Bools, cluster: Ints, confidence: float) -> Estimate:
    """Share of wrong decisions with its one-sided upper bound: low 0, high the bound; both arrays shape (decisions,).

    Of all n decisions let cluster c have the share w_c, and y_c be wrong in it; s = Σ y_c, and w = Σ w_c³/Σ w_c² is the
    weight of a large cluster, the one that two decisions of one cluster are found in on average. high = the
    ``confidence`` quantile of Beta(a, n* - a + 1) with n* = (s + w)/(Σ y_c² + w²), a = n* (s + w). So decisions of one
    cluster are worth less the more they err together. Singles give n* = n and a = errors + 1, the bound of Clopper and
    Pearson; copies in clusters of one size give that of the clusters.

    Source: Fay & Feuer's gamma bound for weighted counts (1997), Statistics in Medicine 16, with beta for gamma as
    Clopper & Pearson (1934) have it, and with w for their greatest weight, which costs power where one cluster is huge
    and protected no better in simulations (n²/Σ m_c² as the worth of n decisions did not protect where large clusters
    err more).
    """
    name = "error rate; Clopper-Pearson, one-sided"
    if not wrong.size:
        return Estimate.undefined(remark("no_decision_so_far"), method=name, level=confidence)
    _, row, size = np.unique(cluster, return_inverse=True, return_counts=True)
    weight, errors_in = size / wrong.size, sums_by(row, wrong, size.size) / wrong.size
    share, large = float(wrong.mean()), float((weight**3).sum() / (weight**2).sum())
    worth = (share + large) / (float(np.square(errors_in).sum()) + large**2)
    errors = worth * (share + large)
    if size.max() > 1:
        name += f", clustered decisions worth {worth:.0f} independent ones"
    rest = worth - errors + 1
    high = 1.0 if share == 1 or rest <= 0 else float(betaincinv(errors, rest, confidence))
    return Estimate(share, 0.0, high, confidence, wrong.size, size.size, name)


def share_inside(
    region: CertifiedRegion,
    score: ArrayLike,
    cluster: ArrayLike,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of new scores that fall inside the region, of shape (scores,), clustered; undefined without a region."""
    plan = Plan(interval, rng, level)
    inside, (row, rows) = region.inside(score), cluster_rows(cluster)
    same_length(score=inside, cluster=row)
    name = "share inside the region"
    if region.reason is not None:
        return Estimate.undefined(region.reason, n=row.size, clusters=rows, method=name, level=level)
    return share_of_trials(inside, row, plan, name=name, undefined=NO_UNITS)


def far_from(scores: Floats, threshold: float, distance: float) -> Bools:
    """Which scores lie at least so far from the threshold, shape (scores,). The one home of the rule."""
    return np.abs(scores - threshold) >= distance * (1 - ROUNDING)


def _why_none(error: Estimate, risk: float, confidence: float) -> Remark:
    if error.value is None or error.high is None:
        return remark("no_region", why=error.reason)
    why = remark(
        "errors_above_risk",
        n=error.n,
        found=rounded_share(error.value),
        high=rounded_share(error.high),
        risk=rounded_share(risk),
        needed=decisions_needed(risk, confidence),
    )
    return remark("no_region", why=why)
