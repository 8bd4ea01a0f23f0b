"""The texts of a sample as words, each read once however many of its units are scored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar, cast

from annotate.core.units import unit_text
from annotate.models import Sample
from judges.kinds.lexical.tokens import words
from judges.kinds.sources import SOURCES, source_texts

Kept = TypeVar("Kept")


class NoScore(Exception):
    """There is nothing to measure. `detail`: why, in our words."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Reading:
    def __init__(self, sample: Sample, *, pairs: bool) -> None:
        self.sample = sample
        self._pairs = pairs
        self._units: dict[str, Sequence[str]] = {}
        self._lists: dict[str, list[Sequence[str]]] = {}
        self._sets: dict[str, list[frozenset[str]]] = {}
        self._kept: dict[Hashable, object] = {}

    def words(self, text: str) -> Sequence[str]:
        return words(text, pairs=self._pairs)

    def unit(self, unit: str) -> Sequence[str]:
        """The words of the unit. Raises NoScore when it has none."""
        if unit not in self._units:
            self._units[unit] = self.words(unit_text(self.sample, unit))
        found = self._units[unit]
        if not found:
            raise NoScore("There is no word in what is to be scored.")
        return found

    def source(self, name: str) -> list[Sequence[str]]:
        """The words of what a unit is held against: one list for each context, one for any other text.

        Raises NoScore when there are none.
        """
        if name not in self._lists:
            self._lists[name] = [self.words(text) for text in source_texts(self.sample, name)]
        found = self._lists[name]
        if not any(found):
            raise NoScore(f"There is no word in {SOURCES[name]}.")
        return found

    def distinct(self, name: str) -> Sequence[frozenset[str]]:
        """Like `source`, each as a set."""
        if name not in self._sets:
            self._sets[name] = [frozenset(one) for one in self.source(name)]
        return self._sets[name]

    def pooled(self, name: str) -> frozenset[str]:
        """All words of what a unit is held against."""
        key = f"all {name}"
        if key not in self._sets:
            self._sets[key] = [frozenset().union(*self.source(name))]
        return self._sets[key][0]

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What a measure works out once for a sample."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("Kept", self._kept[key])
