"""Statistics of sums: what nearly every statistic here is.

A kappa is a function of a confusion matrix, an alpha of a coincidence matrix, a correlation of six moments: of columns
summed over clusters, f(Σ_c s_c). Such a statistic is written once, as a function of the column sums. From it follow

* its influence: with weights w on the clusters, θ(w) = f(Σ_c w_c s_c), so ∂θ/∂w_c = ∇f · s_c;
* its bootstrap: multinomial weights times the clusters' columns, one matrix product for all resamples.

The gradient is taken by the complex step, Im f(x + ih)/h, which has no subtraction and so no cancellation: it is exact
to rounding. A statistic must therefore be written in analytic operations (no abs, max, comparison of its argument
except to guard a denominator) on the last axis of an array of any leading shape.

Source: Squire & Trapp (1998), SIAM Review 40(1); Jaeckel (1972) for the infinitesimal jackknife.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from alignment.arrays import Array, Floats, Ints, renumbered, sums_by
from alignment.estimate import Estimate
from alignment.interval import Plan, Sampling, with_interval

#: Column sums (..., size) -> values (...), NaN where undefined.
Statistic = Callable[[Array], Array]

STEP = 1e-30
CELLS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Totals:
    """Columns summed by cluster, as entries: ``amount`` belongs to row ``cluster`` (0..rows-1) and to ``column``.

    The three arrays have shape (entries,); entries of one place add up. As a matrix it would be rows × size.
    """

    cluster: Ints
    column: Ints
    amount: Floats
    rows: int
    size: int

    @classmethod
    def of(cls, cluster: Ints, column: Ints, amount: Floats, size: int) -> "Totals":
        """From any integer cluster codes; only clusters that occur become rows."""
        present, row = renumbered(cluster)
        return cls(row, column, amount, present.size, size)

    def sums(self) -> Floats:
        """The column sums, shape (size,)."""
        return sums_by(self.column, self.amount, self.size)

    def per_cluster(self, columns: Floats) -> Floats:
        """A weighted sum of columns in every cluster, shape (rows,); ``columns`` holds one weight per column."""
        return sums_by(self.cluster, self.amount * columns[self.column], self.rows)

    def influence(self, statistic: Statistic, at: Floats | None = None) -> Floats:
        """Derivative of the statistic by each cluster's weight, shape (rows,); at the column sums, or at others."""
        return self.per_cluster(self._gradient(statistic, self.sums() if at is None else at))

    def resample(self, statistic: Statistic, weights: Floats) -> Floats:
        """The statistic for cluster weights of shape (resamples, rows), shape (resamples,)."""
        # Sparse even where it is nearly full: a full product would wait for the other threads of a busy machine.
        matrix = csr_array((self.amount, (self.column, self.cluster)), shape=(self.size, self.rows))
        values: Floats = statistic((matrix @ weights.T).T)
        return values

    def sampling(self, statistic: Statistic) -> Sampling:
        """What an interval needs to know of the statistic."""
        return Sampling(
            rows=self.rows,
            width=self.size,
            influence=lambda: self.influence(statistic),
            resample=lambda weights: self.resample(statistic, weights),
        )

    def _gradient(self, statistic: Statistic, at: Floats) -> Floats:
        sums = at.astype(np.complex128)
        gradient = np.zeros(self.size)
        occurring = np.flatnonzero(np.bincount(self.column, minlength=self.size))
        block = max(1, CELLS_AT_ONCE // self.size)
        for start in range(0, occurring.size, block):
            columns = occurring[start : start + block]
            points = np.tile(sums, (columns.size, 1))
            points[np.arange(columns.size), columns] += 1j * STEP
            gradient[columns] = np.imag(statistic(points)) / STEP
        return gradient


def ratio(numerator: Array, denominator: Array) -> Array:
    """Quotient of two arrays, NaN where the denominator is zero."""
    defined = denominator != 0
    if np.all(defined):
        return np.asarray(numerator / denominator)
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    quotient = np.full(numerator.shape, np.nan, dtype=np.result_type(numerator, denominator, np.float64))
    np.divide(numerator, denominator, out=quotient, where=defined)
    return quotient


def spread(n: Array, total: Array, squares: Array) -> Array:
    """n Σx² - (Σx)², zero where what is left is only rounding: a resample may hold a single value."""
    left = n * squares - total**2
    return np.where(left.real > 1e-12 * (n * squares).real, left, 0)


def estimate(
    totals: Totals,
    statistic: Statistic,
    plan: Plan,
    *,
    name: str,
    n: int,
    clusters: int | None = None,
    undefined: str,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """The statistic with its interval, or undefined for the reason given when it is NaN.

    ``clusters`` is the number of rows unless fewer of them bear on the statistic.
    """
    clusters = totals.rows if clusters is None else clusters
    value = float(statistic(totals.sums()))
    if np.isnan(value):
        return Estimate.undefined(undefined, n=n, clusters=clusters, method=name, level=plan.level)
    return with_interval(value, totals.sampling(statistic), plan, name=name, n=n, clusters=clusters, bounds=bounds)
