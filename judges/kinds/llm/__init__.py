"""LLM judges: a prompt about one unit, or all of a sample's, to an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.core.units import units_of, whole_unit
from annotate.models import Project, Sample
from judges.kinds.base import Config, Kind, Size
from judges.kinds.llm.config import complete
from judges.kinds.llm.examples import example_samples
from judges.kinds.llm.judging import Judging, size_of
from judges.kinds.llm.prompt import PER_SAMPLE, can_be_shown
from judges.kinds.llm.templates import builtin_templates
from judges.models import JudgeKind, JudgeVersion

__all__ = ["KIND", "LLMKind", "builtin_templates", "example_samples"]


class LLMKind(Kind):
    """Its configuration: docs/judges.md."""

    key = JudgeKind.LLM.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        return complete(config, project)

    def asks_model(self, config: Config) -> bool:
        return True

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        """One item for each unit, or one for all of them. None for a sample that is an example of the judge's prompt,
        or that has nothing for one of its variables."""
        if sample.external_id in example_samples(config):
            return []
        units = units_of(sample, config["unit"])
        if not units or not can_be_shown(config, sample):
            return []
        return [whole_unit(sample)] if config["per"] == PER_SAMPLE else units

    def size(self, config: Config, sample: Sample) -> Size:
        return size_of(config, sample)

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[Judging]:
        yield Judging(version.config)


KIND = LLMKind()
