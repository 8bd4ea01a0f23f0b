"""Two judges, or two versions of one, on the same units: is the second better than the first?"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from alignment.agreement.cohen import kappa_name, kappa_statistic
from alignment.base import tables as binary
from alignment.base.arrays import Array, Ints, cluster_rows, finite, same_length, verdicts
from alignment.base.estimate import (
    FEW_COMMON,
    NO_NEGATIVE,
    NO_ORDER,
    NO_POSITIVE,
    NO_UNITS,
    ONE_CATEGORY,
    Estimate,
    Remark,
)
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Scale, encode, encode_values
from alignment.base.tables import Weighting, agreement_of_gain, disagreement
from alignment.base.totals import Agreement, Statistic, Totals, estimate, gain, ratio, side_by_side
from alignment.judging.label_judge import LabelResult, judge_label_kappa
from alignment.judging.threshold import ThresholdResult, at_threshold, decide


@dataclass(frozen=True, eq=False, slots=True)
class Flips:
    """The units that the two judges decide differently; arrays of shape (flips,).

    ``index`` holds their positions in the columns given, ``first`` and ``second`` what the judges said (0 or 1, or
    positions in the levels). ``gain`` is 1 where only the second is right, -1 where only the first is, 0 where both
    are wrong.
    """

    index: Ints
    first: Ints
    second: Ints
    gain: Ints


@dataclass(frozen=True, eq=False, slots=True)
class PairedThresholds:
    """Both judges at their thresholds, and the second less the first."""

    first: ThresholdResult
    second: ThresholdResult
    kappa: Estimate
    tpr: Estimate
    tnr: Estimate
    accuracy: Estimate
    flips: Flips


@dataclass(frozen=True, eq=False, slots=True)
class PairedLabels:
    """Both judges' labels against people's, and the second less the first."""

    first: LabelResult
    second: LabelResult
    percent: Estimate
    kappa: Estimate
    linear: Estimate
    quadratic: Estimate
    flips: Flips


def paired_at_thresholds(
    first: ArrayLike,
    second: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    thresholds: tuple[float, float],
    *,
    higher_is_better: tuple[bool, bool] = (True, True),
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    among: int = 1,
) -> PairedThresholds:
    """Differences in kappa, TPR, TNR and accuracy of two judges' decisions on the same units, second less first.

    ``first`` and ``second`` are scores, ``positive`` the human verdicts; all columns have shape (units,). Each
    difference is one statistic of both confusion matrices, so what makes both judges err on a unit cancels, and the
    interval is narrower than two intervals side by side suggest.

    ``among``: how many such comparisons the interval of the difference in kappa is to hold together with, at ``level``;
    it is made at 1 - (1 - level)/among (Bonferroni). All other intervals stand each for itself.

    Undefined: where the figure of either judge is, see ``at_threshold``. No interval when the judges never differ.
    ValueError as ``at_threshold``.

    Source: for kappas on the same units, Donner et al. (2000), Stat. Med. 19.

    >>> result = paired_at_thresholds(
    ...     [0.9, 0.2, 0.4, 0.1], [0.9, 0.8, 0.4, 0.6], [1, 1, 0, 0], [1, 2, 3, 4], (0.5, 0.5), interval="none"
    ... )
    >>> result.tpr.value, result.tnr.value, result.accuracy.value
    (0.5, -0.5, 0.0)
    >>> result.flips.index.tolist(), result.flips.gain.tolist()
    ([1, 3], [1, -1])
    """
    plan = Plan(interval, rng, level)
    scores = finite(first, "first score"), finite(second, "second score")
    human, (row, _) = verdicts(positive), cluster_rows(cluster)
    same_length(first=scores[0], second=scores[1], positive=human, cluster=row)
    said = [
        decide(score, threshold, higher).astype(np.int64)
        for score, threshold, higher in zip(scores, thresholds, higher_is_better, strict=True)
    ]
    table = side_by_side(row, 2 * human + said[0], 2 * human + said[1], 4)
    own_first, own_second = (
        at_threshold(score, human, row, threshold, higher_is_better=higher, interval=interval, rng=rng, level=level)
        for score, threshold, higher in zip(scores, thresholds, higher_is_better, strict=True)
    )

    def of(name: str, statistic: Statistic, bearing: Array, undefined: Remark) -> Estimate:
        clusters = np.unique(row[bearing]).size
        return _difference(table, name, statistic, int(bearing.sum()), clusters, undefined, plan)

    neither = ONE_CATEGORY if human.size else NO_UNITS
    everyone = np.ones_like(human)
    return PairedThresholds(
        first=own_first,
        second=own_second,
        kappa=_difference(
            table,
            "Cohen's kappa",
            binary.kappa,
            human.size,
            table.rows,
            neither,
            _together(plan, among),
            agreement_of_gain(2),
        ),
        tpr=of("true positive rate", binary.tpr, human, NO_POSITIVE),
        tnr=of("true negative rate", binary.tnr, ~human, NO_NEGATIVE),
        accuracy=of("accuracy", binary.accuracy, everyone, NO_UNITS),
        flips=_flips(human.astype(np.int64), *said),
    )


def paired_labels(
    human: Sequence[Hashable],
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    clusters: Sequence[Hashable],
    *,
    scale: Scale,
    levels: Iterable[Hashable],
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    among: int = 1,
) -> PairedLabels:
    """Differences in percent agreement and kappa of two judges that answer in labels, second less first.

    ``among`` as in ``paired_at_thresholds``, for the unweighted kappa. Undefined as ``judge_label_kappa``, for either
    judge. ValueError for a label that is not a level, and for unequal lengths.

    >>> result = paired_labels("xxyy", "xyyx", "xxyx", [1, 2, 3, 4], scale="nominal", levels="xy", interval="none")
    >>> result.percent.value, result.kappa.value, result.flips.index.tolist()
    (0.25, 0.5, [1])
    """
    plan = Plan(interval, rng, level)
    levels = tuple(levels)
    own_first, own_second = (
        judge_label_kappa(human, judge, clusters, scale=scale, levels=levels, interval=interval, rng=rng, level=level)
        for judge in (first, second)
    )
    people, *said = (
        encode_values(column, levels, f"{name} label")
        for name, column in (("human", human), ("first judge's", first), ("second judge's", second))
    )
    size = len(levels)
    table = side_by_side(encode(clusters)[0], people * size + said[0], people * size + said[1], size**2)

    def kappa(weights: Weighting | None) -> Estimate:
        reason = NO_ORDER if weights is not None and scale == "nominal" else FEW_COMMON if len(human) < 2 else None
        if reason is not None:
            return Estimate.undefined(
                reason, n=len(human), clusters=table.rows, method=kappa_name(weights), level=level
            )
        statistic, sure = kappa_statistic(disagreement(size, weights)), plan if weights else _together(plan, among)
        name, agreement = kappa_name(weights), agreement_of_gain(size)
        return _difference(table, name, statistic, len(human), table.rows, ONE_CATEGORY, sure, agreement)

    agreeing = np.eye(size).ravel()
    return PairedLabels(
        first=own_first,
        second=own_second,
        percent=_difference(
            table,
            "percent agreement",
            lambda cells: ratio(cells @ agreeing, cells.sum(axis=-1)),
            len(human),
            table.rows,
            NO_UNITS,
            plan,
        ),
        kappa=kappa(None),
        linear=kappa("linear"),
        quadratic=kappa("quadratic"),
        flips=_flips(people, *said),
    )


def _together(plan: Plan, among: int) -> Plan:
    return replace(plan, level=1 - (1 - plan.level) / among)


def _difference(
    table: Totals,
    name: str,
    statistic: Statistic,
    n: int,
    clusters: int,
    undefined: Remark,
    plan: Plan,
    agreement: Agreement | None = None,
) -> Estimate:
    return estimate(
        table,
        gain(statistic),
        plan,
        name=f"{name}, second less first",
        n=n,
        clusters=clusters,
        undefined=undefined,
        bounds=(-2.0, 2.0),
        agreement=agreement,
    )


def _flips(human: Ints, first: Ints, second: Ints) -> Flips:
    index = np.flatnonzero(first != second)
    right = (first[index] == human[index]).astype(np.int64), (second[index] == human[index]).astype(np.int64)
    return Flips(index, first[index], second[index], right[1] - right[0])
