"""About how much an item costs, before anything is asked."""

from __future__ import annotations

from annotate.models import Sample
from judges.kinds.base import Config, Size
from judges.kinds.ragas.metrics import METRICS, Request, text_of, texts_of

# What a reply has beside what it says again: a verdict, a reason, a question.
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
    # The question and what was asked in its place, or the answer and the reference.
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
