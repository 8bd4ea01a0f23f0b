"""Parquet, in small batches.

A few kilobytes can stand for gigabytes: a dictionary holds a text of a megabyte once, and every row, or every element
of a list, may point to it. So texts are read as their dictionaries and the numbers that point there, their lengths are
added up row by row, and only rows within the limits become values. What the footer says is used to refuse early and
never believed: what is read is counted again.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from annotate.files.problems import (
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_FIELD_BYTES,
    MAX_LINE_BYTES,
    MAX_VALUES,
    MIB,
    FileError,
    Limits,
    Problems,
    RowError,
    too_many_columns,
)
from annotate.files.streams import NumberedRow
from annotate.files.strict_json import check_text, parse_object

# Its own allocator keeps a gigabyte of addresses in reserve, which a process with a limit of its own does not have.
pa.set_memory_pool(pa.system_memory_pool())

_BATCH_ROWS = 32
# What our own files say of a column of texts that are JSON: its type in Parquet is text, as the shape of each differs.
HOLDS_JSON = {b"touchstone": b"json"}
_MAX_INTEGER = 2**63 - 1
# One column of one row group is unpacked as a whole.
_MAX_CHUNK_BYTES = 256 * MIB
# Row groups times columns; each has an entry in the footer.
_MAX_CHUNKS = 50_000
# What a value costs besides its text: of a null in a list the file needs less than a bit.
_VALUE_BYTES = 64
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
        bounds = {"thrift_string_size_limit": 16 * MIB, "thrift_container_size_limit": 2 * _MAX_CHUNKS}
        try:
            opened = pq.ParquetFile(source, **bounds)
            metadata, schema = opened.metadata, opened.schema_arrow
            self._check_size(metadata)
            self._check_schema(schema)
            self._file = pq.ParquetFile(
                source, metadata=metadata, read_dictionary=_divided_leaves(metadata), buffer_size=MIB, **bounds
            )
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, MemoryError):
                raise
            raise FileError("parquet", f"Not a readable Parquet file: {_first_line(error)}") from None
        self._header = list(schema.names)
        self._types = [_undivided(kind) for kind in schema.types]
        self._json = [field.name for field in schema if HOLDS_JSON.items() <= (field.metadata or {}).items()]

    def columns(self) -> list[str]:
        return self._header

    def rows(self) -> Iterator[NumberedRow]:
        number = 0
        decoded = 0
        for batch in self._batches():
            sizes = sum((_row_bytes(array) for array in batch.columns), np.zeros(batch.num_rows, np.int64))
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
            lengths = _text_lengths(array)
            if lengths is None:
                continue
            for index in np.flatnonzero(lengths > MAX_FIELD_BYTES).tolist():
                message = f"{lengths[index]:,} bytes long; the limit is {MAX_FIELD_BYTES:,}."
                found.setdefault(index, RowError("too_long", message, field=name))
        for index in np.flatnonzero(sizes > MAX_LINE_BYTES).tolist():
            message = f"The row is longer than {MAX_LINE_BYTES // MIB} MiB."
            found.setdefault(index, RowError("line_too_long", message))
        return found

    def _batches(self) -> Iterator[pa.RecordBatch]:
        # One row group after the other: a reader over all of them keeps the pages of those it is done with.
        for group in range(self._file.metadata.num_row_groups):
            batches = self._file.iter_batches(batch_size=_BATCH_ROWS, row_groups=[group], use_threads=False)
            while True:
                try:
                    batch = next(batches, None)
                    if batch is not None:
                        batch.validate(full=True)
                except (pa.ArrowException, OSError, ValueError) as error:
                    if isinstance(error, MemoryError):
                        raise
                    raise FileError("parquet", f"The Parquet file is damaged: {_first_line(error)}") from None
                if batch is None:
                    break
                yield batch

    def _check_size(self, metadata: pq.FileMetaData) -> None:
        """From the footer alone, before anything is unpacked."""
        if metadata.num_rows > self._limits.rows:
            raise FileError(
                "too_large", f"The file has {metadata.num_rows:,} rows; the limit is {self._limits.rows:,}."
            )
        if metadata.num_row_groups * metadata.num_columns > _MAX_CHUNKS:
            raise FileError(
                "too_large",
                f"The file has {metadata.num_row_groups:,} row groups of {metadata.num_columns:,} columns; write "
                "larger row groups.",
            )
        total = 0
        for group in (metadata.row_group(index) for index in range(metadata.num_row_groups)):
            for chunk in (group.column(index) for index in range(metadata.num_columns)):
                total += chunk.total_uncompressed_size
                if chunk.total_uncompressed_size > _MAX_CHUNK_BYTES:
                    raise FileError(
                        "too_large",
                        f"A row group holds {chunk.total_uncompressed_size:,} bytes of one column; write smaller ones.",
                        field=chunk.path_in_schema,
                    )
                if chunk.num_values > group.num_rows * MAX_VALUES:
                    raise FileError(
                        "too_large",
                        f"{chunk.num_values:,} values in {group.num_rows:,} rows; the limit is {MAX_VALUES:,} a row.",
                        field=chunk.path_in_schema,
                    )
        if total > self._limits.decoded_bytes:
            limit = self._limits.decoded_bytes // MIB
            raise FileError("too_large", f"Unpacked, the file is larger than {limit:,} MiB.")

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


def _divided_leaves(metadata: pq.FileMetaData) -> list[str]:
    """The columns that have dictionaries and can be read as such: Arrow cannot where other pages of them say only how a
    text differs from the one before."""
    encodings: dict[str, set[str]] = {}
    for group in (metadata.row_group(index) for index in range(metadata.num_row_groups)):
        for chunk in (group.column(index) for index in range(metadata.num_columns)):
            encodings.setdefault(chunk.path_in_schema, set()).update(chunk.encodings)
    return [
        path
        for path, used in encodings.items()
        if used & {"RLE_DICTIONARY", "PLAIN_DICTIONARY"} and not any(name.startswith("DELTA_") for name in used)
    ]


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


def _row_bytes(array: pa.Array) -> np.ndarray[Any, Any]:
    """What each row of a column would take as values, from lengths and offsets alone."""
    kind, types = array.type, pa.types
    own = np.full(len(array), _VALUE_BYTES, np.int64)
    lengths = _text_lengths(array)
    if lengths is not None:
        return own + lengths
    if types.is_struct(kind):
        return own + sum((_row_bytes(child) for child in array.flatten()), np.zeros(len(array), np.int64))
    if types.is_list(kind) or types.is_large_list(kind):
        offsets = _numbers(array.offsets)
        inner = array.values.slice(offsets[0], offsets[-1] - offsets[0])
        summed = np.concatenate(([0], np.cumsum(_row_bytes(inner))))
        return own + summed[offsets[1:] - offsets[0]] - summed[offsets[:-1] - offsets[0]]
    if types.is_fixed_size_list(kind):
        inner = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        return own + _row_bytes(inner).reshape(len(array), kind.list_size).sum(axis=1)
    return own


def _text_lengths(array: pa.Array) -> np.ndarray[Any, Any] | None:
    """Bytes of each text, 0 of none; None when the column holds something else."""
    if pa.types.is_dictionary(array.type):
        lengths = _text_lengths(array.dictionary)
        if lengths is None:
            return None
        behind_all = len(lengths)
        return np.append(lengths, 0)[np.where(_numbers(array.is_valid()), _numbers(array.indices), behind_all)]
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return _numbers(pc.binary_length(array)) * _numbers(array.is_valid())
    return None


def _numbers(array: pa.Array) -> np.ndarray[Any, Any]:
    """Whole numbers as they lie in memory. Arrow's own ways load pandas, where that is installed."""
    array = array.cast(pa.int64())
    return np.frombuffer(array.buffers()[1], np.int64, len(array), 8 * array.offset)


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


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
