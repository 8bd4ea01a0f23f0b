"""Whether ratings can tell anything about a Dawid–Skene model: enough of them, and of people who overlap enough."""

from itertools import combinations

import numpy as np

from alignment.ratings import Ratings
from alignment.tables import unit_runs

#: Fewer raters than these can be explained in more than one way, however many units they share.
FEWEST_RATERS = 3
#: Units with two ratings or more. Below, error rates rest on a handful of units and posteriors are too sure.
FEWEST_UNITS = 30


def why_unidentified(ratings: Ratings) -> str | None:
    """Why a Dawid–Skene model of these ratings would say more than they do; None when nothing speaks against it.

    A necessary condition, after counting units and raters: the model's unknowns, (L-1) class shares and L(L-1) error
    rates per rater, are no more than the frequencies that the ratings fix. Those are L-1 per rater, (L-1)^2 per pair of
    raters with common units, and (L-1)^3 per triple; L counts the levels that were used. Three raters of whom never
    more than two met fix too little; so do two.

    >>> rows = [(unit, rater, "xy"[unit % 2]) for unit in range(40) for rater in "abc"]
    >>> def table(rows):
    ...     units, raters, values = zip(*rows)
    ...     return Ratings.from_columns(units, raters, values, units, scale="nominal", levels="xy")
    >>> why_unidentified(table(rows)) is None
    True
    >>> why_unidentified(table([row for row in rows if row[1] != "c"]))
    '2 people labelled units that others labelled too; it takes 3'
    """
    unit, starts = unit_runs(ratings)
    sizes = np.diff(starts, append=len(ratings))
    shared = int((sizes > 1).sum())
    people = np.unique(ratings.rater[sizes[unit] > 1]) if starts.size else np.array([])
    if people.size < FEWEST_RATERS:
        return f"{people.size} people labelled units that others labelled too; it takes {FEWEST_RATERS}"
    if shared < FEWEST_UNITS:
        return f"{shared} units have two labels or more; it takes {FEWEST_UNITS}"
    free = np.unique(ratings.value).size - 1
    if free < 1:
        return "only one value was used"
    unknown = free + people.size * (free + 1) * free
    fixed = _fixed(ratings, starts, int(people.size), free, unknown)
    if fixed < unknown:
        return f"the model has {unknown} unknowns, and people overlap so little that their labels fix only {fixed}"
    return None


def _fixed(ratings: Ratings, starts: np.ndarray, people: int, free: int, enough: int) -> int:
    """How many frequencies the ratings fix, counted until there are enough."""
    raters = ratings.rater.tolist()
    ends = [*starts[1:].tolist(), len(raters)]
    panels = {tuple(raters[start:end]) for start, end in zip(starts.tolist(), ends, strict=True)}
    pairs: set[tuple[int, ...]] = set()
    triples: set[tuple[int, ...]] = set()
    fixed = people * free
    for panel in sorted(panels):
        for size, met in ((2, pairs), (3, triples)):
            for group in combinations(panel, size):
                if group not in met:
                    met.add(group)
                    fixed += free**size
                    if fixed >= enough:
                        return fixed
    return fixed
