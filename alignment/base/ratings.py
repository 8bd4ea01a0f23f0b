"""The one table of the alignment module: who gave which value to which unit."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from alignment.base.arrays import Array, Bools, Floats, Ints, renumbered, run_starts
from alignment.base.coded import Coded, Items, array_of, different

Scale = Literal["binary", "nominal", "ordinal", "interval"]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as flat arrays, one entry per rating, each of shape (ratings,).

    ``unit``, ``rater`` and ``cluster`` are integer codes. ``value`` holds positions in ``levels``, or floats when
    ``levels`` is None (interval scale only). ``raters[code]`` names a rater and ``unit_ids[code]`` a unit (without
    ``unit_ids`` a unit's code is its id). The cluster is what was drawn independently, usually the sample.

    Real overlap is sparse, so there is no units-by-raters matrix anywhere. The arrays are kept sorted by unit, then by
    rater: every statistic reads units as runs, and nothing depends on the order in which ratings arrived.

    Raises ValueError for arrays that don't fit together, for two ratings of one unit by one rater, and for a unit that
    lies in two clusters.
    """

    unit: Ints
    rater: Ints
    value: Array
    cluster: Ints
    levels: tuple[Hashable, ...] | None
    scale: Scale
    raters: tuple[str, ...]
    unit_ids: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        _check_scale(self.scale, self.levels)
        arrays = {name: np.asarray(getattr(self, name)) for name in ("unit", "rater", "value", "cluster")}
        if {array.shape for array in arrays.values()} != {(arrays["unit"].size,)}:
            shapes = {name: array.shape for name, array in arrays.items()}
            raise ValueError(f"unit, rater, value and cluster are flat arrays of one length, not {shapes}")
        unit, rater = arrays["unit"], arrays["rater"]
        later = unit[1:] > unit[:-1]
        # Much faster to see than to sort, and what is selected from ratings is always sorted.
        if not (later | ((unit[1:] == unit[:-1]) & (rater[1:] >= rater[:-1]))).all():
            order = np.lexsort((rater, unit))
            arrays = {name: array[order] for name, array in arrays.items()}
        for name, array in arrays.items():
            kind = np.float64 if name == "value" and self.levels is None else np.int64
            object.__setattr__(self, name, array.astype(kind, copy=False))
        self._check_codes()
        self._check_units()

    def _check_codes(self) -> None:
        limits = [("rater", self.rater, len(self.raters))]
        if self.levels is not None:
            limits.append(("value", self.value, len(self.levels)))
        elif not np.isfinite(self.value).all():
            raise ValueError("values must be finite; leave missing ratings out")
        if self.unit_ids is not None:
            limits.append(("unit", self.unit, len(self.unit_ids)))
        for name, codes, limit in limits:
            if codes.size and not (codes.min() >= 0 and codes.max() < limit):
                raise ValueError(f"{name} codes must lie in 0..{limit - 1}")

    def _check_units(self) -> None:
        same_unit = self.unit[1:] == self.unit[:-1]
        twice = np.flatnonzero(same_unit & (self.rater[1:] == self.rater[:-1]))
        if twice.size:
            unit, rater = self.unit_id(self.unit[twice[0]]), self.raters[self.rater[twice[0]]]
            raise ValueError(f"rater {rater!r} rated unit {unit!r} more than once")
        torn = np.flatnonzero(same_unit & (self.cluster[1:] != self.cluster[:-1]))
        if torn.size:
            raise ValueError(f"unit {self.unit_id(self.unit[torn[0]])!r} lies in more than one cluster")

    @classmethod
    def from_columns(
        cls,
        units: Sequence[Hashable],
        raters: Sequence[str],
        values: Sequence[Hashable],
        clusters: Sequence[Hashable],
        *,
        scale: Scale,
        levels: Iterable[Hashable] | None,
    ) -> "Ratings":
        """Build from four columns of equal length, one row per rating; missing ratings are rows left out.

        Raters are ordered by name, units by first appearance. Raises ValueError naming the value and its position when
        a value is not in ``levels`` (or not a finite number, without levels), and as the class does.

        >>> ratings = Ratings.from_columns(
        ...     ["u1", "u1", "u2"], ["ann", "bob", "ann"], ["yes", "no", "no"], ["s1", "s1", "s1"],
        ...     scale="binary", levels=["no", "yes"],
        ... )
        >>> ratings.value.tolist(), ratings.n_units, ratings.n_clusters
        ([1, 0, 0], 2, 1)
        """
        if len({len(units), len(raters), len(values), len(clusters)}) != 1:
            raise ValueError(
                f"columns differ in length: {len(units)} units, {len(raters)} raters, {len(values)} values, "
                f"{len(clusters)} clusters"
            )
        names = tuple(sorted(set(different(raters))))
        levels = None if levels is None else tuple(levels)
        _check_scale(scale, levels)
        unit_codes, unit_ids = encode(units)
        return cls(
            unit=unit_codes,
            rater=_positions(raters, names, "rater"),
            value=encode_values(values, levels, "value"),
            cluster=encode(clusters)[0],
            levels=levels,
            scale=scale,
            raters=names,
            unit_ids=unit_ids,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        cluster: str | Sequence[str],
        scale: Scale,
        levels: Iterable[Hashable] | None,
        unit: str | Sequence[str] = "unit",
        rater: str = "rater",
        value: str = "value",
    ) -> "Ratings":
        """Build from a pandas table with one row per rating; rows without a value are left out.

        Parameters
        ----------
        frame : DataFrame
            In long form; ``frame.melt`` makes it of a table with a column per rater.
        cluster, unit : str or sequence of str
            The columns that say what was drawn independently (usually the sample), and what got the value. Several are
            taken together.
        rater, value : str
            The columns with who said it, and what.
        scale, levels
            As in ``from_columns``.

        Raises
        ------
        ValueError
            A column that is not there; a unit, rater or cluster that is missing; and as ``from_columns``.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame(
        ...     {"sample": ["s1", "s1", "s2"], "unit": ["claim:0"] * 3, "rater": ["ann", "bob", "ann"],
        ...      "value": ["yes", None, "no"]}
        ... )
        >>> ratings = Ratings.from_frame(
        ...     frame, unit=["sample", "unit"], cluster="sample", scale="binary", levels=["no", "yes"]
        ... )
        >>> ratings.unit_ids, len(ratings)
        ((('s1', 'claim:0'), ('s2', 'claim:0')), 2)
        """
        wanted = {"unit": unit, "rater": rater, "cluster": cluster, "value": value}
        columns = {what: [names] if isinstance(names, str) else list(names) for what, names in wanted.items()}
        for what, names in columns.items():
            strangers = [name for name in names if name not in frame.columns]
            if strangers or not names:
                raise ValueError(f"no column {strangers} for {what}; there are {list(frame.columns)}")
        given = frame[frame[value].notna()]
        for what, names in columns.items():
            missing = int(given[names].isna().any(axis=1).sum())
            if missing:
                raise ValueError(f"ratings without a {what}: {missing}")

        def keys(what: str) -> list[Hashable]:
            lists = [given[name].tolist() for name in columns[what]]
            return lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))

        raters = [str(name) for name in keys("rater")]
        return cls.from_columns(keys("unit"), raters, keys("value"), keys("cluster"), scale=scale, levels=levels)

    def __len__(self) -> int:
        return int(self.unit.size)

    @property
    def n_units(self) -> int:
        """How many units have a rating."""
        return int(run_starts(self.unit).size)

    @property
    def n_clusters(self) -> int:
        """How many clusters have a rating."""
        return int(renumbered(self.cluster)[0].size)

    @property
    def ordered(self) -> bool:
        """Whether the levels have an order (two levels always do: both orders give the same figures)."""
        return self.scale != "nominal"

    @property
    def level_numbers(self) -> Floats | None:
        """The levels as numbers, shape (levels,); None when there are no levels or one is not a number."""
        if self.levels is None or not all(isinstance(level, Real) for level in self.levels):
            return None
        return np.array(self.levels, dtype=np.float64)

    def unit_id(self, code: int) -> Hashable:
        """The caller's name of a unit."""
        return int(code) if self.unit_ids is None else self.unit_ids[code]

    def rater_code(self, name: str) -> int:
        """Position of a rater in ``raters``; ValueError for a stranger."""
        if name not in self.raters:
            raise ValueError(f"no rater {name!r}; there are {', '.join(map(repr, self.raters)) or 'none'}")
        return self.raters.index(name)

    def select_raters(self, names: Sequence[str]) -> "Ratings":
        """Only the ratings of these raters, in the order given; unit codes and ids stay."""
        recoded = np.full(len(self.raters), -1, dtype=np.int64)
        for position, name in enumerate(names):
            recoded[self.rater_code(name)] = position
        kept: Bools = recoded[self.rater] >= 0
        return replace(
            self,
            unit=self.unit[kept],
            rater=recoded[self.rater[kept]],
            value=self.value[kept],
            cluster=self.cluster[kept],
            raters=tuple(names),
        )


def _check_scale(scale: str, levels: tuple[Hashable, ...] | None) -> None:
    if scale not in get_args(Scale):
        raise ValueError(f"no scale {scale!r}; there are {', '.join(get_args(Scale))}")
    if levels is None:
        if scale != "interval":
            raise ValueError(f"a {scale} scale needs levels")
        return
    if len(set(levels)) != len(levels):
        raise ValueError(f"levels repeat: {levels!r}")
    if scale == "binary" and len(levels) != 2:
        raise ValueError(f"a binary scale has two levels, not {len(levels)}")
    if len(levels) < 2:
        raise ValueError(f"a {scale} scale needs at least two levels, not {len(levels)}")
    if scale == "interval" and not all(isinstance(level, Real) for level in levels):
        raise ValueError(f"the levels of an interval scale are numbers, not {levels!r}")


def encode(keys: Sequence[Hashable]) -> tuple[Ints, Sequence[Hashable]]:
    """Keys numbered by first appearance, and the keys in that order."""
    if isinstance(keys, Coded):
        present = keys.by_appearance()
        if isinstance(present.items, Items):
            return present.codes.astype(np.int64), present.items
        code, names = encode(present.items)
        return code[present.codes], names
    codes: dict[Hashable, int] = {}
    encoded = [codes.setdefault(key, len(codes)) for key in keys]
    return np.array(encoded, dtype=np.int64), tuple(codes)


def encode_values(values: Sequence[Hashable], levels: tuple[Hashable, ...] | None, what: str) -> Array:
    """Values as positions in ``levels``, or as floats without levels; ValueError naming ``what`` doesn't fit."""
    return _numbers(values, what) if levels is None else _positions(values, levels, what)


def _positions(values: Sequence[Hashable], known: tuple[Hashable, ...], what: str) -> Ints:
    position_of = {value: position for position, value in enumerate(known)}
    encoded: Ints = array_of(values, lambda value: position_of.get(value, -1), np.int64)
    strange = np.flatnonzero(encoded < 0)
    if strange.size:
        at = int(strange[0])
        raise ValueError(f"{what} {values[at]!r} at position {at} is not one of {', '.join(map(repr, known))}")
    return encoded


def _numbers(values: Sequence[object], what: str) -> Floats:
    numbers: Floats = array_of(
        values, lambda value: value if isinstance(value, Real) and math.isfinite(value) else math.nan, np.float64
    )
    strange = np.flatnonzero(np.isnan(numbers))
    if strange.size:
        at = int(strange[0])
        raise ValueError(f"{what} {values[at]!r} at position {at} is not a finite number")
    return numbers


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """The ratings of people, and beside each what the judge said of its unit.

    ``judge`` and ``judged`` have shape (ratings of people,); ``judge`` means nothing where ``judged`` is False.
    """

    people: Ratings
    judge: Array
    judged: Bools


def panel(ratings: Ratings, judge: str) -> Panel:
    """All raters but the one named ``judge`` are people. ValueError when there is no such rater."""
    code = ratings.rater_code(judge)
    people = ratings.select_raters([name for name in ratings.raters if name != judge])
    mine = ratings.rater == code
    units, values = ratings.unit[mine], ratings.value[mine]
    if not units.size:
        nothing = np.zeros(len(people), dtype=np.bool_)
        return Panel(people, np.zeros_like(people.value), nothing)
    place = np.minimum(np.searchsorted(units, people.unit), units.size - 1)
    return Panel(people, values[place], units[place] == people.unit)


def by_rater(ratings: Ratings) -> list[Ints]:
    """Positions of each rater's ratings, in the order of ``raters``."""
    order = np.argsort(ratings.rater, kind="stable")
    bounds = np.searchsorted(ratings.rater[order], np.arange(len(ratings.raters) + 1))
    return [order[start:end] for start, end in pairwise(bounds.tolist())]
