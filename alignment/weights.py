"""How far apart two levels are: the one home of disagreement weights."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from alignment.arrays import Array, Floats

Weighting = Literal["linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]

#: Squared distances between levels, given how often each level was used: (..., k) -> (..., k, k).
Distance = Callable[[Array], Array]


def disagreement(levels: int, weights: Weighting | Floats | None) -> Floats:
    """Disagreement of every pair of level positions for Cohen's kappa, shape (levels, levels), zero on the diagonal.

    None: 1 for different levels. "linear": |i - j|. "quadratic": (i - j)². Or a matrix of that shape, as in Cohen
    (1968). They are left unscaled, because kappa is a ratio of disagreements, and whole numbers keep it exact.

    >>> disagreement(3, "quadratic").tolist()
    [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    """
    steps = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels))).astype(np.float64)
    if weights is None:
        return np.minimum(steps, 1.0)
    if isinstance(weights, str):
        if weights not in get_args(Weighting):
            raise ValueError(f"no weights {weights!r}; there are {', '.join(get_args(Weighting))}")
        return steps if weights == "linear" else steps**2
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (levels, levels):
        raise ValueError(f"weights have shape {matrix.shape}, not {(levels, levels)}")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or matrix.diagonal().any():
        raise ValueError("disagreement weights are finite and not negative, with zeros on the diagonal")
    return matrix


def similarity(levels: int, weights: Weighting | None) -> Floats:
    """Gwet's agreement weights: 1 on the diagonal, 0 for the positions farthest apart, shape (levels, levels).

    >>> similarity(3, "linear").tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    apart = disagreement(levels, weights)
    alike: Floats = 1 - apart / apart.max()
    return alike


def squared_distance(metric: Metric, numbers: Floats | None, levels: int) -> Distance:
    """Krippendorff's squared difference function δ² of a metric.

    nominal: 1 for different levels. ordinal: (Σ_{g=c..k} n_g - (n_c + n_k)/2)², which is the squared distance of the
    levels' mid-ranks. interval: squared difference of ``numbers``, shape (levels,). ratio: squared difference over
    sum, ((c - k)/(c + k))², of numbers none of which is negative; 0 between two zeros.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    if metric == "nominal":
        apart = disagreement(levels, None)
        return lambda _counts: apart
    if metric == "ordinal":
        return lambda counts: _squared_gaps(np.cumsum(counts, axis=-1) - counts / 2)
    if numbers is None:
        raise ValueError(f"{metric} distances need numeric levels")
    fixed = _squared_gaps(numbers)
    if metric == "ratio":
        sums = np.square(np.add.outer(numbers, numbers))
        fixed = np.divide(fixed, sums, out=np.zeros_like(fixed), where=sums > 0)
    return lambda _counts: fixed


def _squared_gaps(positions: Array) -> Array:
    squared: Array = (positions[..., :, None] - positions[..., None, :]) ** 2
    return squared
