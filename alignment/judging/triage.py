"""Which of a judge's decisions it may take alone: risk against coverage, and a region with a certified risk (Learn then
Test): the scores a judge may decide alone, with bounds on how much of what people fail it passes, and the other way
round.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import (
    Array,
    Bools,
    Floats,
    Ints,
    cluster_rows,
    finite,
    renumbered,
    same_length,
    sums_by,
    verdicts,
)
from alignment.base.estimate import NO_NEGATIVE, NO_POSITIVE, NO_UNITS, Estimate, Remark, remark, rounded_share
from alignment.base.interval import Kind, Plan, Sampling, with_interval
from alignment.base.totals import Totals, ratio
from alignment.judging.share_bound import clusters_needed, mean_share_bound
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


RISK = 0.1
CONFIDENCE = 0.95
STEPS = 20
FIRST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Step:
    """Decisions at least ``distance`` from the threshold. ``false_passes``: of what people fail there, the share that
    the judge passes; ``false_fails`` the other way round. Means over groups, from 0 to a one-sided bound."""

    distance: float
    false_passes: Estimate
    false_fails: Estimate

    def holds(self, risk: float) -> bool:
        """Whether both bounds keep the risk."""
        return all(one.high is not None and one.high <= risk for one in (self.false_passes, self.false_fails))


@dataclass(frozen=True, slots=True)
class CertifiedRegion:
    """Scores at least ``distance`` from ``threshold``; ``distance`` is None, with the reason, when there is no region.

    ``tried`` holds every step up to the first that failed, ``step`` the last that held, or the first where none did.
    """

    threshold: float
    distance: float | None
    risk: float
    confidence: float
    step: Step
    tried: tuple[Step, ...]
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
    probability: ArrayLike | None = None,
    least: float = 1.0,
    risk: float = RISK,
    confidence: float = CONFIDENCE,
    higher_is_better: bool = True,
) -> CertifiedRegion:
    """The widest region on test of which one can be ``confidence`` sure that false passes and false fails are rare.

    Of what people fail in the region at most ``risk`` is passed, and of what they pass there at most ``risk`` is
    failed; each is a mean over the groups that have such a unit there, of the group's share. So a judge that passes
    nearly everything gets no region where nearly everything passes.

    ``score``, ``positive`` (people's verdict) and ``cluster`` (the group) are test, shape (units,); ``threshold`` and
    ``distances`` (falling) were fixed before test was looked at (``distance_steps``). ``probability``: the chance by
    which each unit's group was drawn; None: all by the same. ``least``: the least chance of any group that might have
    been drawn, which counts where it is below all of these: of groups that hardly ever come, often none has come. From
    the first distance on, each step is tested at level 1 - confidence by both bounds (``mean_share_bound``), until one
    of them is above ``risk``; the last step before is the region. In a fixed sequence every test has the full level,
    and so has each of two bounds that must both hold: the chance that a region is certified in which either share is
    truly above ``risk`` is at most 1 - confidence.
    Later looks at the same test cost: pass ``level_of_look(k)`` as confidence.

    No region: the first step fails. ValueError: distances that don't fall or are negative, a risk or confidence
    outside (0, 1), a probability or least one outside (0, 1], and as ``risk_coverage``.

    Source: Angelopoulos, Bates, Candès, Jordan & Lei (2021), Learn then Test; two bounds: Berger (1982),
    Technometrics 24.

    >>> test = np.linspace(0, 1, 400)
    >>> region = certified_region(test, test > 0.58, range(400), 0.5, [0.3, 0.2, 0.1, 0.0])
    >>> region.distance, round(region.step.false_passes.high, 4), region.inside([0.05, 0.45, 0.61]).tolist()
    (0.1, 0.0185, [True, False, True])
    """
    scores, human, (row, rows) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row)
    steps = finite(distances, "distance")
    if not steps.size or steps[-1] < 0 or (steps[1:] >= steps[:-1]).any():
        raise ValueError("distances are one or more, fall, and are not negative")
    for name, share in (("risk", risk), ("confidence", confidence)):
        if not 0 < share < 1:
            raise ValueError(f"the {name} lies between 0 and 1, not {share}")
    wrong = wrong_decisions(scores, human, threshold, higher_is_better)
    worth, single = worths(row, rows, probability, least)

    def bound(far: Bools, name: str, undefined: Remark) -> Estimate:
        return mean_share_bound(
            wrong[far], row[far], worth[far], confidence, single=single, name=name, undefined=undefined
        )

    tried: list[Step] = []
    passed: Step | None = None
    for distance in steps.tolist():
        far = far_from(scores, threshold, distance)
        step = Step(
            distance,
            bound(far & ~human, "false passes", NO_NEGATIVE),
            bound(far & human, "false fails", NO_POSITIVE),
        )
        tried.append(step)
        if not step.holds(risk):
            break
        passed = step
    step = passed or tried[0]
    reason = None if passed else _why_none(step, risk, clusters_needed(risk, confidence, single=single))
    found = None if passed is None else passed.distance
    return CertifiedRegion(float(threshold), found, risk, confidence, step, tuple(tried), reason)


def distance_steps(
    dev_score: ArrayLike,
    dev_positive: ArrayLike,
    dev_cluster: ArrayLike,
    threshold: float,
    clusters: int,
    *,
    probability: ArrayLike | None = None,
    least: float = 1.0,
    steps: int = STEPS,
    risk: float = RISK,
    confidence: float = CONFIDENCE,
) -> list[float]:
    """Distances for ``certified_region`` from dev, shape (units,): from those so far that few are farther, down to 0.

    ``clusters`` is the number of groups on test; ``probability`` and ``least`` as in ``certified_region``. The first
    step reaches as far in as it takes for test to bring, if it is like dev, enough groups with a unit that people
    fail, and enough with one that they pass, for a bound of ``risk`` where none is wrong (``clusters_needed``), with
    two standard deviations to spare; and it holds at least a fifth of dev, because one early error must not end a long
    sequence. The others follow in equal shares. Where dev has too few groups of a kind, only 0.

    >>> test = np.linspace(0, 1, 1001)
    >>> distance_steps(test, test > 0.5, range(1001), 0.5, clusters=200, steps=4)
    [0.291, 0.194, 0.097, 0.0]
    """
    scores, human, (row, rows) = finite(dev_score, "score"), verdicts(dev_positive), cluster_rows(dev_cluster)
    same_length(score=scores, positive=human, cluster=row)
    worth, single = worths(row, rows, probability, least)
    needed = (1 + math.sqrt(1 + clusters_needed(risk, confidence, single=single))) ** 2
    away, of_dev = np.abs(scores - threshold), needed * rows / max(clusters, 1)
    reach = min(_reach(away[kind], row[kind], worth[kind], of_dev) for kind in (human, ~human))
    if not reach:
        return [0.0]
    shares = np.linspace(max(float((away >= reach).mean()), FIRST_SHARE), 1, steps)[:-1]
    quantiles = np.quantile(away, 1 - shares, method="higher")
    return [*sorted({float(f"{away:.12g}") for away in quantiles if away > 0}, reverse=True), 0.0]


def worths(row: Ints, rows: int, probability: ArrayLike | None, least: float) -> tuple[Floats, bool]:
    """Of each unit the least chance of any cluster over that of its own, and whether clusters are single units that
    were drawn alike (``mean_share_bound``)."""
    chance = np.ones(row.size) if probability is None else finite(probability, "probability")
    same_length(cluster=row, probability=chance)
    if ((chance <= 0) | (chance > 1)).any() or not 0 < least <= 1:
        raise ValueError("a probability of being drawn lies above 0, up to 1")
    first = np.zeros(rows)
    first[row] = chance
    if (first[row] != chance).any():
        raise ValueError("a cluster has more than one probability")
    worth = chance.min(initial=least) / chance
    return worth, rows == row.size and bool((worth == 1).all())


def _reach(away: Floats, row: Ints, worth: Floats, needed: float) -> float:
    """The distance beyond which clusters worth so much have a unit; 0 where all are worth less."""
    present, place = renumbered(row)
    farthest, of_cluster = np.zeros(present.size), np.ones(present.size)
    np.maximum.at(farthest, place, away)
    of_cluster[place] = worth
    falling = np.argsort(-farthest, kind="stable")
    enough = np.flatnonzero(of_cluster[falling].cumsum() >= needed)
    return float(farthest[falling[enough[0]]]) if enough.size else 0.0


def far_from(scores: Floats, threshold: float, distance: float) -> Bools:
    """Which scores lie at least so far from the threshold, shape (scores,). The one home of the rule."""
    return np.abs(scores - threshold) >= distance * (1 - ROUNDING)


def _why_none(step: Step, risk: float, needed: int) -> Remark:
    """Why not even the first step holds: false passes before false fails."""
    passes, fails = step.false_passes, step.false_fails
    if passes.high is None or passes.high > risk:
        n = passes.clusters
        if n < needed:
            return remark("no_region", why=remark("few_failed_groups", n=n, needed=needed))
        found, high = _rounded(passes)
        why = remark("false_passes_above_risk", n=n, found=found, high=high, risk=rounded_share(risk))
        return remark("no_region", why=why)
    n = fails.clusters
    if n < needed:
        return remark("no_region", why=remark("few_passed_groups", n=n, needed=needed))
    found, high = _rounded(fails)
    return remark(
        "no_region", why=remark("false_fails_above_risk", n=n, found=found, high=high, risk=rounded_share(risk))
    )


def _rounded(bound: Estimate) -> tuple[float, float]:
    assert bound.value is not None
    assert bound.high is not None
    return rounded_share(bound.value), rounded_share(bound.high)
