"""What share of units pass by people like these: an interval over people as well as over samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, finite, renumbered, same_length, sums_by, verdicts
from alignment.base.estimate import Estimate, remark
from alignment.base.interval import Case, Plan

LEAST_PEOPLE, LEAST_UNITS = 4, 10
NAME = "share that a person passes"


@dataclass(frozen=True, slots=True)
class PeopleShare:
    """``people``: how many the estimate rests on; ``left_out``: how many labelled fewer than ten units."""

    share: Estimate
    people: int
    left_out: int


def share_by_people_like_these(
    passes: ArrayLike, person: ArrayLike, cluster: ArrayLike, weight: ArrayLike | None = None, *, level: float = 0.95
) -> PeopleShare:
    """θ = mean of p_r over people r, p_r the share of r's labels that pass; arrays of shape (labels,).

    ``passes`` says which labels do, ``person`` and ``cluster`` (sample) whose and where they are; ``weight`` is 1 over
    a sample's chance of being drawn, none: all alike. The people are taken for a few of many who might have labelled,
    each as good as another: with their strictness, others would pass another share. So

        V = Σ_r (p_r - θ)²/(R(R - 1)) + Σ_c [(Σ_r u_cr)² - Σ_r u_cr²]    u_cr = Σ_i w_i (y_ir - p_r)/(R Σ w of r)

    for R people: the first term holds how people differ and what samples each one had; the second, at least 0, what
    people share by having labelled the same samples. This is two-way clustering, with t of R - 1, in the exact interval
    of as many single trials as have this variance; for a share of exactly 0 or 1 every person is one trial. n counts
    labels, clusters people.

    It holds where strictness spreads about alike to both sides. Where one in five is much stricter than the others,
    four people often are none of these, and it held in 68 to 82 %: that such people exist can't be known from so few.

    Undefined: fewer than four people with ten units. ValueError: passes that are not booleans, a weight that is not
    above 0, unequal lengths.

    Source: Cameron, Gelbach & Miller (2011), J. Bus. Econ. Stat. 29; t for few clusters: Cameron & Miller (2015), J.
    Hum. Resour. 50.

    >>> strict = [20, 30, 35, 40]  # of 50 each
    >>> passes = [at < most for most in strict for at in range(50)]
    >>> found = share_by_people_like_these(passes, np.repeat(range(4), 50), range(200)).share
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.625, 0.33, 0.87)
    """
    said = verdicts(passes, "passes")
    weights = np.ones(said.size) if weight is None else finite(weight, "weight")
    who, people = cluster_rows(person)
    sample = np.asarray(cluster)
    same_length(passes=said, person=who, cluster=sample, weight=weights)
    if (weights <= 0).any():
        raise ValueError("a weight lies above 0")
    counted = np.bincount(who, minlength=people) >= LEAST_UNITS
    kept = counted[who]
    enough, (rows, who) = int(counted.sum()), renumbered(who[kept])
    if enough < LEAST_PEOPLE:
        reason = remark("few_people_labelled", n=enough, units=LEAST_UNITS, needed=LEAST_PEOPLE)
        none = Estimate.undefined(reason, n=int(kept.sum()), clusters=enough, method=NAME, level=level)
        return PeopleShare(none, enough, people - enough)
    assert rows.size == enough
    value, variance = _mean_of_people(said[kept], who, cluster_rows(sample[kept])[0], weights[kept], enough)
    case = Case(Plan("jackknife", None, level), NAME, int(kept.sum()), enough, (0.0, 1.0))
    return PeopleShare(case.of_share(value, variance**0.5), enough, people - enough)


def _mean_of_people(said: Bools, who: Ints, sample: Ints, weight: Floats, people: int) -> tuple[float, float]:
    total = sums_by(who, weight, people)
    own = sums_by(who, weight * said, people) / total
    value = float(own.mean())
    between = float(np.square(own - value).sum()) / (people * (people - 1))
    cell, at = renumbered(sample * people + who)
    of_cell = sums_by(at, weight * (said - own[who]) / (people * total[who]), cell.size)
    of_sample = sums_by(cell // people, of_cell, int(sample.max()) + 1)
    shared = float(np.square(of_sample).sum() - np.square(of_cell).sum())
    return value, between + max(shared, 0.0)
