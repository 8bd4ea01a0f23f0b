"""The human ceiling: does the judge agree with people as well as people do with each other?"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from alignment.agreement.cohen import confusion, kappa_estimate, kappa_name, kappa_statistic, refusal
from alignment.agreement.with_others import has_company
from alignment.base.arrays import renumbered
from alignment.base.estimate import ONE_CATEGORY, Estimate, remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings, by_rater, panel
from alignment.base.tables import Weighting, disagreement
from alignment.base.totals import Statistic, Totals, estimate, gain, joint_mean, of_first, of_second, side_by_side
from alignment.consensus.majority import TIE, rest_label

#: A judge whose kappa is at most this much below people's, at the low end of the interval, has reached the ceiling.
MARGIN = 0.05


class CeilingVerdict(StrEnum):
    """What the interval of the mean difference says."""

    AT_OR_ABOVE = "at_or_above_ceiling"
    BELOW = "below_ceiling"
    NOT_ENOUGH = "not_enough_labels"


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
    verdict: CeilingVerdict


def human_ceiling(
    ratings: Ratings,
    judge: str,
    weights: Weighting | None = None,
    min_common: int = 10,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> HumanCeiling:
    """Hold each annotator and the judge against the majority of the remaining annotators, on the same units.

    ``ratings`` holds people and, as the rater named ``judge``, the judge; all others are people. For annotator j
    on the units that j, the judge and at least one other person rated, and where more than half of the others agree:
    d_j = κ(judge, others' majority) - κ(j, others' majority). The mean of d_j over annotators with at least
    ``min_common`` such units carries one interval: a cluster brings its influence on all annotators together.
    ``ceiling_verdict`` reads it.

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
    >>> round(ceiling.difference.value, 3), str(ceiling.verdict)
    (-0.12, 'not_enough_labels')
    """
    plan = Plan(interval, rng, level)
    both = panel(ratings, judge)
    reason = refusal(ratings, weights)
    if reason is not None:
        none = Estimate.undefined(reason, method=kappa_name(weights), level=level)
        rows = [AnnotatorCeiling(name, 0, 0, none, none, none, none) for name in both.people.raters]
        return HumanCeiling(rows, none, none, none, CeilingVerdict.NOT_ENOUGH)

    levels = len(ratings.levels or ())
    statistics = _statistics(levels, weights)
    majority = rest_label(both.people)
    shared = has_company(both.people)
    annotators, parts, units = [], [], []
    for name, rated in zip(both.people.raters, by_rater(both.people), strict=True):
        own = rated[both.judged[rated]]
        used = own[majority[own] != TIE]
        own_cells, judge_cells = (values[used] * levels + majority[used] for values in (both.people.value, both.judge))
        table = side_by_side(both.people.cluster[used], own_cells, judge_cells, levels**2)
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
    human, judged, difference = (
        joint_mean(
            parts, statistic, plan, name=f"mean {name}, {over}", n=n, undefined=undefined, bounds=(-bound, bound)
        )
        for name, statistic, bound in statistics
    )
    return HumanCeiling(annotators, human, judged, difference, ceiling_verdict(difference))


def ceiling_verdict(difference: Estimate) -> CeilingVerdict:
    """At or above the ceiling when low > -0.05; else below it when high < 0; else, or without interval, neither.

    A difference that is surely negative and surely above -0.05 is at the ceiling: too small to matter.

    >>> str(ceiling_verdict(Estimate(-0.02, -0.04, -0.01)))
    'at_or_above_ceiling'
    """
    if difference.low is not None and difference.low > -MARGIN:
        return CeilingVerdict.AT_OR_ABOVE
    if difference.high is not None and difference.high < 0:
        return CeilingVerdict.BELOW
    return CeilingVerdict.NOT_ENOUGH


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
