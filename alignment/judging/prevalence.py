"""What people would say of all units, from few labels and a judge that saw many: the share of positive units, corrected
for the judge's errors, and the prediction-powered mean.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from alignment.base import tables as binary
from alignment.base.arrays import Array, Bools, Floats, Ints, cluster_rows, finite, same_length, sums_by, verdicts
from alignment.base.estimate import NO_NEGATIVE, NO_POSITIVE, NO_UNLABELLED, Estimate, Remark, remark
from alignment.base.interval import (
    Case,
    Kind,
    Plan,
    share_of_trials,
    standard_error,
    t_quantile,
    with_interval,
)
from alignment.base.tables import FN, FP, TN, TP
from alignment.base.totals import Statistic, Totals, estimate, ratio, share_of_columns
from alignment.judging.correlation import ROUNDING
from alignment.judging.weighted import Design, weighted_figure

NO_SIGNAL = remark("no_signal")
WORSE_THAN_CHANCE = remark("no_better_than_chance")
OUTSIDE = remark("rate_out_of_reach")

#: Columns behind the four cells of the labelled units: the judge's verdicts on the unlabelled ones.
FAILED, PASSED, COLUMNS = 4, 5, 6


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """``rate``, the share of positives among the unlabelled units, and what it is reckoned from.

    ``judged`` is the share of them that the judge passes, ``signal`` is TPR + TNR - 1 on the labelled units.
    """

    rate: Estimate
    judged: Estimate
    tpr: Estimate
    tnr: Estimate
    signal: Estimate


def rogan_gladen(share: float, tpr: float, tnr: float) -> float:
    """θ = (p + TNR - 1)/(TPR + TNR - 1), cut to [0, 1]; ValueError when TPR + TNR ≤ 1.

    Source: Rogan & Gladen (1978), Am. J. Epidemiol. 107.

    >>> round(rogan_gladen(0.80, 0.92, 0.88), 4), round(rogan_gladen(23 / 150, 0.96, 0.89), 4)
    (0.85, 0.051)
    """
    if tpr + tnr <= 1:
        raise ValueError(f"TPR + TNR must be above 1, not {tpr + tnr}: such a judge does no better than chance")
    return min(max((share + tnr - 1) / (tpr + tnr - 1), 0.0), 1.0)


def corrected_rate(
    judge: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    unlabelled: ArrayLike,
    unlabelled_cluster: ArrayLike,
    *,
    probability: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> CorrectedRate:
    """The share of positives among units that only a judge has seen, corrected for the judge's errors.

    θ = (p + TNR - 1)/(TPR + TNR - 1), cut to [0, 1]: p is the share of ``unlabelled`` (the judge's verdicts, shape
    (unlabelled units,)) that pass; TPR and TNR come from ``judge`` and ``positive`` (people's verdicts), shape
    (labelled units,). Good units may be more or less frequent among the labelled than among the others. But the judge
    must err on good and on bad ones at the same rates: which holds when the labelled ones were drawn at random, or with
    ``probability`` and ``stratum`` (of each labelled unit, as ``Design`` has them; by default all alike), and does not
    when the judge's own verdicts decided which get labels and nobody knows the chances.

    The interval has the variance of both samples. By default it holds the rates θ at which that of p - θ TPR -
    (1 - θ)(1 - TNR) holds 0, as Fieller's does; this one is combined from the exact intervals of the three shares, so
    that it is as lopsided as these, and ends are 0 or 1 where the labels rule out no less. What clusters have in common
    between the shares, or with both samples, is added at first order, with t of the smaller number of clusters. So is
    the interval of TPR + TNR - 1. "influence": the delta method, to which an error rate of exactly 0 adds nothing, cut
    to [0, 1]. n and clusters count both samples. Simulated coverage: bench/promises/shares.py.

    Undefined: no labelled unit is positive, or none negative; no unlabelled units; an interval of TPR + TNR - 1 that
    contains 0, or TPR + TNR ≤ 1. No interval: all of it lies below 0 or above 1. ValueError: verdicts that are not
    booleans, unequal lengths, a bootstrap; as ``Design``.

    Source: Rogan & Gladen (1978), Am. J. Epidemiol. 107; Fieller (1954), J. R. Stat. Soc. B 16; from the shares'
    intervals: Zou & Donner (2008), Stat. Med. 27.

    >>> result = corrected_rate(
    ...     [1] * 46 + [0] * 4 + [1] * 6 + [0] * 44, [1] * 50 + [0] * 50, range(100),
    ...     [1] * 80 + [0] * 20, range(100, 200), interval="influence",
    ... )
    >>> round(result.rate.value, 4), round(result.signal.value, 4)
    (0.85, 0.8)
    """
    plan = Plan(interval, rng, level)
    said, human, other = verdicts(judge, "judge"), verdicts(positive), verdicts(unlabelled, "unlabelled")
    labelled_at, other_at = np.asarray(cluster), np.asarray(unlabelled_cluster)
    same_length(judge=said, positive=human, cluster=labelled_at)
    same_length(unlabelled=other, unlabelled_cluster=other_at)
    if interval == "bootstrap":
        raise ValueError("the corrected rate has no bootstrap: its errors of 0 can't be resampled")
    chance = np.ones(said.size) if probability is None else finite(probability, "probability")
    alike = bool((chance == 1).all())
    design = Design.of(labelled_at, chance, np.zeros(said.size) if stratum is None else stratum)
    weights = 1 / design.probability
    table = Totals(design.row, 2 * human + said, weights[design.row], weights.size, 4)

    def of(name: str, statistic: Statistic, hits: list[int], units: Bools, undefined: Remark) -> Estimate:
        if alike and hits:
            trials = [FN, TP] if hits == [TP] else [TN, FP]
            return share_of_columns(design.whole(table), hits, trials, plan, name=name, undefined=undefined)
        if alike or not plan.is_best:
            return estimate(design.whole(table), statistic, plan, name=name, n=said.size, undefined=undefined)
        bounds = (0.0, 1.0) if hits else (-1.0, 1.0)
        bearing = design.row[units]
        return weighted_figure(
            table, statistic, design, plan, name=name, bearing=bearing, undefined=undefined, bounds=bounds
        )

    tpr = of("true positive rate", binary.tpr, [TP], human, NO_POSITIVE)
    tnr = of("true negative rate", binary.tnr, [TN], ~human, NO_NEGATIVE)
    neither = NO_POSITIVE if tpr.value is None else NO_NEGATIVE
    signal = of("TPR + TNR - 1", _signal, [], np.ones_like(human), neither)
    judged = share_of_trials(other, other_at, plan, name="share the judge passes", undefined=NO_UNLABELLED)
    both = _Both.of(2 * human + said, labelled_at, other, other_at, design)
    found = None
    if plan.is_best and signal.value is not None and plan.refusal(signal.clusters) is None:
        found = both.combined(judged, tpr, tnr, min(signal.clusters, judged.clusters or signal.clusters))
        signal = found.signal(signal)
    return CorrectedRate(both.rate(plan, judged, signal, found), judged, tpr, tnr, signal)


def _signal(cells: Array) -> Array:
    return binary.tpr(cells) + binary.tnr(cells) - 1


def _corrected(columns: Array) -> Array:
    share = columns[..., PASSED] / (columns[..., FAILED] + columns[..., PASSED])
    signal = _signal(columns[..., :4])
    # Without signal the rate is infinite; such a resample counts as undefined.
    return (share + binary.tnr(columns[..., :4]) - 1) / np.where(signal == 0, np.nan, signal)


@dataclass(frozen=True, eq=False, slots=True)
class _Both:
    """Both samples: their columns by part, and how the parts were drawn (unlabelled ones: all)."""

    totals: Totals
    design: Design
    n: int

    @classmethod
    def of(cls, cell: Ints, labelled_at: Array, other: Bools, other_at: Array, labelled: Design) -> "_Both":
        probability = np.append(labelled.probability[labelled.row], np.ones(other.size))
        beyond = np.full(other.size, labelled.stratum.max(initial=-1) + 1)
        stratum = np.append(labelled.stratum[labelled.row], beyond)
        design = Design.of(np.concatenate([labelled_at, other_at]), probability, stratum)
        column = np.concatenate([cell, np.where(other, PASSED, FAILED)])
        return cls(Totals(design.row, column, 1 / probability, design.stratum.size, COLUMNS), design, column.size)

    def combined(self, judged: Estimate, tpr: Estimate, tnr: Estimate, clusters: int) -> "_Combined":
        """``clusters``: of the smaller sample, which decides how surely the errors are known."""
        moved = [np.zeros(self.totals.rows) if judged.value is None else self.totals.influence(_share)]
        moved += [self.totals.influence(statistic) for statistic in (_tpr, _tnr)]
        covariance = np.zeros((3, 3))
        for one, other in ((0, 1), (0, 2), (1, 2)):
            of_sum = self.design.standard_error(moved[one] + moved[other])
            alone = [self.design.standard_error(moved[at]) for at in (one, other)]
            covariance[one, other] = covariance[other, one] = (of_sum**2 - alone[0] ** 2 - alone[1] ** 2) / 2
        return _Combined((judged, tpr, tnr), covariance * t_quantile(max(clusters - 1, 1), tpr.level) ** 2)

    def rate(self, plan: Plan, judged: Estimate, signal: Estimate, found: "_Combined | None") -> Estimate:
        """The corrected rate, or why there is none."""
        name, clusters = "Rogan-Gladen", self.design.clusters
        reason = None
        if signal.value is None or judged.value is None:
            reason = signal.reason if signal.value is None else judged.reason
        elif signal.value <= 0:
            reason = WORSE_THAN_CHANCE
        elif signal.low is not None and signal.low <= 0:
            reason = NO_SIGNAL
        if reason is not None:
            return Estimate.undefined(reason, n=self.n, clusters=clusters, method=name, level=plan.level)
        # The smaller sample decides how surely the errors are known; the estimate itself counts the clusters of both.
        case = Case(plan, name, self.n, min(signal.clusters, judged.clusters), (-np.inf, np.inf))
        value = float(_corrected(self.totals.sums()))
        if plan.refusal(case.clusters) is not None:
            raw = case.without_interval(value)
        elif found is not None:
            low, high = found.rates(value)
            raw = Estimate(value, low, high, plan.level, self.n, clusters, f"{name}; Fieller, exact shares")
        else:
            raw = case.by_influence(value, self.design.standard_error(self.totals.influence(_corrected)))
        return _cut(replace(raw, clusters=clusters))


@dataclass(frozen=True, eq=False, slots=True)
class _Combined:
    """Intervals of weighted sums of the share of passes, TPR and TNR, from the intervals of these (MOVER).

    ``covariance``, shape (3, 3): of each two, times t².
    """

    shares: tuple[Estimate, Estimate, Estimate]
    covariance: Floats

    def halves(self, weights: tuple[float, float, float]) -> tuple[float, float]:
        """How far below and above its value a sum with these ``weights`` may lie."""
        common = float(np.asarray(weights) @ self.covariance @ np.asarray(weights))
        squares = [0.0, 0.0]
        for weight, share in zip(weights, self.shares, strict=True):
            below, above = _reach(share)
            for side, reach in enumerate((below, above) if weight > 0 else (above, below)):
                squares[side] += (weight * reach) ** 2
        return sqrt(max(squares[0] + common, squares[0] / 4)), sqrt(max(squares[1] + common, squares[1] / 4))

    def signal(self, plain: Estimate) -> Estimate:
        assert plain.value is not None
        below, above = self.halves((0.0, 1.0, 1.0))
        ends = max(plain.value - below, -1.0), min(plain.value + above, 1.0)
        return replace(plain, low=ends[0], high=ends[1], method="TPR + TNR - 1; MOVER", reason=None)

    def rates(self, value: float) -> tuple[float, float]:
        """Between which rates θ in [0, 1] the interval of p - θ TPR - (1 - θ)(1 - TNR) holds 0.

        At ``value``, uncut, it is 0. That twice where the interval holds 0 at no θ in [0, 1].
        """
        p, tpr, tnr = (share.value for share in self.shares)
        assert p is not None
        assert tpr is not None
        assert tnr is not None

        def excess(theta: float) -> float:
            """How far it is from holding 0, below 0 when it does."""
            apart = p - theta * tpr - (1 - theta) * (1 - tnr)
            below, above = self.halves((1.0, -theta, 1 - theta))
            return apart - below if apart > 0 else -apart - above

        inside = min(max(value, 0.0), 1.0)
        if excess(inside) > 0:
            return value, value
        return self._end(excess, inside, 0.0), self._end(excess, inside, 1.0)

    @staticmethod
    def _end(excess: Callable[[float], float], inside: float, outside: float) -> float:
        """Where it stops to hold 0 between a rate at which it does and 0 or 1; these when it never does."""
        if excess(outside) <= 0:
            return outside
        while abs(outside - inside) > ROUNDING:
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if excess(middle) <= 0 else (inside, middle)
        return inside


def _reach(share: Estimate) -> tuple[float, float]:
    """From a share to the ends of its interval, or to 0 and 1 where it has none."""
    if share.value is None:
        return 0.0, 0.0
    if share.low is None or share.high is None:
        return share.value, 1 - share.value
    return share.value - share.low, share.high - share.value


def _share(columns: Array) -> Array:
    return ratio(columns[..., PASSED], columns[..., FAILED] + columns[..., PASSED])


def _tpr(columns: Array) -> Array:
    return binary.tpr(columns[..., :4])


def _tnr(columns: Array) -> Array:
    return binary.tnr(columns[..., :4])


def _cut(raw: Estimate) -> Estimate:
    """Value and interval cut to [0, 1]; an interval that lies outside would be cut to a point, and is left out."""
    assert raw.value is not None
    value = min(max(raw.value, 0.0), 1.0)
    if raw.low is None or raw.high is None:
        return replace(raw, value=value)
    if raw.high <= 0 or raw.low >= 1:
        return replace(raw, value=value, low=None, high=None, reason=OUTSIDE)
    return replace(raw, value=value, low=max(raw.low, 0.0), high=min(raw.high, 1.0))


NO_LABELLED = remark("no_labelled")

#: Columns: labelled units, their human values and scores; unlabelled units, their scores.
LABELLED, VALUES, SCORES, UNLABELLED, OTHER_SCORES = range(5)


@dataclass(frozen=True, slots=True)
class PpiMean:
    """Three estimates of one mean: with the weight that makes it surest, with weight 1, and without the judge.

    ``weight`` is λ of ``tuned``, between 0 (the judge doesn't help) and 1; None when there is no such estimate.
    """

    tuned: Estimate
    plain: Estimate
    classical: Estimate
    weight: float | None


def ppi_mean(
    value: ArrayLike,
    score: ArrayLike,
    cluster: ArrayLike,
    unlabelled: ArrayLike,
    unlabelled_cluster: ArrayLike,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> PpiMean:
    """Mean human value of all units: the labelled ones' mean, corrected by how the judge's scores differ elsewhere.

    θ_λ = mean(value) + λ (mean(unlabelled) - mean(score)). ``value`` (people's) and ``score`` (the judge's) have shape
    (labelled units,), ``unlabelled`` holds the judge's scores of the others. For any fixed λ it is unbiased, however
    bad the judge, when the labelled units were drawn at random. λ = 1 is plain prediction-powered inference, λ = 0 the
    classical mean; tuned, λ is the value of least variance, cov(value, score)/((1 + n/N) var(score)) for n labelled and
    N others, with sums over clusters in place of single units, cut to [0, 1].

    λ is taken as given in the interval, which costs nothing at first order. "auto" takes influence functions at any
    number of clusters: θ is linear. Where values lie between the ``bounds`` 0 and 1 it takes the exact interval of as
    many single trials as have the error, of the data with one more labelled cluster on that side on which the judge
    errs as far as it can: few labels show none of the errors of a good judge (``Case.with_one_more``). Simulated at
    95 %: 94 % or more with 20 to 300 labelled clusters and up to 20,000 others (bench/promises/shares.py); without
    bounds 93 to 96 % with a judge that is often wrong, and less with one that hardly ever is. t has the degrees of
    freedom of the labelled clusters. n and clusters count both samples, those of
    ``classical`` the labelled ones. All is cut at ``bounds``: a mean of verdicts can come out above 1.

    Undefined: no labelled units; no unlabelled units (``classical`` is still there). ValueError: values that
    are not finite, unequal lengths.

    Source: Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv:2311.01453; λ for clusters is the same least-variance rule.

    >>> people, judge = [1, 0, 1, 1, 0, 1], [0.9, 0.2, 0.8, 0.7, 0.3, 0.4]
    >>> found = ppi_mean(people, judge, range(6), [0.8] * 6 + [0.2] * 6, range(6, 18), interval="influence")
    >>> round(found.classical.value, 3), round(found.plain.value, 3), round(found.tuned.value, 3)
    (0.667, 0.617, 0.629)
    """
    asked = Plan(interval, rng, level)
    is_share = bounds == (0.0, 1.0) and asked.is_best
    plan = replace(asked, kind="influence") if asked.is_best else asked
    people, judge, other = finite(value, "value"), finite(score, "score"), finite(unlabelled, "unlabelled score")
    labelled_at, other_at = np.asarray(cluster), np.asarray(unlabelled_cluster)
    same_length(value=people, score=judge, cluster=labelled_at)
    same_length(unlabelled=other, unlabelled_cluster=other_at)
    row, rows = cluster_rows(np.concatenate([labelled_at, other_at]))
    few = people.size
    totals = Totals(
        cluster=np.concatenate([row[:few]] * 3 + [row[few:]] * 2),
        column=np.repeat([LABELLED, VALUES, SCORES, UNLABELLED, OTHER_SCORES], [few] * 3 + [other.size] * 2),
        amount=np.concatenate([np.ones(few), people, judge, np.ones(other.size), other]),
        rows=rows,
        size=5,
    )
    clusters = np.unique(row[:few]).size

    def mean(name: str, weight: float | None, n: int, of_clusters: int) -> Estimate:
        if weight is None:
            reason = NO_UNLABELLED if few else NO_LABELLED
            return Estimate.undefined(reason, n=n, clusters=of_clusters, method=name, level=level)

        def statistic(sums: Array) -> Array:
            theta = ratio(sums[..., VALUES] - weight * sums[..., SCORES], sums[..., LABELLED])
            if weight:
                theta = theta + weight * ratio(sums[..., OTHER_SCORES], sums[..., UNLABELLED])
            return theta

        found = float(np.clip(statistic(totals.sums()), *bounds))
        if is_share and clusters > 1:
            case = Case(asked, name, n, clusters, bounds)
            error = float(np.nan_to_num(standard_error(totals.jackknife(statistic))))
            made = with_one_more_error(case, found, weight, error) if weight else case.of_share(found, error)
            return replace(made, clusters=of_clusters)
        sampling = totals.sampling(statistic)
        made = with_interval(found, sampling, plan, name=name, n=n, clusters=clusters, bounds=bounds)
        return replace(made, clusters=of_clusters)

    def with_one_more_error(case: Case, found: float, weight: float, error: float) -> Estimate:
        """One more labelled group on which the judge errs as far as it can, towards either end."""
        off = float((people - weight * judge).mean())
        farthest = -weight * max(judge.max(), other.max()), 1 - weight * min(judge.min(), other.min())
        steps = (off - farthest[0]) / (clusters + 1), (farthest[1] - off) / (clusters + 1)
        return case.with_one_more(found, error, steps, clusters - 1, f"{case.name}; Clopper-Pearson, one more error")

    weight = _tuned(people, judge, row[:few], other, row[few:]) if few and other.size else None
    return PpiMean(
        tuned=mean("PPI++" if weight is None else f"PPI++, weight {weight:.3f}", weight, row.size, rows),
        plain=mean("PPI, weight 1", None if weight is None else 1.0, row.size, rows),
        classical=mean("mean of labelled units", 0.0 if few else None, few, clusters),
        weight=weight,
    )


def _tuned(people: Floats, judge: Floats, at: Ints, other: Floats, other_at: Ints) -> float:
    """λ of least variance: Σ_c a_c (b_c - d_c) over v (1/n + 1/N), v the pooled variance of all scores.

    a, b and d are the clusters' influences on the mean value and on the mean scores of the labelled and of the others;
    v = Σ_c (Σ_i (f_i - mean))²/(n + N - 1). With every unit its own cluster this is cov/((1 + n/N) var). Where v is 0,
    as when all units are one cluster, nothing is known of the judge, and λ is 0.
    """
    scores, score_at = np.concatenate([judge, other]), np.concatenate([at, other_at])
    if np.ptp(scores) <= ROUNDING * np.abs(scores).max():
        return 0.0
    rows = int(score_at.max()) + 1

    def by_cluster(row: Ints, values: Floats) -> Floats:
        return sums_by(row, values - values.mean(), rows)

    between, within = by_cluster(score_at, scores), sums_by(score_at, np.abs(scores - scores.mean()), rows)
    if np.abs(between).max() <= ROUNDING * within.max():
        return 0.0
    on_value, on_score = by_cluster(at, people) / people.size, by_cluster(at, judge) / judge.size
    covariance = on_value @ (on_score - by_cluster(other_at, other) / other.size)
    pooled = np.square(between).sum() / (scores.size - 1)
    return float(np.clip(covariance / (pooled * (1 / judge.size + 1 / other.size)), 0.0, 1.0))
