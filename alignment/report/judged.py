"""What one judge said, as far as it can be compared with people, and what judges are called in tables and plots."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from alignment.base.estimate import Estimate, Remark, remark
from alignment.judging.auc import roc_auc
from alignment.judging.threshold import Sweep, sweep
from alignment.report.evidence import Criterion, JudgeScores, UnitKey, Value
from alignment.report.reference import NO_PASSES, Reference

NO_REFERENCE = remark("no_reference")
NO_SCORES = remark("no_scores")
NONE_SCORED = remark("no_sample_scored")


Half = Literal["dev", "test"]


@dataclass(frozen=True, eq=False)
class Judged:
    """A judge beside people.

    answers_labels: the judge answers with the criterion's options instead of numbers; a label among numbers is a
    failure. labels: those, else empty. scores: numbers of the units people said something about. decided: units with
    a score and a pass or fail by people; `dev` and `test` are those on these sides.
    """

    reference: Reference
    said: JudgeScores

    @property
    def criterion(self) -> Criterion:
        return self.reference.evidence.criterion

    @cached_property
    def answers_labels(self) -> bool:
        return not self.said.numbers and bool(self.said.labels)

    @cached_property
    def labels(self) -> dict[UnitKey, Value]:
        return dict(self.said.labels) if self.answers_labels else {}

    @cached_property
    def scores(self) -> dict[UnitKey, float]:
        """Labels count as their own numbers, else as pass (1) and fail (0), else not at all."""
        numbers: Mapping[UnitKey, float] = self.said.numbers
        if self.answers_labels:
            numbers = {unit: self.score_of(value) for unit, value in self.labels.items()}
        known = self.reference.known
        return {unit: number for unit, number in numbers.items() if unit in known}

    def score_of(self, label: Value) -> float:
        """A label as a number."""
        return float(label if self.reference.mean is not None else label in self.criterion.passes)

    @cached_property
    def decided(self) -> list[UnitKey]:
        return [unit for unit in self.reference.positive if unit in self.scores]

    @cached_property
    def dev(self) -> list[UnitKey]:
        return self._on(is_dev=True)

    @cached_property
    def test(self) -> list[UnitKey]:
        return self._on(is_dev=False)

    def _on(self, *, is_dev: bool) -> list[UnitKey]:
        sides = self.reference.evidence.is_dev
        return [unit for unit in self.decided if sides.get(unit[0]) is is_dev]

    @cached_property
    def left_out(self) -> list[UnitKey]:
        """Units with a score that count as neither pass nor fail by people, since they are not settled, of dev samples
        and of those that have no side yet."""
        is_dev = self.reference.evidence.is_dev
        return sorted(unit for unit in self.reference.left_out & self.scores.keys() if is_dev.get(unit[0], True))

    def rng(self, figure: str) -> np.random.Generator:
        return self.reference.rng("align", about=(*self.said.name, figure))

    def sweep(self, units: list[UnitKey]) -> Sweep:
        scores, positive, _ = self.columns(units)
        return sweep(scores, positive, higher_is_better=self.said.higher_is_better)

    def roc_auc(self, units: list[UnitKey]) -> Estimate:
        return roc_auc(*self.columns(units), higher_is_better=self.said.higher_is_better, interval="jackknife")

    def refusal(self) -> Remark | None:
        """Why the judge can't be compared with pass and fail, or None when it can."""
        if self.reference.passing is None:
            return NO_PASSES
        if not self.reference.positive:
            return NO_REFERENCE
        return None if self.decided else NO_SCORES

    def one_class(self, units: list[UnitKey], part: Half) -> Remark | None:
        """Why the units of a half can't tell passes from fails, or None."""
        positives = sum(self.reference.positive[unit] for unit in units)
        if 0 < positives < len(units):
            return None
        if not units:
            return remark("no_score_in_part", part=part)
        if positives:
            return remark("all_positive_in_part", n=len(units), part=part)
        return remark("all_negative_in_part", n=len(units), part=part)

    def columns(self, units: list[UnitKey]) -> tuple[list[float], list[bool], list[str]]:
        return (
            [self.scores[unit] for unit in units],
            [self.reference.positive[unit] for unit in units],
            self.reference.clusters(units),
        )


def judge_titles(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each row: the judge's, with its version and dimension where the name alone would not tell."""
    often = Counter(row["judge"] for row in rows)
    titles = []
    for row in rows:
        version = "" if row["version"] == "1" else f" {row['version']}"
        dimension = f" ({row['dimension']})" if often[row["judge"]] > 1 else ""
        titles.append(f"{row['judge']}{version}{dimension}")
    return titles
