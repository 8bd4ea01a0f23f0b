"""Intervals: clustered influence functions, cluster bootstrap, Wilson. The one home of how an interval is made.

``interval="auto"`` takes influence functions from 40 clusters on and the bootstrap below; a proportion whose every
trial is its own cluster takes Wilson's interval; other proportions, ROC AUC and PR AUC take influence functions on the
logit scale.

Simulated coverage of 95 % intervals of kappa (.3, .6, .8; 2,000 runs each, ``docs/coverage.md``): 92 to 97 % from 100
clusters on, of 1 and of 5 units, but 91 % where one category has 90 % of the ratings and so about 10 clusters hold the
other. With 30 clusters 91 to 99 % with balanced categories; with 90 % in one of them 90 to 92 % of 5 units each, 71 to
96 % of single units, three of which are of the rare category. ``caveats.interval_caveat`` is what readers get to know.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri, stdtrit

from alignment.base.arrays import Array, Floats, Ints, cluster_rows, sums_by
from alignment.base.bootstrap import RESAMPLES, Middle, Resample, middle, resampled
from alignment.base.estimate import NO_VARIATION, Estimate, Remark, remark

Kind = Literal["auto", "influence", "bootstrap", "none"]

CLUSTERS_FOR_INFLUENCE = 40
NOT_ASKED = remark("no_interval_asked")
FEW_CLUSTERS = remark("few_clusters")
MOSTLY_UNDEFINED = remark("mostly_undefined")
#: Spread below which resamples or influences count as equal: rounding, not variation.
NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Plan:
    """Which interval the caller asked for, at which level, with which generator.

    Raises ValueError for an unknown kind, a level outside (0, 1), and a missing generator when the bootstrap may be
    needed: whether it is depends on the data, and a call must not fail only for some of them.
    """

    kind: Kind
    rng: np.random.Generator | None
    level: float

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"no interval {self.kind!r}; there are {', '.join(get_args(Kind))}")
        if not 0 < self.level < 1:
            raise ValueError(f"the level lies between 0 and 1, not {self.level}")
        if self.rng is None and self.kind in ("auto", "bootstrap"):
            raise ValueError(f"interval={self.kind!r} may draw a bootstrap: pass rng, a numpy Generator")

    def refusal(self, clusters: int) -> Remark | None:
        """Why there is no interval, whatever the statistic, or None when there may be one."""
        if self.kind == "none":
            return NOT_ASKED
        return FEW_CLUSTERS if clusters < 2 else None

    def takes_influence(self, clusters: int) -> bool:
        """Whether the interval is made from influence functions; if not, from the bootstrap."""
        return self.kind == "influence" or (self.kind == "auto" and clusters >= CLUSTERS_FOR_INFLUENCE)


@dataclass(frozen=True, slots=True)
class Sampling:
    """A statistic as a function of the weights of its ``rows`` clusters.

    ``influence()`` is its derivative by every weight, shape (rows,). ``resample(weights)`` evaluates it for weights of
    shape (resamples, rows), NaN where undefined, in memory of about ``width`` floats per resample.
    """

    rows: int
    width: int
    influence: Callable[[], Floats]
    resample: Resample


def standard_error(influence: Floats) -> float:
    """√(Σ_c ψ_c²) over clusters, the influences centred.

    Centring matters only for statistics that change when all data are doubled, as Krippendorff's alpha does. There is
    no small-sample factor: with every unit its own cluster this is the Fleiss-Cohen-Everitt (1969) error of kappa.
    """
    return float(np.sqrt(np.square(influence - influence.mean()).sum()))


def standard_errors(influence: Floats, group: Ints, groups: int) -> Floats:
    """``standard_error`` of each of many groups of influences, shape (groups,)."""
    means = sums_by(group, influence, groups) / np.bincount(group, minlength=groups)
    return np.sqrt(sums_by(group, np.square(influence - means[group]), groups))


def with_interval(
    value: float,
    sampling: Sampling,
    plan: Plan,
    *,
    name: str,
    n: int,
    clusters: int,
    bounds: tuple[float, float],
) -> Estimate:
    """A defined value with the interval planned, or with the reason why it has none.

    influence: value ± t(clusters - 1) · standard error. bootstrap: percentiles of 2,000 resamples of whole clusters;
    resamples in which the statistic is undefined are left out and counted, and more than half of them void the
    interval. Both are cut at ``bounds``. Data in which nothing varies (perfect agreement, a rater who always says the
    same) carry no information on the error, and get no interval rather than one of width zero.
    """
    case = Case(plan, name, n, clusters, bounds)
    if plan.refusal(clusters) is not None:
        return case.without_interval(value)
    if plan.takes_influence(clusters):
        return case.by_influence(value, standard_error(sampling.influence()))
    resamples = resampled(sampling.resample, sampling.rows, sampling.width, plan.rng)
    return case.by_bootstrap(value, middle(resamples, plan.level))


@dataclass(frozen=True, slots=True)
class Case:
    """What an estimate says beside its figures, and from what its interval is made: see ``with_interval``."""

    plan: Plan
    name: str
    n: int
    clusters: int
    bounds: tuple[float, float]

    def without_interval(self, value: float) -> Estimate:
        """Where the plan refuses an interval."""
        refusal = self.plan.refusal(self.clusters)
        assert refusal is not None
        return self._without(value, refusal, self.name)

    def by_influence(self, value: float, error: float) -> Estimate:
        """From the standard error."""
        df = self.clusters - 1
        method = f"{self.name}; influence functions by cluster, t with {df} df"
        if error <= NO_SPREAD:
            return self._without(value, NO_VARIATION, method)
        half = t_quantile(df, self.plan.level) * error
        return self._with(value, value - half, value + half, method)

    def by_logit(self, value: float, error: float) -> Estimate:
        """From the standard error of the logit: for a figure between 0 and 1 whose error shrinks towards both."""
        df = self.clusters - 1
        method = f"{self.name}; influence functions by cluster on the logit scale, t with {df} df"
        if error <= NO_SPREAD or not 0 < value < 1:
            return self._without(value, NO_VARIATION, method)
        half = t_quantile(df, self.plan.level) * error / (value * (1 - value))
        centre = float(logit(value))
        return self._with(value, float(expit(centre - half)), float(expit(centre + half)), method)

    def by_bootstrap(self, value: float, found: Middle) -> Estimate:
        """From the resamples."""
        method = f"{self.name}; cluster bootstrap, {RESAMPLES} resamples"
        if found.lost:
            method += f", {found.lost} undefined left out"
        if found.lost > RESAMPLES / 2:
            return self._without(value, MOSTLY_UNDEFINED, method)
        if found.spread <= NO_SPREAD:
            return self._without(value, NO_VARIATION, method)
        return self._with(value, found.low, found.high, method)

    def of_share(self, value: float, error: float, single: bool) -> Estimate | None:
        """What "auto" takes for a proportion: see ``proportion``. None when another interval was asked for, or none is.

        ``single``: every trial is its own cluster, and a hit or none.
        """
        if self.plan.kind != "auto" or self.clusters < 2:
            return None
        if not single and 0 < value < 1:
            return self.by_logit(value, error)
        how = "every trial its own cluster" if single else "each cluster as one trial, because none varies"
        return self._with(value, *wilson(value, self.clusters, self.plan.level), f"{self.name}; Wilson, {how}")

    def _with(self, value: float, low: float, high: float, method: str) -> Estimate:
        lowest, highest = self.bounds
        return Estimate(
            value, max(low, lowest), min(high, highest), self.plan.level, self.n, self.clusters, method, None
        )

    def _without(self, value: float, reason: Remark, method: str) -> Estimate:
        return Estimate(value, None, None, self.plan.level, self.n, self.clusters, method, reason)


def proportion(hits: Floats, trials: Floats, plan: Plan, *, name: str, undefined: Remark) -> Estimate:
    """Σ hits / Σ trials, given both by cluster, shape (clusters,); n counts trials.

    With interval "auto": Wilson's score interval when every trial is its own cluster; otherwise influence functions on
    the logit scale, for any number of clusters. At 0 or 1 clustered data show no variation; then Wilson's interval
    takes each cluster for a single trial, which is right when the trials of a cluster are copies and too wide when they
    are not. Simulated coverage at 95 %, shares .7 to .97 of 30 to 400 clusters of 1 and 5 units: 92 to 98 %.

    Source: Wilson (1927), JASA 22(158); logit: Korn & Graubard (1998), Survey Methodology 24.
    """
    bearing = trials > 0
    hits, trials = hits[bearing], trials[bearing]
    n, clusters = round(trials.sum()), trials.size
    if n == 0:
        return Estimate.undefined(undefined, method=name, level=plan.level)
    value = float(hits.sum() / trials.sum())
    bounds, influence = (0.0, 1.0), (hits - value * trials) / trials.sum()
    single = bool((trials == 1).all() and np.isin(hits, (0, 1)).all())
    found = Case(plan, name, n, clusters, bounds).of_share(value, standard_error(influence), single)
    if found is not None:
        return found
    sampling = Sampling(
        rows=clusters,
        width=2,
        influence=lambda: influence,
        resample=lambda weights: (weights @ hits) / (weights @ trials),
    )
    return with_interval(value, sampling, plan, name=name, n=n, clusters=clusters, bounds=bounds)


def share_of_trials(hit: Array, cluster: Array, plan: Plan, *, name: str, undefined: Remark) -> Estimate:
    """``proportion`` of single trials: whether each hit (or its share of a hit) and its cluster, shape (trials,)."""
    row, rows = cluster_rows(cluster)
    trials = np.bincount(row, minlength=rows).astype(np.float64)
    return proportion(sums_by(row, hit, rows), trials, plan, name=name, undefined=undefined)


def clustered_share(
    hits: ArrayLike,
    trials: ArrayLike,
    *,
    name: str,
    undefined: Remark,
    interval: Literal["auto", "influence"] = "auto",
) -> Estimate:
    """``proportion`` of plain numbers at 95 %, with an interval that draws nothing.

    >>> clustered_share([1, 0, 2], [2, 1, 2], name="share", undefined=remark("no_units")).value
    0.6
    """
    # A plan wants a generator whatever comes.
    plan = Plan(interval, np.random.default_rng(0), 0.95)
    some, all_of_them = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return proportion(some, all_of_them, plan, name=name, undefined=undefined)


def wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    >>> [round(end, 4) for end in wilson(0.9, 10, 0.95)]
    [0.5958, 0.9821]
    """
    z = normal_quantile(level)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (0.0 if share == 0 else centre - half), (1.0 if share == 1 else centre + half)


@lru_cache(maxsize=4096)
def t_quantile(df: int, level: float) -> float:
    """Half of an interval's width in standard errors."""
    return float(stdtrit(df, (1 + level) / 2))


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """The same when the error is known."""
    return float(ndtri((1 + level) / 2))
