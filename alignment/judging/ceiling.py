"""The human ceiling: does the judge agree with people as well as people do with each other?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from alignment.agreement.cohen import confusion, kappa_estimate, kappa_name, kappa_statistic, refusal
from alignment.agreement.with_others import has_company
from alignment.base.arrays import Floats, Ints, finite, renumbered
from alignment.base.estimate import ONE_CATEGORY, Estimate, remark
from alignment.base.interval import Kind, Plan, standard_error, t_quantile
from alignment.base.ratings import Ratings, by_rater, panel
from alignment.base.tables import Weighting, disagreement
from alignment.base.totals import Statistic, Totals, estimate, gain, joint_mean, of_first, of_second, side_by_side
from alignment.consensus.majority import TIE, rest_label

#: On fewer groups that several people labelled nothing is said for sure of judge and people.
FEWEST_GROUPS = 30
FEW_OVERLAP = remark("few_overlapping_groups", n=FEWEST_GROUPS)


@dataclass(frozen=True, slots=True)
class AnnotatorCeiling:
    """One annotator and the judge against the majority of the other annotators, on the same ``n`` units.

    ``ties`` counts the units left out because the others had no majority. ``difference`` is judge less annotator.
    ``alone`` is the judge's kappa with the annotator, on all units that both have.
    """

    annotator: str
    n: int
    ties: int
    human: Estimate
    judge: Estimate
    difference: Estimate
    alone: Estimate


@dataclass(frozen=True, slots=True)
class HumanCeiling:
    """Every annotator, and the means over those with enough units and both kappas defined."""

    annotators: list[AnnotatorCeiling]
    human: Estimate
    judge: Estimate
    difference: Estimate


def human_ceiling(
    ratings: Ratings,
    judge: str,
    weights: Weighting | None = None,
    min_common: int = 10,
    *,
    weight: ArrayLike | None = None,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> HumanCeiling:
    """Hold each annotator and the judge against the majority of the remaining annotators, on the same units.

    ``ratings`` holds people and, as the rater named ``judge``, the judge; all others are people. For annotator j
    on the units that j, the judge and at least one other person rated, and where more than half of the others agree:
    d_j = κ(judge, others' majority) - κ(j, others' majority). The mean of d_j over annotators with at least
    ``min_common`` such units carries one interval: a cluster brings its influence on all annotators together.
    ``weight``: of each unit, by its code, how many it stands for; 1 by default.

    The interval of d: rare errors that happened not to be seen, of either, would make it too short, and one without
    variation certain. So low is mean - q · error of the data with one more typical group, on which people agree and the
    judge errs as far as it can, and high is mean + q · error with one on which every annotator errs and the judge does
    not. q is the t quantile with clusters - 1 degrees of freedom, or that of a gamma of shape (Σψ²)³/(Σψ³)² where the
    influences ψ lean to that side and it is greater, in its own standard deviations: so a few rare errors count as in
    an exact interval of a rate (``_quantile``). None below 30 groups. Simulated at 95 to 99.97 %, 30 to 300 groups,
    good and very good people and judges: at least the level (bench/promises/people_overlap.py); plainly ± t · error it
    is 88 to 95 % for 95 %, and down to 99.1 % for 99.97 %.

    Undefined: no levels; weights on a nominal scale; an annotator with fewer than ``min_common`` such units; kappa
    where only one category was used; the means when no annotator has a difference. ValueError: no such rater.

    >>> ratings = Ratings.from_columns(
    ...     list(range(12)) * 4, ["ann"] * 12 + ["bob"] * 12 + ["cat"] * 12 + ["judge"] * 12,
    ...     "ppppppffffff" + "pppppfffffff" + "ppppppffffff" + "ppppppfffffp", list(range(12)) * 4,
    ...     scale="binary", levels="fp",
    ... )
    >>> ceiling = human_ceiling(ratings, "judge", interval="influence")
    >>> [(row.annotator, row.n, row.ties) for row in ceiling.annotators]
    [('ann', 11, 1), ('bob', 12, 0), ('cat', 11, 1)]
    >>> round(ceiling.difference.value, 3)
    -0.12
    """
    plan = Plan(interval, rng, level)
    both = panel(ratings, judge)
    reason = refusal(ratings, weights)
    if reason is not None:
        none = Estimate.undefined(reason, method=kappa_name(weights), level=level)
        rows = [AnnotatorCeiling(name, 0, 0, none, none, none, none) for name in both.people.raters]
        return HumanCeiling(rows, none, none, none)

    levels = len(ratings.levels or ())
    statistics = _statistics(levels, weights)
    stands_for = None if weight is None else finite(weight, "weight")
    majority = rest_label(both.people)
    shared = has_company(both.people)
    annotators, parts, units = [], [], []
    for name, rated in zip(both.people.raters, by_rater(both.people), strict=True):
        own = rated[both.judged[rated]]
        used = own[majority[own] != TIE]
        own_cells, judge_cells = (values[used] * levels + majority[used] for values in (both.people.value, both.judge))
        counted = np.ones(used.size) if stands_for is None else stands_for[both.people.unit[used]]
        table = side_by_side(both.people.cluster[used], own_cells, judge_cells, levels**2, counted)
        ties = int(shared[own].sum()) - used.size
        human, judged, difference = _figures(table, used.size, statistics, min_common, plan)
        single = confusion(both.people.cluster[own], both.judge[own], both.people.value[own], levels)
        against = kappa_estimate(ratings, single, own.size, weights, plan)
        annotators.append(AnnotatorCeiling(name, used.size, ties, human, judged, difference, against))
        if difference.value is not None:
            parts.append((table, renumbered(both.people.cluster[used])[0]))
            units.append(both.people.unit[used])

    n = renumbered(np.concatenate(units))[0].size if units else 0
    over, undefined = (
        f"over {len(parts)} of {len(annotators)} annotators",
        remark("no_annotator_with_majority", n=min_common),
    )
    human, judged, plain = (
        joint_mean(
            parts, statistic, plan, name=f"mean {name}, {over}", n=n, undefined=undefined, bounds=(-bound, bound)
        )
        for name, statistic, bound in statistics
    )
    difference = _with_ends(plain, parts, statistics[-1][1], levels, plan)
    return HumanCeiling(annotators, human, judged, difference)


def _with_ends(
    plain: Estimate, parts: Sequence[tuple[Totals, Ints]], difference: Statistic, levels: int, plan: Plan
) -> Estimate:
    """The mean difference with the interval of ``human_ceiling``."""
    if plain.value is None or plan.refusal(plain.clusters) is not None:
        return plain
    if plain.clusters < FEWEST_GROUPS:
        return replace(plain, low=None, high=None, reason=FEW_OVERLAP)
    present = renumbered(np.concatenate([clusters for _, clusters in parts]))[0]
    placed = [(table, np.append(np.searchsorted(present, clusters), present.size)) for table, clusters in parts]
    lowest, highest = 0, levels - 1

    def with_one_more(side: int, annotator: int, judge: int, majority: int) -> tuple[float, float]:
        """Mean and arm towards the side (-1, 1) with one more group, on which each says what is given."""
        mean, influence = 0.0, np.zeros(present.size + 1)
        for table, rows in placed:
            added = np.array([annotator, judge + levels]) * levels + majority
            amount = np.append(table.amount, np.full(2, table.amount.sum() / 2 / table.rows))
            cluster = np.append(table.cluster, [table.rows, table.rows])
            grown = Totals(cluster, np.append(table.column, added), amount, table.rows + 1, table.size)
            mean += float(difference(grown.sums())) / len(placed)
            influence[rows] += grown.influence(difference) / len(placed)
        return mean, _quantile(side * influence, plain.clusters, plan.level) * standard_error(influence)

    ends = ((lowest, highest), (highest, lowest))
    low, below = min(with_one_more(-1, right, wrong, right) for right, wrong in ends)
    high, above = max(with_one_more(1, wrong, right, right) for right, wrong in ends)
    return replace(
        plain,
        low=max(-2.0, low - below),
        high=min(2.0, high + above),
        reason=None,
        method=f"{plain.method.partition(';')[0]}; influence functions by cluster with one more group against it",
    )


def _quantile(influence: Floats, clusters: int, level: float) -> float:
    """How many errors long the arm on the upper side is.

    k rare errors among many units have influences of which k are 1 and the rest about 0: with one more, the gamma's
    shape is k + 1, and mean + q · error is the exact upper end of a Poisson rate.

    Source: the gamma interval of Garwood (1936), Biometrika 28; for weighted sums Fay & Feuer (1997), Stat. in Med. 16.
    """
    t, leaning = t_quantile(clusters - 1, level), float((influence**3).sum())
    if leaning <= 0:
        return t
    shape = float((influence**2).sum()) ** 3 / leaning**2
    return max(t, (float(gammaincinv(shape, (1 + level) / 2)) - shape) / sqrt(shape))


def _statistics(levels: int, weights: Weighting | None) -> list[tuple[str, Statistic, float]]:
    """Name, statistic of two tables side by side (annotator, judge; each levels²), and bound of each figure."""
    kappa = kappa_statistic(disagreement(levels, weights))
    called = kappa_name(weights)
    return [
        (f"{called} of annotators with the others' majority", of_first(kappa), 1.0),
        (f"{called} of the judge with the others' majority", of_second(kappa), 1.0),
        (f"{called}, judge less annotator", gain(kappa), 2.0),
    ]


def _figures(
    table: Totals, n: int, statistics: list[tuple[str, Statistic, float]], min_common: int, plan: Plan
) -> list[Estimate]:
    few = n < max(min_common, 1)
    reason = remark("few_units_with_majority", n=min_common)
    return [
        Estimate.undefined(reason, n=n, clusters=table.rows, method=name, level=plan.level)
        if few
        else estimate(table, statistic, plan, name=name, n=n, undefined=ONE_CATEGORY, bounds=(-bound, bound))
        for name, statistic, bound in statistics
    ]
