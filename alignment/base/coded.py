"""Columns of many rows and few different values, as numbers."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Any, TypeVar, overload

import numpy as np

from alignment.base.arrays import Array, Bools, Ints, first_places, renumbered

Item_co = TypeVar("Item_co", covariant=True)
Row = TypeVar("Row")

_ROWS_AT_ONCE = 50_000


class Items(Sequence[Item_co]):
    """Very many different values, held in some other way than as a list of them."""

    @abstractmethod
    def several(self, places: Array) -> Iterator[Item_co]:
        """Those at these places."""

    @abstractmethod
    def picked(self, places: Array) -> Sequence[Item_co]:
        """The same, held in the same way where they are in order."""


class Coded(Sequence[Item_co]):
    """``items``: the different values; ``codes``: of each row the place of its value among them. Reads like a list, in
    four bytes a row.

    >>> list(Coded(["ann", "bob"], np.array([1, 0, 1])))
    ['bob', 'ann', 'bob']
    """

    __slots__ = ("codes", "items")
    __hash__ = None  # type: ignore[assignment]  # as a list

    def __init__(self, items: Sequence[Item_co], codes: Array) -> None:
        self.items, self.codes = items, codes.astype(np.int32, copy=False)

    def __len__(self) -> int:
        return int(self.codes.size)

    @overload
    def __getitem__(self, place: int) -> Item_co: ...
    @overload
    def __getitem__(self, place: slice | Array) -> "Coded[Item_co]": ...
    def __getitem__(self, place: int | slice | Array) -> "Item_co | Coded[Item_co]":
        """As of an array: of several places those rows."""
        if isinstance(place, slice | np.ndarray):
            return Coded(self.items, self.codes[place])
        return self.items[self.codes[place]]

    def __iter__(self) -> Iterator[Item_co]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            some = self.codes[start : start + _ROWS_AT_ONCE]
            items = self.items
            yield from items.several(some) if isinstance(items, Items) else map(items.__getitem__, some.tolist())

    def tolist(self) -> list[Item_co]:
        return list(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"Coded({list(self)!r})"

    def by_appearance(self) -> "Coded[Item_co]":
        """With the values that occur, in the order in which they do."""
        steps = np.diff(self.codes, prepend=-1)
        if int(steps.sum()) == len(self.items) and ((steps == 0) | (steps == 1)).all():
            return self
        used, place = renumbered(self.codes)
        order = np.argsort(first_places(place, used.size), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        if isinstance(self.items, Items):
            return Coded(self.items.picked(used[order]), rank[place])
        return Coded([self.items[code] for code in used[order].tolist()], rank[place])


def different(column: Sequence[Row]) -> Sequence[Row]:
    """Its values, each once, by appearance."""
    return column.by_appearance().items if isinstance(column, Coded) else list(dict.fromkeys(column))


def array_of(column: Sequence[Row], of: Callable[[Row], Any], kind: Any) -> Array:
    """What each row's value stands for; it is asked of values that occur."""
    if isinstance(column, Coded):
        used, place = renumbered(column.codes)
        return np.array([of(column.items[code]) for code in used.tolist()], dtype=kind)[place]
    return np.array(list(map(of, column)), dtype=kind)


def taken(column: Sequence[Row], rows: Ints) -> Sequence[Row]:
    """The rows at these places."""
    if isinstance(column, Coded):
        return column[rows]
    return [column[row] for row in rows.tolist()]


def kept(column: Sequence[Row], rows: Sequence[bool] | Bools) -> Sequence[Row]:
    """The rows of which it is true."""
    if isinstance(column, Coded):
        return column[np.array(rows, dtype=np.bool_)]
    return list(compress(column, rows))
