"""The judge on parts of the data: where is it worse than on the rest?"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from alignment import binary
from alignment.arrays import Bools, Floats, Ints
from alignment.columns import cluster_rows, finite, same_length, verdicts
from alignment.contrast import gain
from alignment.estimate import Estimate
from alignment.interval import NO_SPREAD, Kind, Plan, standard_error
from alignment.ratings import encode
from alignment.reasons import ONE_CATEGORY
from alignment.significance import holm
from alignment.threshold import ThresholdResult, at_threshold, decide
from alignment.totals import Statistic, Totals, estimate, ratio

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
    reason: str | None


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
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> list[Slice]:
    """The judge's figures on every value of every metadata key, and the difference to all other units.

    Columns have shape (units,), also those in ``metadata``; None there is no value: no slice, but part of the rest.
    A difference is one statistic of two confusion matrices, with influence functions ("auto") and t with as many
    degrees of freedom as the smaller part has clusters, less 1. Its p is two-sided, from the same t, but with the
    greater of two standard errors: that of the interval, and that where the slice has the people's verdicts it has
    and the judge the TPR and TNR of all data. The second matters in slices where the judge errs on all or none,
    which show no variation of their own. Slices without p take no part in Holm's adjustment.

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
    data = _Data(human, decide(scores, threshold, higher_is_better), row, rows)
    found = []
    for key, values in metadata.items():
        codes, names = encode(values)
        for value in sorted((name for name in names if name is not None), key=lambda name: (str(name), repr(name))):
            here = codes == names.index(value)
            result, reason = None, _too_few(data, here, data.everyone, MIN_CLUSTERS, "samples")
            if reason is None:
                result = at_threshold(
                    scores[here],
                    human[here],
                    row[here],
                    threshold,
                    higher_is_better=higher_is_better,
                    interval=interval,
                    rng=rng,
                    level=level,
                )
            differences = {each: _difference(data, here, each, reason, plan) for each in _MEASURES}
            found.append(
                Slice(
                    key=key,
                    value=value,
                    n=int(here.sum()),
                    clusters=data.clusters(here),
                    result=result,
                    **differences,
                    p=_p_value(data, here, measure, differences[measure]),
                    p_adjusted=None,
                    worse=None,
                    reason=reason,
                )
            )
    return _adjusted(found, measure, level)


class _Data(NamedTuple):
    human: Bools
    judge: Bools
    row: Ints
    rows: int

    @property
    def everyone(self) -> Bools:
        return np.ones_like(self.human)

    def clusters(self, units: Bools) -> int:
        """How many clusters these units lie in."""
        return int(np.count_nonzero(np.bincount(self.row[units])))

    def table(self, here: Bools) -> Totals:
        """Confusion matrices of the rest and of the slice, side by side."""
        return Totals(self.row, 2 * self.human + self.judge + 4 * here, np.ones(self.row.size), self.rows, 8)


_MEASURES: dict[Measure, tuple[str, Statistic]] = {
    "kappa": ("Cohen's kappa", binary.kappa),
    "tpr": ("true positive rate", binary.tpr),
    "tnr": ("true negative rate", binary.tnr),
    "accuracy": ("accuracy", binary.accuracy),
}


def _too_few(data: _Data, here: Bools, bearing: Bools, least: int, what: str) -> str | None:
    """Why a slice can't be held against the rest on the units ``bearing``, or None."""
    for part, place in ((here, "in the slice"), (~here, "outside the slice")):
        if data.clusters(part & bearing) < least:
            return f"fewer than {least} {what} {place}"
    return None


def _refusal(data: _Data, here: Bools, measure: Measure) -> str | None:
    passed, failed = "samples with units that people pass", "samples with units that people fail"
    if measure == "tpr":
        return _too_few(data, here, data.human, MIN_CLUSTERS, passed)
    if measure == "tnr":
        return _too_few(data, here, ~data.human, MIN_CLUSTERS, failed)
    if measure == "kappa":
        return _too_few(data, here, data.human, MIN_OF_A_KIND, passed) or _too_few(
            data, here, ~data.human, MIN_OF_A_KIND, failed
        )
    return None


def _bearing(data: _Data, measure: Measure) -> Bools:
    return {"tpr": data.human, "tnr": ~data.human}.get(measure, data.everyone)


def _smaller(data: _Data, here: Bools, measure: Measure) -> int:
    """Clusters that bear on the measure in the smaller of slice and rest."""
    bearing = _bearing(data, measure)
    return min(data.clusters(part & bearing) for part in (here, ~here))


def _difference(data: _Data, here: Bools, measure: Measure, too_small: str | None, plan: Plan) -> Estimate:
    name, statistic = _MEASURES[measure]
    name = f"{name}, slice less rest"
    n = int((here & _bearing(data, measure)).sum())
    clusters = _smaller(data, here, measure)
    reason = too_small or _refusal(data, here, measure)
    if reason is not None:
        return Estimate.undefined(reason, n=n, clusters=clusters, method=name, level=plan.level)
    if plan.kind == "auto":
        plan = replace(plan, kind="influence")
    return estimate(
        data.table(here),
        gain(statistic),
        plan,
        name=name,
        n=n,
        clusters=clusters,
        undefined=ONE_CATEGORY,
        bounds=(-2.0, 2.0),
    )


def _p_value(data: _Data, here: Bools, measure: Measure, difference: Estimate) -> float | None:
    if difference.value is None:
        return None
    table, statistic = data.table(here), gain(_MEASURES[measure][1])
    sums = table.sums().reshape(2, 2, 2)  # rest and slice, people, judge
    pooled = sums.sum(axis=0)
    null: Floats = sums.sum(axis=2, keepdims=True) * np.nan_to_num(ratio(pooled, pooled.sum(axis=1, keepdims=True)))
    error = max(standard_error(table.influence(statistic)), standard_error(table.influence(statistic, null.ravel())))
    if error <= NO_SPREAD:
        return None
    return float(2 * stdtr(_smaller(data, here, measure) - 1, -abs(difference.value) / error))


def _adjusted(found: list[Slice], measure: Measure, level: float) -> list[Slice]:
    tested = [place for place, part in enumerate(found) if part.p is not None]
    adjusted = holm(np.array([part.p for part in found if part.p is not None]))
    for place, p in zip(tested, adjusted.tolist(), strict=True):
        difference: Estimate = getattr(found[place], measure)
        lower = difference.value is not None and difference.value < 0
        found[place] = replace(found[place], p_adjusted=p, worse=bool(lower and p <= 1 - level))
    return found
