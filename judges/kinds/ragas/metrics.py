"""The metrics: what each needs of a sample, its options, and about how many requests and tokens it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.models import Sample
from judges.kinds.base import Config, Size
from judges.kinds.fields import Fields

# What contexts are compared with, and the kinds of contexts that noise sensitivity is about.
AGAINST = ("reference", "answer")
MODES = ("relevant", "irrelevant")
MOST_QUESTIONS = 10


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a metric, for an estimate.

    characters: the library's own words in it. shows: what of the sample stands in it; the last is what the reply is
    about ("against": what the configuration says). writes: how often the reply says that again, with its reasons.
    each: asked once for each context ("context") or as often as the configuration says ("strictness").
    """

    characters: int
    shows: Sequence[str]
    writes: float = 0.0
    each: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """needs: fields of a sample without which there is nothing to ask. options: reads those that only it has."""

    needs: Sequence[str]
    requests: Sequence[Request]
    options: Callable[[Fields], dict[str, Any]] | None = None


def _relevancy(fields: Fields) -> dict[str, Any]:
    return {
        "embedding_model": fields.text("embedding_model"),
        "strictness": fields.whole("strictness", default=3, low=1, high=MOST_QUESTIONS),
    }


def _precision(fields: Fields) -> dict[str, Any]:
    return {"against": fields.choice("against", AGAINST, default=AGAINST[0])}


def _correctness(fields: Fields) -> dict[str, Any]:
    similarity = fields.number("similarity_weight", default=0.25, low=0.0, high=1.0)
    beta = fields.number("beta", default=1.0, low=0.01, high=100.0)
    complete: dict[str, Any] = {"similarity_weight": similarity, "beta": beta}
    if similarity:
        complete["embedding_model"] = fields.text("embedding_model")
    else:
        # Nothing is embedded, so the model makes no difference.
        fields.raw("embedding_model")
    return complete


def _noise(fields: Fields) -> dict[str, Any]:
    return {"mode": fields.choice("mode", MODES, default=MODES[0])}


METRICS = {
    "faithfulness": Metric(
        needs=("question", "answer", "contexts"),
        requests=[
            Request(1_700, ("question", "answer"), writes=1.3),
            Request(3_100, ("contexts", "answer"), writes=2.5),
        ],
    ),
    "answer_relevancy": Metric(
        needs=("question", "answer"),
        requests=[Request(1_750, ("answer",), each="strictness")],
        options=_relevancy,
    ),
    "context_precision": Metric(
        needs=("question", "contexts", "against"),
        requests=[Request(4_050, ("question", "against", "context"), each="context")],
        options=_precision,
    ),
    "context_recall": Metric(
        needs=("question", "contexts", "reference"),
        requests=[Request(5_700, ("question", "contexts", "reference"), writes=2.5)],
    ),
    "answer_correctness": Metric(
        needs=("question", "answer", "reference"),
        requests=[
            Request(1_700, ("question", "answer"), writes=1.3),
            Request(1_700, ("question", "reference"), writes=1.3),
            Request(5_500, ("question", "answer", "reference"), writes=2.5),
        ],
        options=_correctness,
    ),
    "context_entity_recall": Metric(
        needs=("contexts", "reference"),
        requests=[Request(2_350, ("reference",)), Request(2_350, ("contexts",))],
    ),
    "noise_sensitivity": Metric(
        needs=("question", "answer", "contexts", "reference"),
        requests=[
            Request(1_650, ("question", "reference"), writes=1.3),
            Request(1_650, ("question", "answer"), writes=1.3),
            Request(2_900, ("context", "reference"), writes=2.5, each="context"),
            Request(2_900, ("context", "answer"), writes=2.5, each="context"),
            Request(2_900, ("reference", "answer"), writes=2.5),
        ],
        options=_noise,
    ),
}


def texts_of(sample: Sample) -> list[str]:
    """The contexts that aren't blank, in rank order."""
    return [context["text"] for context in sample.contexts if context["text"].strip()]


def text_of(config: Config, sample: Sample, name: str) -> str:
    """A text of the sample by its field's name, or the one that the configuration names."""
    return getattr(sample, config[name] if name == "against" else name) or ""


# Shares of the answer's claims.
OF_CLAIMS = ("faithfulness", "noise_sensitivity")


def has_all(config: Config, sample: Sample) -> bool:
    """Whether the sample has what the metric needs. A blank text is none, and an answer that abstains has no claims."""
    if sample.abstained and config["metric"] in OF_CLAIMS:
        return False
    needs = METRICS[config["metric"]].needs
    return all(texts_of(sample) if name == "contexts" else text_of(config, sample, name).strip() for name in needs)


def dimension_of(config: Config) -> str:
    """The metric's usual name: its scores are compared with the metric that people's labels of the parts add up to
    (judges.core.scores_read)."""
    if config["metric"] == "context_precision" and config["against"] == "answer":
        return "llm_context_precision_without_reference"
    return str(config["metric"])


# Tokens of a reply besides what it repeats: a verdict, a reason, a question.
_SHORT_REPLY = 60


def size_of(config: Config, sample: Sample) -> Size:
    contexts = [_tokens(text) for text in texts_of(sample)]
    shown = {"contexts": sum(contexts), "context": sum(contexts) // max(1, len(contexts))}
    often = {"": 1, "context": len(contexts), "strictness": config.get("strictness", 1)}

    def tokens(name: str) -> int:
        return shown[name] if name in shown else _tokens(text_of(config, sample, name))

    def sent(request: Request) -> int:
        return request.characters // 4 + sum(tokens(name) for name in request.shows)

    def written(request: Request) -> int:
        return min(config["max_tokens"], _SHORT_REPLY + round(request.writes * tokens(request.shows[-1])))

    requests = METRICS[config["metric"]].requests
    # The question and those generated from the answer, or the answer and the reference.
    embeds = 2 if "embedding_model" in config else 0
    return Size(
        requests=embeds + sum(often[request.each] for request in requests),
        tokens_in=sum(often[request.each] * sent(request) for request in requests)
        + embeds * _tokens(sample.answer or sample.question),
        tokens_out=sum(often[request.each] * written(request) for request in requests),
    )


def _tokens(text: str) -> int:
    """About four bytes are a token, in Chinese as in English."""
    return len(text.encode("utf-8", "replace")) // 4 + 1
