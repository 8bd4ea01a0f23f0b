"""Parquet, in small batches. What the footer says about sizes is never believed: decoded bytes are counted."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from annotate.files.problems import MAX_DEPTH, MAX_FIELD_BYTES, MIB, FileError, Limits, Problems, RowError
from annotate.files.streams import NumberedRow
from annotate.files.strict_json import check_text

# Small, as each of these rows may hold a megabyte in every column.
_BATCH_ROWS = 32
_MAX_COLUMNS = 1000
_MAX_INTEGER = 2**63 - 1
# One column of one row group is unpacked as a whole.
_MAX_CHUNK_BYTES = 256 * MIB


class ParquetReader:
    typed = True

    def __init__(self, file: Any, size: int, problems: Problems, limits: Limits) -> None:
        self._limits = limits
        self._problems = problems
        if size < 12:
            raise FileError("parquet", "Too short for a Parquet file.")
        try:
            self._file = pq.ParquetFile(
                pa.PythonFile(file, mode="r"), thrift_string_size_limit=16 * MIB, buffer_size=MIB
            )
            schema = self._file.schema_arrow
            metadata = self._file.metadata
        except (pa.ArrowException, OSError, ValueError) as error:
            raise FileError("parquet", f"Not a readable Parquet file: {_first_line(error)}") from None
        if metadata.num_rows > limits.rows:
            raise FileError("too_large", f"The file has {metadata.num_rows:,} rows; the limit is {limits.rows:,}.")
        self._check_schema(schema)
        self._check_chunks(metadata)
        self._header = list(schema.names)

    def columns(self) -> list[str]:
        return self._header

    def rows(self) -> Iterator[NumberedRow]:
        number = decoded = 0
        for batch in self._batches():
            columns, too_long, size = _decode(batch, self._header)
            decoded += size
            if decoded > self._limits.decoded_bytes:
                limit = self._limits.decoded_bytes // MIB
                raise FileError("too_large", f"Unpacked, the file is larger than {limit:,} MiB.")
            for index, values in enumerate(zip(*columns, strict=True)):
                number += 1
                if number > self._limits.rows:
                    raise self._limits.too_many_rows(number)
                row = dict(zip(self._header, values, strict=True))
                try:
                    if index in too_long:
                        raise too_long[index]
                    for name, value in row.items():
                        _check(value, name)
                except RowError as error:
                    self._problems.add(error, number)
                else:
                    yield number, None, row

    def _batches(self) -> Iterator[pa.RecordBatch]:
        # One row group after the other: a reader over all of them keeps the pages of those it is done with.
        batches = itertools.chain.from_iterable(
            self._file.iter_batches(batch_size=_BATCH_ROWS, row_groups=[group], use_threads=False)
            for group in range(self._file.metadata.num_row_groups)
        )
        while True:
            try:
                batch = next(batches, None)
                if batch is not None:
                    batch.validate(full=True)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise FileError("parquet", f"The Parquet file is damaged: {_first_line(error)}") from None
            if batch is None:
                return
            yield batch

    @staticmethod
    def _check_schema(schema: pa.Schema) -> None:
        if len(schema) > _MAX_COLUMNS:
            raise FileError("too_large", f"The file has {len(schema):,} columns; the limit is {_MAX_COLUMNS:,}.")
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

    @staticmethod
    def _check_chunks(metadata: pq.FileMetaData) -> None:
        for group in range(metadata.num_row_groups):
            for index in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(index)
                if chunk.total_uncompressed_size > _MAX_CHUNK_BYTES:
                    raise FileError(
                        "too_large",
                        f"A row group holds {chunk.total_uncompressed_size:,} bytes of one column; write smaller ones.",
                        field=chunk.path_in_schema,
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


def _decode(batch: pa.RecordBatch, names: list[str]) -> tuple[list[list[Any]], dict[int, RowError], int]:
    """The columns as Python values, rows with a text beyond the limit, and how many bytes all of it is.

    Lengths are looked at before texts are made: a dictionary holds a megabyte once, and every row may point to it.
    """
    columns: list[list[Any]] = []
    too_long: dict[int, RowError] = {}
    size = 0
    for name, array in zip(names, batch.columns, strict=True):
        lengths = _text_lengths(array)
        if lengths is None:
            size += array.nbytes
            columns.append(_plain_values(array))
            continue
        size += pc.sum(lengths).as_py() or 0
        over = pc.fill_null(pc.greater(lengths, MAX_FIELD_BYTES), False)
        for index in pc.indices_nonzero(over).to_pylist():
            message = f"{lengths[index].as_py():,} bytes long; the limit is {MAX_FIELD_BYTES:,}."
            too_long.setdefault(index, RowError("too_long", message, field=name))
        columns.append(_with_gaps(array, over) if too_long else array.to_pylist())
    return columns, too_long, size


def _with_gaps(array: pa.Array, over: pa.Array) -> list[Any]:
    return [None if left_out else item.as_py() for item, left_out in zip(array, over.to_pylist(), strict=True)]


def _text_lengths(array: pa.Array) -> pa.Array | None:
    """Bytes of each text; None when the column holds something else."""
    if pa.types.is_dictionary(array.type):
        lengths = _text_lengths(array.dictionary)
        return None if lengths is None else lengths.take(array.indices)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return pc.binary_length(array)
    return None


def _plain_values(column: pa.Array) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if pa.types.is_string(column.type):
        return values
    if pa.types.is_floating(column.type):
        # Data frames write a missing number as NaN.
        return [None if value is None or math.isnan(value) else value for value in values]
    return [_plain(value) for value in values]


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
