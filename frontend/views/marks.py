"""Evidence in the texts of the contexts: who marked which words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotate.verdicts.disputes_read import Said


@dataclass(frozen=True)
class Stretch:
    """A stretch of a context. letters: of everybody who marked all of it."""

    text: str
    letters: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        return " ".join(self.letters)

    @property
    def depth(self) -> int:
        """How deep its colour is: one, two, or more people."""
        return min(len(self.letters), 3)


def stretches(text: str, index: int, said: Iterable[Said]) -> list[Stretch]:
    """The context's text, cut wherever somebody's evidence begins or ends. Overlapping spans make a stretch with the
    letters of both. A span whose words don't stand there any more is left out; its quote is still with the label."""
    spans = {
        (span["start"], span["end"], one.letter)
        for one in said
        for span in one.evidence
        if span["context"] == index and text[span["start"] : span["end"]] == span["quote"]
    }
    cuts = sorted({0, len(text), *(start for start, _, _ in spans), *(end for _, end, _ in spans)})
    found = []
    for start, end in pairwise(cuts):
        letters = {letter for first, last, letter in spans if first <= start and end <= last}
        found.append(Stretch(text[start:end], _in_order(letters)))
    return found or [Stretch(text)]


def _in_order(letters: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(letters, key=lambda letter: (len(letter), letter)))


def has_marks(pieces: Sequence[Stretch]) -> bool:
    return any(piece.letters for piece in pieces)
