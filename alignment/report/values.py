"""A judge's scores as they stand: PR AUC on either side, how far they lie from people's values, and whether the judge
says the same when it is asked again.
"""

from itertools import chain
from typing import Any

import numpy as np

from alignment.agreement.self_consistency import self_consistency
from alignment.base.arrays import Array, Floats, cluster_rows
from alignment.base.estimate import Estimate, Remark, estimates_as_dicts, remark
from alignment.base.interval import Plan
from alignment.base.totals import Totals, column_ratio, estimate
from alignment.judging.auc import pr_auc
from alignment.judging.bland_altman import bland_altman, on_scale
from alignment.judging.threshold import decide
from alignment.report.comparison import Comparison
from alignment.report.evidence import Value
from alignment.report.judged import NO_REFERENCE, NO_SCORES
from alignment.report.reference import NO_PASSES, Reference
from alignment.report.units import ByUnit, UnitKey

#: Scales with more levels are cut into bands.
MAX_LEVELS = 11
BANDS = 5
UNIT = (0.0, 1.0)
_LIMITS = ("bias", "lower_limit", "upper_limit")

NO_SCALE = remark("no_numeric_scale")
TWO_LEVELS = remark("only_pass_or_fail")
UNKNOWN_SCALE = remark("scores_beyond_scale")
NO_DIRECTION = remark("scores_not_turned")
NOTHING_SCORED = remark("nothing_scored")


def judge_values(reference: Reference, one: Comparison) -> dict[str, Any]:
    """PR AUC of passes and of fails, and bias with limits of agreement, on all that is open (``Evidence.locked``)."""
    return {"pr_auc": _pr_auc(reference, one), "distance": _distance(reference, one)}


def _pr_auc(reference: Reference, one: Comparison) -> dict[str, Any]:
    units = one.judged.decided
    if not units:
        reason = NO_PASSES if reference.passing is None else NO_SCORES if reference.positive else NO_REFERENCE
        none = Estimate.undefined(reason, method="PR AUC").as_dict()
        return {"passes": none, "fails": none, "share": None}
    scores, positive, samples = one.judged.columns(units)
    higher = one.said.higher_is_better
    return {
        "passes": pr_auc(scores, positive, samples, higher_is_better=higher, interval="jackknife").as_dict(),
        "fails": pr_auc(scores, ~positive, samples, higher_is_better=not higher, interval="jackknife").as_dict(),
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
        return {**found, **dict.fromkeys(_LIMITS, Estimate.undefined(reason).as_dict()), "bands": []}
    assert reference.mean is not None, "scores are placed on the scale of means"
    said, people, samples = placed.column, reference.mean.values_at[placed.places], reference.group[placed.places]
    measured = bland_altman(said, people, samples, interval="jackknife")
    return {**found, **estimates_as_dicts(measured, _LIMITS), "bands": _bands(said, people, levels)}


def scale_of(reference: Reference) -> list[float] | None:
    """The levels as numbers, ascending; None where there are none, or they are no numbers."""
    numbers = reference.ratings.level_numbers
    return None if numbers is None else sorted(numbers.tolist())


def scores_on_scale(
    reference: Reference, one: Comparison, levels: list[float] | None
) -> tuple[ByUnit[float], list[float] | None, Remark | None]:
    """The judge's scores on people's scale; the ends of its own, where another; why there are none.

    What ends a judge's scale has is said nowhere. Scores that all lie between 0 and 1 are read as such where people's
    scale is another; others that lie between the ends of people's are read on that.
    """
    none = one.scores.only(np.zeros_like(one.scores.known))
    if reference.mean is None:
        two = reference.passing is not None and len(reference.ratings.levels or ()) == 2
        return none, None, TWO_LEVELS if two else NO_SCALE
    scores = one.scores.only(reference.mean.known)
    if not len(scores):
        return none, None, NOTHING_SCORED
    higher = one.said.higher_is_better
    if levels is None:
        return (scores, None, None) if higher else (none, None, NO_DIRECTION)
    low, high = scores.column.min(), scores.column.max()
    people = (levels[0], levels[-1])
    ends = people if one.labels else UNIT if UNIT[0] <= low and high <= UNIT[1] else people
    if low < ends[0] or high > ends[1]:
        return none, None, UNKNOWN_SCALE
    values = on_scale(scores.column, ends, people, higher_is_better=higher or bool(one.labels))
    return ByUnit.at(scores.units, scores.places, values), None if ends == people else list(ends), None


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
            judge, bias = float(said[here].mean()), float((said[here] - people[here]).mean())
            rows.append({"low": low, "high": high, "n": int(here.sum()), "judge": judge, "bias": bias})
    return rows


ONCE = remark("asked_once")
NO_THRESHOLD = remark("no_threshold_on_dev")


def judge_steadiness(reference: Reference, one: Comparison) -> dict[str, Any]:
    """Agreement with itself and flip rate, on pass and fail at the threshold of dev, else on its labels; and how far
    its numbers move between two answers. People play no part in it; samples of the test part stay out."""
    answers = _answers(reference, one)
    found: dict[str, Any] = {
        "reason": None if answers else ONCE,
        "units": len(answers),
        "answers": sum(map(len, answers.values())),
        "moved": None,
        "scores": None,
    }
    read, basis, why = _readings(reference, one, answers)
    if why is not None or not answers:
        none = Estimate.undefined(why or ONCE).as_dict()
        found |= {"basis": None, "agreement": none, "flip_rate": none}
    else:
        units = [unit for unit, values in read.items() for _ in values]
        values = list(chain.from_iterable(read.values()))
        samples = reference.clusters(units)
        pooled = self_consistency(units, ["judge"] * len(units), values, samples, interval="jackknife").pooled
        found |= {"basis": basis, **estimates_as_dicts(pooled, ("agreement", "flip_rate"))}
    if answers and not one.labels:
        scores = [float(value) for value in chain.from_iterable(answers.values())]
        found["moved"] = _moved(reference, answers).as_dict()
        found["scores"] = [min(scores), max(scores)]
    return found


def _answers(reference: Reference, one: Comparison) -> dict[UnitKey, list[Value]]:
    """All answers of each unit that has more than one of the judge's own kind, numbers or labels."""
    first = one.labels or one.said.numbers
    is_dev, levels = reference.evidence.is_dev, set(reference.evidence.criterion.levels)
    found: dict[UnitKey, list[Value]] = {}
    for unit, more in one.said.again.items():
        if unit not in first or not is_dev.get(unit[0], True):
            continue
        usable = [value for value in more if (value in levels if one.labels else isinstance(value, float))]
        if usable:
            found[unit] = [first[unit], *usable]
    return found


def _readings(
    reference: Reference, one: Comparison, answers: dict[UnitKey, list[Value]]
) -> tuple[dict[UnitKey, list[Value]], str, Remark | None]:
    """The answers as pass or fail or as labels; which of the two; and why they can't be read, or None."""
    passes = reference.evidence.criterion.passes
    if one.labels:
        if not passes:
            return answers, "labels", None
        return {unit: [value in passes for value in values] for unit, values in answers.items()}, "pass or fail", None
    threshold = one.row["at_threshold"]["threshold"]
    if threshold is None:
        return {}, "", NO_PASSES if reference.passing is None else NO_THRESHOLD
    numbers = np.array(list(chain.from_iterable(answers.values())), dtype=np.float64)
    decided = iter(decide(numbers, threshold, one.said.higher_is_better).tolist())
    return {unit: [next(decided) for _ in values] for unit, values in answers.items()}, "pass or fail", None


def _moved(reference: Reference, answers: dict[UnitKey, list[Value]]) -> Estimate:
    """Mean over units of the mean distance of two answers."""
    row, _ = cluster_rows(reference.clusters(answers))
    distances = np.array([_apart(np.array(values, dtype=np.float64)) for values in answers.values()])
    table = Totals.of_columns(row, np.stack([np.ones(distances.size), distances]))
    plan, name, bounds = Plan("jackknife", None, 0.95), "mean distance of two answers", (0.0, np.inf)
    return estimate(table, column_ratio(1, 0), plan, name=name, n=distances.size, undefined=ONCE, bounds=bounds)


def _apart(values: Array) -> float:
    """Mean absolute difference of all pairs: of sorted values, each counts 2k + 1 - n times."""
    n = values.size
    return float((np.sort(values) * (2 * np.arange(n) + 1 - n)).sum() / (n * (n - 1) / 2))
