"""Claims of an answer: where a given one stands in it, and how an answer without given ones is cut into sentences.

The splitter has to know the language of a text: it tells which stops end a sentence and which words are abbreviations.
A script that (nearly) only one language uses names it; letters that only some languages of a script use tell these
apart. Languages in Latin letters are told apart by their commonest words, and only those are listed whose abbreviations
the splitter knows better than English ones ("z. B.", "Sr."); all others are split like English, which is what the
splitter falls back to as well.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import sentencex

from annotate.core.spans import without_citations

# Characters that are split at once.
_WINDOW = 10_000
# Characters from the beginning of a text that its language is read from.
_LOOKED_AT = 2_000
# First code point of a stretch of letters -> language, or "" where a stretch ends. In order.
_SCRIPTS = (
    (0x370, "el"), (0x400, "ru"), (0x530, "hy"), (0x590, "he"), (0x600, "ar"), (0x780, ""), (0x900, "hi"),
    (0x980, "bn"), (0xA00, "pa"), (0xA80, "gu"), (0xB00, "or"), (0xB80, "ta"), (0xC00, "te"), (0xC80, "kn"),
    (0xD00, "ml"), (0xD80, "si"), (0xE00, "th"), (0xE80, "lo"), (0xF00, "bo"), (0x1000, "my"), (0x10A0, "ka"),
    (0x1100, "ko"), (0x1200, "am"), (0x13A0, ""), (0x1780, "km"), (0x1800, ""), (0x3040, "ja"), (0x3100, ""),
    (0x3400, "zh"), (0xA000, ""), (0xAC00, "ko"), (0xD7B0, ""), (0xF900, "zh"), (0xFB00, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _SCRIPTS]
# A Chinese word is two letters long, a Latin one five; otherwise one product name would outweigh a sentence.
_WEIGHT = {"zh": 3, "ja": 3, "ko": 2}
_APART = {
    "ru": (("uk", re.compile("[іїєґ]", re.IGNORECASE)),),
    "ar": (("ur", re.compile("[ٹڈڑےں]")), ("fa", re.compile("[پچژگ]"))),
}
_COMMON_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to in is that for was with on are by this it be from an not which have has",
        "de": "der die das und ist nicht mit von zu den ein eine dem für auf sich wird im auch als",
        "es": "el la de que y en los las es un una por con para del se no su al como",
        "nl": "de het een en van is dat niet op te voor met zijn wordt aan ook bij uit door naar",
        "pt": "o a de que e do da em um uma para com não os as no na por mais é",
    }.items()
}
_LATIN_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """A code that the splitter understands."""
    text = text[:_LOOKED_AT]
    if text.isascii():
        return _latin(text)
    found = Counter[str]()
    for character in text:
        if character.isalpha():
            code = ord(character)
            language = "latin" if code < _STARTS[0] else _SCRIPTS[bisect_right(_STARTS, code) - 1][1]
            found[language] += _WEIGHT.get(language, 1)
    del found[""]
    language = max(found, key=lambda one: found[one], default="latin")
    if language == "latin":
        return _latin(text)
    # Japanese sentences may consist mostly of Chinese characters, but all have kana.
    if language == "zh" and found["ja"]:
        return "ja"
    return next((other for other, letters in _APART.get(language, ()) if letters.search(text)), language)


def _latin(text: str) -> str:
    words = Counter(_LATIN_WORD.findall(text.lower()))
    hits = {language: sum(words[word] for word in common) for language, common in _COMMON_WORDS.items()}
    best = max(hits, key=lambda language: hits[language])
    return best if hits[best] > hits["en"] else "en"


Claim = dict[str, Any]

_WORD = re.compile(r"\w")


def split_into_claims(answer: str) -> list[Claim]:
    return list(claims_in(answer))


def claims_in(answer: str) -> Iterator[Claim]:
    """One claim per sentence, with its span in code points, without the blanks around it."""
    for start, sentence in _sentences(answer):
        words = sentence.strip()
        # A line of dashes, a bullet or a citation alone claims nothing.
        if _WORD.search(without_citations(words)):
            begin = start + len(sentence) - len(sentence.lstrip())
            yield {"text": words, "start": begin, "end": begin + len(words)}


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence with where it begins. A long text is split window by window, as the splitter's time grows with the
    square of it; the last sentence of a window may go on behind it, so the next window begins with it."""
    language = language_of(text)
    begin, width = 0, _WINDOW
    while begin < len(text):
        window = text[begin : begin + width]
        is_last = begin + width >= len(text)
        found: list[tuple[int, str]] = []
        at = 0
        for sentence in sentencex.segment(language, window):
            start = window.find(sentence, at)
            if start >= 0:
                at = start + len(sentence)
                found.append((begin + start, sentence))
        if is_last:
            yield from found
            return
        if len(found) < 2:
            width *= 2
            continue
        yield from found[:-1]
        begin, width = found[-1][0], _WINDOW


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
