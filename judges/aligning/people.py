"""What people said of the units of dev that a judge is aligned on, and in which fold each lies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.scales import Value
from annotate.models import Criterion, Sample
from annotate.samples.read import samples_named
from annotate.verdicts.ratings_read import UnitKey
from judges.lab.read import OnDev, on_dev
from judges.models import Alignment


@dataclass(frozen=True, slots=True)
class Unit:
    """A settled unit. value: people's; level: its place among `Levels`. reasons: what reviewers and annotators who
    agree with it wrote, the reviewer's first."""

    sample: Sample
    unit: str
    group: str
    fold: int
    value: Value
    level: int
    reasons: Sequence[str]

    @property
    def key(self) -> UnitKey:
        return self.sample.external_id, self.unit


class Levels:
    """What judges and people are compared by: pass or fail where the criterion says what passes, else its options."""

    def __init__(self, criterion: Criterion) -> None:
        self._passes = criterion.passes
        self._options = criterion.levels
        self.count = 2 if self._passes else len(self._options)

    def of(self, value: Value) -> int:
        """Its place; `alignment.NO_ANSWER` for what is none of the options. A number is the option that it equals."""
        at = next((place for place, option in enumerate(self._options) if _same(option, value)), None)
        if at is None:
            return alignment.NO_ANSWER
        return int(self._options[at] in self._passes) if self._passes else at


def _same(option: Value, value: Value) -> bool:
    """As judges' answers are kept: options that are numbers as numbers, true and false as words."""
    if isinstance(option, bool):
        return value is option or value == str(option).lower()
    if isinstance(option, int | float):
        return isinstance(value, int | float) and not isinstance(value, bool) and value == option
    return option == value


def units_on_dev(criterion: Criterion, names: Sequence[str], folds: int, seed: int) -> list[Unit]:
    """The settled units of those of the samples that are dev, in order.

    Groups are dealt to folds, stratified by whether most of what they have passes (of options that don't pass or fail,
    by their first value); the same samples and seed give the same folds. Fewer folds where there are fewer groups.
    """
    dev = on_dev(criterion, names, reader=SYSTEM)
    evidence = dev.evidence()
    labels = alignment.report.reference_of(evidence).labels()
    levels = Levels(criterion)
    said = {unit: value for unit, value in labels.items() if levels.of(value) != alignment.NO_ANSWER}
    fold_of = _folds(evidence, {unit: levels.of(value) for unit, value in said.items()}, folds, seed)
    reasons = _reasons(dev)
    return [
        Unit(
            sample=dev.samples[sample],
            unit=unit,
            group=evidence.group_of(sample),
            fold=fold_of[evidence.group_of(sample)],
            value=value,
            level=levels.of(value),
            reasons=for_value(reasons.get((sample, unit), ()), value),
        )
        for (sample, unit), value in sorted(said.items())
    ]


def kept_units(of: Alignment) -> list[Unit]:
    """Those of an alignment as they were at its start; without those of which the sample is gone."""
    names = {name for name, *_rest in of.units}
    samples = {sample.external_id: sample for sample in samples_named(of.criterion.project, names)}
    reasons = reasons_on_dev(of.criterion, names)
    return [
        Unit(samples[name], unit, group, fold, value, level, for_value(reasons.get((name, unit), ()), value))
        for name, unit, group, fold, value, level in of.units
        if name in samples
    ]


def for_value(reasons: Iterable[tuple[Value, str]], value: Value) -> list[str]:
    """The texts alone, of those that were written for the value."""
    return [text for said, text in reasons if said == value]


def _folds(evidence: alignment.report.Evidence, level_of: dict[UnitKey, int], folds: int, seed: int) -> dict[str, int]:
    """The fold of each group."""
    said: dict[str, list[int]] = {}
    for (sample, _unit), level in sorted(level_of.items()):
        said.setdefault(evidence.group_of(sample), []).append(level)
    groups = list(said)
    strata = [max(sorted(set(levels)), key=levels.count) for levels in said.values()]
    count = max(2, min(folds, len(groups)))
    dealt = alignment.folds(groups, strata, count, alignment.seeded(seed)).tolist() if groups else []
    return dict(zip(groups, dealt, strict=True))


def reasons_on_dev(criterion: Criterion, names: Collection[str]) -> dict[UnitKey, list[tuple[Value, str]]]:
    """What was written about the units of those of the samples that are dev, with the value that it was written for."""
    return _reasons(on_dev(criterion, names, reader=SYSTEM))


def divided_units(criterion: Criterion, names: Collection[str]) -> set[UnitKey]:
    """The units of those of the samples that are dev on which people's labels differ, by pass or fail where the
    criterion has that."""
    levels = Levels(criterion)
    said: dict[UnitKey, set[int]] = {}
    for label in on_dev(criterion, names, reader=SYSTEM).labels:
        key = label.sample.external_id, label.unit
        said.setdefault(key, set()).add(levels.of(cast("Value", label.value)))
    return {key for key, values in said.items() if len(values) > 1}


def _reasons(dev: OnDev) -> dict[UnitKey, list[tuple[Value, str]]]:
    """What was written about each unit, with the value that it was written for: by the reviewer, then by annotators."""
    found: dict[UnitKey, list[tuple[Value, str]]] = {}
    for unit, verdict in dev.verdicts.items():
        if verdict.reason.strip():
            found.setdefault(unit, []).append((cast("Value", verdict.value), verdict.reason.strip()))
    for label in dev.labels:
        if label.comment.strip():
            key = label.sample.external_id, label.unit
            found.setdefault(key, []).append((cast("Value", label.value), label.comment.strip()))
    return found
