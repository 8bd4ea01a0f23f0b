"""Self-consistency: the same rater on the same unit, twice or more."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignment.base.arrays import Array, Bools, Floats, Ints, renumbered, run_starts, same_length, sums_by
from alignment.base.estimate import Estimate, remark
from alignment.base.interval import Kind, Plan, share_of_trials
from alignment.base.ratings import encode

Keys = Sequence[Hashable] | Array


@dataclass(frozen=True, slots=True)
class Consistency:
    """How often a rater (None: all of them together) repeats themselves.

    ``ratings`` counts their ratings of units that they rated twice or more; both estimates' n counts those units, in
    the pooled figures once for each rater.
    """

    rater: str | None
    ratings: int
    agreement: Estimate
    flip_rate: Estimate


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """All raters together, and each by itself, in the order of their names."""

    pooled: Consistency
    raters: tuple[Consistency, ...]


def self_consistency(
    unit: Keys,
    rater: Sequence[str] | Array,
    value: Keys,
    cluster: Keys,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> SelfConsistency:
    """Agreement and flip rate of every rater with themselves, and pooled, from ratings with repeats.

    The columns have shape (ratings,): one row per rating, the same unit and rater as often as there were ratings, in
    any order. With m ratings of one unit by one rater, n_k of them value k,

        agreement = mean over repeated units of Σ_k n_k(n_k - 1)/(m(m - 1)): two of the rater's ratings are equal;
        flip rate = share of repeated units with more than one value.

    With two ratings each the two add up to 1. The flip rate grows with the number of repeats, agreement doesn't. Pooled
    figures count each rater's repeated units alike. Values are equal or not: scores are to be read as decisions or
    grades first. Clustered and Wilson's intervals as for any share; ratings given once are left out.

    Undefined: no rater (or not this one) rated a unit twice. ValueError: unequal lengths; a value that is NaN; a unit
    that lies in two clusters.

    >>> found = self_consistency([1, 1, 2, 2], ["ann"] * 4, "xxxy", [1, 1, 2, 2], interval="none")
    >>> found.pooled.agreement.value, found.raters[0].flip_rate.value
    (0.5, 0.5)
    """
    plan = Plan(interval, rng, level)
    same_length(unit=unit, rater=rater, value=value, cluster=cluster)
    if np.any(value != value) if isinstance(value, np.ndarray) else any(one != one for one in value):
        raise ValueError("a value is NaN; leave missing ratings out")
    names, code, of_units = _repeated(unit, rater, value, cluster)
    order = sorted(range(len(names)), key=names.__getitem__)
    parts = [slice(*np.searchsorted(code, (place, place + 1)).tolist()) for place in order]
    return SelfConsistency(
        pooled=_consistency(None, of_units, plan),
        raters=tuple(
            _consistency(names[place], of_units.part(part), plan) for place, part in zip(order, parts, strict=True)
        ),
    )


class _Repeated(NamedTuple):
    """Of units that one rater rated twice or more: the cluster, which share of its pairs of ratings are equal, whether
    any differ, and how many ratings there are."""

    cluster: Ints
    equal: Floats
    flipped: Bools
    size: Ints

    def part(self, at: slice) -> "_Repeated":
        return _Repeated(self.cluster[at], self.equal[at], self.flipped[at], self.size[at])


def _repeated(unit: Keys, rater: Keys, value: Keys, cluster: Keys) -> tuple[list[str], Ints, _Repeated]:
    """The raters' names, the code of each unit's rater, ascending, and the units."""
    (unit_code, units), (rater_code, raters), (value_code, values), (cluster_code, _) = map(
        _numbered, (unit, rater, value, cluster)
    )
    cluster_of = np.zeros(len(units), dtype=np.int64)
    cluster_of[unit_code] = cluster_code
    torn = np.flatnonzero(cluster_of[unit_code] != cluster_code)
    if torn.size:
        raise ValueError(f"unit {units[unit_code[torn[0]]]!r} lies in more than one cluster")
    # Nearly all of a million are given once.
    given = rater_code * len(units) + unit_code
    ordered = np.sort(given)
    again = np.isin(given, ordered[1:][ordered[1:] == ordered[:-1]])
    # One number to sort by: rater, unit, value.
    cells = np.sort(given[again] * len(values) + value_code[again])
    first = run_starts(cells)
    count = np.diff(first, append=cells.size)
    group_of_cell = cells[first] // max(len(values), 1)
    starts = run_starts(group_of_cell)
    kinds = np.diff(starts, append=first.size)
    group = np.repeat(np.arange(starts.size), kinds)
    size = np.bincount(group, weights=count, minlength=starts.size).astype(np.int64)
    pairs = sums_by(group, count * (count - 1), starts.size)
    rater_of, unit_of = np.divmod(group_of_cell[starts], max(len(units), 1))
    names = [str(name) for name in raters]
    return names, rater_of, _Repeated(cluster_of[unit_of], pairs / (size * (size - 1)), kinds > 1, size)


def _numbered(keys: Keys) -> tuple[Ints, Keys]:
    if isinstance(keys, np.ndarray):
        present, code = renumbered(keys)
        return code, present
    return encode(keys)


def _consistency(rater: str | None, of: _Repeated, plan: Plan) -> Consistency:
    undefined = remark("nothing_rated_twice") if rater is None else remark("rater_rated_nothing_twice")
    return Consistency(
        rater=rater,
        ratings=int(of.size.sum()),
        agreement=share_of_trials(of.equal, of.cluster, plan, name="agreement with oneself", undefined=undefined),
        flip_rate=share_of_trials(of.flipped, of.cluster, plan, name="flip rate", undefined=undefined),
    )
