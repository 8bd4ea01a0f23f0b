"""Runs in which a judge's model proposes the claims of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.models import Sample
from annotate.samples.claims_read import claims_that_stay
from judges.endpoints.calls import Model
from judges.kinds.base import Item, Outcome, Scored, Size
from judges.kinds.llm.claims import extract_claims
from judges.kinds.llm.judging import tokens_of
from judges.models import Run

# What is said of the task, and what a reply says beside the words of the answer.
_TASK, _FORM = 500, 100
# A judge's own limit is for one verdict; claims repeat the answer, once as claims and once as quotes.
_LEAST_TOKENS = 4096


class Proposing:
    """As judges.runs.purposes.Purpose. Of each sample one ask, about its answer."""

    brings_scores = False

    def __init__(self, run: Run) -> None:
        config = run.version.config
        self._config = {
            "model": config["model"],
            "temperature": config["temperature"],
            "max_tokens": max(_LEAST_TOKENS, config["max_tokens"]),
            "seed": config["seed"],
        }

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        """Those with an answer whose claims may still change."""
        stay = claims_that_stay([sample.pk for sample in samples])
        return [(sample.pk, "answer", 0) for sample in samples if sample.answer.strip() and sample.pk not in stay]

    def size(self, sample: Sample) -> Size:
        answer = tokens_of(sample.answer)
        return Size(requests=1, tokens_in=_TASK + tokens_of(sample.question) + answer, tokens_out=_FORM + 2 * answer)

    @contextmanager
    def open(self) -> Iterator[_Asking]:
        yield _Asking(self._config)

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        return []

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        return Item(sample=sample, unit=unit)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """{"claims": [{"text", "start", "end"}], "revision": of the sample's claims then}; None when it failed."""
        return found


class _Asking:
    """As judges.kinds.base.OneByOne."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config

    def ask(self, item: Item, model: Model) -> Outcome:
        claims = extract_claims(item.sample, self._config, model)
        return Outcome([], found={"claims": claims, "revision": item.sample.claims_revision})


PURPOSE = Proposing
