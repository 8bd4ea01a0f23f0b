"""People and one judge in the same table of ratings."""

from dataclasses import replace

import numpy as np

from alignment.figures.comparison import Comparison
from alignment.figures.reference import NO_PASSES, Reference
from alignment.ratings import Ratings

#: What the judge is called there; people are p0, p1 … in the order of their names, since a judge may bear a person's.
JUDGE = "judge"

NOTHING_SAID = "the judge decided no unit that people labelled"
ONLY_NUMBERS = f"{NO_PASSES}, and the judge answers with numbers"


def refusal(reference: Reference, one: Comparison) -> str | None:
    """Why judge and people can't stand in one table, or None."""
    if reference.passing is None:
        return None if one.labels else ONLY_NUMBERS
    return None if one.decisions else one.row["at_threshold"]["reason"] or NOTHING_SAID


def with_judge(reference: Reference, one: Comparison, *, only_judged: bool = False) -> Ratings:
    """All labels of people, or only those of units that the judge decided, and what the judge said of these.

    On pass and fail where the criterion has them, the judge with its decisions on the dev part; else on the labels,
    which need no threshold, and so on all units.
    """
    people = reference.ratings if reference.passing is None else reference.passing
    said = one.labels if reference.passing is None else one.decisions
    ids = people.unit_ids or ()
    levels = people.levels or ()
    code_of = {unit: code for code, unit in enumerate(ids)}
    place_of = {level: place for place, level in enumerate(levels)}
    known = [(code_of[unit], place_of[value]) for unit, value in said.items() if unit in code_of]
    units, values = np.array(known, dtype=np.int64).reshape(-1, 2).T
    cluster_of = np.zeros(len(ids), dtype=np.int64)
    cluster_of[people.unit] = people.cluster
    judged = np.zeros(len(ids), dtype=np.bool_)
    judged[units] = True
    kept = judged[people.unit] if only_judged else slice(None)
    return replace(
        people,
        unit=np.concatenate([people.unit[kept], units]),
        rater=np.concatenate([people.rater[kept], np.full(units.size, len(people.raters))]),
        value=np.concatenate([people.value[kept], values]),
        cluster=np.concatenate([people.cluster[kept], cluster_of[units]]),
        raters=(*(f"p{code}" for code in range(len(people.raters))), JUDGE),
    )
