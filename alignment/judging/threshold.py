"""A judge that scores, compared with binary human verdicts: at one threshold, and over all of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from alignment.base import tables as binary
from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, finite, run_starts, same_length, verdicts
from alignment.base.estimate import NO_NEGATIVE, NO_POSITIVE, NO_UNITS, ONE_CATEGORY, Estimate, Remark, remark
from alignment.base.interval import Kind, Plan
from alignment.base.tables import FN, FP, TN, TP
from alignment.base.totals import Agreement, Statistic, Totals, estimate, share_of_columns
from alignment.frames import sweep_frame

if TYPE_CHECKING:
    from alignment.frames import DataFrame

#: Kappas closer than this are equal: rounding must not choose the threshold.
EQUAL = 1e-12
#: So many that what lies between the counts and a figure stays in the processor's cache.
THRESHOLDS_AT_ONCE = 2**14


@dataclass(frozen=True, eq=False, slots=True)
class ThresholdResult:
    """A judge at one threshold. ``confusion`` is [[tn, fp], [fn, tp]]: rows people, columns the judge."""

    threshold: float
    confusion: list[list[int]]
    kappa: Estimate
    tpr: Estimate
    tnr: Estimate
    precision: Estimate
    f1: Estimate
    accuracy: Estimate
    mcc: Estimate


@dataclass(frozen=True, eq=False, slots=True)
class Sweep:
    """A judge at every threshold; arrays of shape (thresholds,), thresholds ascending, NaN where undefined.

    Counts and kappa are kept, the other figures computed when asked for. ``best_*`` belong to the greatest kappa; they
    are None, and ``reason`` says why, when kappa is defined nowhere. The best threshold of the data it is measured on
    is optimistic.
    """

    thresholds: Floats
    tn: Ints
    fp: Ints
    fn: Ints
    tp: Ints
    kappa: Floats
    best_index: int | None
    best_threshold: float | None
    best_kappa: float | None
    reason: Remark | None

    @property
    def tpr(self) -> Floats:
        """True positive rate at each threshold."""
        return self._figure(binary.tpr)

    @property
    def tnr(self) -> Floats:
        """True negative rate at each threshold."""
        return self._figure(binary.tnr)

    @property
    def precision(self) -> Floats:
        """Precision at each threshold."""
        return self._figure(binary.precision)

    @property
    def f1(self) -> Floats:
        """F1 at each threshold."""
        return self._figure(binary.f1)

    @property
    def accuracy(self) -> Floats:
        """Accuracy at each threshold."""
        return self._figure(binary.accuracy)

    @property
    def mcc(self) -> Floats:
        """Matthews' correlation at each threshold."""
        return self._figure(binary.mcc)

    def to_frame(self) -> "DataFrame":
        """Every threshold as a row of a pandas table, with the four counts and the seven figures.

        >>> sweep([0.1, 0.4, 0.8, 0.9], [0, 1, 1, 1]).to_frame()["kappa"].round(2).to_dict()
        {0.1: 0.0, 0.4: 1.0, 0.8: 0.5, 0.9: 0.2}
        """
        return sweep_frame(self)

    def _figure(self, statistic: Statistic) -> Floats:
        return _at_every_threshold(statistic, self.tn, self.fp, self.fn, self.tp)


def at_threshold(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    threshold: float,
    *,
    higher_is_better: bool = True,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> ThresholdResult:
    """The judge's verdict is positive when score ≥ threshold (score ≤ threshold when lower is better).

    ``score``, ``positive`` (the human verdict) and ``cluster`` have shape (units,).

    Undefined: a rate without units in its denominator; kappa when judge and people used one and the same category;
    mcc when either used only one; f1 without any positive. ValueError: a score that isn't finite, a threshold of nan,
    unequal lengths.

    >>> result = at_threshold([0.9, 0.8, 0.4, 0.1], [1, 1, 1, 0], [1, 2, 3, 4], 0.5, interval="none")
    >>> result.confusion, result.kappa.value
    ([[1, 0], [1, 2]], 0.5)
    """
    plan = Plan(interval, rng, level)
    scores, human, (row, rows) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row)
    judge = decide(scores, threshold, higher_is_better)
    table = Totals(row, 2 * human + judge, np.ones(scores.size), rows, 4)
    tn, fp, fn, tp = (round(count) for count in table.sums())

    def rate(name: str, hits: list[int], trials: list[int], undefined: Remark) -> Estimate:
        return share_of_columns(table, hits, trials, plan, name=name, undefined=undefined)

    def other(
        name: str, statistic: Statistic, lowest: float, undefined: Remark, agreement: Agreement | None = None
    ) -> Estimate:
        return estimate(
            table,
            statistic,
            plan,
            name=name,
            n=scores.size,
            undefined=undefined,
            bounds=(lowest, 1.0),
            agreement=agreement,
        )

    agreement = binary.agreement_of_confusion(2)

    return ThresholdResult(
        threshold=float(threshold),
        confusion=[[tn, fp], [fn, tp]],
        kappa=other("Cohen's kappa", binary.kappa, -1.0, ONE_CATEGORY if rows else NO_UNITS, agreement),
        tpr=rate("true positive rate", [TP], [FN, TP], NO_POSITIVE),
        tnr=rate("true negative rate", [TN], [TN, FP], NO_NEGATIVE),
        precision=rate("precision", [TP], [FP, TP], remark("no_positive_by_judge")),
        f1=other("F1", binary.f1, 0.0, remark("no_positive_by_either")),
        accuracy=rate("accuracy", [TN, TP], [TN, FP, FN, TP], NO_UNITS),
        mcc=other("Matthews' correlation", binary.mcc, -1.0, remark("one_category_by_either"), agreement),
    )


def decide(scores: Floats, threshold: float, higher_is_better: bool) -> Bools:
    """Whether the judge passes each unit. The one home of the rule. ValueError: a threshold of nan."""
    if np.isnan(threshold):
        raise ValueError("the threshold is a number, not nan")
    return scores >= threshold if higher_is_better else scores <= threshold


def sweep(score: ArrayLike, positive: ArrayLike, *, higher_is_better: bool = True) -> Sweep:
    """The judge at every observed score as threshold, by one sort and cumulative counts.

    Positive when score ≥ threshold (≤ when lower is better). Of kappas equal within 1e-12 the lowest threshold is
    best, in both directions. ``score`` and ``positive`` have shape (units,).

    >>> found = sweep([0.1, 0.4, 0.8, 0.9], [0, 1, 1, 1])
    >>> found.best_threshold, found.best_kappa
    (0.4, 1.0)
    """
    scores, human = finite(score, "score"), verdicts(positive)
    same_length(score=scores, positive=human)
    order = np.argsort(scores)
    ascending = scores[order]
    starts = run_starts(ascending)
    ends = np.append(starts[1:], scores.size)[: starts.size]
    positives = np.zeros(scores.size + 1, dtype=np.int64)  # among the lowest 0, 1, … n scores
    np.cumsum(human[order], out=positives[1:])
    if higher_is_better:
        passed, tp = scores.size - starts, positives[-1] - positives[starts]
    else:
        passed, tp = ends, positives[ends]
    fp, fn = passed - tp, positives[-1] - tp
    tn = scores.size - passed - fn
    kappa = _at_every_threshold(binary.kappa, tn, fp, fn, tp)
    index, reason = None, None
    greatest = np.fmax.reduce(kappa, initial=-np.inf)  # passes over NaN
    if np.isfinite(greatest):
        index = int(np.argmax(kappa >= greatest - EQUAL))
    else:
        reason = remark("one_category_at_every_threshold") if scores.size else NO_UNITS
    return Sweep(
        thresholds=ascending[starts],
        tn=tn,
        fp=fp,
        fn=fn,
        tp=tp,
        kappa=kappa,
        best_index=index,
        best_threshold=None if index is None else float(ascending[starts[index]]),
        best_kappa=None if index is None else float(kappa[index]),
        reason=reason,
    )


def _at_every_threshold(statistic: Statistic, *cells: Ints) -> Floats:
    """A statistic of the four counts, each of shape (thresholds,)."""
    size = cells[0].size
    values = np.empty(size)
    for start in range(0, size, THRESHOLDS_AT_ONCE):
        part = slice(start, start + THRESHOLDS_AT_ONCE)
        values[part] = statistic(np.array([count[part] for count in cells], dtype=np.float64).T)
    return values
