"""Lexical judges: how far two texts have the same words. Offline, without a key, thousands a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.core.units import units_of
from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Outcome, Scored, Size
from judges.kinds.fields import Fields, target
from judges.kinds.lexical.measures import MEASURES
from judges.kinds.lexical.texts import NoScore, Reading
from judges.models import JudgeKind, JudgeVersion, ScoreStatus

# How scripts without blanks are taken (lexical.tokens).
UNSPACED = ("pairs", "characters")


class LexicalKind:
    """Its configuration: {"measure", "criterion" or "dimension" and "unit", "unspaced", the measure's own options}."""

    key = JudgeKind.LEXICAL.value
    code_version = 1

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

    def asks_model(self, config: Config) -> bool:
        return False

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        return [(config["unit"], config["dimension"])]

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        measure = MEASURES[config["measure"]]
        return [unit for unit in units_of(sample, config["unit"]) if measure.asks(config, sample, unit)]

    def size(self, config: Config, sample: Sample) -> Size:
        return Size(requests=0, tokens_in=0, tokens_out=0)

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
        outcomes = []
        for item in items:
            reading = readings.get(item.sample.pk)
            if reading is None:
                reading = readings[item.sample.pk] = Reading(item.sample, pairs=self._pairs)
            outcomes.append(Outcome([self._scored(reading, item.unit)]))
        return outcomes

    def _scored(self, reading: Reading, unit: str) -> Scored:
        dimension = self._config["dimension"]
        try:
            number, rationale = self._measure.score(self._config, reading, unit)
        except NoScore as why:
            return Scored(unit, dimension, ScoreStatus.ERROR, detail=why.detail)
        return Scored(unit, dimension, number=number, rationale=rationale)


KIND = LexicalKind()
