"""What versions of a system said, and what people and a judge made of it."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, same_length


@dataclass(frozen=True, eq=False, slots=True)
class Responses:
    """An entry for each version and question; all of shape (responses,).

    ``version`` numbers 0..versions-1; ``group`` numbers groups from 0: questions of one group are one piece of
    evidence. Repeats are averaged within the question beforehand. A value that is not defined (the faithfulness of an
    answer without claims) has no entry; a request that failed has one, with the lowest value from the judge, and from
    people where its question was drawn.

    ``score``: the judge's value, NaN where it has none. ``least`` and ``most``: between which people's value lies,
    equal where it is resolved, apart where it is disputed, skipped or can't be told, NaN where nobody was asked.
    ``probability`` and ``stratum``, as ``Design`` has them: how the question was drawn to be labelled. They are read
    only where people were asked. Values lie within 0 and 1: of graded criteria, where they lie between the lowest and
    the highest grade.
    """

    version: Ints
    group: Ints
    score: Floats
    least: Floats
    most: Floats
    probability: Floats
    stratum: Ints

    @classmethod
    def of(
        cls,
        *,
        version: ArrayLike,
        group: ArrayLike,
        score: ArrayLike,
        least: ArrayLike,
        most: ArrayLike,
        probability: ArrayLike,
        stratum: ArrayLike,
    ) -> Self:
        """From columns; ``group`` and ``stratum`` hold any codes. ValueError: unequal lengths; a value outside 0 and 1;
        one bound of people's value without the other, or the higher one first; a chance outside (0, 1] where people
        were asked."""
        scores, low, high, chance = (np.asarray(each, np.float64) for each in (score, least, most, probability))
        made = cls(
            np.asarray(version, np.int64), cluster_rows(group)[0], scores, low, high, chance, cluster_rows(stratum)[0]
        )
        same_length(
            version=made.version, group=made.group, score=scores, least=low, most=high, probability=chance,
            stratum=made.stratum,
        )  # fmt: skip
        for name, values in (("score", scores), ("least", low), ("most", high)):
            beyond = (values < 0) | (values > 1)
            if beyond.any():
                raise ValueError(f"{name} lies between 0 and 1, not {values[beyond][0]}")
        asked = made.asked
        if (asked == np.isnan(high)).any() or (low[asked] > high[asked]).any():
            raise ValueError("people's value lies between two bounds, the lower one first")
        if not ((chance[asked] > 0) & (chance[asked] <= 1)).all():
            raise ValueError("a probability of being drawn lies above 0, up to 1")
        return made

    @property
    def asked(self) -> Bools:
        """Of which responses people were asked."""
        return ~np.isnan(self.least)

    @property
    def scored(self) -> Bools:
        """Which responses have a judge's value."""
        return ~np.isnan(self.score)
