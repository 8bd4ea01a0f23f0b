"""How often a single person errs, from gold labels or from how often people disagree. For pass and fail."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from alignment import binary
from alignment.arrays import Array, Floats, Ints
from alignment.panel import panel
from alignment.ratings import Ratings
from alignment.reasons import NO_PAIRS
from alignment.tables import unit_runs
from alignment.totals import ratio

Model = Literal["gold", "one rate", "two rates"]

#: Fewer units with gold or overlap say too little on people's errors.
MIN_UNITS = 10
#: Columns that every model uses; those with fewer leave some empty.
SIZE = 4

NO_GOLD = "no unit has a gold label and another one"
NO_TRIPLES = "no unit has three ratings"


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """What people's error rates rest on, as entries of ``SIZE`` columns by cluster; ``n`` counts the units.

    "gold": confusion cells tn, fp, fn, tp of people's labels with gold. "one rate": the share of a unit's pairs that
    agree, and units with pairs. "two rates": units with three ratings, and the shares of their single ratings, pairs
    and triples that all pass.
    """

    cluster: Ints
    column: Ints
    amount: Floats
    n: int
    none: str

    def refusal(self) -> str | None:
        """Why there is too little, or None."""
        if not self.n:
            return self.none
        return f"fewer than {MIN_UNITS} units show how often people err" if self.n < MIN_UNITS else None


def evidence(people: Ratings, gold: str | None, model: Model) -> Evidence:
    """The entries for a model, from ratings that are 1 for pass and 0 for fail, those of ``gold`` among them."""
    if gold is not None:
        return _from_gold(people, gold)
    unit, starts = unit_runs(people)
    size = np.bincount(unit, minlength=starts.size)
    least = 2 if model == "one rate" else 3
    used = np.flatnonzero(size >= least)
    m, passed = size[used], np.bincount(unit, weights=people.value, minlength=starts.size)[used]
    failed = m - passed
    if model == "one rate":
        columns = [(passed * (passed - 1) + failed * (failed - 1)) / (m * (m - 1)), np.ones(used.size)]
    else:
        pairs = passed * (passed - 1) / (m * (m - 1))
        columns = [np.ones(used.size), passed / m, pairs, pairs * (passed - 2) / (m - 2)]
    return Evidence(
        cluster=np.tile(people.cluster[starts[used]], len(columns)),
        column=np.repeat(np.arange(len(columns)), used.size),
        amount=np.concatenate(columns),
        n=used.size,
        none=NO_PAIRS if model == "one rate" else NO_TRIPLES,
    )


def human_rates(columns: Array, model: Model) -> tuple[Array, Array]:
    """One person's TPR and TNR from column sums (..., SIZE); NaN where the model doesn't fit them."""
    if model == "gold":
        return binary.tpr(columns), binary.tnr(columns)
    if model == "one rate":
        # Two people disagree with chance d = 2e(1 - e).
        right = (1 + _root(2 * ratio(columns[..., 0], columns[..., 1]) - 1)) / 2
        return right, right
    one, two, three = (ratio(columns[..., k], columns[..., 0]) for k in (1, 2, 3))
    # The chance of a pass is TPR on passes and 1 - TNR on fails: a mixture of two points, found from its moments.
    total = ratio(three - one * two, two - one**2)
    product = total * one - two
    half = _root(total**2 / 4 - product)
    return total / 2 + half, 1 - (total / 2 - half)


def _root(square: Array) -> Array:
    """Square root, NaN where the number is not positive."""
    root: Array = np.sqrt(np.where(square.real > 0, square, np.nan))
    return root


def _from_gold(ratings: Ratings, gold: str) -> Evidence:
    both = panel(ratings, gold)
    used = both.judged
    column = 2 * both.judge[used] + both.people.value[used]
    n = np.unique(both.people.unit[used]).size
    return Evidence(both.people.cluster[used], column, np.ones(column.size), n, NO_GOLD)
