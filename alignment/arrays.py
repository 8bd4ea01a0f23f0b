"""Names for the array types used in signatures, and the one operation everything is summed with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def sums_by(code: Ints, amount: Array, size: int) -> Floats:
    """Sum of ``amount`` for each code 0..size-1, shape (size,)."""
    sums: Floats = np.bincount(code, weights=amount, minlength=size).astype(np.float64, copy=False)
    return sums
