"""What people would say of all units, from few labels and a judge that saw many: the share of positive units, corrected
for the judge's errors, and the prediction-powered mean.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from alignment.base import tables as binary
from alignment.base.arrays import Array, Bools, Floats, Ints, cluster_rows, finite, same_length, sums_by, verdicts
from alignment.base.estimate import NO_NEGATIVE, NO_POSITIVE, NO_UNLABELLED, Estimate, Remark, remark
from alignment.base.interval import (
    NO_SPREAD,
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

    The interval has the variance of both samples. By default it is Lang and Reiczigel's: of rates with one success and
    one failure more, and a share with t²/2 of either, moved by what is skew in them; each rate as of so many single
    trials as have its error, and at 0 or 1 as of so many as it has clusters (of the heaviest weight). What clusters
    have in common between the rates, or with both samples, is added. "influence": the delta method, to which an error
    rate of exactly 0 adds nothing. Either is cut to [0, 1]; t is of the smaller number of clusters. n and clusters
    count both samples. Simulated coverage: bench/promises/shares.py.

    Undefined: no labelled unit is positive, or none negative; no unlabelled units; an interval of TPR + TNR - 1 that
    contains 0, or TPR + TNR ≤ 1. No interval: all of it lies below 0 or above 1. ValueError: verdicts that are not
    booleans, unequal lengths, a bootstrap; as ``Design``.

    Source: Rogan & Gladen (1978), Am. J. Epidemiol. 107; both variances: Lang & Reiczigel (2014), Prev. Vet. Med. 113.

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
    alike = probability is None
    chance = np.ones(said.size) if probability is None else finite(probability, "probability")
    design = Design.of(labelled_at, chance, np.zeros(said.size) if stratum is None else stratum)
    weights = 1 / design.probability
    table = Totals(design.row, 2 * human + said, weights[design.row], weights.size, 4)

    def of(name: str, statistic: Statistic, hits: list[int], units: Bools, undefined: Remark) -> Estimate:
        if alike and hits:
            trials = [FN, TP] if hits == [TP] else [TN, FP]
            return share_of_columns(table, hits, trials, plan, name=name, undefined=undefined)
        if alike or not plan.is_best:
            return estimate(table, statistic, plan, name=name, n=said.size, undefined=undefined)
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
    return CorrectedRate(both.rate(plan, judged, signal), judged, tpr, tnr, signal)


def _signal(cells: Array) -> Array:
    return binary.tpr(cells) + binary.tnr(cells) - 1


def _corrected(columns: Array) -> Array:
    share = columns[..., PASSED] / (columns[..., FAILED] + columns[..., PASSED])
    signal = _signal(columns[..., :4])
    # Without signal the rate is infinite; such a resample counts as undefined.
    return (share + binary.tnr(columns[..., :4]) - 1) / np.where(signal == 0, np.nan, signal)


@dataclass(frozen=True, eq=False, slots=True)
class _Both:
    """Both samples: their columns by cluster, and how the clusters were drawn (unlabelled ones: all)."""

    totals: Totals
    design: Design
    n: int

    @classmethod
    def of(cls, cell: Ints, labelled_at: Array, other: Bools, other_at: Array, labelled: Design) -> "_Both":
        row, rows = cluster_rows(np.concatenate([labelled_at, other_at]))
        probability, stratum = np.ones(rows), np.full(rows, int(labelled.stratum.max(initial=-1)) + 1)
        own = row[: cell.size]
        probability[own], stratum[own] = labelled.probability[labelled.row], labelled.stratum[labelled.row]
        amount = np.append(1 / probability[own], np.ones(other.size))
        column = np.concatenate([cell, np.where(other, PASSED, FAILED)])
        design = Design(row, probability, cluster_rows(stratum)[0])
        return cls(Totals(row, column, amount, rows, COLUMNS), design, row.size)

    def rate(self, plan: Plan, judged: Estimate, signal: Estimate) -> Estimate:
        """The corrected rate, or why there is none."""
        name, clusters = "Rogan-Gladen", self.totals.rows
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
        elif plan.is_best:
            raw = self._skewed(value, t_quantile(case.clusters - 1, plan.level), plan.level)
        else:
            raw = case.by_influence(value, self.design.standard_error(self.totals.influence(_corrected)))
        return _cut(replace(raw, clusters=clusters))

    def _skewed(self, value: float, t: float, level: float) -> Estimate:
        """Lang and Reiczigel's interval; t in place of a normal quantile."""
        sums = self.totals.sums()
        parts = [_Rate.of(self, statistic, columns, weigh) for statistic, columns, weigh in _RATES]
        (p, of_p), (se, of_se), (sp, of_sp) = (
            part.with_more(more) for part, more in zip(parts, (t * t / 2, 1.0, 1.0), strict=True)
        )
        if se + sp <= 1:
            return Estimate(value, None, None, level, self.n, self.totals.rows, "Rogan-Gladen", NO_SIGNAL)
        theta = (p + sp - 1) / (se + sp - 1)
        variance = (of_p + (1 - theta) ** 2 * of_sp + theta**2 * of_se) / (se + sp - 1) ** 2
        # What clusters have in common, at first order: the variance of all less that of the parts as if apart.
        gradient = np.array([1.0, -value, 1 - value]) / float(_signal(sums[:4]))
        alone = sum(float(g * part.error) ** 2 for g, part in zip(gradient, parts, strict=True))
        common = self.design.standard_error(self.totals.influence(_corrected)) ** 2 - alone
        half = t * np.sqrt(max(variance + common, variance / 4))
        moved = theta + 2 * t * t * (theta * of_se - (1 - theta) * of_sp)
        low, high = float(min(moved - half, value)), float(max(moved + half, value))
        method = "Rogan-Gladen; Lang-Reiczigel"
        return Estimate(value, low, high, level, self.n, self.totals.rows, method)


@dataclass(frozen=True, slots=True)
class _Rate:
    """A share, its error by first order, and how much of all weight one more trial is: of so many single trials as have
    this error one, but no less than the heaviest cluster."""

    value: float
    error: float
    one: float

    @classmethod
    def of(cls, both: _Both, statistic: Statistic, columns: list[int], weighted: bool) -> "_Rate":
        totals = both.totals
        value, error = float(statistic(totals.sums())), both.design.standard_error(totals.influence(statistic))
        mask = np.zeros(totals.size)
        mask[columns] = 1
        weight = 1 / both.design.probability if weighted else np.ones(totals.rows)
        bearing = weight[totals.per_cluster(mask) > 0]
        one = 1 / bearing.size
        if 0 < value < 1 and error > NO_SPREAD:
            one = error**2 / (value * (1 - value))
        return cls(value, error, max(one, float(bearing.max() / bearing.sum())) if weight.max() > 1 else one)

    def with_more(self, more: float) -> tuple[float, float]:
        """The share with so many more trials that hit and that don't, and its variance then."""
        added = more * self.one
        share = (self.value + added) / (1 + 2 * added)
        variance = self.error**2 + added * self.one * ((1 - share) ** 2 + share**2)
        return share, variance / (1 + 2 * added) ** 2


def _share(columns: Array) -> Array:
    return ratio(columns[..., PASSED], columns[..., FAILED] + columns[..., PASSED])


#: Share of passes, TPR and TNR of both samples' columns, which of these they are of, and whether clusters weigh.
_RATES: tuple[tuple[Statistic, list[int], bool], ...] = (
    (_share, [FAILED, PASSED], False),
    (lambda columns: binary.tpr(columns[..., :4]), [FN, TP], True),
    (lambda columns: binary.tnr(columns[..., :4]), [TN, FP], True),
)


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

    λ is taken as given in the interval, which costs nothing at first order: simulated coverage at 95 % with 30, 100 and
    300 labelled clusters is 93 to 96 %, and 92 % with 30 and a very good judge. "auto" takes influence functions at any
    number of clusters: θ is linear; where values lie between the ``bounds`` 0 and 1, the exact interval of as many
    single trials as have the error (``Case.of_share``). t has the degrees of freedom of the labelled clusters. n and
    clusters count both samples, those of ``classical`` the labelled ones. All is cut at ``bounds``: a mean of verdicts
    can come out above 1.

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
            return replace(case.of_share(found, jackknifed(statistic)), clusters=of_clusters)
        sampling = totals.sampling(statistic)
        made = with_interval(found, sampling, plan, name=name, n=n, clusters=clusters, bounds=bounds)
        return replace(made, clusters=of_clusters)

    def jackknifed(statistic: Statistic) -> float:
        return float(np.nan_to_num(standard_error(totals.jackknife(statistic))))

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
