"""The library itself, which has to be installed: its metrics, and what they get as their models: our own, asked once,
their replies read strictly.

For a reply that it can't read the library would ask again, which costs money and turns a judge that fails into one that
sometimes answers. Here such a reply ends the item.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics import collections

from judges.endpoints.calls import Answered, ChatRequest, EmbedRequest, Model
from judges.kinds.base import Config, Item, NoScore, Outcome, Scored
from judges.kinds.llm.answers import NoAnswer, object_in
from judges.kinds.ragas.metrics import dimension_of, has_all, texts_of
from judges.kinds.ragas.rules import check, in_words

# Otherwise it reports to its makers what is measured.
os.environ["RAGAS_DO_NOT_TRACK"] = "true"

# The library adds up to 1e-8 to what it divides by, so that the same share of more things is a little larger: digits
# after this many mean nothing.
_DIGITS = 7


def metric_for(
    config: Config, llm: InstructorBaseRagasLLM, embeddings: BaseRagasEmbedding
) -> tuple[Any, Sequence[str]]:
    """The metric of the configuration, and what it takes of a sample by the library's names."""
    question, answer, reference, contexts = "user_input", "response", "reference", "retrieved_contexts"
    match config["metric"]:
        case "faithfulness":
            return collections.Faithfulness(llm=llm), (question, answer, contexts)
        case "answer_relevancy":
            strictness = config["strictness"]
            metric = collections.AnswerRelevancy(llm=llm, embeddings=embeddings, strictness=strictness)
            return metric, (question, answer)
        case "context_precision" if config["against"] == "answer":
            return collections.ContextPrecisionWithoutReference(llm=llm), (question, answer, contexts)
        case "context_precision":
            return collections.ContextPrecisionWithReference(llm=llm), (question, reference, contexts)
        case "context_recall":
            return collections.ContextRecall(llm=llm), (question, contexts, reference)
        case "answer_correctness":
            similarity = config["similarity_weight"]
            metric = collections.AnswerCorrectness(
                llm=llm,
                embeddings=embeddings if similarity else None,
                weights=[1.0 - similarity, similarity],
                beta=config["beta"],
            )
            return metric, (question, answer, reference)
        case "context_entity_recall":
            return collections.ContextEntityRecall(llm=llm), (reference, contexts)
        case "noise_sensitivity":
            metric = collections.NoiseSensitivity(llm=llm, mode=config["mode"])
            return metric, (question, answer, reference, contexts)
    raise ValueError(f"no metric {config['metric']!r}")


Read = TypeVar("Read", bound=BaseModel)
Asked = TypeVar("Asked", ChatRequest, EmbedRequest)


class Asking:
    """One item: its requests to our model, and the replies.

    read: every reply as the library gets it, in order. raised: the first exception of our model or of ours, whatever
    the library makes of it.
    """

    def __init__(self, config: Config, model: Model, *, repeat: int, contexts: int) -> None:
        self._config = config
        self._model = model
        # A metric that asks the same several times wants several replies; each repeat has as many of its own.
        self._alike = config.get("strictness", 1)
        self._repeat = repeat
        self._contexts = contexts
        self._prompts: dict[str, int] = {}
        self.replies: list[Answered] = []
        self.read: list[dict[str, Any]] = []
        self.raised: Exception | None = None

    def chat(self, prompt: str, form: type[Read]) -> Read:
        return self._passed_on(lambda: self._parsed(self._chat(prompt, form), form))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        request = EmbedRequest(model=self._config["embedding_model"], texts=list(texts), draw=self._repeat)
        return self._passed_on(lambda: _directions(self._answer(request, self._model.embed), len(texts)))

    def _chat(self, prompt: str, form: type[BaseModel]) -> Answered:
        times = self._prompts[prompt] = self._prompts.get(prompt, -1) + 1
        draw = self._repeat * self._alike + times % self._alike
        seed = self._config["seed"]
        request = ChatRequest(
            model=self._config["model"],
            messages=[{"role": "user", "content": prompt}],
            temperature=self._config["temperature"],
            max_tokens=self._config["max_tokens"],
            seed=None if seed is None else seed + draw,
            schema=_schema_of(form) if self._config["structured"] else None,
            draw=draw,
        )
        return self._answer(request, self._model.chat)

    def _answer(self, request: Asked, ask: Callable[[Asked], Answered]) -> Answered:
        answered = ask(request)
        self.replies.append(answered)
        return answered

    def _passed_on(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except Exception as error:
            self.raised = self.raised or error
            raise

    def _parsed(self, answered: Answered, form: type[Read]) -> Read:
        found = object_in(answered)
        try:
            read = form.model_validate(found, strict=True, extra="forbid")
        except ValidationError:
            raise NoAnswer("The reply is not the object that was asked for.") from None
        self.read.append(found)
        check(self._config["metric"], self.read, self._contexts)
        return read


class AskingModel(InstructorBaseRagasLLM):
    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def generate(self, prompt: str, response_model: type[Read]) -> Read:
        return self._asking.chat(prompt, response_model)

    async def agenerate(self, prompt: str, response_model: type[Read]) -> Read:
        return self._asking.chat(prompt, response_model)


class Embedding(BaseRagasEmbedding):
    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self._asking = asking

    def embed_text(self, text: str, **_: Any) -> list[float]:
        return self._asking.embed([text])[0]

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return self._asking.embed([text])[0]

    def embed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
        return self._asking.embed(texts)

    async def aembed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
        return self._asking.embed(texts)


@cache
def _schema_of(form: type[BaseModel]) -> dict[str, Any]:
    return _closed(form.model_json_schema())


def _closed(schema: Any) -> Any:
    """The JSON schema with every object closed, as servers want it that enforce one."""
    if isinstance(schema, dict):
        closed = {name: _closed(part) for name, part in schema.items()}
        return {**closed, "additionalProperties": False} if schema.get("type") == "object" else closed
    return [_closed(part) for part in schema] if isinstance(schema, list) else schema


def _directions(answered: Answered, count: int) -> list[list[float]]:
    """One vector per text, each with a direction: without one the library would call the texts unlike."""
    vectors = [[float(number) for number in vector] for vector in answered.vectors or ()]
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1 or lengths == {0}:
        raise NoAnswer("The embeddings are not one vector for each text.")
    if not all(math.isfinite(math.hypot(*vector)) and any(vector) for vector in vectors):
        raise NoAnswer("An embedding has no direction.")
    return vectors


class RagasScorer:
    """Asks a model (judges.kinds.base.OneByOne). Nothing is shared between items, so that threads are of no concern."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._dimension = dimension_of(config)

    def ask(self, item: Item, model: Model) -> Outcome:
        if not has_all(self._config, item.sample):
            return self._failed(item, NoScore("What the metric needs of the sample is no longer there."))
        asking = Asking(self._config, model, repeat=item.repeat, contexts=len(texts_of(item.sample)))
        trouble: Exception | None = None
        try:
            number = self._number(item, asking)
        except Exception as error:  # noqa: BLE001 - told apart below
            trouble = error
        # What our model or we raised comes first, whatever the library made of it.
        trouble = asking.raised or trouble
        if trouble is None:
            scored = Scored(item.unit, self._dimension, number=number, rationale=in_words(asking.read))
            return Outcome([scored], asking.replies)
        if isinstance(trouble, NoScore):
            return self._failed(item, trouble, asking.replies)
        if trouble is asking.raised:
            raise trouble
        return self._failed(item, NoScore(f"The RAGAS library failed ({type(trouble).__name__})."), asking.replies)

    def _number(self, item: Item, asking: Asking) -> float:
        sample = item.sample
        metric, needs = metric_for(self._config, AskingModel(asking), Embedding(asking))
        fields = {
            "user_input": sample.question,
            "response": sample.answer,
            "reference": sample.reference,
            "retrieved_contexts": texts_of(sample),
        }
        result = _at_once(metric.ascore(**{name: fields[name] for name in needs}))
        number = result.value
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise NoScore("The RAGAS library gave no number.")
        return round(float(number), _DIGITS)

    def _failed(self, item: Item, failure: NoScore, replies: Sequence[Answered] = ()) -> Outcome:
        return Outcome([failure.scored(item.unit, self._dimension)], replies)


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """What the coroutine returns. It never has to wait, since our adapters answer before they return: so no event loop
    is needed, in which Django would refuse to query the database for kept replies."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise RuntimeError("a metric waited for something that is not ours")
