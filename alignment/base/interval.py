"""Intervals: delete-one-group jackknife, exact shares, influence functions, cluster bootstrap. The one home of how an
interval is made.

``interval="auto"`` takes for

* statistics of sums (kappas, alpha, their means and differences, correlations of numbers, …) the jackknife that leaves
  out one group (cluster) at a time, on a scale on which the figure has no end: it never goes beyond its range;
* proportions Clopper and Pearson's interval of as many single trials as have the same error;
* ROC AUC and PR AUC influence functions on the logit scale;
* what is left (rank correlations, the risk-coverage curve) influence functions from 40 clusters on and the bootstrap
  below, which has no interval above 99 %.

Simulated coverage is in ``docs/coverage.md``; ``caveats.interval_caveat`` is what readers get to know.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite, isnan, sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, expit, ndtri, stdtrit

from alignment.base.arrays import Array, Floats, Ints, cluster_rows, sums_by
from alignment.base.bootstrap import RESAMPLES, Middle, Resample, middle, resampled
from alignment.base.estimate import NO_VARIATION, Estimate, Remark, remark

Kind = Literal["auto", "jackknife", "influence", "bootstrap", "none"]

CLUSTERS_FOR_INFLUENCE = 40
#: Of 2,000 resamples ten are beyond either end of a 99 % interval: farther out the ends are chance.
SUREST_BOOTSTRAP = 0.99
#: With fewer groups that hold the rarer value nobody knows how often it is met with disagreement.
FEWEST_RARER = 5
NOT_ASKED = remark("no_interval_asked")
FEW_CLUSTERS = remark("few_clusters")
MOSTLY_UNDEFINED = remark("mostly_undefined")
BEYOND_RESAMPLES = remark("beyond_resamples")
FEW_HOLD_THE_RARER = remark("few_hold_the_rarer", n=FEWEST_RARER)
#: Spread below which resamples or influences count as equal: rounding, not variation.
NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Plan:
    """Which interval the caller asked for, at which level, with which generator.

    "jackknife" is "auto" without a bootstrap, so without a generator.

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
        """Whether the interval is made from influence functions; if not, from the bootstrap. For what has no other."""
        if self.kind == "auto":
            return clusters >= CLUSTERS_FOR_INFLUENCE or self.level > SUREST_BOOTSTRAP
        return self.kind != "bootstrap"

    @property
    def is_best(self) -> bool:
        """Whether the best interval is asked for that the figure has, whatever that is."""
        return self.kind in ("auto", "jackknife")


@dataclass(frozen=True, slots=True)
class Rarer:
    """Of a figure of agreement: how many groups hold the ``rarer`` value (of the rater who has fewer of them; infinite
    where that is of many pairs of raters).

    ``edge(level)``: what the figure would be, at least and at most, had as many groups more come out on that side as
    may have been missed, none of them seen, with that chance. ``counts_unseen``: whether both bound every interval of
    it; if not, the lower one bounds that where every unit agrees. ``alike``: of how many groups of equal weight the
    variance of these would be known as well, infinite where they weigh alike.
    """

    groups: float
    edge: Callable[[float], tuple[float, float]]
    counts_unseen: bool
    alike: float = inf


@dataclass(frozen=True, slots=True)
class Sampling:
    """A statistic as a function of the weights of its ``rows`` clusters.

    ``influence()`` is its derivative by every weight, shape (rows,). ``resample(weights)`` evaluates it for weights of
    shape (resamples, rows), NaN where undefined, in memory of about ``width`` floats per resample. ``jackknife()``:
    as ``Totals.jackknife``; None where there is none.
    """

    rows: int
    width: int
    influence: Callable[[], Floats]
    resample: Resample | None = None
    jackknife: Callable[[], Floats] | None = None
    rarer: Callable[[], Rarer] | None = None


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

    jackknife: see ``Case.by_jackknife``. influence: value ± t(clusters - 1) · standard error, cut at ``bounds``.
    bootstrap: percentiles of 2,000 resamples of whole clusters; resamples in which the statistic is undefined are left
    out and counted, and more than half of them void the interval. Data in which nothing varies (a rater who always says
    the same) carry no information on the error, and get no interval rather than one of width zero; where every unit
    agrees, figures of agreement have an exact lower bound.
    """
    case = Case(plan, name, n, clusters, bounds)
    if plan.refusal(clusters) is not None:
        return case.without_interval(value)
    if plan.is_best and sampling.jackknife is not None:
        rarer = None if sampling.rarer is None else sampling.rarer()
        if rarer is not None and rarer.groups >= FEWEST_RARER and value >= bounds[1]:
            return case.at_the_edge(value, rarer)
        return case.by_jackknife(value, standard_error(sampling.jackknife()), rarer)
    if plan.takes_influence(clusters):
        return case.by_influence(value, standard_error(sampling.influence()))
    if plan.level > SUREST_BOOTSTRAP:
        return case.beyond_resamples(value)
    assert sampling.resample is not None
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

    def by_jackknife(self, value: float, error: float, rarer: Rarer | None = None, df: float = inf) -> Estimate:
        """From the jackknife's standard error, on a scale on which the figure has no end
        (``ends_on_scale``).

        ``rarer``: of a figure of agreement; t has one degree of freedom less than groups hold the rarer value, below
        five there is no interval, and none is shorter than what may have been missed. Else t has as many degrees as
        there are clusters less one; but no more than ``df``. NaN as error: the figure is undefined without one of the
        clusters.

        Source: Quenouille (1956), Biometrika 43; on a scale: Fisher (1915), Biometrika 10; Miller (1974), ibid. 61.
        """
        groups = inf if rarer is None else rarer.groups
        freedom = min(self.clusters - 1 if groups == inf else groups - 1, df)
        if groups < FEWEST_RARER or isnan(error):
            return self._without(value, FEW_HOLD_THE_RARER, self.name)
        unseen = rarer.edge(self.plan.level) if rarer is not None and rarer.counts_unseen else None
        return self.on_scale(value, error, freedom, jackknife_method(self.name, self.bounds, freedom), unseen)

    def by_logit(self, value: float, error: float) -> Estimate:
        """From influence functions, on the scale of ``ends_on_scale``."""
        df = self.clusters - 1
        return self.on_scale(
            value, error, df, f"{self.name}; influence functions by cluster{_scale(self.bounds)}, t with {df} df"
        )

    def on_scale(
        self, value: float, error: float, df: float, method: str, unseen: tuple[float, float] | None = None
    ) -> Estimate:
        """``ends_on_scale``."""
        low, high = map(float, ends_on_scale(value, error, t_quantile(df, self.plan.level), self.bounds, unseen))
        return self._without(value, NO_VARIATION, method) if isnan(low) else self._with(value, low, high, method)

    def at_the_edge(self, value: float, rarer: Rarer) -> Estimate:
        """Of a figure of agreement where every unit agrees."""
        method = f"{self.name}; exact bound on the share of clusters that disagree"
        return self._with(value, rarer.edge(self.plan.level)[0], value, method)

    def beyond_resamples(self, value: float) -> Estimate:
        return self._without(value, BEYOND_RESAMPLES, f"{self.name}; cluster bootstrap, {RESAMPLES} resamples")

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

    def of_share(self, value: float, error: float, most: float = inf) -> Estimate:
        """Of a proportion, from its standard error: Clopper and Pearson's interval of as many single trials as have it.

        m = value (1 - value)/error², but no more than ``most`` trials, and times (t(m - 1)/t(clusters - 1))². At 0 or
        1, where nothing varies, m is the number of clusters: right when the trials of a cluster are copies, and too
        wide when they are not.

        Source: Clopper & Pearson (1934), Biometrika 26; Korn & Graubard (1998), Survey Methodology 24.
        """
        m: float = self.clusters
        if 0 < value < 1 and error > NO_SPREAD:
            m = self._fewer(min(value * (1 - value) / error**2, most), self.clusters - 1)
        low, high = exact_share(min(max(value, 0.0), 1.0), m, self.plan.level)
        return self._with(value, low, high, f"{self.name}; Clopper-Pearson, of {m:.4g} effective trials")

    def of_weighted_share(self, value: float, error: float, heaviest: float, df: float) -> Estimate:
        """``with_one_more`` of a share whose clusters weigh unequally, ``heaviest``: the share of all weight that a
        cluster has at most."""
        steps = heaviest * value / (1 + heaviest), heaviest * (1 - value) / (1 + heaviest)
        return self.with_one_more(value, error / (1 + heaviest), steps, df, f"{self.name}; Clopper-Pearson, weighted")

    def with_one_more(self, value: float, error: float, steps: tuple[float, float], df: float, method: str) -> Estimate:
        """Of a proportion of which few heavy trials that went one way would make the error too short, as they may have
        been missed: either end is that of the data with one more of them on its side, as Clopper and Pearson have one
        more trial. ``steps``: how far that moves the value down, and up.

        Source: for weighted sums of Poisson counts Fay & Feuer (1997), Stat. Med. 16.
        """
        level = self.plan.level

        def upper(share: float, step: float) -> float:
            more, variance = share + step, error**2 + step**2
            if more >= 1 or variance <= 0:
                return 1.0
            m = self._fewer(more * (1 - more) / variance, min(self.clusters - 1, df))
            return float(betaincinv(more * m, (1 - more) * m, (1 + level) / 2))

        return self._with(value, 1 - upper(1 - value, steps[0]), upper(value, steps[1]), method)

    def _fewer(self, trials: float, df: float) -> float:
        """Of how many trials one may speak whose error was estimated with so many degrees of freedom."""
        level = self.plan.level
        return trials * (t_quantile(trials - 1, level) / t_quantile(df, level)) ** 2 if trials - 1 > df else trials

    def of_trials(self, value: float, error: float, whole: bool) -> Estimate:
        """``of_share`` from the jackknife's error; ``whole``: every trial is a hit or none."""
        if whole and self.n == self.clusters:
            return self.of_share(value, 0.0)
        return self.of_share(value, error, self.n if whole else inf)

    def _with(self, value: float, low: float, high: float, method: str) -> Estimate:
        lowest, highest = self.bounds
        return Estimate(
            value, max(low, lowest), min(high, highest), self.plan.level, self.n, self.clusters, method, None
        )

    def _without(self, value: float, reason: Remark, method: str) -> Estimate:
        return Estimate(value, None, None, self.plan.level, self.n, self.clusters, method, reason)


def ends_on_scale(
    value: ArrayLike,
    error: ArrayLike,
    t: ArrayLike,
    bounds: tuple[float, float],
    unseen: tuple[ArrayLike, ArrayLike] | None = None,
) -> tuple[Floats, Floats]:
    """g⁻¹(g(value) ± t · g'(value) · error), of one figure or of many: g is the logit of where the value lies between
    both bounds, so with -1 and 1 twice the arctanh; with one bound the logarithm of the distance; without any the value
    itself. No closer to the value than ``unseen``. NaN where nothing varies, or the value is at a bound.
    """
    value, error = np.asarray(value, dtype=np.float64), np.asarray(error, dtype=np.float64)
    (low, high), half = bounds, np.asarray(t, dtype=np.float64) * error
    with np.errstate(all="ignore"):
        if isfinite(low) and isfinite(high):
            centre, steep = np.log((value - low) / (high - value)), (high - low) / ((value - low) * (high - value))
            ends = [low + (high - low) * expit(centre + side * steep) for side in (-half, half)]
        elif isfinite(high):
            ends = [high - (high - value) * np.exp(-side / (high - value)) for side in (-half, half)]
        elif isfinite(low):
            ends = [low + (value - low) * np.exp(side / (value - low)) for side in (-half, half)]
        else:
            ends = [value - half, value + half]
    varies = (error > NO_SPREAD) & (low < value) & (value < high) & np.isfinite(ends[0]) & np.isfinite(ends[1])
    if unseen is not None:
        ends = [np.minimum(ends[0], unseen[0]), np.maximum(ends[1], unseen[1])]
    return np.where(varies, ends[0], np.nan), np.where(varies, ends[1], np.nan)


def jackknife_method(name: str, bounds: tuple[float, float], df: float) -> str:
    return f"{name}; jackknife by cluster{_scale(bounds)}, t with {df:.4g} df"


def _scale(bounds: tuple[float, float]) -> str:
    low, high = (isfinite(bound) for bound in bounds)
    if low and high:
        return " on the arctanh scale" if bounds == (-1.0, 1.0) else " on the logit scale"
    return " on the log scale" if low or high else ""


def proportion(hits: Floats, trials: Floats, plan: Plan, *, name: str, undefined: Remark) -> Estimate:
    """Σ hits / Σ trials, given both by cluster, shape (clusters,); n counts trials.

    With interval "auto" (or "jackknife") Clopper and Pearson's: of the trials when each is its own cluster; else of as
    many as have the jackknife's error (``Case.of_share``). Never beyond 0 and 1. Simulated coverage at 95 %, shares .7
    to .98 of 30 to 400 clusters of 1 and 5 units: 94 % or more (bench/promises/shares.py).
    """
    bearing = trials > 0
    hits, trials = hits[bearing], trials[bearing]
    n, clusters = round(trials.sum()), trials.size
    if n == 0:
        return Estimate.undefined(undefined, method=name, level=plan.level)
    value = float(hits.sum() / trials.sum())
    case = Case(plan, name, n, clusters, (0.0, 1.0))
    if plan.is_best and clusters >= 2:
        return case.of_trials(value, share_error(hits, trials), bool((hits == np.floor(hits)).all()))
    influence = (hits - value * trials) / trials.sum()
    sampling = Sampling(
        rows=clusters,
        width=2,
        influence=lambda: influence,
        resample=lambda weights: (weights @ hits) / (weights @ trials),
    )
    return with_interval(value, sampling, plan, name=name, n=n, clusters=clusters, bounds=case.bounds)


def share_error(hits: Floats, trials: Floats) -> float:
    """The jackknife's standard error of Σ hits / Σ trials, both of shape (two or more clusters,)."""
    left = (hits.sum() - hits) / (trials.sum() - trials)
    return jackknife_error(left)


def jackknife_error(left: Floats) -> float:
    """√((n - 1)/n Σ (θ_(c) - mean)²) from the statistic without each cluster, shape (clusters,)."""
    return standard_error(left) * sqrt(1 - 1 / left.size)


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


def exact_share(share: float, trials: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share of so many trials, which needn't be whole.

    >>> [round(end, 4) for end in exact_share(0.9, 10, 0.95)]
    [0.555, 0.9975]
    """
    hits, tail = share * trials, (1 - level) / 2
    low = 0.0 if share <= 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if share >= 1 else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


@lru_cache(maxsize=4096)
def t_quantile(df: float, level: float) -> float:
    """Half of an interval's width in standard errors."""
    return float(stdtrit(df, (1 + level) / 2))


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """The same when the error is known."""
    return float(ndtri((1 + level) / 2))
