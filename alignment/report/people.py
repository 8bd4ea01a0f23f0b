"""A judge beside people: the human ceiling, the test whether it may stand in for one of them, and what its figures
might be against the truth, since the people it is compared with err too.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.ratings import Ratings
from alignment.judging.alternative_annotator import MIN_ITEMS, AnnotatorTest, alternative_annotator_test
from alignment.judging.ceiling import AnnotatorCeiling, human_ceiling
from alignment.judging.noise import Model, judge_under_models
from alignment.report.comparison import Comparison
from alignment.report.decisions import LEVEL
from alignment.report.reference import NO_PASSES, Reference
from alignment.report.units import ByUnit, by_unit

#: What the judge is called there; people are p0, p1 … in the order of their names, since a judge may bear a person's.
JUDGE = "judge"

NOTHING_SAID = remark("nothing_decided")
ONLY_NUMBERS = remark("only_numbers")


def refusal(reference: Reference, one: Comparison) -> Remark | None:
    """Why judge and people can't stand in one table, or None."""
    if reference.passing is None:
        return None if one.labels else ONLY_NUMBERS
    return None if one.decisions else one.row["at_threshold"]["reason"] or NOTHING_SAID


def with_judge(reference: Reference, one: Comparison) -> Ratings:
    """People's labels of units that the judge decided, and what the judge said of these."""
    people, judge = reference.base, _by_judge(reference, one)
    judged = np.zeros(len(people.unit_ids or ()), dtype=np.bool_)
    judged[judge.unit] = True
    kept = judged[people.unit]
    return replace(
        people,
        unit=np.concatenate([people.unit[kept], judge.unit]),
        rater=np.concatenate([people.rater[kept], np.full(len(judge), len(people.raters))]),
        value=np.concatenate([people.value[kept], judge.value]),
        cluster=np.concatenate([people.cluster[kept], judge.cluster]),
        raters=(*(f"p{code}" for code in range(len(people.raters))), JUDGE),
    )


def _by_judge(reference: Reference, one: Comparison) -> Ratings:
    """What the judge said of units that people labelled, by the codes that these have in ``Reference.base``.

    On pass and fail where the criterion has them, the judge with its decisions on the dev part, those on open units
    among them: units on which people agreed at once would show people better than they are. Else on the labels, which
    need no threshold, and so on all units.
    """
    people = reference.base
    levels = people.levels or ()
    if reference.passing is None:
        place_of = {level: place for place, level in enumerate(levels)}
        said = by_unit(one.labels, object).read_as(place_of.__getitem__, np.int64)
        said = ByUnit.of(reference.units, said, np.int64)
    else:
        said = one.all_decisions
    units = np.flatnonzero(said.known[reference.rated])
    cluster_of = np.zeros(len(people.unit_ids or ()), dtype=np.int64)
    cluster_of[people.unit] = people.cluster
    return replace(
        people,
        unit=units,
        rater=np.zeros_like(units),
        value=said.values_at[reference.rated[units]].astype(people.value.dtype),
        cluster=cluster_of[units],
        raters=(JUDGE,),
    )


#: What a person's effort is worth in the alternative-annotator test: the price of experts.
EPSILON = 0.2
MAX_PEOPLE = 20
_KAPPAS = ("human", "judge", "difference")

NO_LABELS = remark("no_labels")
ALONE = remark("no_unit_labelled_twice")
FEW = remark("fewer_units_than", n=MIN_ITEMS)


def beside_people(reference: Reference, one: Comparison) -> dict[str, Any]:
    """Each person and the judge against the majority of the others, and the judge in each person's place.

    Of more than 20 people those with the most units in common are listed, and `left_out` counts the others; the means
    are over all of them.
    """
    reason = _refusal(reference, one)
    found: dict[str, Any] = {"basis": reference.basis, "reason": reason}
    if reason is not None:
        means = dict.fromkeys(_KAPPAS, Estimate.undefined(reason).as_dict())
        return {**found, **means, "annotators": [], "left_out": 0, "test": None}
    ratings = with_judge(reference, one)
    ceiling = human_ceiling(ratings, JUDGE, interval="jackknife")
    test = alternative_annotator_test(ratings, JUDGE, EPSILON, interval="jackknife")
    names = reference.ratings.raters
    rows = [
        _person(name, row, tested)
        for name, row, tested in zip(names, ceiling.annotators, test.annotators, strict=True)
        if row.n or tested.n
    ]
    rows.sort(key=lambda row: (-row["n"], row["name"]))
    return {
        **found,
        **estimates_as_dicts(ceiling, _KAPPAS),
        "annotators": rows[:MAX_PEOPLE],
        "left_out": max(0, len(rows) - MAX_PEOPLE),
        "test": {
            "epsilon": test.epsilon,
            "needed": MIN_ITEMS,
            "tested": sum(row.p is not None for row in test.annotators),
            **estimates_as_dicts(test, ("winning_rate", "winning_rate_clustered")),
            "passes": test.passes,
            "passes_clustered": test.passes_clustered,
            "advantage": test.advantage.as_dict(),
        },
    }


def ceiling_difference(
    reference: Reference, one: Comparison, level: float = LEVEL, weights: ByUnit[float] | None = None
) -> Estimate:
    """Kappa of the judge less that of a person, both against the others' majority; as in `beside_people`. ``weights``:
    how many units each stands for; 1 by default."""
    reason = _refusal(reference, one)
    if reason is not None:
        return Estimate.undefined(reason, level=level)
    ratings = with_judge(reference, one)
    stands_for = None if weights is None else np.where(weights.known, weights.values_at, 0.0)[reference.rated]
    return human_ceiling(ratings, JUDGE, weight=stands_for, interval="jackknife", level=level).difference


def _refusal(reference: Reference, one: Comparison) -> Remark | None:
    ratings = reference.ratings
    if not len(ratings):
        return NO_LABELS
    return ALONE if ratings.n_units == len(ratings) else refusal(reference, one)


def _person(name: str, row: AnnotatorCeiling, tested: AnnotatorTest) -> dict[str, Any]:
    return {
        "name": name,
        "n": row.n,
        "ties": row.ties,
        **estimates_as_dicts(row, (*_KAPPAS, "alone")),
        "test": {
            "n": tested.n,
            "samples": tested.clusters,
            "advantage": tested.advantage.as_dict(),
            "p": tested.p,
            "p_clustered": tested.p_clustered,
            "won": None if tested.p is None else tested.rejected,
            "won_clustered": None if tested.p_clustered is None else tested.rejected_clustered,
            "reason": None if tested.reason is None else FEW,
        },
    }


MODELS: tuple[Model, ...] = ("one rate", "two rates")


def judge_behind_noise(reference: Reference, one: Comparison) -> dict[str, Any]:
    """The judge against people's majority as it is, and one line for each model of people's errors, as plain JSON.

    The judge with its decisions on dev; people's errors from all their labels. Verdicts play no part.
    """
    reason = NO_PASSES if reference.passing is None else _refusal(reference, one)
    if reason is not None:
        return {"reason": reason, "observed": Estimate.undefined(reason).as_dict(), "lines": []}
    found = judge_under_models(reference.base, _by_judge(reference, one), MODELS, interval="jackknife")
    observed = found[0].observed
    accuracy = Estimate.undefined(remark("all_split_in_half")) if observed is None else observed.accuracy
    shown = ("human_tpr", "human_tnr", "tpr", "tnr", "accuracy")
    lines = [{"model": line.model, **estimates_as_dicts(line, shown)} for line in found]
    return {"reason": None, "observed": accuracy.as_dict(), "lines": lines}
