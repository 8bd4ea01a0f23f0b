"""What a word is, for everything that compares texts by their words; and the texts of a sample as words.

Words are runs of letters, marks and digits, without regard to case or width; a number with its decimals or thousands
is one word. A citation is none: the 3 of `[3]` is a place among the contexts. Chinese, Japanese, Thai, Lao, Burmese and
Khmer are written without blanks, so there a "word" is either each pair of adjacent characters (a single one where it
stands alone), or each character.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TypeVar, cast

from annotate.core.spans import without_citations
from annotate.core.units import unit_text
from annotate.models import Sample
from judges.kinds.base import NoScore
from judges.kinds.fields import SOURCES, source_texts

# Scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana, Han.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them, and which \w doesn't know: Latin, Hebrew, Arabic, the scripts of India.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0981-\u0983"
    "\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b4d\u0b82\u0bbe-\u0bcd"
    "\u0c00-\u0c04\u0c3e-\u0c4d\u0c81-\u0c83\u0cbc-\u0ccd\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf"
)
_NUMBER = "[0-9]+(?:[.,][0-9]+)+"
_ASCII = re.compile(f"{_NUMBER}|[a-z0-9]+")
_SPACED = re.compile(f"{_NUMBER}|[\\w{_MARKS}]+")
_RUN_OF_UNSPACED = re.compile(f"([{_UNSPACED}]+)")


# The same passage of a knowledge base comes with many samples. Longer texts are split each time, so that the cache
# stays within about ten megabytes.
_LONGEST_KEPT = 4_000
_KEPT = 512


def words(text: str, *, pairs: bool = True) -> Sequence[str]:
    """The words of a text, in order. pairs: whether scripts without blanks are split into pairs of characters."""
    return _kept_words(text, pairs) if len(text) <= _LONGEST_KEPT else _words(text, pairs)


def _words(text: str, pairs: bool) -> Sequence[str]:
    text = without_citations(text)
    if text.isascii():
        return _ASCII.findall(text.lower())
    # The underscore is a letter to \w.
    text = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    found: list[str] = []
    for at, part in enumerate(_RUN_OF_UNSPACED.split(text)):
        # Every second part is a run of such characters.
        if at % 2 == 0:
            found += _SPACED.findall(part)
        elif pairs and len(part) > 1:
            found += map(operator.add, part, part[1:])
        else:
            found += part
    return found


_kept_words = lru_cache(maxsize=_KEPT)(_words)


Kept = TypeVar("Kept")


class Reading:
    """A sample's texts as words. pairs: as of `words`."""

    def __init__(self, sample: Sample, *, pairs: bool) -> None:
        self.sample = sample
        self._pairs = pairs
        self._kept: dict[Hashable, object] = {}

    def unit(self, unit: str) -> Sequence[str]:
        """The words of the unit. Raises NoScore when it has none."""
        found = self.kept(("unit", unit), lambda: words(unit_text(self.sample, unit), pairs=self._pairs))
        if not found:
            raise NoScore("There is no word in what is to be scored.")
        return found

    def source(self, name: str) -> list[Sequence[str]]:
        """The words of what a unit is compared with: one list for each context, one for any other text.

        Raises NoScore when there are none.
        """
        found = self.kept(
            ("source", name), lambda: [words(text, pairs=self._pairs) for text in source_texts(self.sample, name)]
        )
        if not any(found):
            raise NoScore(f"There is no word in {SOURCES[name]}.")
        return found

    def distinct(self, name: str) -> Sequence[frozenset[str]]:
        """Like `source`, each as a set."""
        return self.kept(("distinct", name), lambda: [frozenset(one) for one in self.source(name)])

    def pooled(self, name: str) -> frozenset[str]:
        """All words of what a unit is compared with."""
        return self.kept(("pooled", name), lambda: frozenset().union(*self.source(name)))

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What is worked out once for a sample."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("Kept", self._kept[key])
