"""What was changed of a text, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["same", "del", "ins"]

# A word with the blanks behind it, so that what is struck out reads as words; of scripts that are written without
# blanks one character is a word.
_WORDS = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿]|[^\W぀-ヿ㐀-䶿一-鿿豈-﫿]+\s*|\s+|[^\w\s]\s*")
_IS_WORD = re.compile(r"\w")
# Comparing takes about their product: beyond this, texts that differ in most places are shown one after the other.
_MOST_PAIRS = 4_000_000


def word_changes(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    """Stretches of both texts, in order: without the added ones they are `before`, without the removed ones `after`."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    yield from _stretch("same", old[:head])
    removed: list[str] = []
    added: list[str] = []
    for is_same, here, there in _matched(old[head : len(old) - tail], new[head : len(new) - tail]):
        if is_same and any(map(_IS_WORD.search, here)):
            yield from (*_stretch("del", removed), *_stretch("ins", added), *_stretch("same", here))
            removed, added = [], []
        else:
            # A comma that both have doesn't hold a rewritten sentence together.
            removed, added = removed + here, added + there
    yield from (*_stretch("del", removed), *_stretch("ins", added), *_stretch("same", old[len(old) - tail :]))


def _matched(old: list[str], new: list[str]) -> Iterator[tuple[bool, list[str], list[str]]]:
    if len(old) * len(new) > _MOST_PAIRS:
        yield False, old, new
        return
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield tag == "equal", old[a:b], new[c:d]


def _stretch(kind: Kind, words: list[str]) -> Iterator[tuple[Kind, str]]:
    if words:
        yield kind, "".join(words)


def _common(one: list[str], other: list[str]) -> int:
    """How many words at the beginning are the same."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
