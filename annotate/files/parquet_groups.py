"""Row groups of a Parquet file, opened and read within bounds.

A few kilobytes can stand for gigabytes: a dictionary holds a text of a megabyte once, and every row, or every element
of a list, may point to it. So texts are read as their dictionaries and the numbers that point there. Most writers give
up on a dictionary when it has grown to a megabyte, and write the texts themselves from there on; Arrow would put these
into the dictionary too and hand out all of it with every batch. Such a column is read as texts, once the rows before
that place are known to be no larger than a row may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotate.files.parquet_sizes import row_bytes
from annotate.files.problems import MAX_FIELD_BYTES, MAX_LINE_BYTES, MAX_VALUES, MIB, FileError, Limits

# Row groups times columns; each has an entry in the footer.
_MAX_CHUNKS = 50_000
BOUNDS: dict[str, Any] = {"thrift_string_size_limit": 16 * MIB, "thrift_container_size_limit": 2 * _MAX_CHUNKS}
# One column of one row group, unpacked.
_MAX_CHUNK_BYTES = 256 * MIB
# Arrow holds a page and a dictionary of every column; texts beyond the limit are looked for where these are large.
_MAX_OPEN_BYTES = 160 * MIB
_LARGE_CHUNK_BYTES = 64 * MIB
# What is read together.
_MAX_BATCH_ROWS = 1024
_BATCH_VALUES = 65_536
_BATCH_BYTES = 32 * MIB
# Of a row group with more bytes than that, whose long rows may stand together.
_MAX_BATCH_ROWS_OF_LARGE = 64
# Of texts that share their beginnings, for which nothing tells how long they are.
_MAX_SHARED_ROWS = 32


class RowGroups:
    def __init__(self, source: pa.PythonFile, metadata: pq.FileMetaData) -> None:
        self._source = source
        self._metadata = metadata
        self._divisible = frozenset(_divisible(metadata))
        self._file = lru_cache(maxsize=2)(self._opened)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Raises FileError when a row group takes too much to open, or is damaged."""
        # One after the other: a reader over all of them keeps the pages of those it is done with.
        for group in range(self._metadata.num_row_groups):
            batches: Iterator[pa.RecordBatch] | None = None
            while True:
                try:
                    if batches is None:
                        batches = self._group(group)
                    batch = next(batches, None)
                    if batch is not None:
                        batch.validate(full=True)
                except (pa.ArrowException, OSError, ValueError) as error:
                    if isinstance(error, MemoryError):
                        raise
                    raise FileError("parquet", f"The Parquet file is damaged: {first_line(error)}") from None
                if batch is None:
                    break
                yield batch

    def _group(self, group: int) -> Iterator[pa.RecordBatch]:
        described = self._metadata.row_group(group)
        count = max(described.num_rows, 1)
        divided = set()
        needed = largest = most_values = 0
        together = _MAX_BATCH_ROWS if described.total_byte_size <= _BATCH_BYTES else _MAX_BATCH_ROWS_OF_LARGE
        for chunk in (described.column(index) for index in range(described.num_columns)):
            path = chunk.path_in_schema
            opened = first = None
            before = pa.total_allocated_bytes()
            opened = self._read(group, [path], self._divisible, 1)
            first = next(opened, None)
            needed += pa.total_allocated_bytes() - before
            if needed > _MAX_OPEN_BYTES:
                raise FileError(
                    "too_large",
                    f"The columns of row group {group + 1:,} take more than {_MAX_OPEN_BYTES // MIB} MiB to open "
                    "together; write smaller row groups.",
                    field=path,
                )
            values = -(-chunk.num_values // count)
            if path in self._divisible and first is not None:
                row = self._largest_before_texts(group, path, _rows_together(values), _entries(first.column(0)))
                if row is None or row > MAX_LINE_BYTES:
                    divided.add(path)
                else:
                    largest += row
            most_values = max(most_values, values)
            if _shares_beginnings(chunk):
                together = min(together, _MAX_SHARED_ROWS)
        largest = max(largest, described.total_byte_size // count)
        together = min(together, _rows_together(most_values), max(_BATCH_BYTES // max(largest, 1), 1))
        return self._read(group, None, frozenset(divided), together)

    def _largest_before_texts(self, group: int, path: str, rows: int, entries: int) -> int | None:
        """Bytes of the largest row of a column, as far as its dictionary is in use; None when that is to the end."""
        largest = 0
        for batch in self._read(group, [path], self._divisible, rows):
            batch.validate(full=True)
            largest = max(largest, int(row_bytes(batch.column(0)).max(initial=0)))
            if _entries(batch.column(0)) > entries:
                return largest
        return None

    def _read(
        self, group: int, columns: list[str] | None, divided: frozenset[str], rows: int
    ) -> Iterator[pa.RecordBatch]:
        file = self._file(divided)
        return iter(file.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False))

    def _opened(self, divided: frozenset[str]) -> pq.ParquetFile:
        return pq.ParquetFile(
            self._source, metadata=self._metadata, read_dictionary=sorted(divided), buffer_size=MIB, **BOUNDS
        )


def check_sizes(metadata: pq.FileMetaData, limits: Limits) -> None:
    """Refuses from the footer alone, before anything is unpacked. It is never believed: what is read is counted
    again. Raises FileError."""
    if metadata.num_rows > limits.rows:
        raise FileError("too_large", f"The file has {metadata.num_rows:,} rows; the limit is {limits.rows:,}.")
    if metadata.num_row_groups * metadata.num_columns > _MAX_CHUNKS:
        raise FileError(
            "too_large",
            f"The file has {metadata.num_row_groups:,} row groups of {metadata.num_columns:,} columns; write "
            "larger row groups.",
        )
    paths = Counter(metadata.schema.column(index).path for index in range(metadata.num_columns))
    for path in (path for path, times in paths.items() if times > 1):
        # Arrow would read the dictionary of one of them only: a struct "a" with "b" beside a column "a.b".
        raise FileError("duplicate_column", f"Two columns are called “{path}”.", field=path)
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
            if chunk.total_uncompressed_size > max(_LARGE_CHUNK_BYTES, chunk.num_values * MAX_FIELD_BYTES):
                raise FileError(
                    "too_long",
                    f"{chunk.total_uncompressed_size:,} bytes in {chunk.num_values:,} values; the limit is "
                    f"{MAX_FIELD_BYTES:,} each.",
                    field=chunk.path_in_schema,
                )
            if chunk.num_values > group.num_rows * MAX_VALUES:
                raise FileError(
                    "too_large",
                    f"{chunk.num_values:,} values in {group.num_rows:,} rows; the limit is {MAX_VALUES:,} a row.",
                    field=chunk.path_in_schema,
                )
    if total > limits.decoded_bytes:
        raise FileError("too_large", f"Unpacked, the file is larger than {limits.decoded_bytes // MIB:,} MiB.")


def _divisible(metadata: pq.FileMetaData) -> set[str]:
    """The columns that have dictionaries and can be read as such, which Arrow cannot where some pages share
    beginnings."""
    found, not_divisible = set(), set()
    for group in (metadata.row_group(index) for index in range(metadata.num_row_groups)):
        for chunk in (group.column(index) for index in range(metadata.num_columns)):
            if _shares_beginnings(chunk):
                not_divisible.add(chunk.path_in_schema)
            elif {"RLE_DICTIONARY", "PLAIN_DICTIONARY"} & set(chunk.encodings):
                found.add(chunk.path_in_schema)
    return found - not_divisible


def _entries(column: pa.Array) -> int:
    """Of the dictionary of the one leaf that was read."""
    while not pa.types.is_dictionary(column.type):
        if pa.types.is_struct(column.type):
            column = column.field(0)
        elif pa.types.is_nested(column.type):
            column = column.values
        else:
            return 0
    return len(column.dictionary)


def _shares_beginnings(chunk: pq.ColumnChunkMetaData) -> bool:
    """Its pages say only how a text differs from the one before."""
    return any(name.startswith("DELTA_") for name in chunk.encodings)


def _rows_together(values: int) -> int:
    return max(min(_MAX_BATCH_ROWS, _BATCH_VALUES // max(values, 1)), 1)


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
