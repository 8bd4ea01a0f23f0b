"""Whether a rule quotes a text, however it is written: in other letters' case or width, with other marks or spaces."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

# So many words in a row that a text has as well are quoted from it.
WORDS = 8
# Within a word, which a sentence is in languages written without spaces: characters in a row.
CHARACTERS = 16
# A shorter text is quoted where it stands in a rule as a whole, if it says something: so many words or characters.
_SHORT_WORDS, _SHORT_CHARACTERS = 5, 10

_WORD = re.compile(r"[^\W_]+")
# Of scripts that have no spaces between words; what stands between two of their characters is layout.
_APART = re.compile(r"(?<=[\u2e80-\uffff]) (?=[\u2e80-\uffff])")


class Quotes:
    """Of these rules those that quote a text. besides: a text of which they may hold everything."""

    def __init__(self, rules: Iterable[str], besides: str = "") -> None:
        known = _words(besides)
        self._besides = "".join(known)
        may_hold = _pieces(known)
        self._pieces: dict[str, set[str]] = {}
        self._firsts: set[str] = set()
        self._whole: list[tuple[str, str]] = []
        for rule in rules:
            words = _words(rule)
            self._whole.append(("".join(words), rule))
            self._firsts.update(words[: max(0, len(words) - WORDS + 1)])
            for piece in _pieces(words) - may_hold:
                self._pieces.setdefault(piece, set()).add(rule)

    def of(self, text: str) -> set[str]:
        words, found = _words(text), set[str]()
        for piece in (*_rows(words, self._firsts), *(piece for word in words for piece in _within(word))):
            found |= self._pieces.get(piece, set())
        if len(words) < WORDS and (len(words) >= _SHORT_WORDS or _is_short_sentence(words)):
            whole = "".join(words)
            if whole not in self._besides:
                found |= {rule for squeezed, rule in self._whole if whole in squeezed}
        return found


def _pieces(words: list[str]) -> set[str]:
    return {*_rows(words), *(piece for word in words for piece in _within(word))}


def _is_short_sentence(words: list[str]) -> bool:
    return any(_SHORT_CHARACTERS <= len(word) < CHARACTERS and word[0] > "\u2e7f" for word in words)


def _rows(words: list[str], firsts: set[str] | None = None) -> Iterator[str]:
    """Words in a row. firsts: those that a row may begin with."""
    for at in range(len(words) - WORDS + 1):
        if firsts is None or words[at] in firsts:
            yield " ".join(words[at : at + WORDS])


def _within(word: str) -> Iterator[str]:
    for at in range(len(word) - CHARACTERS + 1):
        yield word[at : at + CHARACTERS]


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).translate(_unseen()))
    joined = " ".join(_WORD.findall(text.casefold()))
    return (joined if joined.isascii() else _APART.sub("", joined)).split()


@cache
def _unseen() -> dict[int, None]:
    """Accents, which one may leave out, and what has no width."""
    marks = ("Mn", "Me", "Cf")
    return dict.fromkeys(code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in marks)
