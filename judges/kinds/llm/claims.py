"""Claims of an answer as a model finds them: proposals, each placed in the answer by the words that it quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.core.units import MAX_UNITS
from annotate.models import Sample
from annotate.samples.claim_splitting import locate
from judges.endpoints.calls import CallFailed, ChatRequest, Model
from judges.kinds.llm.answers import NoAnswer, failure_of, object_schema, one_object
from judges.kinds.llm.judging import END, SYSTEM
from judges.kinds.llm.prompt import code_for, fenced
from judges.models import ScoreStatus

_LONGEST = 2000
_TASK = """\
Take an answer apart into its claims: the single statements that can each be true or false by themselves.

Go through the answer from its first word to its last. Each claim says one thing, and can be understood alone: put names
in the place of words such as "it" and "they". Leave out greetings, questions and what only announces what follows.
Add nothing that the answer doesn't say, and correct nothing, not even what is wrong. Write in the answer's language."""
_FORM = """\
Reply with exactly one JSON object and nothing else: {"claims": [{"text": …, "quote": …}, …]}
- text: the claim.
- quote: the words of the answer that make it, copied exactly, without a gap."""
_SCHEMA = object_schema(
    {
        "claims": {
            "type": "array",
            "items": object_schema({"text": {"type": "string"}, "quote": {"type": "string"}}),
        }
    }
)


def extract_claims(sample: Sample, config: Mapping[str, Any], model: Model) -> list[dict[str, Any]]:
    """The claims of the sample's answer as samples hold them: [{"text", "start", "end"}], in the order in which the
    model named them; start and end in code points of the answer, None where the quote is not in it.

    config: {"model", "temperature", "max_tokens", "seed"}, the last three as an LLM judge has them.

    Raises CallFailed, TryLater and StopRun as the model does, and CallFailed for a reply that can't be read: there is
    no claim then, rather than some of them.
    """
    reply = model.chat(_request(sample, config))
    failure = failure_of(reply)
    if failure is not None:
        raise CallFailed(*failure)
    try:
        read = _read(one_object(reply.text or ""))
    except NoAnswer as why:
        raise CallFailed(ScoreStatus.PARSE_ERROR, why.detail) from None
    spans = iter(locate([quote for _text, quote in read if quote], sample.answer))
    claims = []
    for text, quote in read:
        start, end = next(spans) if quote else (None, None)
        claims.append({"text": text, "start": start, "end": end})
    return claims


def _request(sample: Sample, config: Mapping[str, Any]) -> ChatRequest:
    code = code_for([sample.question, sample.answer])
    parts = [
        _TASK,
        f"The question that the answer was written for:\n{fenced('question', sample.question, code)}",
        f"The answer to take apart:\n{fenced('answer', sample.answer, code)}",
        END.format(code=code),
        f"The task once more:\n{_TASK}",
        _FORM,
    ]
    return ChatRequest(
        model=config["model"],
        messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}],
        temperature=config.get("temperature", 0.0),
        max_tokens=config.get("max_tokens", 2048),
        seed=config.get("seed"),
        schema=_SCHEMA,
    )


def _read(node: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(claim, quote) of each. Raises NoAnswer."""
    claims = node.get("claims")
    if node.keys() != {"claims"} or not isinstance(claims, list) or len(claims) > MAX_UNITS:
        raise NoAnswer("The reply holds no list of claims, or something else beside it.")
    read = [_claim(claim) for claim in claims]
    if len({text for text, _quote in read}) < len(read):
        raise NoAnswer("A claim comes twice in the reply.")
    return read


def _claim(claim: Any) -> tuple[str, str]:
    if not isinstance(claim, dict) or claim.keys() != {"text", "quote"}:
        raise NoAnswer("A claim's fields are not text and quote.")
    text, quote = claim["text"], claim["quote"]
    if not isinstance(text, str) or not isinstance(quote, str) or not text.strip() or len(text) > _LONGEST:
        raise NoAnswer("A claim is not a text of reasonable length.")
    return text.strip(), quote
