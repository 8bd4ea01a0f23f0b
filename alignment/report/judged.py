"""What one judge said, as far as it can be compared with people, and what judges are called in tables and plots."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from alignment.base.arrays import Bools, Floats, Ints
from alignment.base.coded import Coded
from alignment.base.estimate import Estimate, Remark, remark
from alignment.judging.auc import roc_auc
from alignment.judging.threshold import Sweep, sweep
from alignment.report.evidence import Criterion, JudgeScores, Value
from alignment.report.reference import DEV, NO_PASSES, TEST, Reference
from alignment.report.units import ByUnit, UnitKey, by_unit

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
    def labels(self) -> ByUnit[Value]:
        return by_unit(self.said.labels if self.answers_labels else {}, object)

    @cached_property
    def scores(self) -> ByUnit[float]:
        """Labels count as their own numbers, else as pass (1) and fail (0), else not at all."""
        numbers: Mapping[UnitKey, float] = self.said.numbers
        if self.answers_labels:
            numbers = self.labels.read_as(self.score_of, np.float64)
        return ByUnit.of(self.reference.units, numbers, np.float64)

    @cached_property
    def passing(self) -> ByUnit[bool]:
        """Whether each of the labels passes, of the units people said something about."""
        passes = self.labels.read_as(self.criterion.passes.__contains__, np.bool_)
        return ByUnit.of(self.reference.units, passes, np.bool_)

    def score_of(self, label: Value) -> float:
        """A label as a number."""
        return float(label if self.reference.mean is not None else label in self.criterion.passes)

    @cached_property
    def decided(self) -> Coded[UnitKey]:
        return self._where(self._is_decided)

    @cached_property
    def dev(self) -> Coded[UnitKey]:
        return self._where(self._is_decided & (self.reference.side == DEV))

    @cached_property
    def test(self) -> Coded[UnitKey]:
        return self._where(self._is_decided & (self.reference.side == TEST))

    @property
    def _is_decided(self) -> Bools:
        return self.reference.positive.known & self.scores.known

    def _where(self, kept: Bools) -> Coded[UnitKey]:
        return self.reference.units.at(np.flatnonzero(kept))

    @cached_property
    def left_out(self) -> Coded[UnitKey]:
        """Units with a score that count as neither pass nor fail by people, since they are not settled, of dev samples
        and of those that have no side yet."""
        return self._where(self.reference.left_out & self.scores.known & (self.reference.side != TEST))

    def rng(self, figure: str) -> np.random.Generator:
        return self.reference.rng("align", about=(*self.said.name, figure))

    def sweep(self, units: Sequence[UnitKey]) -> Sweep:
        scores, positive, _ = self.columns(units)
        return sweep(scores, positive, higher_is_better=self.said.higher_is_better)

    def roc_auc(self, units: Sequence[UnitKey]) -> Estimate:
        return roc_auc(*self.columns(units), higher_is_better=self.said.higher_is_better, interval="jackknife")

    def refusal(self) -> Remark | None:
        """Why the judge can't be compared with pass and fail, or None when it can."""
        if self.reference.passing is None:
            return NO_PASSES
        if not self.reference.positive:
            return NO_REFERENCE
        return None if self.decided else NO_SCORES

    def one_class(self, units: Sequence[UnitKey], part: Half) -> Remark | None:
        """Why the units of a half can't tell passes from fails, or None."""
        positives = int(self.columns(units)[1].sum())
        if 0 < positives < len(units):
            return None
        if not units:
            return remark("no_score_in_part", part=part)
        if positives:
            return remark("all_positive_in_part", n=len(units), part=part)
        return remark("all_negative_in_part", n=len(units), part=part)

    def columns(self, units: Sequence[UnitKey]) -> tuple[Floats, Bools, Ints]:
        """Score, pass or fail by people, and group."""
        places, reference = self.reference.units.places(units), self.reference
        return self.scores.values_at[places], reference.positive.values_at[places], reference.group[places]


def judge_titles(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each row: the judge's, with its version and dimension where the name alone would not tell."""
    often = Counter(row["judge"] for row in rows)
    titles = []
    for row in rows:
        version = "" if row["version"] == "1" else f" {row['version']}"
        dimension = f" ({row['dimension']})" if often[row["judge"]] > 1 else ""
        titles.append(f"{row['judge']}{version}{dimension}")
    return titles
