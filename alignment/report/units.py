"""Units by number: what is said of each as arrays, which read like dictionaries by the units' names."""

from bisect import bisect_left
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cached_property
from itertools import islice
from operator import eq, lt
from typing import Any, TypeVar, cast, overload

import numpy as np

from alignment.base.arrays import Array, Bools, Ints, renumbered
from alignment.base.coded import Coded, Items, array_of, different
from alignment.base.ratings import encode

# A unit: its sample's own id, which is the same in every installation, and the address within the sample.
UnitKey = tuple[str, str]
Value_co = TypeVar("Value_co", covariant=True)

# From one in so many names on it is faster to make a dictionary of all than to look each up in their order.
_MANY = 20


class Units(Items[UnitKey]):
    """In order, each once; a unit's number is its place. Held as numbers: a million tuples take a hundred megabytes.

    samples, addresses: those that the units have, in order. key: of each unit the place of its sample, times the number
    of addresses, and the place of its address.
    """

    # Units of another object that were looked up last, and their places: each figure on a judge asks for the same ones.
    _looked_up: "tuple[Units, Ints] | None" = None

    def __init__(self, samples: Sequence[str], addresses: Sequence[str], key: Ints) -> None:
        self.samples, self.addresses, self._key = samples, addresses, key

    @classmethod
    def coded(cls, samples: Sequence[str], sample: Ints, addresses: Sequence[str], address: Ints) -> "Coded[UnitKey]":
        """Rows about units, by the units' numbers. samples, addresses: each once; sample, address: of each row the
        place of its own among them."""
        samples, sample = _in_order(samples, sample)
        addresses, address = _in_order(addresses, address)
        key, place = renumbered(sample * len(addresses) + address)
        return Coded(cls(samples, addresses, key), place)

    @classmethod
    def of(cls, units: Iterable[UnitKey]) -> "Units":
        """The same object, where these are all of one."""
        if isinstance(units, Units):
            return units
        if isinstance(units, ByUnit) and units.known.all():
            return units.units
        if isinstance(units, Coded):
            return cls.of(different(units))
        found = cls.coded(*parts_of(units)).items
        assert isinstance(found, Units)
        return found

    def __len__(self) -> int:
        return self._key.size

    @overload
    def __getitem__(self, place: int) -> UnitKey: ...
    @overload
    def __getitem__(self, place: slice) -> list[UnitKey]: ...
    def __getitem__(self, place: int | slice) -> UnitKey | list[UnitKey]:
        if isinstance(place, slice):
            return list(self.several(np.arange(len(self))[place]))
        sample, address = divmod(int(self._key[place]), len(self.addresses))
        return self.samples[sample], self.addresses[address]

    def __iter__(self) -> Iterator[UnitKey]:
        return iter(self.at(np.arange(len(self))))

    def several(self, places: Ints) -> Iterator[UnitKey]:
        sample, address = np.divmod(self._key[places], max(1, len(self.addresses)))
        return zip(
            map(self.samples.__getitem__, sample.tolist()),
            map(self.addresses.__getitem__, address.tolist()),
            strict=True,
        )

    def place(self, unit: object) -> int:
        """-1 of a stranger."""
        if not (isinstance(unit, tuple) and len(unit) == 2):
            return -1
        sample, address = _place(self.samples, unit[0]), _place(self.addresses, unit[1])
        if sample < 0 or address < 0:
            return -1
        return _place(self._key, sample * len(self.addresses) + address)

    def __contains__(self, unit: object) -> bool:
        return self.place(unit) >= 0

    def places(self, units: Iterable[UnitKey]) -> Ints:
        """Of each of these its place, -1 of a stranger."""
        if isinstance(units, Coded):
            return self.places(units.items)[units.codes]
        if isinstance(units, ByUnit):
            return self.places(units.units)[units.places]
        if units is self:
            return np.arange(len(self))
        if not isinstance(units, Units):
            return self._found(units)
        if self._looked_up is None or self._looked_up[0] is not units:
            found = self._found(units)
            found.flags.writeable = False
            self._looked_up = units, found
        return self._looked_up[1]

    def _found(self, units: Iterable[UnitKey]) -> Ints:
        if not len(self):
            return np.full(sum(1 for _ in units), -1)
        samples, sample, addresses, address = parts_of(units)
        sample, address = _among(self.samples, samples)[sample], _among(self.addresses, addresses)[address]
        key = sample * len(self.addresses) + address
        if np.array_equal(key, self._key):
            return np.arange(len(self))
        place = np.minimum(np.searchsorted(self._key, key), len(self) - 1)
        return np.where((sample >= 0) & (address >= 0) & (self._key[place] == key), place, -1)

    def at(self, places: Ints) -> Coded[UnitKey]:
        """Those at these places."""
        return Coded(self, places)

    @cached_property
    def sample(self) -> Ints:
        """Of each unit the place of its sample among ``samples``."""
        return self._key // max(1, len(self.addresses))

    @property
    def address(self) -> Ints:
        """Of each unit the place of its address among ``addresses``."""
        return self._key % max(1, len(self.addresses))

    def picked(self, places: Ints) -> "Sequence[UnitKey]":
        if not (places[1:] > places[:-1]).all():
            return list(self.several(places))
        return Units.coded(self.samples, self.sample[places], self.addresses, self.address[places]).items

    def of_sample(self, name: str) -> slice:
        """Where the units of this sample stand."""
        sample = _place(self.samples, name)
        if sample < 0:
            return slice(0, 0)
        ends = np.array([sample, sample + 1]) * len(self.addresses)
        return slice(*np.searchsorted(self._key, ends).tolist())

    @cached_property
    def number(self) -> Ints:
        """Of each unit its number within its sample: 2 of "claim:2", 0 of a kind that a sample has once."""
        numbers = [int(address.partition(":")[2] or 0) for address in self.addresses]
        return np.array(numbers, dtype=np.int64)[self.address]

    def with_all(self, more: Iterable[UnitKey]) -> "Units":
        """Those of either."""
        if isinstance(more, ByUnit) and more.units is self:
            return self
        others = Units.of(more)
        if not len(self) or not (others.places(self) < 0).any():
            return others
        if not (self.places(others) < 0).any():
            return self
        samples, addresses = sorted({*self.samples, *others.samples}), sorted({*self.addresses, *others.addresses})
        sample = [_among(samples, one.samples)[one.sample] for one in (self, others)]
        address = [_among(addresses, one.addresses)[one.address] for one in (self, others)]
        return Units.of(Units.coded(samples, np.concatenate(sample), addresses, np.concatenate(address)))


def parts_of(units: Iterable[UnitKey]) -> tuple[Sequence[str], Ints, Sequence[str], Ints]:
    """The different samples and addresses of these units, and of each the places of its own among them."""
    if isinstance(units, Units):
        return units.samples, units.sample, units.addresses, units.address
    if isinstance(units, Coded):
        samples, sample, addresses, address = parts_of(units.items)
        return samples, sample[units.codes], addresses, address[units.codes]
    if isinstance(units, ByUnit):
        return parts_of(units.units.at(units.places))
    rows = list(units)
    (sample, of), (address, at) = encode([name for name, _ in rows]), encode([name for _, name in rows])
    return cast("Sequence[str]", of), sample, cast("Sequence[str]", at), address


def _in_order(names: Sequence[str], codes: Ints) -> tuple[list[str], Ints]:
    """Those that occur, and the codes in their order."""
    present, code = renumbered(codes)
    used = names if present.size == len(names) else [names[place] for place in present.tolist()]
    if all(map(lt, used, islice(used, 1, None))):
        return list(used), code
    order = sorted(range(len(used)), key=used.__getitem__)
    return [used[place] for place in order], np.argsort(order)[code]


def _place(ordered: Sequence[Any] | Ints, wanted: Any) -> int:
    """-1: it isn't there."""
    at = bisect_left(ordered, wanted)
    return at if at < len(ordered) and ordered[at] == wanted else -1


def _among(ordered: Sequence[str], names: Sequence[str]) -> Ints:
    """Of each name its place there, -1 of a stranger."""
    if names is ordered or (len(names) == len(ordered) and all(map(eq, names, ordered))):
        return np.arange(len(names))
    if _MANY * len(names) > len(ordered):
        place_of = {name: place for place, name in enumerate(ordered)}
        return np.array([place_of.get(name, -1) for name in names], dtype=np.int64)
    return np.array([_place(ordered, name) for name in names], dtype=np.int64)


class ByUnit(Mapping[UnitKey, Value_co]):
    """``known``: of which units there is something; ``values_at``: what, of no meaning elsewhere; both of shape
    (units,). Numbers are an array, all else is coded.

    Reads like a dictionary in the order of the units, in a few bytes a unit.
    """

    __slots__ = ("__dict__", "known", "units", "values_at")

    values_at: Any

    def __init__(self, units: Units, known: Bools, values_at: Array | Coded[Any]) -> None:
        self.units, self.known, self.values_at = units, known, values_at

    @classmethod
    def of(cls, units: Units, values: Mapping[UnitKey, Value_co], kind: Any) -> "ByUnit[Value_co]":
        """What is said of these units; of others it is left out. kind: of numpy."""
        if isinstance(values, ByUnit):
            if values.units is units:
                return values
            column = values.column
        elif kind is object:
            column = _coded(values.values())
        else:
            column = np.array(list(values.values()), dtype=kind)
        places = units.places(values)
        return cls.at(units, places[places >= 0], column[places >= 0])

    @classmethod
    def at(cls, units: Units, places: Ints, values: Array | Sequence[Any]) -> "ByUnit[Any]":
        if not isinstance(values, Coded | np.ndarray):
            values = _coded(values)
        known = np.zeros(len(units), dtype=np.bool_)
        known[places] = True
        if isinstance(values, Coded):
            codes = np.zeros(len(units), dtype=np.int32)
            codes[places] = values.codes
            return cls(units, known, Coded(values.items, codes))
        column = np.zeros(len(units), dtype=values.dtype)
        column[places] = values
        return cls(units, known, column)

    @classmethod
    def of_rows(cls, units: Coded[UnitKey], values: Array | Sequence[Any]) -> "ByUnit[Any]":
        """Of these rows, each of another unit; on units of its own."""
        names = Units.of(units)
        return cls.at(names, names.places(units), values)

    @cached_property
    def places(self) -> Ints:
        """Of the units of which there is something."""
        return np.flatnonzero(self.known)

    @property
    def column(self) -> Any:
        """What is said of these, in their order."""
        return self.values_at[self.places]

    def only(self, kept: Bools) -> "ByUnit[Value_co]":
        """Of the units of which it is true, as an array of shape (units,)."""
        return ByUnit(self.units, self.known & kept, self.values_at)

    def read_as(self, of: Callable[[Value_co], Any], kind: Any) -> "ByUnit[Any]":
        """What each value stands for. kind: of numpy."""
        return ByUnit.at(self.units, self.places, array_of(self.column, of, kind))

    def with_all(self, more: "ByUnit[Any]") -> "ByUnit[Any]":
        """What ``more`` says goes first. Of the same units."""
        known, first, second = self.known | more.known, more.values_at, self.values_at
        if not isinstance(first, Coded) or not isinstance(second, Coded):
            return ByUnit(self.units, known, np.where(more.known, first, second))
        both = _coded([*first.items, *second.items])
        of_first, of_second = np.split(both.codes, [len(first.items)])
        column = np.zeros(known.size, dtype=np.int32)
        column[self.places], column[more.places] = (
            of_second[second.codes[self.places]],
            of_first[first.codes[more.places]],
        )
        return ByUnit(self.units, known, Coded(both.items, column))

    def __getitem__(self, unit: UnitKey) -> Value_co:
        place = self.units.place(unit)
        if place < 0 or not self.known[place]:
            raise KeyError(unit)
        return cast("Value_co", self.values_at[place : place + 1].tolist()[0])

    def __contains__(self, unit: object) -> bool:
        place = self.units.place(unit)
        return place >= 0 and bool(self.known[place])

    def __iter__(self) -> Iterator[UnitKey]:
        return iter(self.units.at(self.places))

    def __len__(self) -> int:
        return self.places.size

    def values(self) -> ValuesView[Value_co]:
        return _Column(self)

    def items(self) -> ItemsView[UnitKey, Value_co]:
        return _Rows(self)


def by_unit(values: Mapping[UnitKey, Value_co], kind: Any) -> ByUnit[Value_co]:
    """On units of its own. kind: of numpy."""
    return ByUnit.of(Units.of(values), values, kind)


def without(values: Mapping[UnitKey, Value_co], samples: Collection[str]) -> Mapping[UnitKey, Value_co]:
    """Without what is said of units of these samples."""
    if not isinstance(values, ByUnit):
        return {unit: value for unit, value in values.items() if unit[0] not in samples}
    stays = np.array([sample not in samples for sample in values.units.samples], dtype=np.bool_)
    return values.only(stays[values.units.sample])


def _coded(values: Iterable[Any]) -> Coded[Any]:
    """By type too: True is no 1."""
    code, items = encode([(type(value), value) for value in values])
    return Coded([value for _, value in cast("Sequence[tuple[type, Any]]", items)], code)


class _Column(ValuesView[Any]):
    """All at once: a look-up takes ten times as long."""

    _mapping: ByUnit[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping.column.tolist())


class _Rows(ItemsView[UnitKey, Any]):
    _mapping: ByUnit[Any]

    def __iter__(self) -> Iterator[tuple[UnitKey, Any]]:
        return zip(self._mapping, self._mapping.column.tolist(), strict=True)
