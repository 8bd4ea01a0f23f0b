"""How sure a judge is of an answer: how probable the tokens are that its value is written with, by the model's own
log-probabilities; or how often it says the same again, which is read from its repeats (judges.core.scores_read)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp

from judges.endpoints.calls import Answered
from judges.kinds.base import Scored
from judges.models import Finding, ScoreStatus

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


def with_confidence(scored: Scored, reply: Answered, path: Sequence[str]) -> Scored:
    """The score with that of its value, which stands under these names in the reply's object, or with why it has
    none."""
    if scored.status != ScoreStatus.OK:
        return scored
    found = _probability(reply, path)
    return replace(scored, finding=found) if isinstance(found, Finding) else replace(scored, confidence=found)


def _probability(reply: Answered, path: Sequence[str]) -> float | Finding:
    if reply.logprobs is None:
        return Finding.NO_LOGPROBS
    text = reply.text or ""
    begin, end = _place(text, path)
    first, last = len(text[:begin].encode()), len(text[:end].encode())
    found, start = [], 0
    for token_end, one in reply.logprobs:
        if token_end > first and start < last:
            found.append(one)
        start = token_end
    return exp(sum(found)) if found else Finding.OTHER_LOGPROBS


def _place(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Where the value's own characters begin and end, a text's without its quotes."""
    begin, end = text.index("{"), len(text)
    for name in path:
        begin, end = next((begin, end) for found, begin, end in _members(text, begin) if found == name)
    return (begin + 1, end - 1) if text[begin] == '"' else (begin, end)


def _members(text: str, begin: int) -> Iterator[tuple[str, int, int]]:
    """The name of each member of the object that begins here, and where its value begins and ends."""
    at = _after_blanks(text, begin + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _after_blanks(text, text.index(":", at) + 1)
        _value, end = _DECODER.raw_decode(text, start)
        yield name, start, end
        at = _after_blanks(text, end)
        at = _after_blanks(text, at + (text[at] == ","))


def _after_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at
