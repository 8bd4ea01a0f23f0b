"""Checks on the columns a judge is compared in."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from alignment.arrays import Bools, Floats, Ints, renumbered


def finite(values: ArrayLike, name: str) -> Floats:
    """A flat array of finite floats; ValueError naming the first that is not, with its position."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} is a flat array, not of shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"{name} {array[bad[0]]} at position {bad[0]} is not finite; leave missing scores out")
    return array


def verdicts(values: ArrayLike, name: str = "positive") -> Bools:
    """A flat array of booleans (or of 0 and 1)."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} is a flat array, not of shape {array.shape}")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} holds booleans")
    return array.astype(np.bool_)


def level_positions(values: ArrayLike, levels: int, name: str) -> Ints:
    """A flat array of positions 0..levels-1 in a list of levels (booleans, for two)."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} is a flat array, not of shape {array.shape}")
    if not np.isin(array, np.arange(levels)).all():
        raise ValueError(f"{name} holds positions of levels, 0 to {levels - 1}")
    return array.astype(np.int64)


def cluster_rows(cluster: ArrayLike) -> tuple[Ints, int]:
    """Clusters numbered 0..rows-1, and how many there are."""
    present, row = renumbered(np.asarray(cluster))
    return row, present.size


def same_length(**columns: Sequence[object] | Floats | Bools | Ints) -> None:
    """ValueError naming the lengths when columns differ in length."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
