"""The one home of counts within units, of how far apart two levels are, and of the statistics of a confusion matrix."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from alignment.base.arrays import Array, Floats, Ints, renumbered, run_starts, sums_by
from alignment.base.ratings import Ratings
from alignment.base.totals import Agreement, Totals, ratio


@dataclass(frozen=True, eq=False)
class UnitLevels:
    """How many ratings of each unit fall on each level, for the levels that occur.

    ``unit`` (0..units-1), ``level`` and ``count`` have shape (cells,), sorted by unit; ``size``, the ratings of a unit,
    and ``cluster`` have shape (units,).
    """

    unit: Ints
    level: Ints
    count: Ints
    size: Ints
    cluster: Ints


def unit_runs(ratings: Ratings) -> tuple[Ints, Ints]:
    """Units as runs of the sorted ratings: each rating's unit as 0..units-1, and each unit's first rating."""
    starts = run_starts(ratings.unit)
    return np.repeat(np.arange(starts.size), np.diff(starts, append=len(ratings))), starts


def unit_levels(ratings: Ratings) -> UnitLevels:
    """The level counts of every unit; the ratings must have levels."""
    levels = len(ratings.levels or ())
    unit, starts = unit_runs(ratings)
    # The units are sorted already: a stable sort has next to nothing left to do.
    cells = np.sort(unit * levels + ratings.value, kind="stable")
    first = run_starts(cells)
    return UnitLevels(
        unit=cells[first] // levels,
        level=cells[first] % levels,
        count=np.diff(first, append=cells.size),
        size=np.bincount(unit, minlength=starts.size),
        cluster=ratings.cluster[starts],
    )


def pairs_within(groups: Ints) -> tuple[Ints, Ints]:
    """Positions (i, j), i < j, of every pair of entries of one group; ``groups`` is sorted.

    Entries d apart are compared for d = 1, 2, …; those that left their group at d have left it for good, so the work
    is the number of pairs.

    >>> [positions.tolist() for positions in pairs_within(np.array([0, 0, 0, 1, 2, 2]))]
    [[0, 1, 4, 0], [1, 2, 5, 2]]
    """
    found = []
    first = np.arange(groups.size)
    distance = 1
    while first.size:
        first = first[first + distance < groups.size]
        first = first[groups[first] == groups[first + distance]]
        found.append((first, first + distance))
        distance += 1
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])


def coincidences(ratings: Ratings) -> Totals:
    """Krippendorff's coincidence matrix, levels² columns (c · levels + k), from units with two or more ratings.

    A unit with m ratings adds 1/(m - 1) for each ordered pair of its ratings, so every rating counts once.
    """
    levels = len(ratings.levels or ())
    cells = unit_levels(ratings)
    share = 1.0 / np.maximum(cells.size - 1, 1)
    own = cells.count > 1
    i, j = pairs_within(cells.unit)
    unit = np.concatenate([cells.unit[own], cells.unit[i], cells.unit[j]])
    column = np.concatenate(
        [
            cells.level[own] * (levels + 1),
            cells.level[i] * levels + cells.level[j],
            cells.level[j] * levels + cells.level[i],
        ]
    )
    across = cells.count[i] * cells.count[j]
    pairs = np.concatenate([cells.count[own] * (cells.count[own] - 1), across, across])
    return Totals.of(cells.cluster[unit], column, pairs * share[unit], levels * levels)


def disagreements(ratings: Ratings, apart: Floats) -> Totals:
    """What Krippendorff's alpha rests on when the distance of two levels is fixed, as 1 + levels columns.

    Column 0: of each unit with m ≥ 2 ratings, Σ ``apart``/(m - 1) over its ordered pairs of ratings. Columns 1…: how
    many of its ratings fall on each level. ``apart`` is symmetric, of shape (levels, levels), 0 on the diagonal.
    """
    cells = unit_levels(ratings)
    i, j = pairs_within(cells.unit)
    across = 2.0 * cells.count[i] * cells.count[j] * apart[cells.level[i], cells.level[j]]
    several = np.flatnonzero(cells.size[cells.unit] > 1)
    unit = np.concatenate([cells.unit[i], cells.unit[several]])
    column = np.concatenate([np.zeros_like(i), 1 + cells.level[several]])
    amount = np.concatenate([across / (cells.size[cells.unit[i]] - 1), cells.count[several]])
    return Totals.of(cells.cluster[unit], column, amount, 1 + apart.shape[0])


@lru_cache(maxsize=64)
def agreement_of_confusion(levels: int, *, weighted: bool = False) -> Agreement:
    """What kappa of a confusion matrix rests on, levels² columns (a · levels + b)."""
    first, second = np.divmod(np.arange(levels**2), levels)
    diagonal, off_diagonal = (np.eye(levels**2)[kept] for kept in (first == second, first != second))
    together = None if weighted and levels > 2 else lambda sums: sums.sum() * diagonal
    return Agreement(np.stack([first, second]), lambda sums: sums.sum() * off_diagonal, together)


@lru_cache(maxsize=64)
def agreement_of_gain(levels: int) -> Agreement:
    """The same of two such matrices side by side whose first rater is one; a difference has no edge to be at."""
    first = np.arange(levels**2) // levels
    return Agreement(np.append(first, np.full(levels**2, -1))[None], lambda sums: sums[None])


def agreement_of_coincidences(levels: int) -> Agreement:
    """The same of ``coincidences``: apart are all pairs that have the lowest and the highest value used."""

    def apart(sums: Floats) -> Floats:
        used = np.flatnonzero(sums.reshape(levels, levels).sum(axis=1))
        found = np.zeros((1, levels**2))
        found[0, [used[0] * levels + used[-1], used[-1] * levels + used[0]]] = sums.sum() / 2
        return found

    return Agreement(np.arange(levels**2)[None] // levels, apart)


def agreement_of_disagreements(apart: Floats) -> Agreement:
    """The same of ``disagreements``."""
    value, farthest = np.arange(apart.shape[0] + 1) - 1, float(apart.max(initial=0.0))
    alike = np.hstack([np.zeros((apart.shape[0], 1)), np.eye(apart.shape[0])])
    return Agreement(
        value[None],
        lambda sums: np.append(sums[1:].sum() * farthest, sums[1:])[None],
        (lambda sums: sums[1:].sum() * alike) if counts_alike(apart) else None,
    )


@lru_cache(maxsize=64)
def agreement_of_shares(levels: int, *, weighted: bool = False) -> Agreement:
    """The same of ``agreement_columns``."""
    value = np.append([-1, -1], np.arange(levels))

    def together(sums: Floats) -> Floats:
        return np.hstack([np.full((levels, 2), sums[1]), sums[2:].sum() * np.eye(levels)])

    return Agreement(value[None], lambda sums: np.append(0.0, sums[1:])[None], None if weighted else together)


def agreement_columns(ratings: Ratings, alike: Floats | None = None) -> tuple[Totals, int, int]:
    """What percent agreement, Fleiss' kappa, Brennan and Prediger's and Gwet's rest on, as 2 + levels columns.

    Column 0: of each unit with m ≥ 2 ratings, the share of its pairs that agree, Σ_k n_k(n_k - 1)/(m(m - 1)); a pair
    of different levels counts as far as they are ``alike``, shape (levels, levels), symmetric, 1 on the diagonal.
    Column 1: the number of such units. Columns 2…: of each rated unit, the share of its ratings on each level, n_k/m.
    Also returns how many units have two or more ratings, and how many clusters they lie in.
    """
    cells = unit_levels(ratings)
    size = cells.size
    agreeing = sums_by(cells.unit, cells.count * (cells.count - 1), size.size)
    if alike is not None:
        i, j = pairs_within(cells.unit)
        partly = 2 * cells.count[i] * cells.count[j] * alike[cells.level[i], cells.level[j]]
        agreeing += sums_by(cells.unit[i], partly, size.size)
    several = np.flatnonzero(size > 1)
    present, row = renumbered(cells.cluster)
    column = np.concatenate([np.zeros_like(several), np.ones_like(several), 2 + cells.level])
    amount: Floats = np.concatenate(
        [
            agreeing[several] / (size[several] * (size[several] - 1)),
            np.ones(several.size),
            cells.count / size[cells.unit],
        ]
    )
    row, clusters = np.concatenate([row[several], row[several], row[cells.unit]]), renumbered(row[several])[0].size
    return Totals(row, column, amount, present.size, 2 + len(ratings.levels or ())), several.size, clusters


def counts_alike(apart: Floats) -> bool:
    """Whether every disagreement of a matrix of them counts the same."""
    return np.unique(apart[~np.eye(apart.shape[0], dtype=np.bool_)]).size <= 1


Weighting = Literal["linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]


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


def squared_distance(metric: Metric, numbers: Floats | None, levels: int) -> Floats:
    """Krippendorff's squared difference function δ² of a metric, shape (levels, levels); see ``rank_distance`` too.

    nominal: 1 for different levels. interval: squared difference of ``numbers``, shape (levels,). ratio: squared
    difference over sum, ((c - k)/(c + k))², of numbers none of which is negative; 0 between two zeros.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    if metric == "nominal":
        return disagreement(levels, None)
    if numbers is None:
        raise ValueError(f"{metric} distances need numeric levels")
    fixed: Floats = _squared_gaps(numbers)
    if metric == "ratio":
        sums = np.square(np.add.outer(numbers, numbers))
        fixed = np.divide(fixed, sums, out=np.zeros_like(fixed), where=sums > 0)
    return fixed


def rank_distance(used: Array) -> Array:
    """Krippendorff's δ² of the ordinal metric by how often each level was used: (..., levels) -> (..., levels, levels).

    (Σ_{g=c..k} n_g - (n_c + n_k)/2)², which is the squared distance of the levels' mid-ranks.
    """
    return _squared_gaps(np.cumsum(used, axis=-1) - used / 2)


def _squared_gaps(positions: Array) -> Array:
    return (positions[..., :, None] - positions[..., None, :]) ** 2


#: The cells of a 2×2 confusion matrix; rows are people, columns the judge. The statistics below are functions of them,
#: (..., 4) with any leading shape, real or complex, and give NaN where undefined.
TN, FP, FN, TP = range(4)


def kappa(cells: Array) -> Array:
    """Cohen's kappa: 1 - n(fp + fn)/((tn + fp)(fp + tp) + (fn + tp)(tn + fn)).

    What ``kappa_statistic`` gives for two categories, written out because a sweep asks for it at every score.
    Undefined when judge and people used one and the same category.
    """
    tn, fp, fn, tp = np.moveaxis(cells, -1, 0)
    wrong, negative, positive = fp + fn, tn + fp, fn + tp
    return 1 - ratio(wrong * (negative + positive), negative * (fp + tp) + positive * (tn + fn))


def tpr(cells: Array) -> Array:
    """True positive rate (recall, sensitivity): tp / (fn + tp)."""
    return ratio(cells[..., TP], cells[..., FN] + cells[..., TP])


def tnr(cells: Array) -> Array:
    """True negative rate (specificity): tn / (tn + fp)."""
    return ratio(cells[..., TN], cells[..., TN] + cells[..., FP])


def precision(cells: Array) -> Array:
    """tp / (fp + tp)."""
    return ratio(cells[..., TP], cells[..., FP] + cells[..., TP])


def accuracy(cells: Array) -> Array:
    """(tn + tp) / all."""
    return ratio(cells[..., TN] + cells[..., TP], cells.sum(axis=-1))


def f1(cells: Array) -> Array:
    """Harmonic mean of precision and recall: 2tp / (2tp + fp + fn)."""
    return ratio(2 * cells[..., TP], 2 * cells[..., TP] + cells[..., FP] + cells[..., FN])


def mcc(cells: Array) -> Array:
    """Matthews' correlation: (tp·tn - fp·fn) / √((tp + fp)(tp + fn)(tn + fp)(tn + fn))."""
    tn, fp, fn, tp = np.moveaxis(cells, -1, 0)
    # Two square roots: the product of all four margins would not be exact for so long.
    margins = np.sqrt((tp + fp) * (tn + fn)) * np.sqrt((tp + fn) * (tn + fp))
    return ratio(tp * tn - fp * fn, margins)
