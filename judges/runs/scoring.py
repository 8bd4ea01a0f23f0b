"""Runs that score: what has no good score yet is asked about, and what comes is written down as scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from annotate.core.units import parse_unit, units_of
from annotate.models import Sample
from annotate.samples.read import of_samples
from judges.kinds.base import Item, OneByOne, Scored, Size, Together
from judges.kinds.registry import kind_named
from judges.models import Run, Score, ScoreStatus

# Of a sample: dimension, unit, repeat.
Said = set[tuple[str, str, int]]


def covered(dimensions: Iterable[tuple[str, str]], unit: str, sample: Sample) -> list[tuple[str, str]]:
    """What an ask about the unit is to bring: (dimension, unit) of every score.

    About the unit itself, in each dimension of its kind; an ask about the answer or the sample as a whole also about
    all its units of the other kinds, since nothing else asks about them.
    """
    kind, index = parse_unit(unit)
    found = [(dimension, unit) for of, dimension in dimensions if of == kind]
    if index is None:
        found += [(dimension, each) for of, dimension in dimensions if of != kind for each in units_of(sample, of)]
    return found


class Scoring:
    """As judges.runs.purposes.Purpose."""

    brings_scores = True

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kind = kind_named(run.version.judge.kind)
        self._config = run.version.config
        self._dimensions = list(self._kind.dimensions(self._config))

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        """What has no good score yet in all that it is to bring."""
        repeats = range(self._run.first_repeat, self._run.first_repeat + self._run.repeats)
        said = self._said(samples)
        found = []
        for sample in samples:
            known = said.get(sample.pk)
            for unit in dict.fromkeys(self._kind.units(self._config, sample)):
                wanted = self.wanted(unit, sample) if known else []
                for repeat in repeats:
                    if known and wanted and all((dimension, each, repeat) in known for dimension, each in wanted):
                        continue
                    found.append((sample.pk, unit, repeat))
        return found

    def _said(self, samples: Sequence[Sample]) -> dict[int, Said]:
        """The good scores that the version has for these samples."""
        run = self._run
        good = Score.objects.filter(
            version_id=run.version_id,
            dimension__in={dimension for _kind, dimension in self._dimensions},
            repeat__gte=run.first_repeat,
            repeat__lt=run.first_repeat + run.repeats,
            status=ScoreStatus.OK,
        )
        scores = of_samples(good, [sample.pk for sample in samples])
        said: dict[int, Said] = defaultdict(set)
        for sample, dimension, unit, repeat in scores.values_list("sample_id", "dimension", "unit", "repeat"):
            said[sample].add((dimension, unit, repeat))
        return said

    def size(self, sample: Sample) -> Size:
        return self._kind.size(self._config, sample)

    def open(self) -> AbstractContextManager[Together | OneByOne]:
        return self._kind.open(self._run.version)

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        return covered(self._dimensions, unit, sample)

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        return Item(sample=sample, unit=unit, repeat=repeat)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        return None


PURPOSE = Scoring
