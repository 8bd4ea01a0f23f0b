"""Parquet: the lengths of a row's values are added up first, and only rows within the limits become values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from annotate.files.parquet_groups import BOUNDS, RowGroups, check_sizes, first_line
from annotate.files.parquet_sizes import row_bytes, text_lengths
from annotate.files.problems import (
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_FIELD_BYTES,
    MAX_LINE_BYTES,
    MIB,
    FileError,
    Limits,
    Problems,
    RowError,
    too_many_columns,
)
from annotate.files.streams import NumberedRow
from annotate.files.strict_json import check_text, parse_object

# What our own files say of a column of texts that are JSON: its type in Parquet is text, as the shape of each differs.
HOLDS_JSON = {b"touchstone": b"json"}
_MAX_INTEGER = 2**63 - 1
# Rows that become values together, unless one alone is larger.
_AT_ONCE_BYTES = 8 * MIB


class ParquetReader:
    typed = True

    def __init__(self, file: Any, size: int, problems: Problems, limits: Limits) -> None:
        self._limits = limits
        self._problems = problems
        if size < 12:
            raise FileError("parquet", "Too short for a Parquet file.")
        source = pa.PythonFile(file, mode="r")
        try:
            opened = pq.ParquetFile(source, **BOUNDS)
            schema = opened.schema_arrow
            check_sizes(opened.metadata, limits)
            self._check_schema(schema)
            self._groups = RowGroups(source, opened.metadata)
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, MemoryError):
                raise
            raise FileError("parquet", f"Not a readable Parquet file: {first_line(error)}") from None
        self._header = list(schema.names)
        self._types = [_undivided(kind) for kind in schema.types]
        self._json = [field.name for field in schema if HOLDS_JSON.items() <= (field.metadata or {}).items()]

    def columns(self) -> list[str]:
        return self._header

    def rows(self) -> Iterator[NumberedRow]:
        number = 0
        decoded = 0
        for batch in self._groups.batches():
            sizes = sum((row_bytes(array) for array in batch.columns), np.zeros(batch.num_rows, np.int64))
            too_long = self._too_long(batch, sizes)
            for begin, count in _pieces(sizes):
                decoded += int(sizes[begin : begin + count].sum())
                if decoded > self._limits.decoded_bytes:
                    limit = self._limits.decoded_bytes // MIB
                    raise FileError("too_large", f"Unpacked, the file is larger than {limit:,} MiB.", row=number + 1)
                piece = batch.slice(begin, count)
                rows: Any = [None] * count if begin in too_long else self._values(piece)
                for index, row in enumerate(rows):
                    number += 1
                    if number > self._limits.rows:
                        raise self._limits.too_many_rows(number)
                    try:
                        if begin + index in too_long:
                            raise too_long[begin + index]
                        for name, value in row.items():
                            _check(value, name)
                        for name in self._json:
                            if isinstance(row[name], str):
                                row[name] = parse_object(b'{"":' + row[name].encode() + b"}")[""]
                    except RowError as error:
                        self._problems.add(error, number)
                    else:
                        yield number, None, row

    def _values(self, batch: pa.RecordBatch) -> list[dict[str, Any]]:
        columns = [
            _plain_values(array if array.type == kind else array.cast(kind))
            for array, kind in zip(batch.columns, self._types, strict=True)
        ]
        return [dict(zip(self._header, values, strict=True)) for values in zip(*columns, strict=True)]

    def _too_long(self, batch: pa.RecordBatch, sizes: np.ndarray[Any, Any]) -> dict[int, RowError]:
        """Rows that must not become values: with a text beyond the limit, or too large as a whole."""
        found: dict[int, RowError] = {}
        for name, array in zip(self._header, batch.columns, strict=True):
            lengths = text_lengths(array)
            if lengths is None:
                continue
            for index in np.flatnonzero(lengths > MAX_FIELD_BYTES).tolist():
                message = f"{lengths[index]:,} bytes long; the limit is {MAX_FIELD_BYTES:,}."
                found.setdefault(index, RowError("too_long", message, field=name))
        for index in np.flatnonzero(sizes > MAX_LINE_BYTES).tolist():
            message = f"The row is longer than {MAX_LINE_BYTES // MIB} MiB."
            found.setdefault(index, RowError("line_too_long", message))
        return found

    @staticmethod
    def _check_schema(schema: pa.Schema) -> None:
        if len(schema) > MAX_COLUMNS:
            raise too_many_columns(len(schema))
        # Each row has them, as one of JSON; and a preview is sent with all of them.
        if sum(map(len, schema.names)) > MAX_LINE_BYTES:
            raise FileError("line_too_long", f"The names of the columns are longer than {MAX_LINE_BYTES // MIB} MiB.")
        seen: set[str] = set()
        for column in schema:
            if column.name in seen:
                raise FileError("duplicate_column", f"Two columns are called “{column.name}”.", field=column.name)
            seen.add(column.name)
            check_text(column.name, "column name")
            if not _is_plain(column.type, 1):
                raise FileError(
                    "column_type",
                    f"The column “{column.name}” has the type {column.type}; expected text, numbers, true/false, "
                    "dates, or lists and structs of these.",
                    field=column.name,
                    excerpt=str(column.type),
                )


def _is_plain(kind: pa.DataType, depth: int) -> bool:
    types = pa.types
    if depth > MAX_DEPTH or isinstance(kind, pa.BaseExtensionType):
        return False
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind) or types.is_dictionary(kind):
        return _is_plain(kind.value_type, depth + 1)
    if types.is_struct(kind):
        return all(_is_plain(kind.field(index).type, depth + 1) for index in range(kind.num_fields))
    return (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
        or types.is_timestamp(kind)
        or types.is_date(kind)
    )


def _undivided(kind: pa.DataType) -> pa.DataType:
    """The type with texts where the file, or its reader, has dictionaries of them."""
    types = pa.types
    if types.is_dictionary(kind):
        return _undivided(kind.value_type)
    if types.is_string_view(kind):
        return pa.string()
    if types.is_list(kind):
        return pa.list_(_undivided(kind.value_type))
    if types.is_large_list(kind):
        return pa.large_list(_undivided(kind.value_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(_undivided(kind.value_type), kind.list_size)
    if types.is_struct(kind):
        return pa.struct([field.with_type(_undivided(field.type)) for field in kind])
    return kind


def _pieces(sizes: np.ndarray[Any, Any]) -> Iterator[tuple[int, int]]:
    """(first row, how many) of stretches that become values together; a row that is too large stands alone."""
    begin = together = 0
    for index, size in enumerate(sizes.tolist()):
        if index > begin and together + size > _AT_ONCE_BYTES:
            yield begin, index - begin
            begin, together = index, 0
        together += size
    if begin < len(sizes):
        yield begin, len(sizes) - begin


# What Python has no date for.
_BEYOND = object()


def _plain_values(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except OverflowError:
        values = [_value_of(scalar) for scalar in column]
    if pa.types.is_string(column.type):
        return values
    if pa.types.is_floating(column.type):
        # Data frames write a missing number as NaN.
        return [None if value is None or math.isnan(value) else value for value in values]
    return [_plain(value) for value in values]


def _value_of(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except OverflowError:
        return _BEYOND


def _plain(value: Any) -> Any:
    """Dates as ISO text; everything else as it is."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, dt.date):
        return value.isoformat()
    return value


def _check(value: Any, field: str) -> None:
    """The same limits as for JSON. Raises RowError."""
    if isinstance(value, str):
        check_text(value, field)
    elif value is _BEYOND:
        raise RowError("number", "A date beyond the years 1 to 9999.", field=field)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RowError("number", f"{value} is no finite number.", field=field, excerpt=str(value))
    elif isinstance(value, int):
        if value > _MAX_INTEGER:
            raise RowError(
                "number", "A whole number beyond 64 bits; write it as a string.", field=field, excerpt=str(value)
            )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{field}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(item, f"{field}.{key}")
