"""Estimates for all samples from those that were drawn with unequal chances (``selection.draw``).

Every unit weighs 1/probability of its sample (Horvitz & Thompson), and a figure is one of weighted sums (Hájek), so it
is for all samples what the plain figure would be had all been labelled.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from alignment.agreement.cohen import kappa_name, kappa_statistic
from alignment.base import tables as binary
from alignment.base.arrays import (
    Bools,
    Floats,
    Ints,
    cluster_rows,
    finite,
    level_positions,
    renumbered,
    same_length,
    sums_by,
    verdicts,
)
from alignment.base.estimate import NO_NEGATIVE, NO_POSITIVE, NO_UNITS, ONE_CATEGORY, Estimate, Remark
from alignment.base.interval import FEWEST_RARER, Case, Kind, Plan
from alignment.base.tables import disagreement
from alignment.base.totals import Agreement, Statistic, Totals, as_many_alike, column_ratio
from alignment.judging.threshold import decide


@dataclass(frozen=True, eq=False)
class Design:
    """How the labelled samples were drawn. What is drawn of a cluster in one stratum is a part of it.

    ``row`` numbers the part of each unit; the other arrays have shape (parts,), and ``cluster`` numbers the part's
    cluster. ValueError: a stratum with several probabilities; a probability outside (0, 1]; unequal lengths.
    """

    row: Ints
    probability: Floats
    stratum: Ints
    cluster: Ints

    @classmethod
    def of(cls, cluster: ArrayLike, probability: ArrayLike, stratum: ArrayLike) -> "Design":
        """From columns with one entry per unit."""
        (named, _), (layer, layers) = cluster_rows(cluster), cluster_rows(stratum)
        chance = finite(probability, "probability")
        same_length(cluster=named, probability=chance, stratum=layer)
        if ((chance <= 0) | (chance > 1)).any():
            raise ValueError("a probability of being drawn lies above 0, up to 1")
        of_layer = np.zeros(layers)
        of_layer[layer] = chance
        if (chance != of_layer[layer]).any():
            raise ValueError("a stratum has more than one probability")
        part, row = renumbered(named * layers + layer)
        of_part = part % max(layers, 1)
        return cls(row, of_layer[of_part], of_part, part // max(layers, 1))

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1

    def by_cluster(self, of_part: Floats) -> Floats:
        """Summed over the parts of each cluster, shape (clusters,)."""
        return sums_by(self.cluster, of_part, self.clusters)

    def whole(self, totals: Totals) -> Totals:
        """Totals by part as totals by cluster."""
        return replace(totals, cluster=self.cluster[totals.cluster], rows=self.clusters)

    def standard_error(self, influence: Floats) -> float:
        """The error of a statistic from its influences by part, ψ_p = (derivative by p's weight) · weight.

        √(Σ_h (1 - π_h) n_h/(n_h - 1) Σ_{p in h} (ψ_p - mean_h)² + max(0, Σ_p π_p ψ_p² + Σ_c ((Σ_{p in c} ψ_p)² -
        Σ_{p in c} ψ_p²))): that of drawing parts from all there are, and that of all there are from their source, as in
        every interval here, where a cluster counts whole. With all of them drawn it is the plain √Σψ² over clusters. A
        part that is alone in its stratum counts with its square, uncentred.

        Source: Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, §3.7 and §5.5. Two parts of a
        cluster are both drawn with the product of their chances, so what they have in common counts whole.
        """
        count = np.bincount(self.stratum)
        stretch = np.where(count > 1, count / np.maximum(count - 1, 1), 1.0)
        apart = self.within_strata(influence) ** 2
        drawing = ((1 - self.probability) * stretch[self.stratum] * apart).sum()
        common = (self.by_cluster(influence) ** 2).sum() - (influence**2).sum()
        return float(np.sqrt(drawing + max(0.0, (self.probability * influence**2).sum() + common)))

    def within_strata(self, influence: Floats) -> Floats:
        """Influences by part less the mean of their stratum, where they are not alone in it."""
        count = np.bincount(self.stratum)
        mean = sums_by(self.stratum, influence, count.size) / np.maximum(count, 1)
        return influence - np.where(count > 1, mean, 0.0)[self.stratum]

    @property
    def alike(self) -> float:
        """Of how many clusters drawn alike a variance would be known as well (``as_many_alike``)."""
        return as_many_alike(self.weights)

    @property
    def weights(self) -> Floats:
        """1/π of each cluster, the mean over its parts, shape (clusters,)."""
        return self.by_cluster(1 / self.probability) / np.bincount(self.cluster)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: parts less strata, but less than clusters; at least 1."""
        return max(1, min(self.stratum.size - np.unique(self.stratum).size, self.clusters - 1))


@dataclass(frozen=True, slots=True)
class WeightedResult:
    """A judge at one threshold, for all samples. n counts labelled units, as they are, without weights."""

    threshold: float
    kappa: Estimate
    tpr: Estimate
    tnr: Estimate
    accuracy: Estimate


def weighted_mean(
    value: ArrayLike,
    cluster: ArrayLike,
    probability: ArrayLike,
    stratum: ArrayLike,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    interval: Kind = "jackknife",
    level: float = 0.95,
) -> Estimate:
    """Σ value/π / Σ 1/π over labelled units; a share when values are 0 and 1, with ``bounds`` (0, 1).

    All arrays have shape (labelled units,): ``probability`` π and ``stratum`` are the sample's, as ``Draw`` has them.
    Samples that had been labelled before the draw join with probability 1 as a stratum of their own. The samples of a
    cluster (a group) may lie in several strata. Intervals are those of ``interval``, from the jackknife with the draw's
    variance; t has fewer degrees of freedom than clusters, and there is no bootstrap of such draws. Simulated coverage:
    bench/promises/how_labels_came.py, kappas.py and shares.py.
    Undefined: no units. ValueError: as ``Design``; another kind of interval than "jackknife", "influence"
    or "none".

    Source: Hájek (1971), in Foundations of Statistical Inference.

    >>> weighted_mean([1, 1, 0], [1, 2, 3], [0.5, 0.5, 0.1], [0, 0, 1], interval="none").value == 4 / 14
    True
    """
    plan, design, values = _plan(interval, level), Design.of(cluster, probability, stratum), finite(value, "value")
    same_length(value=values, cluster=design.row)
    columns, amounts = np.repeat([0, 1], values.size), np.append(values, np.ones(values.size))
    totals = _weighted(design, np.tile(design.row, 2), columns, amounts, 2)
    return weighted_figure(
        totals,
        column_ratio(0, 1),
        design,
        plan,
        name="weighted mean (Hájek)",
        bearing=design.row,
        undefined=NO_UNITS,
        bounds=bounds,
    )


def weighted_at_threshold(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    threshold: float,
    probability: ArrayLike,
    stratum: ArrayLike,
    *,
    higher_is_better: bool = True,
    interval: Kind = "jackknife",
    level: float = 0.95,
) -> WeightedResult:
    """``at_threshold`` for all samples, from labelled ones drawn with known probabilities.

    Kappa, TPR, TNR and accuracy are what they are there, of a confusion matrix in which a unit counts 1/π.
    ``probability``, ``stratum``, intervals and errors are as in ``weighted_mean``; undefined cases as in
    ``at_threshold``.

    >>> weighted_at_threshold(
    ...     [0.9, 0.2, 0.8, 0.1], [1, 1, 0, 0], range(4), 0.5, [0.5, 0.1, 0.1, 0.5], [0, 1, 1, 0], interval="none"
    ... ).tpr.value == 2 / 12
    True
    """
    plan, design = _plan(interval, level), Design.of(cluster, probability, stratum)
    scores, human = finite(score, "score"), verdicts(positive)
    same_length(score=scores, positive=human, cluster=design.row)
    judge = decide(scores, threshold, higher_is_better)
    totals = _weighted(design, design.row, 2 * human + judge, np.ones(scores.size), 4)

    def figure(name: str, statistic: Statistic, lowest: float, undefined: Remark, bearing: Bools) -> Estimate:
        return weighted_figure(
            totals,
            statistic,
            design,
            plan,
            name=f"weighted {name} (Hájek)",
            bearing=design.row[bearing],
            undefined=undefined,
            bounds=(lowest, 1.0),
            agreement=None if lowest == 0 else binary.agreement_of_confusion(2),
        )

    every = np.ones(scores.size, dtype=np.bool_)
    return WeightedResult(
        threshold=float(threshold),
        kappa=figure("Cohen's kappa", binary.kappa, -1.0, ONE_CATEGORY if scores.size else NO_UNITS, every),
        tpr=figure("true positive rate", binary.tpr, 0.0, NO_POSITIVE, human),
        tnr=figure("true negative rate", binary.tnr, 0.0, NO_NEGATIVE, ~human),
        accuracy=figure("accuracy", binary.accuracy, 0.0, NO_UNITS, every),
    )


def weighted_grades(
    given: ArrayLike,
    human: ArrayLike,
    levels: int,
    cluster: ArrayLike,
    probability: ArrayLike,
    stratum: ArrayLike,
    *,
    interval: Kind = "jackknife",
    level: float = 0.95,
) -> Estimate:
    """Quadratic kappa of a judge's grades with people's for all samples, both as positions of levels, shape (units,).

    ``probability``, ``stratum``, intervals and errors are as in ``weighted_mean``. Undefined: no units, one category.

    >>> weighted_grades([0, 1, 2, 2], [0, 1, 2, 1], 3, range(4), [1, 1, 1, 1], [0, 0, 0, 0], interval="none").value
    0.8
    """
    plan, design = _plan(interval, level), Design.of(cluster, probability, stratum)
    judge, people = level_positions(given, levels, "grade"), level_positions(human, levels, "human")
    same_length(given=judge, human=people, cluster=design.row)
    totals = _weighted(design, design.row, people * levels + judge, np.ones(judge.size), levels**2)
    return weighted_figure(
        totals,
        kappa_statistic(disagreement(levels, "quadratic")),
        design,
        plan,
        name=f"weighted {kappa_name('quadratic')} (Hájek)",
        bearing=design.row,
        undefined=ONE_CATEGORY if judge.size else NO_UNITS,
        bounds=(-1.0, 1.0),
        agreement=binary.agreement_of_confusion(levels, weighted=True),
    )


def weighted_roc_auc(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    probability: ArrayLike,
    stratum: ArrayLike,
    *,
    higher_is_better: bool = True,
    interval: Kind = "jackknife",
    level: float = 0.95,
) -> Estimate:
    """``roc_auc`` for all samples: a pair counts w_i w_j, w = 1/π, and so does each unit in its influence.

    ``probability``, ``stratum`` and errors are as in ``weighted_mean``. Undefined: no unit positive, or none negative.

    Source: weighted structural components, as in ``roc_auc``; Yao, Li & Graubard (2015), Statistics in Medicine 34.

    >>> weighted_roc_auc([1, 2, 3, 4], [0, 1, 0, 1], range(4), [1, 0.5, 1, 1], [0, 1, 0, 0]).value == 4 / 6
    True
    """
    plan, design = _plan(interval, level), Design.of(cluster, probability, stratum)
    scores, human = finite(score, "score"), verdicts(positive)
    same_length(score=scores, positive=human, cluster=design.row)
    name, n, clusters = "weighted ROC AUC (Hájek)", human.size, design.clusters
    if not n or human.all() or not human.any():
        undefined = NO_NEGATIVE if human.any() else NO_POSITIVE
        return Estimate.undefined(undefined, n=n, clusters=clusters, method=name, level=level)
    weight = 1 / design.probability[design.row]
    _, place = np.unique(scores if higher_is_better else -scores, return_inverse=True)
    of_kind = [sums_by(place[kind], weight[kind], int(place.max()) + 1) for kind in (~human, human)]
    below = [(mass.cumsum() - mass / 2) / mass.sum() for mass in of_kind]
    # Of a positive unit the share of negatives that it beats, of a negative one that of positives that beat it.
    wins = np.where(human, below[0][place], 1 - below[1][place])
    value = float(weight[human] @ wins[human] / weight[human].sum())
    of_unit = weight * (wins - value) / np.where(human, weight[human].sum(), weight[~human].sum())
    case = Case(plan, name, n, min(clusters, design.freedom + 1), (0.0, 1.0))
    if plan.refusal(clusters) is not None:
        return replace(case, clusters=clusters).without_interval(value)
    error = design.standard_error(sums_by(design.row, of_unit, design.stratum.size))
    return replace(case.by_logit(value, error), clusters=clusters)


def _plan(interval: Kind, level: float) -> Plan:
    if interval not in ("jackknife", "influence", "none"):
        raise ValueError(f"estimates of a draw have interval 'jackknife', 'influence' or 'none', not {interval!r}")
    return Plan(interval, None, level)


def _weighted(design: Design, part: Ints, column: Ints, amount: Floats, size: int) -> Totals:
    weight = 1 / design.probability
    return Totals(part, column, amount * weight[part], weight.size, size)


def weighted_figure(
    totals: Totals,
    statistic: Statistic,
    design: Design,
    plan: Plan,
    *,
    name: str,
    bearing: Ints,
    undefined: Remark,
    bounds: tuple[float, float],
    agreement: Agreement | None = None,
) -> Estimate:
    """``totals.estimate`` with the draw's variance, of ``totals`` by part; ``bearing`` holds the parts of the units it
    is of.

    A figure with bounds 0 and 1 is a share.
    """
    n, present = bearing.size, renumbered(bearing)[0]
    clusters = renumbered(design.cluster[present])[0].size
    value = float(statistic(totals.sums()))
    if np.isnan(value):
        return Estimate.undefined(undefined, n=n, clusters=clusters, method=name, level=plan.level)
    case = Case(plan, name, n, clusters, bounds)
    if plan.refusal(clusters) is not None:
        return case.without_interval(value)
    if plan.kind == "influence":
        # t has fewer degrees of freedom than in a plain figure: a mean is taken out of every stratum.
        case = replace(case, clusters=min(clusters, design.freedom + 1))
        error = design.standard_error(totals.influence(statistic))
        by = case.by_logit if bounds == (0.0, 1.0) else case.by_influence
        return replace(by(value, error), clusters=clusters)
    weights = design.weights
    rarer = None if agreement is None else design.whole(totals).rarer(statistic, agreement, weights)
    if rarer is not None and rarer.groups >= FEWEST_RARER and value >= bounds[1]:
        return case.at_the_edge(value, rarer)
    moved = totals.jackknife(statistic)
    error, squares = design.standard_error(moved), design.by_cluster(moved) ** 2
    if bounds == (0.0, 1.0):
        heaviest = 1 / design.probability.min() / weights[renumbered(design.cluster[present])[0]].sum()
        return case.of_weighted_share(value, float(np.nan_to_num(error)), float(heaviest), design.freedom)
    # Few heavy clusters make up most of the variance, which is then known as badly as of so few.
    few = 2 * squares.sum() ** 2 / (squares**2).sum() if squares.any() else np.inf
    df = min(design.freedom, few)
    if rarer is not None:
        df = min(df, max(rarer.alike - 1, 1))
    return case.by_jackknife(value, error, rarer, df)
