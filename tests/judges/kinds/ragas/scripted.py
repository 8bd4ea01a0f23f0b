"""A model that says what a test tells it to, and the replies that the library's prompts ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from judges.endpoints.calls import Answered, ChatRequest, EmbedRequest
from judges.kinds.base import Item, Outcome
from judges.kinds.ragas import KIND, installed_version
from judges.models import JudgeVersion
from tests.judges.kinds.making import sample

# A sample that has all that any metric needs.
SAMPLE = sample(
    question="Where was Ada born?",
    answer="Ada was born in London. She had a cat.",
    reference="Ada was born in London in 1815.",
    contexts=["Ada was born in London.", "Cats like warm places."],
)
# What a metric has to be told.
TOLD: dict[str, dict[str, Any]] = {
    "answer_relevancy": {"embedding_model": "e"},
    "answer_correctness": {"embedding_model": "e"},
}


def statements(*texts: str) -> dict[str, Any]:
    return {"statements": list(texts)}


def verdicts(*given: int) -> dict[str, Any]:
    return {"statements": [{"statement": f"s{at}", "reason": f"r{at}", "verdict": one} for at, one in enumerate(given)]}


def useful(verdict: int) -> dict[str, Any]:
    return {"reason": "why", "verdict": verdict}


def attributed(*given: int) -> dict[str, Any]:
    return {"classifications": [{"statement": "s", "reason": "r", "attributed": one} for one in given]}


def asked(question: str, noncommittal: int = 0) -> dict[str, Any]:
    return {"question": question, "noncommittal": noncommittal}


def entities(*names: str) -> dict[str, Any]:
    return {"entities": list(names)}


def classes(right: int, wrong: int, missing: int) -> dict[str, Any]:
    one = {"statement": "s", "reason": "r"}
    return {"TP": [one] * right, "FP": [one] * wrong, "FN": [one] * missing}


class Scripted:
    """A Model (judges.endpoints.calls). script: a reply for each chat request: an object, a text, a whole Answered, or
    an exception to be raised. vectors: of texts, for embeddings; a script of exceptions may come first."""

    def __init__(self, *script: Any, vectors: Mapping[str, Sequence[float]] | None = None) -> None:
        self._script = list(script)
        self._vectors = vectors or {}
        self.asked: list[ChatRequest | EmbedRequest] = []

    def chat(self, request: ChatRequest) -> Answered:
        self.asked.append(request)
        reply = self._script.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, Answered):
            return reply
        return Answered(
            f"{len(self.asked)}", text=reply if isinstance(reply, str) else json.dumps(reply), finish_reason="stop"
        )

    def embed(self, request: EmbedRequest) -> Answered:
        self.asked.append(request)
        if self._script and isinstance(self._script[0], BaseException):
            raise self._script.pop(0)
        return Answered(f"{len(self.asked)}", vectors=[self._vectors[text] for text in request.texts])


def config_of(metric: str, **given: Any) -> dict[str, Any]:
    return KIND.complete({"metric": metric, "model": "m", **TOLD.get(metric, {}), **given}, None)  # type: ignore[arg-type]


def ask(metric: str, model: Any, *, repeat: int = 0, of: Any = SAMPLE, **given: Any) -> Outcome:
    assert installed_version()
    with KIND.open(JudgeVersion(config=config_of(metric, **given))) as scorer:
        return scorer.ask(Item(of, "answer", repeat), model)
