"""What people say of a unit, taken together, for a judge to be compared with."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from alignment.base.arrays import Array, Bools, Floats, Ints
from alignment.base.ratings import Ratings
from alignment.base.tables import unit_runs


@dataclass(frozen=True, eq=False, slots=True)
class BinaryReference:
    """The majority's verdict per unit; arrays of shape (units,), ``unit`` with codes of the ratings. ``ties`` counts
    the units left out."""

    ratings: Ratings
    unit: Ints
    positive: Bools
    cluster: Ints
    ties: int

    @property
    def unit_ids(self) -> tuple[Hashable, ...]:
        return tuple(map(self.ratings.unit_id, self.unit))


@dataclass(frozen=True, eq=False, slots=True)
class MeanReference:
    """The mean value per unit; arrays of shape (units,), ``unit`` with codes of the ratings."""

    ratings: Ratings
    unit: Ints
    value: Floats
    cluster: Ints

    @property
    def unit_ids(self) -> tuple[Hashable, ...]:
        return tuple(map(self.ratings.unit_id, self.unit))


def reference_majority(ratings: Ratings, passes: Sequence[Hashable]) -> BinaryReference:
    """Positive where more than half of a unit's ratings are levels in ``passes``; an exact half is a tie, left out.

    Units come in the order of their codes. ValueError: a scale without levels, or a pass that is not a level.

    >>> ratings = Ratings.from_columns(
    ...     ["u", "u", "v", "v", "w"], ["ann", "bob"] * 2 + ["ann"], [4, 3, 4, 1, 2], [1, 1, 2, 2, 3],
    ...     scale="ordinal", levels=[1, 2, 3, 4],
    ... )
    >>> reference = reference_majority(ratings, passes=[3, 4])
    >>> reference.unit_ids, reference.positive.tolist(), reference.ties
    (('u', 'w'), [True, False], 1)
    """
    passing = passing_ratings(ratings, passes)
    unit, starts = unit_runs(ratings)
    lead = 2 * np.bincount(unit, weights=passing) - np.bincount(unit)
    decided = lead != 0
    kept = starts[decided]
    return BinaryReference(
        ratings=ratings,
        unit=ratings.unit[kept],
        positive=lead[decided] > 0,
        cluster=ratings.cluster[kept],
        ties=int((~decided).sum()),
    )


def mean_value(ratings: Ratings) -> MeanReference:
    """Mean of each unit's ratings on the numbers of the levels. ValueError: a nominal scale, or levels that are no
    numbers.

    >>> ratings = Ratings.from_columns(
    ...     ["u", "u", "v"], ["ann", "bob", "ann"], [4, 3, 2], [1, 1, 2], scale="ordinal", levels=[1, 2, 3, 4],
    ... )
    >>> mean_value(ratings).value.tolist()
    [3.5, 2.0]
    """
    value: Array = ratings.value
    if ratings.levels is not None:
        numbers = ratings.level_numbers
        if numbers is None or not ratings.ordered:
            raise ValueError(f"a mean needs ordered levels that are numbers, not {ratings.scale} {ratings.levels!r}")
        value = numbers[ratings.value]
    unit, starts = unit_runs(ratings)
    return MeanReference(
        ratings=ratings,
        unit=ratings.unit[starts],
        value=np.bincount(unit, weights=value) / np.bincount(unit),
        cluster=ratings.cluster[starts],
    )


def passing_ratings(ratings: Ratings, passes: Sequence[Hashable]) -> Bools:
    """Whether each rating is among ``passes``."""
    if ratings.levels is None:
        raise ValueError("passes are levels, and this scale has none")
    strangers = [level for level in passes if level not in ratings.levels]
    if strangers:
        raise ValueError(f"passes {strangers!r} are not among the levels {ratings.levels!r}")
    return np.array([level in passes for level in ratings.levels])[ratings.value]
