"""What a judge says of responses, within 0 and 1: of each of their units, or of the response as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from annotate.core.rows import fetch_all
from annotate.core.scales import Value, normalise
from annotate.core.units import parse_unit
from annotate.models import Criterion
from annotate.samples.read import samples_named
from judges.core.scores_read import Series, load_scores
from judges.core.split import sides_of
from systems.core.graded import is_graded

# Of a unit or, at None, of a sample that has one of the kind.
Unit = tuple[int, int | None]

_SCORES = """
    SELECT sample_id, array_agg(unit), array_agg(number), array_agg(label)
      FROM judges_score
     WHERE version_id = %(version)s AND dimension = %(dimension)s AND repeat = 0 AND status = 'ok'
       AND sample_id = ANY(%(samples)s) AND (unit = %(unit)s OR starts_with(unit, %(units)s))
     GROUP BY sample_id
"""


@dataclass(frozen=True)
class Level:
    """Values of a criterion within 0 and 1: by what passes, or by where they lie among its levels."""

    criterion: Criterion

    @property
    def is_graded(self) -> bool:
        return is_graded(self.criterion)

    def ends(self) -> tuple[float, float] | None:
        """The least and the greatest level; None where they are no numbers."""
        levels = self.criterion.levels
        numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
        return (min(numbers), max(numbers)) if numbers and len(numbers) == len(levels) else None

    def of(self, value: Value) -> float:
        if not self.is_graded:
            return float(value in self.criterion.passes)
        ends = self.ends()
        if ends is None:
            levels = self.criterion.levels
            return levels.index(value) / (len(levels) - 1)
        return (float(value) - ends[0]) / (ends[1] - ends[0])


def judge_values(
    criterion: Criterion, series: Series, samples: Collection[int], positive: Mapping[tuple[str, str], bool]
) -> dict[int, dict[int | None, float]]:
    """By sample and the index of its unit. positive: what people pass and fail, for the probability that a judge's
    number stands for.

    Answers with the criterion's options count as people's. Numbers that are all 0 or 1 say what passes; other numbers
    become the probability that people pass the unit, as it is on dev. Where dev can't say that, and of grades, they are
    taken as they stand within 0 and 1, or within the ends of the scale, else within their own.
    """
    kind = "answer" if series.of_whole else criterion.unit
    rows = fetch_all(
        _SCORES,
        {
            "version": series.version.pk,
            "dimension": series.dimension,
            "samples": list(samples),
            "unit": kind,
            "units": f"{kind}:",
        },
    )
    numbers = [number for row in rows for number in row[2] if number is not None]
    as_share = _reading(criterion, series, numbers, positive)
    level = Level(criterion)

    @cache
    def of_label(text: str) -> float:
        try:
            return level.of(normalise(criterion, text))
        except Invalid:
            return math.nan

    shares = iter(as_share(numbers))
    found: dict[int, dict[int | None, float]] = {}
    for sample, units, given, labels in rows:
        found[sample] = {
            parse_unit(unit)[1]: of_label(label) if number is None else next(shares)
            for unit, number, label in zip(units, given, labels, strict=True)
        }
    return found


def _reading(
    criterion: Criterion, series: Series, numbers: Sequence[float], positive: Mapping[tuple[str, str], bool]
) -> Callable[[Sequence[float]], Sequence[float]]:
    higher = series.version.judge.higher_is_better
    level = Level(criterion)
    ends = (0.0, 1.0)
    if not series.of_whole and not level.is_graded and not set(numbers) <= {0.0, 1.0}:
        calibrator = _calibrator(criterion, series, positive)
        if calibrator is not None:
            return calibrator
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if low < 0 or high > 1:
        scale = level.ends() if level.is_graded else None
        ends = scale if scale is not None and scale[0] <= low and high <= scale[1] else (low, high)
    width = ends[1] - ends[0] or 1.0

    def scaled(values: Sequence[float]) -> list[float]:
        return [(value - ends[0] if higher else ends[1] - value) / width for value in values]

    return scaled


def _calibrator(
    criterion: Criterion, series: Series, positive: Mapping[tuple[str, str], bool]
) -> Callable[[Sequence[float]], Sequence[float]] | None:
    """From a score to the probability of a pass, fitted on dev; None where that can't be."""
    is_dev = sides_of(criterion, {sample for sample, _ in positive})
    dev = {name for name, on_dev in is_dev.items() if on_dev}
    if not dev:
        return None
    keys = list(samples_named(criterion.project, dev).values_list("pk", flat=True))
    said = load_scores(criterion, series.version, series.dimension, keys, reader=SYSTEM).numbers
    units = [unit for unit in positive if unit[0] in dev and unit in said]
    fitted: Any = alignment.fit_calibrator(
        "platt",
        [said[unit] for unit in units],
        [int(positive[unit]) for unit in units],
        higher_is_better=series.version.judge.higher_is_better,
    )
    if isinstance(fitted, alignment.NotFitted):
        return None
    return lambda values: fitted.probability(values).tolist() if values else []
