"""Rows from JSON: of a document, which is a list of objects, columns ({"question": […], …}), or an object with
one of these under a plain key; and of JSON Lines.

A document's list is cut into its elements without parsing the document as a whole, so a file of any size streams, and
every element goes through the same strict parser as a line of JSONL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from annotate.files.json_columns import Columns, shown
from annotate.files.json_scanner import Scanner
from annotate.files.line_reader import LineReader
from annotate.files.problems import FileError, Limits, Problems, RowError
from annotate.files.streams import NumberedRow, Stream, TextReader
from annotate.files.strict_json import parse_object

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


class JsonlReader(LineReader):
    row_of = staticmethod(parse_object)
