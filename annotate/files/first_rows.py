"""Which row of a file was the first to say something, for millions of rows: a dictionary of keys as Python has them
takes a quarter of a kilobyte for each, this 32 to 64 bytes."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

_FEWEST_PLACES = 1 << 12


class FirstRows:
    """A hash table in arrays. A key is a sample and what is said of it; of the latter files have few, so that they are
    numbered. A row goes to the place that its key names, or to the next free one; half of the places are free."""

    def __init__(self) -> None:
        self._number_of: dict[Hashable, int] = {}
        self._count = 0
        self._make_room(_FEWEST_PLACES)

    def of(self, sample: int, said: Hashable, row: int) -> int:
        """The first row with this key: the one that is given (counted from 1), where none had it before."""
        number = self._number_of.setdefault(said, len(self._number_of))
        place = self._place(sample, number)
        if first := self._rows[place]:
            return first
        self._samples[place], self._numbers[place], self._rows[place] = sample, number, row
        self._count += 1
        if 2 * self._count > len(self._rows):
            self._grow()
        return row

    def _place(self, sample: int, number: int) -> int:
        """Where the key stands, or would."""
        rows, mask = self._rows, len(self._rows) - 1
        place = hash((sample, number)) & mask
        while rows[place] and (self._samples[place] != sample or self._numbers[place] != number):
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        before = zip(self._samples, self._numbers, self._rows, strict=True)
        self._make_room(2 * len(self._rows))
        for sample, number, row in before:
            if row:
                place = self._place(sample, number)
                self._samples[place], self._numbers[place], self._rows[place] = sample, number, row

    def _make_room(self, places: int) -> None:
        """For as many, a power of two. A row of 0 marks a free place."""
        self._samples = array("q", bytes(8 * places))
        self._numbers, self._rows = array("I", bytes(4 * places)), array("I", bytes(4 * places))
