"""Two tables side by side, and how much a statistic of the second exceeds that of the first."""

import numpy as np

from alignment.arrays import Array, Ints
from alignment.totals import Statistic, Totals


def side_by_side(cluster: Ints, first: Ints, second: Ints, size: int) -> Totals:
    """Units counted in a first table by the cells ``first`` and in a second by ``second``, 2 · size columns."""
    cells = np.concatenate([first, size + second])
    return Totals.of(np.tile(cluster, 2), cells, np.ones(cells.size), 2 * size)


def of_first(statistic: Statistic) -> Statistic:
    """The statistic of the first table, (..., 2 · size) -> (...)."""
    return lambda cells: statistic(cells[..., : cells.shape[-1] // 2])


def of_second(statistic: Statistic) -> Statistic:
    """The statistic of the second table."""
    return lambda cells: statistic(cells[..., cells.shape[-1] // 2 :])


def gain(statistic: Statistic) -> Statistic:
    """The statistic of the second table less that of the first; NaN where either is."""
    first, second = of_first(statistic), of_second(statistic)

    def difference(cells: Array) -> Array:
        value: Array = second(cells) - first(cells)
        return value

    return difference
