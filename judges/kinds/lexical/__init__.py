"""Lexical judges: how many words two texts have in common. Offline, without a key, thousands per second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.core.units import units_of
from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Kind, Measured, Outcome, score_each
from judges.kinds.fields import Fields, target
from judges.kinds.lexical.measures import MEASURES
from judges.kinds.lexical.texts import Reading
from judges.models import JudgeKind, JudgeVersion

# How scripts without blanks are split (lexical.texts).
UNSPACED = ("pairs", "characters")


class LexicalKind(Kind):
    """Its configuration: {"measure", "criterion" or "dimension" and "unit", "unspaced", the measure's own options}."""

    key = JudgeKind.LEXICAL.value
    # 2: citations are no words, and malformed ones are told.
    code_version = 2

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        name = fields.choice("measure", MEASURES)
        measure = MEASURES[name]
        of = target(fields, project, measure.kinds)
        complete = {
            "measure": name,
            **of,
            "unspaced": fields.choice("unspaced", UNSPACED, default=UNSPACED[0] if measure.pairs else UNSPACED[1]),
            **measure.options(fields, of["unit"]),
        }
        fields.finish()
        return complete

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        measure = MEASURES[config["measure"]]
        return [unit for unit in units_of(sample, config["unit"]) if measure.asks(config, sample, unit)]

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[LexicalScorer]:
        yield LexicalScorer(version.config)


class LexicalScorer:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._measure = MEASURES[config["measure"]]
        self._pairs = config["unspaced"] == UNSPACED[0]

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        readings: dict[int, Reading] = {}

        def score(item: Item) -> Measured:
            reading = readings.get(item.sample.pk)
            if reading is None:
                reading = readings[item.sample.pk] = Reading(item.sample, pairs=self._pairs)
            return self._measure.score(self._config, reading, item.unit)

        return score_each(items, self._config["dimension"], score)


KIND = LexicalKind()
