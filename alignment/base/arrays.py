"""Names for the array types used in signatures; numbering, summing and checking columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: Integer codes are looked up in a table instead of being sorted where it is at most this many times their number.
SPARSEST = 8


def sums_by(code: Ints, amount: Array, size: int) -> Floats:
    """Sum of ``amount`` for each code 0..size-1, shape (size,)."""
    return np.bincount(code, weights=amount, minlength=size).astype(np.float64, copy=False)


def renumbered(codes: Array) -> tuple[Array, Ints]:
    """The distinct codes in ascending order, and the place of each code among them; ``codes`` is flat.

    >>> [part.tolist() for part in renumbered(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    if codes.size and codes.dtype.kind in "iu" and codes.min() >= 0 and codes.max() < SPARSEST * codes.size:
        seen = np.zeros(int(codes.max()) + 1, dtype=np.bool_)
        seen[codes] = True
        places = np.cumsum(seen) - 1
        return np.flatnonzero(seen), places[codes]
    present, place = np.unique(codes, return_inverse=True)
    return present, place.astype(np.int64, copy=False)


def first_places(codes: Ints, size: int) -> Ints:
    """Where each of the codes 0..size-1 stands first, shape (size,); all of them occur.

    >>> first_places(np.array([1, 0, 1]), 2).tolist()
    [1, 0]
    """
    first = np.empty(size, np.int64)
    # Of several rows the last one that is written stands: from the end, that is the first.
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    return first


def run_starts(codes: Array) -> Ints:
    """The position at which each run of equal codes begins, shape (runs,)."""
    if not codes.size:
        return np.empty(0, np.int64)
    return np.concatenate(([0], np.flatnonzero(codes[1:] != codes[:-1]) + 1))


def ranges(starts: Ints, counts: Ints) -> Ints:
    """The numbers start, start + 1, … of every range, one range after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    shift: Ints = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return shift + np.arange(shift.size)


def mid_ranks(values: Array) -> Floats:
    """Ranks from 1; equal values share the mean of theirs. As scipy.stats.rankdata, without the second that it takes
    every process to load scipy.stats.

    >>> mid_ranks(np.array([0.4, 0.1, 0.4])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = np.cumsum(counts) - (counts - 1) / 2
    return ranks[place]


def _flat(values: ArrayLike, name: str, kind: type | None = None) -> Array:
    array = np.asarray(values, dtype=kind)
    if array.ndim != 1:
        raise ValueError(f"{name} is a flat array, not of shape {array.shape}")
    return array


def finite(values: ArrayLike, name: str) -> Floats:
    """A flat array of finite floats; ValueError naming the first that is not, with its position."""
    array: Floats = _flat(values, name, np.float64)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"{name} {array[bad[0]]} at position {bad[0]} is not finite; leave missing scores out")
    return array


def verdicts(values: ArrayLike, name: str = "positive") -> Bools:
    """A flat array of booleans (or of 0 and 1)."""
    array = _flat(values, name)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} holds booleans")
    return array.astype(np.bool_)


def level_positions(values: ArrayLike, levels: int, name: str) -> Ints:
    """A flat array of positions 0..levels-1 in a list of levels (booleans, for two)."""
    array = _flat(values, name)
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
