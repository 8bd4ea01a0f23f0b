"""People and one judge in the same ratings, told apart."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from alignment.arrays import Array, Bools, Ints
from alignment.ratings import Ratings


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """The ratings of people, and beside each what the judge said of its unit.

    ``judge`` and ``judged`` have shape (ratings of people,); ``judge`` means nothing where ``judged`` is False.
    """

    people: Ratings
    judge: Array
    judged: Bools


def panel(ratings: Ratings, judge: str) -> Panel:
    """Everybody but the rater named ``judge`` is a person. ValueError when there is no such rater."""
    code = ratings.rater_code(judge)
    people = ratings.select_raters([name for name in ratings.raters if name != judge])
    mine = ratings.rater == code
    units, values = ratings.unit[mine], ratings.value[mine]
    if not units.size:
        nothing = np.zeros(len(people), dtype=np.bool_)
        return Panel(people, np.zeros_like(people.value), nothing)
    place = np.minimum(np.searchsorted(units, people.unit), units.size - 1)
    return Panel(people, values[place], units[place] == people.unit)


def by_rater(ratings: Ratings) -> list[Ints]:
    """Positions of each rater's ratings, in the order of ``raters``."""
    order = np.argsort(ratings.rater, kind="stable")
    bounds = np.searchsorted(ratings.rater[order], np.arange(len(ratings.raters) + 1))
    return [order[start:end] for start, end in pairwise(bounds.tolist())]
