"""A judge's scores as they stand: PR AUC on either side, and how far they lie from people's values."""

from typing import Any

import numpy as np

from alignment.arrays import Floats
from alignment.bland_altman import bland_altman, on_scale
from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.evidence import UnitKey
from alignment.figures.judged import NO_REFERENCE, NO_SCORES
from alignment.figures.reference import NO_PASSES, Reference
from alignment.figures.seeds import generator
from alignment.precision_recall import pr_auc

#: Scales with more levels are cut into bands.
MAX_LEVELS = 11
BANDS = 5
UNIT = (0.0, 1.0)

NO_SCALE = "people's values are no numbers on a scale, so there is no distance to them"
TWO_LEVELS = "people say pass or fail only, so there is no distance to them"
UNKNOWN_SCALE = "the judge's scores go beyond people's scale, and nobody knows which scale they are on"
NO_DIRECTION = "lower is better for this judge, and people's scale has no ends by which to turn its scores round"
NOTHING_SCORED = "the judge scored no unit that people gave a value"


def judge_values(reference: Reference, one: Comparison) -> dict[str, Any]:
    """PR AUC of passes and of fails, and bias with limits of agreement, on all units: nothing is chosen here."""
    return {"pr_auc": _pr_auc(reference, one), "distance": _distance(reference, one)}


def _rng(reference: Reference, one: Comparison, figure: str) -> np.random.Generator:
    return generator(reference.evidence.seed, figure, reference.evidence.criterion.key, *one.said.name)


def _pr_auc(reference: Reference, one: Comparison) -> dict[str, Any]:
    units = [unit for unit in reference.positive if unit in one.scores]
    if not units:
        reason = NO_PASSES if reference.passing is None else NO_SCORES if reference.positive else NO_REFERENCE
        none = Estimate.undefined(reason, method="PR AUC").as_dict()
        return {"passes": none, "fails": none, "share": None}
    scores, samples = [one.scores[unit] for unit in units], [sample for sample, _ in units]
    positive = np.array([reference.positive[unit] for unit in units])
    higher, rng = one.said.higher_is_better, _rng(reference, one, "pr auc")
    return {
        "passes": pr_auc(scores, positive, samples, higher_is_better=higher, rng=rng).as_dict(),
        "fails": pr_auc(scores, ~positive, samples, higher_is_better=not higher, rng=rng).as_dict(),
        "share": float(positive.mean()),
    }


def _distance(reference: Reference, one: Comparison) -> dict[str, Any]:
    """`ends`: the scale that the judge's scores were read on, None when they stand as they are, on people's own."""
    levels = scale_of(reference)
    placed, ends, reason = scores_on_scale(reference, one, levels)
    found: dict[str, Any] = {
        "reason": reason,
        "ends": ends,
        "scale": None if levels is None else [levels[0], levels[-1]],
    }
    if reason is not None:
        none = Estimate.undefined(reason).as_dict()
        return {**found, "bias": none, "lower_limit": none, "upper_limit": none, "bands": []}
    human = reference.mean or {}
    units = list(placed)
    said, people = np.array([placed[unit] for unit in units]), np.array([human[unit] for unit in units])
    samples = np.array([sample for sample, _ in units])
    measured = bland_altman(said, people, samples, rng=_rng(reference, one, "bland altman"))
    return {
        **found,
        "bias": measured.bias.as_dict(),
        "lower_limit": measured.lower_limit.as_dict(),
        "upper_limit": measured.upper_limit.as_dict(),
        "bands": _bands(said, people, levels),
    }


def scale_of(reference: Reference) -> list[float] | None:
    """The levels as numbers, ascending; None where there are none, or they are no numbers."""
    numbers = reference.ratings.level_numbers
    return None if numbers is None else sorted(numbers.tolist())


def scores_on_scale(
    reference: Reference, one: Comparison, levels: list[float] | None
) -> tuple[dict[UnitKey, float], list[float] | None, str | None]:
    """The judge's scores on people's scale; the ends of its own, where another; why there are none.

    What ends a judge's scale has is said nowhere. Scores that all lie between 0 and 1 are read as such where people's
    scale is another; others that lie between the ends of people's are read on that.
    """
    if reference.mean is None:
        return (
            {},
            None,
            TWO_LEVELS if reference.passing is not None and len(reference.ratings.levels or ()) == 2 else NO_SCALE,
        )
    scores = {unit: score for unit, score in one.scores.items() if unit in reference.mean}
    if not scores:
        return {}, None, NOTHING_SCORED
    higher = one.said.higher_is_better
    if levels is None:
        return (scores, None, None) if higher else ({}, None, NO_DIRECTION)
    low, high = min(scores.values()), max(scores.values())
    people = (levels[0], levels[-1])
    ends = people if one.labels else UNIT if UNIT[0] <= low and high <= UNIT[1] else people
    if low < ends[0] or high > ends[1]:
        return {}, None, UNKNOWN_SCALE
    values = on_scale(list(scores.values()), ends, people, higher_is_better=higher or bool(one.labels)).tolist()
    return dict(zip(scores, values, strict=True)), None if ends == people else list(ends), None


def _bands(said: Floats, people: Floats, levels: list[float] | None) -> list[dict[str, Any]]:
    """Mean distance by people's value: nearest to each level, or, where there are none or many, in bands as wide."""
    if levels is not None and len(levels) <= MAX_LEVELS:
        steps = np.array(levels)
        band = np.searchsorted((steps[1:] + steps[:-1]) / 2, people, side="right")
        edges = [(level, level) for level in levels]
    else:
        cuts = np.linspace(people.min(), people.max(), BANDS + 1)
        band = np.searchsorted(cuts[1:-1], people, side="right")
        edges = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    rows = []
    for place, (low, high) in enumerate(edges):
        here = band == place
        if here.any():
            mean = float((said[here] - people[here]).mean())
            rows.append(
                {"low": low, "high": high, "n": int(here.sum()), "judge": float(said[here].mean()), "bias": mean}
            )
    return rows
