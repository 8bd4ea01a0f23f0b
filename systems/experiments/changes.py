"""The questions of an experiment by how far a version's answers are from the baseline's, as people see them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import alignment
from annotate.core.blindness import Reader
from systems.experiments.evidence import evidence_of
from systems.experiments.read import require_shown
from systems.models import Experiment, ExperimentRule


@dataclass(frozen=True, slots=True)
class Change:
    """question: its primary key. before, after: the mean over repeats of the baseline and of the version; None where
    people have not settled it. gain: how much better the version is, None where either is not known."""

    question: int
    before: float | None
    after: float | None
    gain: float | None


def changes_of(
    experiment: Experiment, rule: ExperimentRule, *, metric: str, version: str, reader: Reader
) -> list[Change]:
    """Of one metric: the greatest losses first, and last what is not known. People's values and what was measured; a
    judge's are none. Raises LookupError for a metric or a version that is not compared, and as `require_shown`."""
    require_shown(experiment, reader=reader)
    said = next((one for one in rule.metrics if one["name"] == metric), None)
    if said is None:
        raise LookupError(metric)
    by_people = {name: value for name, value in said.items() if name != "judge"}
    alone = ExperimentRule(metrics=[by_people], primary=metric, margin=0.0, guards=[], level=rule.level)
    evidence = evidence_of(experiment, alone)
    asked, (found,) = evidence.asked, evidence.metrics
    candidate = list(asked.versions).index(version)
    values: dict[tuple[int, int], list[float]] = defaultdict(list)
    for of_version, question, value in zip(asked.version, asked.question, _values(found), strict=True):
        values[of_version, question].append(value)
    questions = list(evidence.found.groups)
    sign = 1 if found.higher_is_better else -1
    changes = []
    for place, question in enumerate(questions):
        before, after = (_mean(values.get((one, place), [])) for one in (asked.baseline, candidate))
        gain = None if before is None or after is None else sign * (after - before)
        changes.append(Change(question, before, after, gain))
    return sorted(changes, key=lambda one: (one.gain is None, one.gain or 0.0, one.question))


def _values(found: alignment.Quality | alignment.Measured) -> Sequence[float]:
    """NaN where people have not settled it: it still lies between bounds, or did not go out to them."""
    if isinstance(found, alignment.Measured):
        return found.value
    pairs = zip(found.least, found.most, strict=True)
    return [least if least == most else math.nan for least, most in pairs]


def _mean(values: list[float]) -> float | None:
    """None where any is not known."""
    if not values or any(map(math.isnan, values)):
        return None
    return sum(values) / len(values)
