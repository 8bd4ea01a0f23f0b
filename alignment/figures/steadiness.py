"""Whether a judge says the same when it is asked again."""

from typing import Any

import numpy as np

from alignment.arrays import Array
from alignment.columns import cluster_rows
from alignment.consistency import self_consistency
from alignment.estimate import Estimate
from alignment.figures.comparison import Comparison
from alignment.figures.evidence import UnitKey, Value
from alignment.figures.reference import NO_PASSES, Reference
from alignment.figures.seeds import generator
from alignment.interval import Plan
from alignment.threshold import decide
from alignment.totals import Totals, estimate, ratio

ONCE = "this judge was asked only once about each unit"
NO_THRESHOLD = "there is no threshold on dev to read its numbers by"


def judge_steadiness(reference: Reference, one: Comparison) -> dict[str, Any]:
    """Agreement with itself and flip rate, on pass and fail at the threshold of dev, else on its labels; and how far
    its numbers move between two answers. People play no part in it; samples of the test part stay out."""
    answers = _answers(reference, one)
    numbers = not one.labels
    evidence = reference.evidence
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
        rng = generator(evidence.seed, "steadiness", evidence.criterion.key, *one.said.name)
        units = [unit for unit, values in read.items() for _ in values]
        values = [value for values in read.values() for value in values]
        samples = [sample for sample, _ in units]
        pooled = self_consistency(units, ["judge"] * len(units), values, samples, rng=rng).pooled
        found |= {
            "basis": basis,
            "agreement": pooled.agreement.as_dict(),
            "flip_rate": pooled.flip_rate.as_dict(),
        }
    if numbers and answers:
        scores = [float(value) for values in answers.values() for value in values]
        rng = generator(evidence.seed, "moved", evidence.criterion.key, *one.said.name)
        found["moved"] = _moved(answers, rng).as_dict()
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
) -> tuple[dict[UnitKey, list[Value]], str, str | None]:
    """The answers as pass or fail or as labels; which of the two; and why they can't be read, or None."""
    passes = reference.evidence.criterion.passes
    if one.labels:
        if not passes:
            return answers, "labels", None
        return {unit: [value in passes for value in values] for unit, values in answers.items()}, "pass or fail", None
    threshold = one.row["at_threshold"]["threshold"]
    if threshold is None:
        return {}, "", NO_PASSES if reference.passing is None else NO_THRESHOLD
    numbers = np.array([value for values in answers.values() for value in values], dtype=np.float64)
    decided = iter(decide(numbers, threshold, one.said.higher_is_better).tolist())
    return {unit: [next(decided) for _ in values] for unit, values in answers.items()}, "pass or fail", None


def _moved(answers: dict[UnitKey, list[Value]], rng: np.random.Generator) -> Estimate:
    """Mean over units of the mean distance of two answers."""
    row, rows = cluster_rows([sample for sample, _ in answers])
    distances = np.array([_apart(np.array(values, dtype=np.float64)) for values in answers.values()])
    units = np.arange(distances.size)
    table = Totals(
        np.tile(row, 2),
        np.repeat([0, 1], units.size),
        np.concatenate([np.ones(units.size), distances]),
        rows,
        2,
    )

    def mean(sums: Array) -> Array:
        return ratio(sums[..., 1], sums[..., 0])

    plan = Plan("auto", rng, 0.95)
    name = "mean distance of two answers"
    return estimate(table, mean, plan, name=name, n=units.size, undefined=ONCE, bounds=(0.0, np.inf))


def _apart(values: Array) -> float:
    """Mean absolute difference of all pairs: of sorted values, each counts 2k + 1 - n times."""
    n = values.size
    return float((np.sort(values) * (2 * np.arange(n) + 1 - n)).sum() / (n * (n - 1) / 2))
