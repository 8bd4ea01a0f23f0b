"""A judge beside people: the human ceiling, and the test whether it may stand in for one of them."""

from typing import Any

import numpy as np

from alignment.altannotator import MIN_ITEMS, AlternativeAnnotatorTest, AnnotatorTest, alternative_annotator_test
from alignment.ceiling import AnnotatorCeiling, CeilingVerdict, HumanCeiling, human_ceiling
from alignment.estimate import Estimate
from alignment.figures.beside import JUDGE, refusal, with_judge
from alignment.figures.comparison import Comparison
from alignment.figures.decisions import LEVEL
from alignment.figures.reference import Reference
from alignment.figures.seeds import generator
from alignment.interval import Kind
from alignment.ratings import Ratings

#: What a person's effort is worth in the alternative-annotator test: the price of experts.
EPSILON = 0.2
MAX_PEOPLE = 20

NO_LABELS = "nobody has labelled a unit yet"
ALONE = "nobody has labelled a unit that somebody else labelled as well"
FEW = f"fewer than {MIN_ITEMS} units"


def beside_people(reference: Reference, one: Comparison) -> dict[str, Any]:
    """Each person and the judge against the majority of the others, and the judge in each person's place.

    Of more than 20 people those with the most units in common are listed, and `left_out` counts the others; the means
    are over all of them.
    """
    basis = "labels" if reference.passing is None else "pass or fail"
    reason = _refusal(reference, one)
    if reason is not None:
        none = Estimate.undefined(reason).as_dict()
        means = {"human": none, "judge": none, "difference": none, "verdict": str(CeilingVerdict.NOT_ENOUGH)}
        return {"basis": basis, "reason": reason, **means, "annotators": [], "left_out": 0, "test": None}
    ratings = with_judge(reference, one, only_judged=True)
    ceiling, test = _ceiling(reference, one, ratings), _test(reference, one, ratings)
    names = reference.ratings.raters
    rows = [
        _person(name, row, tested)
        for name, row, tested in zip(names, ceiling.annotators, test.annotators, strict=True)
        if row.n or tested.n
    ]
    rows.sort(key=lambda row: (-row["n"], row["name"]))
    return {
        "basis": basis,
        "reason": None,
        "human": ceiling.human.as_dict(),
        "judge": ceiling.judge.as_dict(),
        "difference": ceiling.difference.as_dict(),
        "verdict": str(ceiling.verdict),
        "annotators": rows[:MAX_PEOPLE],
        "left_out": max(0, len(rows) - MAX_PEOPLE),
        "test": _tested(test),
    }


def ceiling_difference(reference: Reference, one: Comparison, level: float = LEVEL) -> Estimate:
    """Kappa of the judge less that of a person, both against the others' majority; as in `beside_people`."""
    reason = _refusal(reference, one)
    if reason is not None:
        return Estimate.undefined(reason, level=level)
    return _ceiling(reference, one, with_judge(reference, one, only_judged=True), level).difference


def _refusal(reference: Reference, one: Comparison) -> str | None:
    ratings = reference.ratings
    if not len(ratings):
        return NO_LABELS
    return ALONE if ratings.n_units == len(ratings) else refusal(reference, one)


def _ceiling(reference: Reference, one: Comparison, ratings: Ratings, level: float = LEVEL) -> HumanCeiling:
    return human_ceiling(ratings, JUDGE, interval=_interval(ratings), rng=_rng(reference, one, "ceiling"), level=level)


def _test(reference: Reference, one: Comparison, ratings: Ratings) -> AlternativeAnnotatorTest:
    rng = _rng(reference, one, "alternative annotator")
    return alternative_annotator_test(ratings, JUDGE, EPSILON, interval=_interval(ratings), rng=rng)


def _interval(ratings: Ratings) -> Kind:
    """A bootstrap for each of very many people with few samples each would take minutes; the means rest on many."""
    return "auto" if len(ratings.raters) <= MAX_PEOPLE + 1 else "influence"


def _rng(reference: Reference, one: Comparison, figure: str) -> np.random.Generator:
    return generator(reference.evidence.seed, figure, reference.evidence.criterion.key, *one.said.name)


def _person(name: str, row: AnnotatorCeiling, tested: AnnotatorTest) -> dict[str, Any]:
    return {
        "name": name,
        "n": row.n,
        "ties": row.ties,
        "human": row.human.as_dict(),
        "judge": row.judge.as_dict(),
        "difference": row.difference.as_dict(),
        "alone": row.alone.as_dict(),
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


def _tested(test: AlternativeAnnotatorTest) -> dict[str, Any]:
    return {
        "epsilon": test.epsilon,
        "needed": MIN_ITEMS,
        "tested": sum(row.p is not None for row in test.annotators),
        "winning_rate": test.winning_rate.as_dict(),
        "winning_rate_clustered": test.winning_rate_clustered.as_dict(),
        "passes": test.passes,
        "passes_clustered": test.passes_clustered,
        "advantage": test.advantage.as_dict(),
    }
