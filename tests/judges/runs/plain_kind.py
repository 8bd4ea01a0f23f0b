"""A kind of judge for tests of running: asks a model what a unit is worth, in as many requests as it is told to.

It stands in for another kind: in tests by the fixture `plain`, in a worker that includes `plain_in_worker`.

Its configuration: {"model": …, "unit": kind of unit, "requests": how many per item, "poison": the question at which
the process is killed}. With {"alone": true} it asks no model, and gives every unit 1.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.core.units import unit_text, units_of
from annotate.models import Project, Sample
from judges.endpoints.calls import ChatRequest, Model
from judges.kinds.base import Config, Item, Kind, Outcome, Scored, Size
from judges.models import JudgeKind, JudgeVersion, ScoreStatus

NAME = JudgeKind.NLI.value


class PlainKind(Kind):
    key = NAME
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        return {"model": "plain", "unit": "claim", "requests": 1, "poison": None, "alone": False, **config}

    def asks_model(self, config: Config) -> bool:
        return not config["alone"]

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        return [(config["unit"], "worth")]

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        return units_of(sample, config["unit"])

    def size(self, config: Config, sample: Sample) -> Size:
        return Size(requests=config["requests"], tokens_in=100, tokens_out=10)

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[PlainScorer]:
        yield PlainScorer(version.config)


class PlainScorer:
    def __init__(self, config: Config) -> None:
        self._config = config

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        for item in items:
            self._die_of(item)
        return [Outcome([Scored(item.unit, "worth", number=1.0)]) for item in items]

    def ask(self, item: Item, model: Model) -> Outcome:
        self._die_of(item)
        replies = []
        for number in range(self._config["requests"]):
            question = f"{number} of {item.sample.external_id} {item.unit}: {unit_text(item.sample, item.unit)}"
            replies.append(
                model.chat(
                    ChatRequest(
                        model=self._config["model"],
                        messages=[{"role": "user", "content": question}],
                        max_tokens=10,
                        draw=item.repeat,
                    )
                )
            )
        said = replies[-1].text or ""
        try:
            return Outcome([Scored(item.unit, "worth", number=float(said))], replies)
        except ValueError:
            bad = Scored(item.unit, "worth", ScoreStatus.PARSE_ERROR, detail="The reply is no number.")
            return Outcome([bad], replies)

    def _die_of(self, item: Item) -> None:
        if item.sample.question == self._config["poison"]:
            os.kill(os.getpid(), signal.SIGKILL)


KIND = PlainKind()
