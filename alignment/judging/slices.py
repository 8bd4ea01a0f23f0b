"""The judge on parts of the data: where is it worse than on the rest?"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from alignment.base import tables as binary
from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, finite, same_length, verdicts
from alignment.base.estimate import ONE_CATEGORY, Estimate, Remark, remark
from alignment.base.interval import NO_SPREAD, Kind, Plan, Sampling, standard_error, with_interval
from alignment.base.ratings import encode
from alignment.base.significance import holm
from alignment.base.totals import STEP, Statistic, Totals, gain, ratio
from alignment.judging.threshold import ThresholdResult, at_threshold, decide

Measure = Literal["kappa", "tpr", "tnr", "accuracy"]

MIN_CLUSTERS = 10
#: Kappa of a slice with fewer samples of either verdict is luck: one of them decides it.
MIN_OF_A_KIND = 5


@dataclass(frozen=True, eq=False, slots=True)
class Slice:
    """The units whose metadata have ``value`` under ``key``: the judge there, and there less on all other units.

    ``result`` is None, and ``reason`` says why, when the slice or the rest is too small. ``p`` belongs to the
    difference in the measure asked for, ``p_adjusted`` is Holm's over all slices tested together, and ``worse`` says
    that the measure is lower here and p_adjusted ≤ 1 - level; all three are None where there was nothing to test.
    """

    key: str
    value: Hashable
    n: int
    clusters: int
    result: ThresholdResult | None
    kappa: Estimate
    tpr: Estimate
    tnr: Estimate
    accuracy: Estimate
    p: float | None
    p_adjusted: float | None
    worse: bool | None
    reason: Remark | None


def slices_at_threshold(
    score: ArrayLike,
    positive: ArrayLike,
    cluster: ArrayLike,
    threshold: float,
    metadata: Mapping[str, Sequence[Hashable]],
    *,
    measure: Measure = "kappa",
    higher_is_better: bool = True,
    interval: Kind = "auto",
    within: Kind | None = None,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> list[Slice]:
    """The judge's figures on every value of every metadata key, and the difference to all other units.

    Columns have shape (units,), also those in ``metadata``; None there is no value: no slice, but part of the rest.
    A difference is one statistic of two confusion matrices, with influence functions ("auto") and t with as many
    degrees of freedom as the smaller part has clusters, less 1. Its p is two-sided, from the same t, but with the
    greater of two standard errors: that of the interval, and that where the slice has the people's verdicts it has
    and the judge the TPR and TNR of all data. The second matters in slices where the judge errs on all or none,
    which show no variation of their own. Slices without p take no part in Holm's adjustment. ``within``: the interval
    of the figures inside a slice, ``interval`` unless told; many slices are much faster without.

    Too small: fewer than 10 clusters in the slice or in the rest (all figures undefined); fewer than 10 clusters
    with units that people pass (TPR) or fail (TNR), or fewer than 5 of either (kappa), in the slice or in the rest.
    ValueError: as ``at_threshold``; an unknown measure; metadata of another length.

    Source: Holm (1979); null standard errors: the score test, as in the pooled test of two proportions.

    >>> language = ["en"] * 40 + ["de"] * 20
    >>> positive = [True, False] * 30
    >>> score = [0.9, 0.1] * 20 + [0.9, 0.9] * 10
    >>> found = slices_at_threshold(score, positive, range(60), 0.5, {"language": language}, interval="influence")
    >>> [(each.value, each.kappa.value, each.worse) for each in found]
    [('de', -1.0, True), ('en', 1.0, False)]
    """
    plan = Plan(interval, rng, level)
    if measure not in get_args(Measure):
        raise ValueError(f"no measure {measure!r}; there are {', '.join(get_args(Measure))}")
    scores, human, (row, rows) = finite(score, "score"), verdicts(positive), cluster_rows(cluster)
    same_length(score=scores, positive=human, cluster=row, **metadata)
    judge = decide(scores, threshold, higher_is_better)
    named, parts = [], []
    for key, values in metadata.items():
        codes, names = encode(values)
        for value in sorted((name for name in names if name is not None), key=lambda name: (str(name), repr(name))):
            named.append((key, value))
            parts.append(_Part(human, judge, row, rows, codes == names.index(value)))
    changes = {each: _Change(each, parts) for each in _MEASURES}
    found = []
    for place, ((key, value), part) in enumerate(zip(named, parts, strict=True)):
        result, reason = None, part.too_few()
        if reason is None:
            result = at_threshold(
                scores[part.here],
                human[part.here],
                row[part.here],
                threshold,
                higher_is_better=higher_is_better,
                interval=interval if within is None else within,
                rng=rng,
                level=level,
            )
        differences = {each: changes[each].difference(place, reason, plan) for each in _MEASURES}
        found.append(
            Slice(
                key=key,
                value=value,
                n=int(part.here.sum()),
                clusters=int(part.all[1]),
                result=result,
                **differences,
                p=changes[measure].p(place, differences[measure]),
                p_adjusted=None,
                worse=None,
                reason=reason,
            )
        )
    tested = [place for place, part in enumerate(found) if part.p is not None]
    adjusted = holm(np.array([part.p for part in found if part.p is not None]))
    for place, p in zip(tested, adjusted.tolist(), strict=True):
        difference: Estimate = getattr(found[place], measure)
        lower = difference.value is not None and difference.value < 0
        found[place] = replace(found[place], p_adjusted=p, worse=bool(lower and p <= 1 - level))
    return found


_MEASURES: dict[Measure, tuple[str, Statistic]] = {
    "kappa": ("Cohen's kappa", binary.kappa),
    "tpr": ("true positive rate", binary.tpr),
    "tnr": ("true negative rate", binary.tnr),
    "accuracy": ("accuracy", binary.accuracy),
}


class _Part:
    """A slice, and the rest. ``table`` holds the confusion matrices of the rest and of the slice, side by side.

    ``all``, ``passed`` and ``failed``: how many clusters of the rest and of the slice have units, units that people
    pass, units that they fail.
    """

    def __init__(self, human: Bools, judge: Bools, row: Ints, rows: int, here: Bools) -> None:
        self.here = here
        cell = 2 * human + judge + 4 * here
        self.table = Totals(row, cell, np.ones(row.size), rows, 8)
        seen = np.zeros((rows, 8), dtype=np.bool_)
        seen[row, cell] = True
        by_human = np.logical_or.reduce(seen.reshape(rows, 2, 2, 2), axis=3)  # clusters, rest and slice, people
        self.failed, self.passed = by_human.sum(axis=0).T
        self.all = np.logical_or.reduce(by_human, axis=2).sum(axis=0)

    def bearing(self, measure: Measure) -> Ints:
        """How many clusters of the rest and of the slice bear on a measure."""
        return {"tpr": self.passed, "tnr": self.failed}.get(measure, self.all)

    def too_few(self) -> Remark | None:
        """Why the slice can't be compared with the rest, or None."""
        outside, inside = self.all
        if inside < MIN_CLUSTERS:
            return remark("few_samples_in_slice", n=MIN_CLUSTERS)
        return remark("few_samples_outside_slice", n=MIN_CLUSTERS) if outside < MIN_CLUSTERS else None

    def refusal(self, measure: Measure) -> Remark | None:
        """Why there is no difference in a measure, or None."""
        if measure == "tpr":
            return self._few_passed(MIN_CLUSTERS)
        if measure == "tnr":
            return self._few_failed(MIN_CLUSTERS)
        if measure == "kappa":
            return self._few_passed(MIN_OF_A_KIND) or self._few_failed(MIN_OF_A_KIND)
        return None

    def _few_passed(self, least: int) -> Remark | None:
        outside, inside = self.passed
        if inside < least:
            return remark("few_passed_in_slice", n=least)
        return remark("few_passed_outside_slice", n=least) if outside < least else None

    def _few_failed(self, least: int) -> Remark | None:
        outside, inside = self.failed
        if inside < least:
            return remark("few_failed_in_slice", n=least)
        return remark("few_failed_outside_slice", n=least) if outside < least else None


class _Change:
    """A measure in every slice less that in its rest, worked out for all slices at once."""

    def __init__(self, measure: Measure, parts: list[_Part]) -> None:
        self.measure = measure
        self.name, statistic = _MEASURES[measure]
        self.statistic = gain(statistic)
        self.parts = parts
        self.sums = np.array([part.table.sums() for part in parts]).reshape(-1, 8)
        self.values = self.statistic(self.sums)
        self.gradients = self._gradients(self.sums)

    def difference(self, place: int, too_small: Remark | None, plan: Plan) -> Estimate:
        part, name = self.parts[place], f"{self.name}, slice less rest"
        people = {"tpr": [6, 7], "tnr": [4, 5]}.get(self.measure, [4, 5, 6, 7])
        n, clusters = round(self.sums[place, people].sum()), int(part.bearing(self.measure).min())
        reason = too_small or part.refusal(self.measure)
        value = float(self.values[place])
        if reason is None and np.isnan(value):
            reason = ONE_CATEGORY
        if reason is not None:
            return Estimate.undefined(reason, n=n, clusters=clusters, method=name, level=plan.level)
        if plan.kind == "auto":
            plan = replace(plan, kind="influence")
        table, statistic = part.table, self.statistic
        sampling = Sampling(
            rows=table.rows,
            width=table.size,
            influence=lambda: table.per_cluster(self.gradients[place]),
            resample=lambda weights: table.resample(statistic, weights),
        )
        return with_interval(value, sampling, plan, name=name, n=n, clusters=clusters, bounds=(-2.0, 2.0))

    def p(self, place: int, difference: Estimate) -> float | None:
        if difference.value is None:
            return None
        table = self.parts[place].table
        gradients = (self.gradients[place], self._null_gradients[place])
        error = max(standard_error(table.per_cluster(gradient)) for gradient in gradients)
        if error <= NO_SPREAD:
            return None
        smaller = self.parts[place].bearing(self.measure).min()
        return float(2 * stdtr(smaller - 1, -abs(difference.value) / error))

    @cached_property
    def _null_gradients(self) -> Floats:
        """Where slice and rest have the people's verdicts they have, and the judge the rates of all data."""
        sums = self.sums.reshape(-1, 2, 2, 2)  # slices, rest and slice, people, judge
        pooled = sums.sum(axis=1, keepdims=True)
        rates = np.nan_to_num(ratio(pooled, pooled.sum(axis=3, keepdims=True)))
        return self._gradients((sums.sum(axis=3, keepdims=True) * rates).reshape(-1, 8))

    def _gradients(self, at: Floats) -> Floats:
        """By the complex step, as in ``Totals``; only the cells that occur in a slice's table count."""
        steps = 1j * STEP * np.eye(8) * (self.sums[:, :, np.newaxis] > 0)
        return np.imag(self.statistic(at[:, np.newaxis, :] + steps)) / STEP
