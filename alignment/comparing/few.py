"""How wide an interval has to be where few groups differ, so that some that differ may all have been missed."""

from dataclasses import dataclass
from math import inf

import numpy as np

from alignment.base.arrays import Floats
from alignment.base.interval import FEWEST_RARER, NO_SPREAD, t_quantile


def differing(squares: Floats, clusters: int) -> float:
    """About how many of ``clusters`` differ from the others, if these alone make up the variance: 1/(Σψ⁴/(Σψ²)² - 1/G)
    from ψ², what each moves, squared. 0 where nothing varies."""
    if squares.sum() <= NO_SPREAD**2:
        return 0.0
    excess = float(np.square(squares).sum() / squares.sum() ** 2) - 1 / clusters
    return 1 / excess if excess > NO_SPREAD else inf


def consisting(squares: Floats) -> float:
    """Of how many groups that move alike such a variance consists, from ψ²; 0 where nothing varies."""
    return 0.0 if squares.sum() <= NO_SPREAD**2 else float(squares.sum() ** 2 / np.square(squares).sum())


@dataclass(frozen=True, slots=True)
class Few:
    """``differ``: as ``differing`` has it. ``freedom``: t's degrees of freedom if all groups differ. ``heaviest``: the
    share of the weight that a group has at most. ``reach``: how far below and above the figure a group can lie."""

    differ: float
    freedom: int
    heaviest: float
    reach: tuple[float, float]

    @property
    def df(self) -> float:
        """One less than groups that differ, but at least those of five."""
        return min(self.freedom, max(self.differ, FEWEST_RARER) - 1)

    def half_widths(self, error: float, level: float, most: float = inf) -> tuple[float, float]:
        """How far the interval goes below and above the figure, from its standard error. Of fewer than five that differ
        it goes no less far than groups move it that lie as far off as they can, and may all have been missed:
        1 - (α/2)^h of the reach; though for that alone not beyond ``most``."""
        half = t_quantile(self.df, level) * error
        if self.differ >= FEWEST_RARER:
            return half, half
        missed = 1 - ((1 - level) / 2) ** self.heaviest
        below, above = (max(half, min(missed * each, most)) for each in self.reach)
        return below, above
