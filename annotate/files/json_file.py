"""Rows from JSON: of a document, which is a list of objects, columns ({"question": […], …}), or an object with
one of these under a plain key; and of JSON Lines.

A document's list is cut into its elements without parsing the document as a whole, so a file of any size streams, and
every element goes through the same strict parser as a line of JSONL. A line ends at the byte \n only (str.splitlines
would also cut at U+2028).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from annotate.files.json_columns import Columns, shown
from annotate.files.json_scanner import Scanner
from annotate.files.problems import (
    MAX_BLANK_LINES,
    MAX_LINE_BYTES,
    MIB,
    FileError,
    Limits,
    Problems,
    RowError,
    too_many_blank_lines,
)
from annotate.files.streams import NumberedRow, Stream, TextReader
from annotate.files.strict_json import needs_care, parse_object

ROW_KEYS = ("data", "samples", "items", "rows", "records", "examples", "instances", "labels", "scores", "results")
LIST_OPENING = re.compile(
    rb'\{[ \t\r]*"(?:' + b"|".join(key.encode() for key in ROW_KEYS) + rb')"[ \t\r]*:[ \t\r]*\[[ \t\r]*(?:\{|$)'
)
_NOT_OBJECTS = "Every element of the list is an object."


def is_document(value: Any) -> bool:
    """Whether an object is a document of rows or columns rather than a row of its own."""
    if not isinstance(value, dict):
        return False
    wrapped = any(isinstance(value.get(key), list) or are_columns(value.get(key)) for key in ROW_KEYS)
    return are_columns(value) or (wrapped and "question" not in value)


def are_columns(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(column, list) for column in value.values())


class JsonReader(TextReader):
    def __init__(self, stream: Stream, problems: Problems, limits: Limits) -> None:
        super().__init__(stream, problems, limits)
        self._text = Scanner(stream.read, start=stream.start)

    def rows(self) -> Iterator[NumberedRow]:
        if self._text.next_byte() == b"[":
            self._text.step()
            yield from self._elements()
        else:
            yield from self._document()
        if self._text.next_byte():
            raise self._text.broken("something follows after the end of the document")

    def _document(self) -> Iterator[NumberedRow]:
        """The rows, or the columns, under the one key of the document that names them; else the columns that it is."""
        text, own, found = self._text, Columns(), ""
        under: Columns | None = None
        for key in text.members():
            name, opening = shown(key), text.next_byte()
            wraps = name in ROW_KEYS
            if wraps and opening == b"[" and text.begins_with_object():
                self._only_one(found, name)
                found = name
                text.step()
                yield from self._elements()
            elif wraps and opening == b"{":
                columns = Columns.read(text)
                if columns:
                    self._only_one(found, name)
                    found, under = name, columns
            else:
                own.add(key, text)
        if own and not found:
            if all(name in ROW_KEYS for name in own.names):
                raise FileError("not_object", _NOT_OBJECTS, row=1)
            under = own
        if under is not None:
            yield from under.rows(self._problems, self._limits)
        elif not found:
            raise FileError(
                "shape",
                f"No list of rows: write a JSON list, or one under a key such as {', '.join(ROW_KEYS[:3])}; "
                'or columns: {"question": […], "answer": […]}.',
            )

    def _only_one(self, found: str, another: str) -> None:
        if found:
            raise FileError(
                "shape", f"Two lists of rows, under “{found}” and “{another}”; keep one.", line=self._text.line
            )

    def _elements(self) -> Iterator[NumberedRow]:
        text, number = self._text, 0
        if text.next_byte() == b"]":
            text.step()
            return
        while True:
            number += 1
            if number > self._limits.rows:
                raise self._limits.too_many_rows(number)
            text.row = number
            first = text.next_byte()
            line = text.line
            if first != b"{":
                raise FileError(
                    "not_object" if first else "truncated",
                    _NOT_OBJECTS if first else "The file ends in the middle of the list.",
                    row=number,
                    line=line,
                    excerpt=text.here(80),
                )
            offset = text.offset
            raw = text.bracketed()
            try:
                row = parse_object(raw, True, offset)
            except RowError as error:
                self._problems.add(error, number, line)
            else:
                yield number, line, row
            if not text.has_next(b"]"):
                return


class JsonlReader(TextReader):
    def rows(self) -> Iterator[NumberedRow]:
        number = line = blank = 0
        for offset, raw, careful in self._lines():
            line += 1
            if raw is None:
                number += 1
                self._problems.add(
                    RowError("line_too_long", f"The line is longer than {MAX_LINE_BYTES // MIB} MiB."), number, line
                )
                continue
            if not raw or raw.isspace():
                blank += 1
                if blank > MAX_BLANK_LINES:
                    raise too_many_blank_lines(line)
                continue
            number += 1
            if number > self._limits.rows:
                raise self._limits.too_many_rows(number, line)
            try:
                row = parse_object(raw, careful, offset)
            except RowError as error:
                self._problems.add(error, number, line)
            else:
                yield number, line, row

    def _lines(self) -> Iterator[tuple[int, bytes | None, bool]]:
        """(offset in the file, line without its end, whether it needs the careful parser); None: a line too long."""
        offset = self._stream.start
        pending = b""
        skipping = False
        while block := self._stream.read():
            if skipping:
                _, found, rest = block.partition(b"\n")
                offset += len(block) - len(rest)
                if not found:
                    continue
                skipping, block = False, rest
            block = pending + block
            careful = needs_care(block)
            lines = block.split(b"\n")
            pending = lines.pop()
            for raw in lines:
                if len(raw) <= MAX_LINE_BYTES:
                    yield offset, raw, careful
                else:
                    yield offset, None, careful
                offset += len(raw) + 1
            if len(pending) > MAX_LINE_BYTES:
                yield offset, None, False
                offset += len(pending)
                pending, skipping = b"", True
        if pending:
            yield offset, pending, True
