"""What was measured on every response (latency, cost, tokens; or whether it abstained): needs no labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Floats, Ints, cluster_rows, finite, renumbered, same_length, sums_by
from alignment.base.estimate import Estimate, remark
from alignment.base.interval import Case, Plan, t_quantile
from alignment.comparing.few import Few, differing
from alignment.comparing.levels import NAMES, NO_LABELLED, Variance, compare_versions
from alignment.comparing.responses import Responses

NOTHING_MEASURED = remark("nothing_measured")


@dataclass(frozen=True, slots=True)
class MeasuredDifference:
    """The mean of ``b`` less that of ``a``; ``variance`` as that of a ``VersionDifference``."""

    a: int
    b: int
    figure: Estimate
    variance: Variance | None


@dataclass(frozen=True, slots=True)
class MeasuredComparison:
    """Means of every version, and differences of each from the baseline, in the order of versions."""

    levels: Sequence[Estimate]
    differences: Sequence[MeasuredDifference]


def compare_measured(
    version: ArrayLike,
    group: ArrayLike,
    value: ArrayLike,
    versions: int,
    *,
    baseline: int = 0,
    level: float = 0.95,
    comparison_level: float | None = None,
) -> MeasuredComparison:
    """Means of ``value``, and how far each version's is from the ``baseline``'s; columns of shape (responses,).

    ``version``, ``group``, ``level`` and ``comparison_level`` are as in ``compare_versions``; what was not measured
    (the latency of a request that failed) has no entry. ψ_g = Σ_{i in g} (x_i - mean)/n is what a group moves of a
    mean, of a difference what it moves of both; the interval is t's, with √(G/(G - 1) Σψ²). Its degrees of freedom, and
    how wide it is at least where fewer than five groups differ, are as in ``compare_versions``: groups that were missed
    may lie as far off as the greatest value that was measured lies from the least, 0 among them. So where nothing
    varies the interval is of what may have been missed; where nothing was measured but 0, it is 0 and 0. Where a few
    values are far above all others, a mean takes many questions until its interval holds.

    Undefined: nothing measured of a version. No interval with fewer than two groups. ValueError: a version out of
    range, a level outside (0, 1), values that are not finite, unequal lengths.

    >>> found = compare_measured([0, 0, 1, 1], [1, 2, 1, 2], [10.0, 20.0, 12.0, 26.0], 2)
    >>> [one.value for one in found.levels], found.differences[0].figure.value
    ([15.0, 19.0], 4.0)
    """
    of_version, values = np.asarray(version, np.int64), finite(value, "value")
    row, groups = cluster_rows(group)
    same_length(version=of_version, group=row, value=values)
    if of_version.size and not 0 <= of_version.min() <= of_version.max() < versions:
        raise ValueError(f"versions are numbered 0 to {versions - 1}")
    if not 0 <= baseline < versions:
        raise ValueError(f"the baseline is one of versions 0 to {versions - 1}, not {baseline}")
    span = float(max(values.max(initial=0.0), 0.0) - min(values.min(initial=0.0), 0.0))
    means = [_Mean.of(values[of_version == one], row[of_version == one], groups) for one in range(versions)]
    of_differences = level if comparison_level is None else comparison_level
    differences = []
    for b, mean in enumerate(means):
        if b != baseline:
            found, error = mean.less(means[baseline]).estimate("difference of means", of_differences, span)
            variance = None if error is None else Variance(0.0, error**2)
            differences.append(MeasuredDifference(baseline, b, found, variance))
    return MeasuredComparison([mean.estimate("mean", level, span)[0] for mean in means], differences)


def compare_shares(
    version: ArrayLike,
    group: ArrayLike,
    value: ArrayLike,
    versions: int,
    *,
    baseline: int = 0,
    level: float = 0.95,
    comparison_level: float | None = None,
) -> MeasuredComparison:
    """``compare_measured`` of values within 0 and 1, such as whether a request was answered: their intervals end there,
    and are there too where all are alike. They are those of ``compare_versions`` where every value is known.

    >>> found = compare_shares([0] * 40 + [1] * 40, [*range(40)] * 2, [1.0] * 80, 2)
    >>> [round(one.low, 2) for one in found.levels], round(found.differences[0].figure.low, 2)
    ([0.91, 0.91], -0.09)
    """
    values = finite(value, "value")
    known = Responses.of(
        version=version,
        group=group,
        score=np.full(values.size, np.nan),
        least=values,
        most=values,
        probability=np.ones(values.size),
        stratum=np.zeros(values.size, np.int64),
    )
    # Without scores there are no folds to be drawn.
    rng = np.random.default_rng(0)
    found = compare_versions(
        known, versions, rng=rng, baseline=baseline, level=level, comparison_level=comparison_level
    )
    return MeasuredComparison(
        [_share(one.figure.people) for one in found.levels],
        [MeasuredDifference(one.a, one.b, _share(one.figure.people), one.variance) for one in found.differences],
    )


def _share(found: Estimate) -> Estimate:
    """Of values that no annotator gave."""
    reason = NOTHING_MEASURED if found.reason == NO_LABELLED else found.reason
    return replace(found, reason=reason, method=found.method.replace(NAMES["people"], "share"))


@dataclass(frozen=True, eq=False, slots=True)
class _Mean:
    """A mean, or a difference of two, None where there is none: what each group ``moved`` of it, and which groups have
    any of its ``n`` values; shape (groups,). No group has more than the share ``heaviest`` of them."""

    value: float | None
    moved: Floats
    present: Ints
    n: int
    heaviest: float

    @classmethod
    def of(cls, values: Floats, row: Ints, groups: int) -> "_Mean":
        if not values.size:
            return cls(None, np.zeros(groups), row, 0, 0.0)
        mean = float(values.mean())
        return cls(
            value=mean,
            moved=sums_by(row, values - mean, groups) / values.size,
            present=renumbered(row)[0],
            n=values.size,
            heaviest=float(np.bincount(row).max()) / values.size,
        )

    def less(self, other: "_Mean") -> "_Mean":
        return _Mean(
            value=None if self.value is None or other.value is None else self.value - other.value,
            moved=self.moved - other.moved,
            present=np.union1d(self.present, other.present),
            n=self.n + other.n,
            heaviest=max(self.heaviest, other.heaviest),
        )

    def estimate(self, name: str, level: float, span: float) -> tuple[Estimate, float | None]:
        """With the standard error that its interval has, None without one. ``span``: how far off a group can lie."""
        groups = self.present.size
        if self.value is None:
            return Estimate.undefined(NOTHING_MEASURED, n=self.n, clusters=groups, method=name, level=level), None
        case = Case(Plan("influence", None, level), name, self.n, groups, (-inf, inf))
        if case.plan.refusal(groups) is not None:
            return case.without_interval(self.value), None
        squares = groups / (groups - 1) * np.square(self.moved)
        few = Few(differing(squares, groups), groups - 1, self.heaviest, (span, span))
        half, _ = few.half_widths(float(np.sqrt(squares.sum())), level)
        method = f"{name}; influence functions by group, t with {few.df:.4g} df"
        found = Estimate(self.value, self.value - half, self.value + half, level, self.n, groups, method)
        return found, half / t_quantile(groups - 1, level)
