"""Units by number: what is said of each as arrays, which read like dictionaries by the units' names."""

from bisect import bisect_left, bisect_right
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cached_property
from typing import Any, TypeVar, cast, overload

import numpy as np

from alignment.base.arrays import Array, Bools, Ints
from alignment.base.coded import Coded
from alignment.base.ratings import encode
from alignment.report.evidence import UnitKey

Value_co = TypeVar("Value_co", covariant=True)


class Units(Sequence[UnitKey]):
    """In order, each once; a unit's number is its place."""

    def __init__(self, units: Iterable[UnitKey]) -> None:
        # Not a set: what comes in two orderly parts is sorted in one pass.
        self._units = sorted(dict.fromkeys(units))

    def __len__(self) -> int:
        return len(self._units)

    @overload
    def __getitem__(self, place: int) -> UnitKey: ...
    @overload
    def __getitem__(self, place: slice) -> list[UnitKey]: ...
    def __getitem__(self, place: int | slice) -> UnitKey | list[UnitKey]:
        return self._units[place]

    def __contains__(self, unit: object) -> bool:
        return unit in self.place

    @cached_property
    def place(self) -> dict[UnitKey, int]:
        return dict(zip(self._units, range(len(self._units)), strict=True))

    def places(self, units: Iterable[UnitKey]) -> Ints:
        """Of each of these its place, -1 of a stranger."""
        if isinstance(units, Coded):
            return units.codes.astype(np.int64) if units.items is self else self.places(units.items)[units.codes]
        if isinstance(units, ByUnit) and units.units is self:
            return units.places
        place = self.place
        return np.array([place.get(unit, -1) for unit in units], dtype=np.int64)

    def at(self, places: Ints) -> Coded[UnitKey]:
        """Those at these places."""
        return Coded(self, places)

    @cached_property
    def _of_sample(self) -> tuple[Ints, list[str]]:
        sample, samples = encode([sample for sample, _ in self._units])
        return sample, cast("list[str]", list(samples))

    @property
    def samples(self) -> list[str]:
        """Those that the units are of, in order."""
        return self._of_sample[1]

    @property
    def sample(self) -> Ints:
        """Of each unit the place of its sample among ``samples``."""
        return self._of_sample[0]

    def of_sample(self, name: str) -> slice:
        """Where the units of this sample stand."""
        first = bisect_left(self._units, (name,))  # before all of the sample
        return slice(first, bisect_right(self._units, name, lo=first, key=lambda unit: unit[0]))

    @cached_property
    def number(self) -> Ints:
        """Of each unit its number within its sample: 2 of "claim:2", 0 of a kind that a sample has once."""
        address, addresses = encode([address for _, address in self._units])
        numbers = [int(cast("str", one).partition(":")[2] or 0) for one in addresses]
        return np.array(numbers, dtype=np.int64)[address]


class ByUnit(Mapping[UnitKey, Value_co]):
    """``known``: of which units there is something; ``values``: what, of no meaning elsewhere; both of shape (units,).

    Reads like a dictionary in the order of the units, in a few bytes a unit.
    """

    __slots__ = ("__dict__", "known", "units", "values_at")

    def __init__(self, units: Units, known: Bools, values_at: Array) -> None:
        self.units, self.known, self.values_at = units, known, values_at

    @classmethod
    def of(cls, units: Units, values: Mapping[UnitKey, Value_co], kind: Any) -> "ByUnit[Value_co]":
        """What is said of these units; of others it is left out. kind: of numpy."""
        if isinstance(values, ByUnit) and values.units is units:
            return values
        places = units.places(values)
        column = np.empty(places.size, dtype=kind)
        # Item by item: numpy would take a list of lists for a table.
        column[:] = list(values.values())
        return cls.at(units, places[places >= 0], column[places >= 0])

    @classmethod
    def at(cls, units: Units, places: Ints, values: Array) -> "ByUnit[Any]":
        known, column = np.zeros(len(units), dtype=np.bool_), np.zeros(len(units), dtype=values.dtype)
        known[places], column[places] = True, values
        return cls(units, known, column)

    @cached_property
    def places(self) -> Ints:
        """Of the units of which there is something."""
        return np.flatnonzero(self.known)

    @property
    def column(self) -> Array:
        """What is said of these, in their order."""
        return self.values_at[self.places]

    def only(self, kept: Bools) -> "ByUnit[Value_co]":
        """Of the units of which it is true, as an array of shape (units,)."""
        return ByUnit(self.units, self.known & kept, self.values_at)

    def with_all(self, more: "ByUnit[Any]") -> "ByUnit[Any]":
        """What ``more`` says goes first."""
        return ByUnit(self.units, self.known | more.known, np.where(more.known, more.values_at, self.values_at))

    def __getitem__(self, unit: UnitKey) -> Value_co:
        place = self.units.place[unit]
        if not self.known[place]:
            raise KeyError(unit)
        return cast("Value_co", self.values_at[place : place + 1].tolist()[0])

    def __contains__(self, unit: object) -> bool:
        place = self.units.place.get(cast("UnitKey", unit))
        return place is not None and bool(self.known[place])

    def __iter__(self) -> Iterator[UnitKey]:
        return iter(self.units.at(self.places))

    def __len__(self) -> int:
        return self.places.size

    def values(self) -> ValuesView[Value_co]:
        return _Column(self)

    def items(self) -> ItemsView[UnitKey, Value_co]:
        return _Rows(self)


class _Column(ValuesView[Any]):
    """All at once: a look-up takes ten times as long."""

    _mapping: ByUnit[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping.column.tolist())


class _Rows(ItemsView[UnitKey, Any]):
    _mapping: ByUnit[Any]

    def __iter__(self) -> Iterator[tuple[UnitKey, Any]]:
        return zip(self._mapping, self._mapping.column.tolist(), strict=True)
