"""Runs that check a judge with canaries: each unit clean, and once with each of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from annotate.models import Sample
from judges.canaries.rates import Reading
from judges.canaries.variants import CLEAN, NUMBERED, changed, judged_units, variants_for
from judges.core.split import drawn
from judges.kinds.base import Item, OneByOne, Scored, Size, Together
from judges.kinds.registry import kind_named
from judges.models import Run
from judges.runs.scoring import covered

# Of one sample: more of them say little more, since they stand in the same text.
MOST_UNITS = 3
# What a canary adds to a request.
_TOKENS = 40


class Canaries:
    """As judges.runs.purposes.Purpose. An ask's repeat is the number of its variant. terms: {"set", "seed"}."""

    brings_scores = False

    def __init__(self, run: Run) -> None:
        self._version = run.version
        self._config = run.version.config
        self._seed: int = run.terms["seed"]
        self._kind = kind_named(run.version.judge.kind)
        self._dimensions = list(self._kind.dimensions(self._config))
        self._best = Reading(run.version).best

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        return [
            (sample.pk, unit, number)
            for sample in samples
            for unit in self._units(sample)
            for number in [CLEAN, *(variant.number for variant in variants_for(self._config, sample))]
        ]

    def _units(self, sample: Sample) -> list[str]:
        units = list(dict.fromkeys(self._kind.units(self._config, sample)))
        order = sorted(units, key=lambda unit: drawn(self._seed, f"{sample.external_id}\x1f{unit}", "canaries"))
        chosen = set(order[:MOST_UNITS])
        return [unit for unit in units if unit in chosen]

    def size(self, sample: Sample) -> Size:
        size = self._kind.size(self._config, sample)
        return replace(size, tokens_in=size.tokens_in + _TOKENS)

    def open(self) -> AbstractContextManager[Together | OneByOne]:
        return self._kind.open(self._version)

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        return covered(self._dimensions, unit, sample)

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        """The clean one is asked as a run for scores asks it, so that its reply may be there already."""
        if repeat != CLEAN and judged_units(self._config, sample, unit):
            sample = changed(sample, self._config, unit, NUMBERED[repeat], self._best)
        return Item(sample=sample, unit=unit)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """[{"unit", "status", "value", "reason"}]; value: None unless it is ok."""
        return [
            {
                "unit": one.unit,
                "status": str(one.status),
                "value": one.number if one.label is None else str(one.label),
                "reason": one.rationale,
            }
            for one in scores
        ]


PURPOSE = Canaries
