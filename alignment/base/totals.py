"""Statistics of sums: what nearly every statistic here is.

A kappa is a function of a confusion matrix, an alpha of a coincidence matrix, a correlation of six moments: of columns
summed over clusters, f(Σ_c s_c). Such a statistic is written once, as a function of the column sums. From it follow

* its influence: with weights w on the clusters, θ(w) = f(Σ_c w_c s_c), so ∂θ/∂w_c = ∇f · s_c;
* its jackknife: f(Σ s - s_c) for every c;
* its bootstrap: multinomial weights times the clusters' columns, one matrix product for all resamples.

The gradient is taken by the complex step, Im f(x + ih)/h, which has no subtraction and so no cancellation: it is exact
to rounding. A statistic must therefore be written in analytic operations (no abs, max, comparison of its argument
except to guard a denominator) on the last axis of an array of any leading shape.

Source: Squire & Trapp (1998), SIAM Review 40(1); Jaeckel (1972) for the infinitesimal jackknife.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from alignment.base.arrays import Array, Floats, Ints, renumbered, sums_by
from alignment.base.estimate import Estimate, Remark
from alignment.base.interval import Plan, Rarer, Sampling, exact_share, proportion, with_interval

#: Column sums (..., size) -> values (...), NaN where undefined.
Statistic = Callable[[Array], Array]

STEP = 1e-30
CELLS_AT_ONCE = 2**20
NO_AMOUNT = 1e-9
#: From as many clusters on the jackknife is what influence functions are, to one part of a thousand.
CLUSTERS_FOR_JACKKNIFE = 1_000


@dataclass(frozen=True, eq=False)
class Agreement:
    """What a figure of agreement rests on.

    ``value``, shape (raters, columns): of which value a column counts ratings, of each rater or of all together; -1 of
    none. ``apart``: from column sums those of as much data in which nobody agrees, in every way that comes into
    question, (columns,) -> (ways, columns). ``together``: the same of data in which all agree; None where some
    disagreements count more than others: then a single one that was not seen may outweigh all that was.
    """

    value: Ints
    apart: Callable[[Floats], Floats]
    together: Callable[[Floats], Floats] | None = None


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

    @classmethod
    def of_columns(cls, cluster: Ints, columns: Floats) -> "Totals":
        """From columns with an amount for each unit, shape (size, units), and the units' clusters, shape (units,)."""
        size, units = columns.shape
        present, row = renumbered(cluster)
        return cls(np.tile(row, size), np.repeat(np.arange(size), units), columns.ravel(), present.size, size)

    def sums(self) -> Floats:
        """The column sums, shape (size,)."""
        return sums_by(self.column, self.amount, self.size)

    def per_cluster(self, columns: Floats) -> Floats:
        """A weighted sum of columns in every cluster, shape (rows,); ``columns`` holds one weight per column."""
        return sums_by(self.cluster, self.amount * columns[self.column], self.rows)

    def influence(self, statistic: Statistic) -> Floats:
        """Derivative of the statistic by each cluster's weight at the column sums, shape (rows,)."""
        sums = self.sums().astype(np.complex128)
        gradient = np.zeros(self.size)
        occurring = np.flatnonzero(np.bincount(self.column, minlength=self.size))
        block = max(1, CELLS_AT_ONCE // self.size)
        for start in range(0, occurring.size, block):
            columns = occurring[start : start + block]
            points = np.tile(sums, (columns.size, 1))
            points[np.arange(columns.size), columns] += 1j * STEP
            gradient[columns] = np.imag(statistic(points)) / STEP
        return self.per_cluster(gradient)

    def jackknife(self, statistic: Statistic) -> Floats:
        """How the statistic moves when each cluster is left out, √(1 - 1/n) (mean - θ_(c)), shape (rows,).

        Σ² is its variance. NaN where it is undefined without one.

        From 1,000 clusters on, and for tables too large to be held once for each cluster, influences.
        """
        if self.rows >= CLUSTERS_FOR_JACKKNIFE or self.rows * self.size > CELLS_AT_ONCE or self.rows < 2:
            return self.influence(statistic)
        own = np.bincount(self.cluster * self.size + self.column, self.amount, self.rows * self.size)
        left = statistic(self.sums() - own.reshape(self.rows, self.size))
        moved: Floats = np.sqrt(1 - 1 / self.rows) * (left.mean() - left)
        return moved

    def rarer(self, statistic: Statistic, agreement: Agreement, weight: Floats | None = None) -> Rarer:
        """See ``Rarer``. The share q of clusters of a kind that was not seen is bounded as an exact share of none, and
        the figure is what it would be had q of all data been ``apart``, or ``together``.

        ``weight``: of each cluster, 1 by default. The groups that hold the rarer value are (Σ w)²/Σ w² (Kish); of those
        that might have disagreed each counts as the heaviest would.
        """
        sums, of = self.sums(), np.ones(self.rows) if weight is None else weight
        held, alike = [], []
        for value in agreement.value:
            commonest = np.bincount(value + 1, sums)[1:].argmax()
            within = of[self.per_cluster(((value >= 0) & (value != commonest)).astype(np.float64)) > NO_AMOUNT]
            held.append(float(within.sum() ** 2 / np.square(within).sum()) if within.size else 0.0)
            alike.append(as_many_alike(within))
        size = self.per_cluster((agreement.value[0] >= 0).astype(np.float64)) / of
        clusters = float(size.sum() ** 2 / np.square(size).sum() * of.mean() / of.max())

        def edge(level: float) -> tuple[float, float]:
            share = exact_share(0.0, clusters, level)[1]
            lowest = float(np.nanmin(statistic((1 - share) * sums + share * agreement.apart(sums))))
            if agreement.together is None:
                return lowest, np.inf
            return lowest, float(np.nanmax(statistic((1 - share) * sums + share * agreement.together(sums))))

        return Rarer(min(held), edge, agreement.together is not None, min(alike))

    def resample(self, statistic: Statistic, weights: Floats) -> Floats:
        """The statistic for cluster weights of shape (resamples, rows), shape (resamples,)."""
        # Sparse even where it is nearly full: a full product would wait for the other threads of a busy machine.
        matrix = csr_array((self.amount, (self.column, self.cluster)), shape=(self.size, self.rows))
        return statistic((matrix @ weights.T).T)

    def sampling(self, statistic: Statistic, agreement: Agreement | None = None) -> Sampling:
        """What an interval needs to know of the statistic."""
        return Sampling(
            rows=self.rows,
            width=self.size,
            influence=lambda: self.influence(statistic),
            resample=lambda weights: self.resample(statistic, weights),
            jackknife=lambda: self.jackknife(statistic),
            rarer=None if agreement is None else lambda: self.rarer(statistic, agreement),
        )


def as_many_alike(weight: Floats) -> float:
    """Of how many clusters of equal weight a variance would be known as well as of those with these weights.

    (Σ w²)²/Σ w⁴: what a cluster adds to the variance goes with w². Where weights are equal, as many as there are.

    Source: Satterthwaite (1946), Biometrics Bulletin 2.

    >>> round(as_many_alike(np.array([1.0] * 300 + [50.0] * 20)), 1)
    20.2
    """
    squares = np.square(weight)
    return float(squares.sum() ** 2 / np.square(squares).sum()) if weight.size else 0.0


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
    undefined: Remark,
    bounds: tuple[float, float] = (-1.0, 1.0),
    agreement: Agreement | None = None,
) -> Estimate:
    """The statistic with its interval, or undefined for the reason given when it is NaN.

    ``clusters`` is the number of rows unless fewer of them bear on the statistic. ``agreement`` of a figure of
    agreement.
    """
    clusters = totals.rows if clusters is None else clusters
    value = float(statistic(totals.sums()))
    if np.isnan(value):
        return Estimate.undefined(undefined, n=n, clusters=clusters, method=name, level=plan.level)
    sampling = totals.sampling(statistic, agreement)
    return with_interval(value, sampling, plan, name=name, n=n, clusters=clusters, bounds=bounds)


def column_ratio(numerator: int, denominator: int) -> Statistic:
    """One column sum divided by another; NaN where the latter is zero."""
    return lambda sums: ratio(sums[..., numerator], sums[..., denominator])


def share_of_columns(
    totals: Totals, hits: list[int], trials: list[int], plan: Plan, *, name: str, undefined: Remark
) -> Estimate:
    """``proportion`` of what is counted in the columns ``hits`` among what is counted in the columns ``trials``."""
    per_column = np.eye(totals.size)
    return proportion(
        totals.per_cluster(per_column[hits].sum(axis=0)),
        totals.per_cluster(per_column[trials].sum(axis=0)),
        plan,
        name=name,
        undefined=undefined,
    )


def joint_mean(
    parts: Sequence[tuple[Totals, Ints]],
    statistic: Statistic,
    plan: Plan,
    *,
    name: str,
    n: int,
    undefined: Remark,
    bounds: tuple[float, float],
) -> Estimate:
    """Mean of a statistic over parts that share clusters (raters, pairs of raters); undefined when there is no part.

    A part is a table with the cluster codes behind its rows. In the interval a cluster carries its influence on all
    parts together, so parts that share units are not taken for independent. The parts' statistics are defined; in a
    resample those that are not are left out of its mean.
    """
    if not parts:
        return Estimate.undefined(undefined, method=name, level=plan.level)
    present = renumbered(np.concatenate([clusters for _, clusters in parts]))[0]
    placed = [(table, np.searchsorted(present, clusters)) for table, clusters in parts]

    def over_parts(of_part: Callable[[Totals], Floats]) -> Floats:
        total = np.zeros(present.size)
        for table, rows in placed:
            total[rows] += of_part(table)
        return total / len(placed)

    def resample(weights: Floats) -> Floats:
        sums, defined = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
        for table, rows in placed:
            value = table.resample(statistic, weights[:, rows])
            sums += np.where(np.isfinite(value), value, 0.0)
            defined += np.isfinite(value)
        return ratio(sums, defined)

    mean = float(np.mean([float(statistic(table.sums())) for table, _ in placed]))
    sampling = Sampling(
        present.size,
        max(table.size for table, _ in placed),
        lambda: over_parts(lambda table: table.influence(statistic)),
        resample,
        lambda: over_parts(lambda table: table.jackknife(statistic)),
    )
    return with_interval(mean, sampling, plan, name=name, n=n, clusters=present.size, bounds=bounds)


def side_by_side(cluster: Ints, first: Ints, second: Ints, size: int, amount: Floats | None = None) -> Totals:
    """Units counted in a first table by the cells ``first`` and in a second by ``second``, 2 · size columns.

    ``amount``: what each unit counts; 1 by default.
    """
    cells = np.concatenate([first, size + second])
    counted = np.ones(cells.size) if amount is None else np.tile(amount, 2)
    return Totals.of(np.tile(cluster, 2), cells, counted, 2 * size)


def of_first(statistic: Statistic) -> Statistic:
    """The statistic of the first table, (..., 2 · size) -> (...)."""
    return lambda cells: statistic(cells[..., : cells.shape[-1] // 2])


def of_second(statistic: Statistic) -> Statistic:
    """The statistic of the second table."""
    return lambda cells: statistic(cells[..., cells.shape[-1] // 2 :])


def gain(statistic: Statistic) -> Statistic:
    """The statistic of the second table less that of the first; NaN where either is."""
    first, second = of_first(statistic), of_second(statistic)
    return lambda cells: second(cells) - first(cells)
