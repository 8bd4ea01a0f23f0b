"""Intervals: clustered influence functions, bootstraps of clusters, Wilson. The one home of how an interval is made.

``interval="influence"`` and ``"bootstrap"`` are the textbook's: value ± t · error, and percentiles. ``"auto"`` takes
what holds its level best (``docs/coverage.md``, which ``bench.coverage`` makes, has the figures):

* a proportion whose every trial is its own cluster: Wilson's interval;
* 200 clusters or more: influence functions with quantiles of t, on the logit scale between the statistic's bounds;
* fewer, and a statistic of categories that doesn't weigh how far they are apart: a smoothed bootstrap;
* fewer, and any other statistic: the bootstrap's BCa interval, with quantiles of t.

Where even that is doubtful, ``small_sample.coverage_warning`` has the sentence for readers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtri, stdtrit

from alignment.arrays import Floats
from alignment.estimate import Estimate
from alignment.resampling import Resample, cluster_bootstrap, made_up_mass, made_up_size, smoothed_bootstrap
from alignment.small_sample import bca_shares, logit_interval, reach, tails

Kind = Literal["auto", "influence", "bootstrap", "none"]

#: Below, the influence of one cluster can be large, and a rare category be held by a handful of them.
CLUSTERS_FOR_INFLUENCE = 200
RESAMPLES = 2_000
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


@dataclass(frozen=True, slots=True)
class Smoothing:
    """A statistic as a function of the weights of its clusters and of made-up ones, whose ``mass`` is the prior's.

    ``mass`` has shape (rows,), as in ``smoothed_bootstrap``; ``resample`` takes weights of shape (resamples, rows).
    """

    mass: Floats
    resample: Resample


@dataclass(frozen=True, slots=True)
class Sampling:
    """A statistic as a function of the weights of its ``rows`` clusters.

    ``influence()`` is its derivative by every weight, shape (rows,). ``resample(weights)`` evaluates it for weights of
    shape (resamples, rows), NaN where undefined, in memory of about ``width`` floats per resample. ``smoothing`` is
    there when the kinds of units that can occur are known and few, as in a table of categories. It takes them all for
    equally likely, which would be far too harsh on a weighted kappa: people rarely differ by the whole scale.
    """

    rows: int
    width: int
    influence: Callable[[], Floats]
    resample: Resample
    smoothing: Smoothing | None = None


def standard_error(influence: Floats) -> float:
    """√(Σ_c ψ_c²) over clusters, the influences centred.

    Centring matters only for statistics that change when all data are doubled, as Krippendorff's alpha does. There is
    no small-sample factor: with every unit its own cluster this is the Fleiss-Cohen-Everitt (1969) error of kappa.
    """
    return float(np.sqrt(np.square(influence - influence.mean()).sum()))


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

    influence: value ± t(clusters - 1) · standard error, on the logit scale for "auto". bootstrap: percentiles of 2,000
    resamples of whole clusters, for "auto" those of BCa; resamples in which the statistic is undefined are left out and
    counted, and more than half of them void the interval. smoothed bootstrap: percentiles under 2,000 weightings of the
    clusters and of two clusters' worth of made-up units, widened where needed to hold the value. All are cut at
    ``bounds``.

    Data in which nothing varies (perfect agreement, a rater who always says the same) carry no information on the
    error, and get no interval rather than one of width zero. Only smoothing gives one, from what it adds.
    """

    def without(reason: str, method: str = name) -> Estimate:
        return Estimate(value, None, None, plan.level, n, clusters, method, reason)

    if plan.kind == "none":
        return without("no interval was asked for")
    if clusters < 2:
        return without("fewer than 2 clusters: no interval")
    auto, df = plan.kind == "auto", clusters - 1
    enough = clusters >= CLUSTERS_FOR_INFLUENCE
    smoothing = sampling.smoothing
    if auto and not enough and smoothing is not None:
        method = f"{name}; cluster bootstrap, {RESAMPLES} resamples, smoothed, t with {df} df"
        low, high = _percentiles(_smoothed(smoothing, sampling.width, plan), tails(plan.level, clusters))
        low, high = min(low, value), max(high, value)
    elif plan.kind == "influence" or (auto and enough):
        method = f"{name}; influence functions by cluster, t with {df} df" + (", logit scale" if auto else "")
        error = standard_error(sampling.influence())
        if error <= NO_SPREAD:
            return without("nothing varies between clusters: no interval", method)
        half = float(stdtrit(df, (1 + plan.level) / 2)) * error
        low, high = logit_interval(value, half, bounds) if auto else (value - half, value + half)
    else:
        resamples = _resampled(sampling, plan)
        defined = resamples[np.isfinite(resamples)]
        lost = resamples.size - defined.size
        method = f"{name}; cluster bootstrap, {RESAMPLES} resamples" + (f", BCa, t with {df} df" if auto else "")
        method += f", {lost} undefined left out" if lost else ""
        if lost > resamples.size / 2:
            return without("undefined in most bootstrap resamples: no interval", method)
        if np.ptp(defined) <= NO_SPREAD:
            return without("nothing varies between clusters: no interval", method)
        if auto:
            shares = bca_shares(defined, value, sampling.influence(), reach(plan.level, clusters))
        else:
            shares = ((1 - plan.level) / 2, (1 + plan.level) / 2)
        low, high = _percentiles(defined, shares)
    lowest, highest = bounds
    return Estimate(value, max(low, lowest), min(high, highest), plan.level, n, clusters, method, None)


def proportion(hits: Floats, trials: Floats, plan: Plan, *, name: str, undefined: str) -> Estimate:
    """Σ hits / Σ trials, given both by cluster, shape (clusters,); n counts trials.

    With interval "auto": Wilson's score interval when every trial is its own cluster; otherwise the clustered interval,
    smoothed by a hit and a miss. At 0 or 1 clustered data show no variation; then Wilson's interval takes each cluster
    for a single trial, which is right when the trials of a cluster are copies and too wide when they are not.

    Source: Wilson (1927), JASA 22(158).
    """
    bearing = trials > 0
    hits, trials = hits[bearing], trials[bearing]
    n, clusters = round(trials.sum()), trials.size
    if n == 0:
        return Estimate.undefined(undefined, method=name, level=plan.level)
    value = float(hits.sum() / trials.sum())
    if plan.kind == "auto" and clusters >= 2:
        single = bool((trials == 1).all() and np.isin(hits, (0, 1)).all())
        if single or value in (0.0, 1.0):
            low, high = wilson(value, clusters, plan.level)
            how = "every trial its own cluster" if single else "each cluster as one trial, because none varies"
            return Estimate(value, low, high, plan.level, n, clusters, f"{name}; Wilson, {how}", None)
    sampling = Sampling(
        rows=clusters,
        width=2,
        influence=lambda: (hits - value * trials) / trials.sum(),
        resample=lambda weights: (weights @ hits) / (weights @ trials),
        smoothing=_with_hit_and_miss(hits, trials),
    )
    return with_interval(value, sampling, plan, name=name, n=n, clusters=clusters, bounds=(0.0, 1.0))


def wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    >>> [round(end, 4) for end in wilson(0.9, 10, 0.95)]
    [0.5958, 0.9821]
    """
    z = float(ndtri((1 + level) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return (0.0 if share == 0 else centre - half), (1.0 if share == 1 else centre + half)


def _with_hit_and_miss(hits: Floats, trials: Floats) -> Smoothing:
    size = made_up_size(trials.sum(), trials.size)
    all_hits, all_trials = np.append(hits, [size, 0.0]), np.append(trials, [size, size])
    mass = np.append(np.ones(trials.size), made_up_mass(2))
    return Smoothing(mass, lambda weights: (weights @ all_hits) / (weights @ all_trials))


def _resampled(sampling: Sampling, plan: Plan) -> Floats:
    assert plan.rng is not None  # Plan refuses to be made without one
    return cluster_bootstrap(
        sampling.resample, rows=sampling.rows, width=sampling.width, resamples=RESAMPLES, rng=plan.rng
    )


def _smoothed(smoothing: Smoothing, width: int, plan: Plan) -> Floats:
    assert plan.rng is not None
    values = smoothed_bootstrap(smoothing.resample, mass=smoothing.mass, width=width, resamples=RESAMPLES, rng=plan.rng)
    return values[np.isfinite(values)]


def _percentiles(values: Floats, shares: tuple[float, float]) -> tuple[float, float]:
    low, high = map(float, np.quantile(values, shares))
    return low, high
