"""Who was asked what in an experiment, as columns, and their responses by version and question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alignment.base.arrays import Bools, Floats, Ints
from alignment.comparing.measured import MeasuredComparison, compare_measured, compare_shares


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """Who was asked what: of each response its ``version`` and ``question``, as numbers from 0, and whether the request
    ``failed`` or the answer ``abstained``; of each question its ``group``, and whether it is ``unanswerable``.

    Groups are numbered in the order in which they are drawn: ``drawn``, whether a group's responses went out to people,
    and ``closed``, whether nothing can change any more in what people say of it, have shape (groups,).
    """

    versions: Sequence[str]
    baseline: int
    version: Sequence[int]
    question: Sequence[int]
    failed: Sequence[bool]
    abstained: Sequence[bool]
    group: Sequence[int]
    unanswerable: Sequence[bool]
    drawn: Sequence[bool]
    closed: Sequence[bool]


def comparison_level(level: float, versions: int) -> float:
    """Of each comparison with the baseline, where all of them are to hold together (Bonferroni)."""
    return 1 - (1 - level) / (versions - 1)


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Responses in cells, one for each version and question; ``group`` of each question. Arrays. ``level``: of all
    comparisons together."""

    asked: Asked
    version: Ints
    cell: Ints
    failed: Bools
    group: Ints
    drawn: Bools
    level: float

    @classmethod
    def of(cls, asked: Asked, level: float) -> "Table":
        version, question = (np.asarray(each, np.int64) for each in (asked.version, asked.question))
        group = np.asarray(asked.group, np.int64)
        return cls(
            asked=asked,
            version=version,
            cell=version * group.size + question,
            failed=np.asarray(asked.failed, np.bool_),
            group=group,
            drawn=np.asarray(asked.drawn, np.bool_),
            level=level,
        )

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.asked.versions), self.group.size

    @property
    def probability(self) -> float:
        """With which chance any group was drawn."""
        return float(self.drawn.mean()) if self.drawn.any() else 1.0

    @property
    def comparison_level(self) -> float:
        return comparison_level(self.level, len(self.asked.versions))

    def mean(self, values: Floats, rows: Bools) -> Floats:
        """Of each cell, over its repeats; NaN where these have no value. Shape (versions, questions)."""
        known = rows & ~np.isnan(values)
        size = self.shape[0] * self.shape[1]
        count = np.bincount(self.cell[known], minlength=size)
        total = np.bincount(self.cell[known], weights=values[known], minlength=size)
        with np.errstate(invalid="ignore"):
            return (total / count).reshape(self.shape)

    def counts(self, rows: Bools) -> list[int]:
        """How many of these responses each version has."""
        return np.bincount(self.version[rows], minlength=self.shape[0]).tolist()

    def of_every_version(self) -> list[dict[str, Any]]:
        per_cell = np.bincount(self.cell, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)
        failed = self.counts(self.failed)
        answered = self.counts(~self.failed)
        return [
            {
                "version": name,
                "questions": int((per_cell[place] > 0).sum()),
                "answered": answered[place],
                "failed": failed[place],
                "repeats": int(per_cell[place].max(initial=0)),
            }
            for place, name in enumerate(self.asked.versions)
        ]

    def measured(self, values: Floats, *, is_share: bool) -> MeasuredComparison:
        """Versions by the means of their cells; NaN: of a response that has none of these. is_share: all values lie
        within 0 and 1."""
        cells = self.mean(values, np.ones(values.size, np.bool_))
        version, question = (~np.isnan(cells)).nonzero()
        compare = compare_shares if is_share else compare_measured
        return compare(
            version,
            self.group[question],
            cells[version, question],
            self.shape[0],
            baseline=self.asked.baseline,
            level=self.level,
            comparison_level=self.comparison_level,
        )
