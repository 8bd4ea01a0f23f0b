"""Complete configurations without a database, and a model that says what it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from annotate.models import Criterion, Sample
from judges.endpoints.calls import Answered, ChatRequest, EmbedRequest, Model
from judges.kinds.base import Item, Scored
from judges.kinds.llm import KIND
from judges.kinds.llm import config as reading
from judges.models import JudgeVersion
from tests.judges.kinds.making import sample

SUPPORT = {"key": "support", "unit": "claim", "options": [{"value": "yes"}, {"value": "no"}], "prompt": "Supported?"}


class NoProject:
    """A project without criteria, or with one."""

    def __init__(self, **criterion: Any) -> None:
        self._found = [Criterion(**criterion)] if criterion else []
        self.criteria = self

    def filter(self, **by: Any) -> NoProject:
        found = NoProject()
        found._found = [one for one in self._found if by.get("key", one.key) == one.key]
        return found

    def exclude(self, **by: Any) -> NoProject:
        found = NoProject()
        found._found = [one for one in self._found if by.get("scale") != one.scale]
        return found

    def order_by(self, *fields: str) -> NoProject:
        return self

    def values_list(self, field: str, flat: bool) -> list[Any]:
        return [getattr(one, field) for one in self._found]

    def get(self, **by: Any) -> Criterion:
        (one,) = self.filter(**by)._found
        return one

    def first(self) -> Criterion | None:
        return self._found[0] if self._found else None


def complete(config: dict[str, Any], **criterion: Any) -> dict[str, Any]:
    return reading.complete(config, NoProject(**criterion))  # type: ignore[arg-type]


def options(*values: Any, **more: Any) -> dict[str, Any]:
    """Of a judge of answers with these options."""
    criterion = {"key": "tone", "unit": "answer", "prompt": "How?", "options": [{"value": value} for value in values]}
    return complete({"criterion": "tone", "model": "m", "prompt": "How is it?\n{{answer}}", **more}, **criterion)


def numbers(low: float, high: float, **more: Any) -> dict[str, Any]:
    given = {"dimension": "tone", "unit": "answer", "model": "m", "prompt": "How is it?\n{{answer}}"}
    return complete({**given, "answer_with": "number", "min": low, "max": high, **more})


def of_claims(*values: Any, **more: Any) -> dict[str, Any]:
    """Of a judge that is asked about all claims of an answer at once."""
    criterion = {"key": "tone", "unit": "claim", "prompt": "How?", "options": [{"value": value} for value in values]}
    given = {"criterion": "tone", "model": "m", "prompt": "Which?\n{{claims}}", "per": "sample", **more}
    return complete(given, **criterion)


def told(*claims: str, **fields: Any) -> Sample:
    return sample(contexts=["Open from nine."], claims=claims or ("It opens at nine.",), **fields)


class Scripted:
    """Answers with these texts, in order, and keeps what it was asked."""

    def __init__(self, *replies: str | Answered | Callable[[ChatRequest], str]) -> None:
        self._replies = list(replies)
        self.asked: list[ChatRequest] = []

    def chat(self, request: ChatRequest) -> Answered:
        self.asked.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if callable(reply):
            reply = reply(request)
        return Answered(key="k", text=reply, finish_reason="stop") if isinstance(reply, str) else reply

    def embed(self, request: EmbedRequest) -> Answered:
        raise AssertionError("nothing is embedded here")


def said(config: dict[str, Any], model: Model, one: Sample, *, repeat: int = 0) -> Sequence[Scored]:
    """All scores of a sample."""
    with KIND.open(JudgeVersion(config=config)) as scorer:
        outcomes = [scorer.ask(Item(one, unit, repeat), model) for unit in KIND.units(config, one)]
    return [score for outcome in outcomes for score in outcome.scores]


def prompt_of(model: Scripted, number: int = -1) -> str:
    return "\n".join(message["content"] for message in model.asked[number].messages)


def values(scores: Iterable[Scored]) -> list[Any]:
    return [score.label if score.number is None else score.number for score in scores]
