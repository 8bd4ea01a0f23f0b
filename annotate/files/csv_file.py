"""CSV with a header line, strictly: an unclosed quote is an error, not a field that swallows the rest of the file."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from itertools import chain

from annotate.files.cells import unguard
from annotate.files.problems import (
    MAX_BLANK_LINES,
    MAX_COLUMNS,
    MAX_FIELD_BYTES,
    MAX_LINE_BYTES,
    MIB,
    FileError,
    Limits,
    Problems,
    RowError,
    too_many_blank_lines,
    too_many_columns,
)
from annotate.files.streams import NumberedRow, Stream, TextReader
from annotate.files.strict_json import check_text

# Python's own limit of 131,072 characters is too small for contexts. The limit is one for the whole process.
csv.field_size_limit(MAX_FIELD_BYTES)
_DELIMITERS = ",;\t"


class CsvReader(TextReader):
    typed = False

    def __init__(self, stream: Stream, problems: Problems, limits: Limits) -> None:
        super().__init__(stream, problems, limits)
        self._nul_seen = False
        # Characters of the row that is read: its cells may hold line ends.
        self._row_characters = 0
        lines = self._lines()
        first = next(lines, "")
        self._reader = csv.reader(chain([first], lines), delimiter=_delimiter(first), strict=True)
        self._header = self._read_header()

    def columns(self) -> list[str]:
        return self._header

    def rows(self) -> Iterator[NumberedRow]:
        width = len(self._header)
        number = blank = 0
        while True:
            line = self._reader.line_num + 1
            self._row_characters = 0
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._csv_error(error, number + 1, line) from None
            if not cells:
                blank += 1
                if blank > MAX_BLANK_LINES:
                    raise too_many_blank_lines(line)
                continue
            number += 1
            if number > self._limits.rows:
                raise self._limits.too_many_rows(number, line)
            if len(cells) != width:
                self._problems.add(
                    RowError("columns", f"{len(cells)} cells, but the header has {width}.", excerpt=cells[0]),
                    number,
                    line,
                )
                continue
            if cells[0].startswith("\ufeff"):
                message = "Begins with a byte order mark, as where files were joined. Leave it out."
                self._problems.add(RowError("encoding", message, excerpt=cells[0]), number, line)
                continue
            try:
                row = {name: unguard(cell) for name, cell in zip(self._header, cells, strict=True)}
                for name, cell in row.items():
                    if self._nul_seen or len(cell) * 4 > MAX_FIELD_BYTES:
                        check_text(cell, name)
            except RowError as error:
                self._problems.add(error, number, line)
            else:
                yield number, line, row

    def _read_header(self) -> list[str]:
        try:
            header = [name.strip() for name in next(self._reader, [])]
        except csv.Error as error:
            raise self._csv_error(error, None, 1) from None
        if len(header) > MAX_COLUMNS:
            raise too_many_columns(len(header), line=1)
        if not any(header):
            raise FileError("empty", "The first line should name the columns.", line=1)
        for index, name in enumerate(header):
            check_text(name, f"column {index + 1}")
            if name in header[:index]:
                raise FileError(
                    "duplicate_column", f"Two columns are called “{name[:80]}”.", line=1, field=name[:80], excerpt=name
                )
        return header

    def _csv_error(self, error: csv.Error, row: int | None, line: int) -> FileError:
        reason = str(error)
        if "end of data" in reason:
            message = "A quote that opens in this row is never closed."
        elif "field limit" in reason or "field larger" in reason:
            message = f"A cell is longer than {MAX_FIELD_BYTES:,} characters, or a quote in this row is never closed."
        elif "expected after" in reason:
            message = 'A quote inside a quoted cell has to be doubled ("").'
        else:
            # The one that is left: "new-line character seen in unquoted field".
            message = "A carriage return stands alone in this row. End lines with a line feed, or quote the cell."
        return FileError("csv", message, row=row, line=line, excerpt=reason)

    def _lines(self) -> Iterator[str]:
        """Lines with their ends; cut at \\n only, so that other line ends inside quotes come back as they were."""
        decoder = codecs.getincrementaldecoder("utf-8")("strict")
        offset, pending = self._stream.start, ""
        while True:
            block = self._stream.read()
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # What the decoder kept from the last block comes before this one's first byte.
                at = offset - (len(error.object) - len(block)) + error.start
                raise FileError(
                    "encoding",
                    f"Not UTF-8: byte {at} of the file is 0x{error.object[error.start]:02x}. Save the file as UTF-8.",
                    line=self._line_now() + error.object.count(b"\n", 0, error.start),
                    excerpt=error.object[max(0, error.start - 20) : error.start + 20],
                ) from None
            offset += len(block)
            self._nul_seen = self._nul_seen or "\0" in text
            lines = (pending + text).split("\n")
            pending = lines.pop()
            for line in lines:
                self._row_characters += len(line) + 1
                if self._row_characters > MAX_LINE_BYTES:
                    raise FileError(
                        "line_too_long",
                        f"A row is longer than {MAX_LINE_BYTES // MIB} MiB, or a quote in it is never closed.",
                        line=self._line_now(),
                    )
                yield line + "\n"
            if len(pending) > MAX_LINE_BYTES:
                raise FileError(
                    "line_too_long", f"A line is longer than {MAX_LINE_BYTES // MIB} MiB.", line=self._line_now()
                )
            if not block:
                if pending:
                    yield pending
                return

    def _line_now(self) -> int:
        reader = getattr(self, "_reader", None)
        return reader.line_num + 1 if reader else 1


def _delimiter(header: str) -> str:
    """The most frequent of , ; and tab outside quotes; a comma when there is none."""
    outside = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)
