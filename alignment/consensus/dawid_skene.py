"""Dawid and Skene's model: what the truth of each unit is, and how each rater errs, from ratings alone; and whether the
ratings are enough, and of people who overlap enough, to tell.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from alignment.base.arrays import Floats, Ints
from alignment.base.estimate import NO_PAIRS, NO_UNITS, ONE_VALUE, Remark, remark
from alignment.base.ratings import Ratings
from alignment.base.tables import unit_runs
from alignment.consensus.majority import TIE

SMOOTHING = 0.01
TOLERANCE = 1e-5
MAX_ITERATIONS = 1_000
#: Posteriors that differ by less are equal: rounding must not choose a label.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class DawidSkene:
    """A fitted model. Units stand in the order of their codes, levels and raters in theirs.

    ``posterior`` (units, levels): how probable each level is as the unit's truth. ``label`` (units,): position of the
    most probable level, ``TIE`` (-1) where two are equally so. ``confusion`` (raters, levels, levels): the share of
    true level j that the rater calls k, at [rater, j, k]; a row is NaN where the rater met nothing of level j, and
    ``support`` (raters, levels) holds how many of the rater's ratings it rests on. ``shares`` (levels,): how frequent
    each level is. ``log_likelihood`` is of the ratings, without the smoothing. ``reason`` says why nothing was fitted;
    then posteriors, confusion and shares are NaN.
    """

    unit_ids: tuple[Hashable, ...]
    levels: tuple[Hashable, ...]
    raters: tuple[str, ...]
    posterior: Floats
    label: Ints
    confusion: Floats
    support: Floats
    shares: Floats
    log_likelihood: float | None
    iterations: int
    converged: bool
    smoothing: float
    reason: Remark | None

    @property
    def right(self) -> list[float]:
        """How often each rater is right by the model, each level counting as often as it is true.

        Levels of which a rater met nothing are left out.
        """
        found = []
        for of_rater in self.confusion:
            right = np.diagonal(of_rater)
            weight = np.where(np.isnan(right), 0.0, self.shares)
            found.append(float(np.nansum(right * weight) / weight.sum()))
        return found


def fit_dawid_skene(
    ratings: Ratings,
    *,
    smoothing: float = SMOOTHING,
    smooth_unused: bool = True,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    same_rater: Mapping[str, str] | None = None,
) -> DawidSkene:
    """Fit by EM, starting from each unit's shares of ratings per level.

    A unit's truth is level j with probability p_j; rater r then says k with probability π_rjk, independently of the
    other raters. E step: posterior_uj ∝ p_j Π_ratings π_rjk. M step: p_j = mean posterior, π_rjk ∝ Σ posterior of
    level j over the units that r called k, plus ``smoothing``: a pseudo-count in every cell, or without
    ``smooth_unused`` only in those of levels that r used. 0 is the 1979 paper's maximum likelihood, where a single
    rating can rule a level out for good. Stops when no posterior moved by more than
    ``tolerance``, or after ``max_iterations``; ``converged`` says which. EM finds a local maximum: the one that the
    raters' majorities lead to.

    ``same_rater`` maps raters who are one person (who rated units again under another name) to one name;
    they share a confusion matrix. One sparse product per step: work is ratings × levels per iteration.

    Nothing is fitted without units, and where no unit has two ratings: single labels don't show who errs.
    ValueError: a scale without levels, negative smoothing or tolerance, fewer than 1 iteration.

    Source: Dawid & Skene (1979), Appl. Stat. 28(1).

    >>> ratings = Ratings.from_columns(
    ...     [1, 2, 3, 4] * 3, ["ann"] * 4 + ["bob"] * 4 + ["cat"] * 4, "xxyy" + "xxyy" + "xyyy", [1, 2, 3, 4] * 3,
    ...     scale="nominal", levels="xy",
    ... )
    >>> fitted = fit_dawid_skene(ratings)
    >>> fitted.label.tolist(), fitted.shares.round(2).tolist(), fitted.confusion[2].round(2).tolist()
    ([0, 0, 1, 1], [0.5, 0.5], [[0.5, 0.5], [0.0, 1.0]])
    """
    if ratings.levels is None:
        raise ValueError("Dawid and Skene's model needs levels, and this scale has none")
    if smoothing < 0 or tolerance < 0 or max_iterations < 1:
        raise ValueError(
            f"smoothing and tolerance are not negative and there is at least 1 iteration, not {smoothing}, {tolerance} "
            f"and {max_iterations}"
        )
    names, code = _people(ratings, same_rater or {})
    unit, starts = unit_runs(ratings)
    levels, units, raters = len(ratings.levels), starts.size, len(names)
    person = code[ratings.rater]
    said = csr_array((np.ones(len(ratings)), (unit, person * levels + ratings.value)), shape=(units, raters * levels))
    nothing = DawidSkene(
        unit_ids=tuple(ratings.unit_id(each) for each in ratings.unit[starts]),
        levels=ratings.levels,
        raters=names,
        posterior=np.full((units, levels), np.nan),
        label=np.full(units, TIE),
        confusion=np.full((raters, levels, levels), np.nan),
        support=np.zeros((raters, levels)),
        shares=np.full(levels, np.nan),
        log_likelihood=None,
        iterations=0,
        converged=False,
        smoothing=smoothing,
        reason=NO_PAIRS if units else NO_UNITS,
    )
    # A person's own repeats are no second opinion.
    if np.unique(unit * raters + person).size == units:
        return nothing
    posterior: Floats = said @ np.tile(np.eye(levels), (raters, 1)) / np.diff(starts, append=len(ratings))[:, None]
    used = said.sum(axis=0).reshape(raters, levels, 1) > 0
    smoothed = np.where(used | smooth_unused, smoothing, 0.0)

    iteration, converged = 0, False
    while not converged and iteration < max_iterations:
        iteration += 1
        previous = posterior
        posterior, _ = _posterior(said, *_parameters(said, previous, smoothed))
        converged = bool(np.abs(posterior - previous).max() <= tolerance)

    shares, log_confusion = _parameters(said, posterior, smoothed)
    _, likelihood = _posterior(said, shares, log_confusion)
    confusion = np.exp(log_confusion).reshape(raters, levels, levels).transpose(0, 2, 1)
    support = (said.T @ posterior).reshape(raters, levels, levels).sum(axis=1)
    greatest = posterior.max(axis=1, keepdims=True)
    leads = posterior >= greatest - EQUAL
    return replace(
        nothing,
        posterior=posterior,
        label=np.where(leads.sum(axis=1) == 1, leads.argmax(axis=1), TIE),
        confusion=np.where((support > 0)[:, :, None], confusion, np.nan),
        support=support,
        shares=shares,
        log_likelihood=likelihood,
        iterations=iteration,
        converged=converged,
        reason=None,
    )


def _people(ratings: Ratings, same_rater: Mapping[str, str]) -> tuple[tuple[str, ...], Ints]:
    """Names of the persons, in the order in which raters first mention them, and the person of each rater."""
    for name in same_rater:
        ratings.rater_code(name)
    persons = [same_rater.get(name, name) for name in ratings.raters]
    names = tuple(dict.fromkeys(persons))
    return names, np.array([names.index(person) for person in persons], dtype=np.int64)


def _parameters(said: csr_array, posterior: Floats, smoothed: Floats) -> tuple[Floats, Floats]:
    """M step: class shares (levels,), and log π, shape (raters · levels said, levels true)."""
    levels = posterior.shape[1]
    counts = (said.T @ posterior).reshape(-1, levels, levels) + smoothed
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_confusion = np.log(counts) - np.log(np.where(total > 0, total, 1))
    return posterior.mean(axis=0), log_confusion.reshape(-1, levels)


def _posterior(said: csr_array, shares: Floats, log_confusion: Floats) -> tuple[Floats, float]:
    """E step, and the log-likelihood of the ratings; in logs, because products of many ratings underflow."""
    with np.errstate(divide="ignore"):
        joint = said @ log_confusion + np.log(shares)
    greatest = joint.max(axis=1, keepdims=True)
    scaled = np.exp(joint - greatest)
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / total, float((np.log(total) + greatest).sum())


#: Fewer raters than these can be explained in more than one way, however many units they share.
FEWEST_RATERS = 3
#: Units with two ratings or more. Below, error rates rest on a handful of units and posteriors are too sure.
FEWEST_UNITS = 30


def why_unidentified(ratings: Ratings) -> Remark | None:
    """Why a Dawid–Skene model of these ratings would say more than they do; None when nothing speaks against it.

    A necessary condition, after counting units and raters: the model's unknowns, (L-1) class shares and L(L-1) error
    rates per rater, are no more than the frequencies that the ratings fix. Those are L-1 per rater, (L-1)^2 per pair of
    raters with common units, and (L-1)^3 per triple; L counts the levels that were used. Three raters of whom never
    more than two met fix too little; so do two.

    >>> rows = [(unit, rater, "xy"[unit % 2]) for unit in range(40) for rater in "abc"]
    >>> def table(rows):
    ...     units, raters, values = zip(*rows)
    ...     return Ratings.from_columns(units, raters, values, units, scale="nominal", levels="xy")
    >>> why_unidentified(table(rows)) is None
    True
    >>> why_unidentified(table([row for row in rows if row[1] != "c"]))
    {'code': 'few_people', 'n': 2, 'needed': 3}
    """
    unit, starts = unit_runs(ratings)
    sizes = np.diff(starts, append=len(ratings))
    shared = int((sizes > 1).sum())
    people = np.unique(ratings.rater[sizes[unit] > 1]) if starts.size else np.array([])
    if people.size < FEWEST_RATERS:
        return remark("few_people", n=int(people.size), needed=FEWEST_RATERS)
    if shared < FEWEST_UNITS:
        return remark("few_shared_units", n=shared, needed=FEWEST_UNITS)
    free = np.unique(ratings.value).size - 1
    if free < 1:
        return ONE_VALUE
    unknown = free + people.size * (free + 1) * free
    fixed = _fixed(ratings, starts, int(people.size), free, unknown)
    if fixed < unknown:
        return remark("little_overlap", unknown=unknown, fixed=fixed)
    return None


def _fixed(ratings: Ratings, starts: np.ndarray, people: int, free: int, enough: int) -> int:
    """How many frequencies the ratings fix, counted until there are enough."""
    raters = ratings.rater.tolist()
    ends = [*starts[1:].tolist(), len(raters)]
    panels = {tuple(raters[start:end]) for start, end in zip(starts.tolist(), ends, strict=True)}
    pairs: set[tuple[int, ...]] = set()
    triples: set[tuple[int, ...]] = set()
    fixed = people * free
    for panel in sorted(panels):
        for size, met in ((2, pairs), (3, triples)):
            for group in combinations(panel, size):
                if group not in met:
                    met.add(group)
                    fixed += free**size
                    if fixed >= enough:
                        return fixed
    return fixed
