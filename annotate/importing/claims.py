"""Claims of an answer: where a given one stands in it, and how an answer without given ones is cut into sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import sentencex

from annotate.importing.languages import language_of

Claim = dict[str, Any]

_WORD = re.compile(r"\w")


def split_into_claims(answer: str) -> list[Claim]:
    """One claim per sentence, with its span in code points, without the blanks around it."""
    claims = []
    at = 0
    for sentence in sentencex.segment(language_of(answer), answer):
        start = answer.find(sentence, at)
        if start < 0:
            continue
        at = start + len(sentence)
        words = sentence.strip()
        # A line of dashes or a bullet alone claims nothing.
        if _WORD.search(words):
            begin = start + len(sentence) - len(sentence.lstrip())
            claims.append({"text": words, "start": begin, "end": begin + len(words)})
    return claims


def locate(texts: Sequence[str], answer: str) -> list[tuple[int | None, int | None]]:
    """Span of each text: its next occurrence after the one before, else its first, else none (a paraphrase)."""
    spans: list[tuple[int | None, int | None]] = []
    at = 0
    for text in texts:
        start = answer.find(text, at)
        if start < 0:
            start = answer.find(text)
        if start < 0:
            spans.append((None, None))
        else:
            at = start + len(text)
            spans.append((start, at))
    return spans


def named_claims(texts: Sequence[str], answer: str) -> list[Claim]:
    return [
        {"text": text, "start": start, "end": end}
        for text, (start, end) in zip(texts, locate(texts, answer), strict=True)
    ]
