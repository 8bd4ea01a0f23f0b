"""Rows from JSON: of a document, which is a list of objects or an object with such a list under a plain key, and of
JSON Lines.

A document's list is cut into its elements without parsing the document as a whole, so a file of any size streams, and
every element goes through the same strict parser as a line of JSONL. A line ends at the byte \n only (str.splitlines
would also cut at U+2028).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotate.files.problems import MAX_LINE_BYTES, MIB, FileError, Limits, Problems, RowError
from annotate.files.streams import NumberedRow, Stream, TextReader
from annotate.files.strict_json import needs_care, parse_object

ROW_KEYS = ("data", "samples", "items", "rows", "records", "examples", "instances", "labels", "scores", "results")

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Up to the next bracket that is not inside a string.
_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb"[ \t\r\n]*+(" + _STRING + rb")[ \t\r\n]*+:[ \t\r\n]*+", re.DOTALL)
_STRING_VALUE = re.compile(_STRING, re.DOTALL)
_BARE_VALUE = re.compile(rb"[-+.0-9A-Za-z]++(?=[ \t\r\n,}\]])")
LIST_OPENING = re.compile(
    rb'\{[ \t\r]*"(?:' + b"|".join(key.encode() for key in ROW_KEYS) + rb')"[ \t\r]*:[ \t\r]*\[[ \t\r]*(?:\{|$)'
)


class JsonReader(TextReader):
    def __init__(self, stream: Stream, problems: Problems, limits: Limits) -> None:
        super().__init__(stream, problems, limits)
        self._buffer = b""
        self._at = 0
        self._dropped = stream.start  # bytes of the file before the buffer
        self._line = 1
        self._counted = 0  # the buffer's line ends before here are in `_line`
        self._number = 0

    def rows(self) -> Iterator[NumberedRow]:
        opening = self._next_byte()
        if opening == b"[":
            self._at += 1
            yield from self._elements()
        else:
            yield from self._member()
        if self._next_byte():
            raise self._broken("something follows after the end of the document")

    def _member(self) -> Iterator[NumberedRow]:
        """The rows under the one key of the document that names them."""
        self._at += 1
        found = ""
        while True:
            key = self._key()
            if key in ROW_KEYS and self._next_byte() == b"[":
                if found:
                    raise FileError(
                        "shape", f"Two lists of rows, under “{found}” and “{key}”; keep one.", line=self._line_here()
                    )
                found = key
                self._at += 1
                yield from self._elements()
            else:
                self._skip_value()
            separator = self._next_byte()
            self._at += 1
            if separator == b"}":
                break
            if separator != b",":
                raise self._broken("expected , or }")
        if not found:
            raise FileError(
                "shape", f"No list of rows: write a JSON list, or one under a key such as {', '.join(ROW_KEYS[:3])}."
            )

    def _elements(self) -> Iterator[NumberedRow]:
        if self._next_byte() == b"]":
            self._at += 1
            return
        while True:
            self._number += 1
            if self._number > self._limits.rows:
                raise self._limits.too_many_rows(self._number)
            first = self._next_byte()
            line = self._line_here()
            if first != b"{":
                raise FileError(
                    "not_object" if first else "truncated",
                    "Every element of the list is an object." if first else "The file ends in the middle of the list.",
                    row=self._number,
                    line=line,
                    excerpt=self._buffer[self._at : self._at + 80],
                )
            offset = self._dropped + self._at
            raw = self._bracketed()
            try:
                row = parse_object(raw, True, offset)
            except RowError as error:
                self._problems.add(error, self._number, line)
            else:
                yield self._number, line, row
            separator = self._next_byte()
            self._at += 1
            if separator == b"]":
                return
            if separator != b",":
                raise self._broken("expected , or ] after the row")

    def _bracketed(self) -> bytes:
        """The object or list that begins here."""
        start, depth = self._at, 0
        while True:
            match = _TO_BRACKET.match(self._buffer, self._at)
            if match is None:
                if len(self._buffer) - start > MAX_LINE_BYTES:
                    raise FileError(
                        "line_too_long",
                        f"The row is longer than {MAX_LINE_BYTES // MIB} MiB.",
                        row=self._number or None,
                        line=self._line_here(),
                    )
                kept = self._at - start
                self._at = start
                if not self._more():
                    raise FileError(
                        "truncated",
                        "The file ends in the middle of a row.",
                        row=self._number or None,
                        line=self._line_here(),
                        excerpt=self._buffer[start:],
                    )
                start, self._at = self._at, self._at + kept
                continue
            self._at = match.end()
            depth += 1 if match[1] in b"[{" else -1
            if depth == 0:
                return self._buffer[start : self._at]

    def _key(self) -> str:
        return self._take(_KEY, "a key")[1][1:-1].decode("utf-8", "replace")

    def _skip_value(self) -> None:
        first = self._next_byte()
        if first in (b"{", b"["):
            self._bracketed()
            return
        self._take(_STRING_VALUE if first == b'"' else _BARE_VALUE, "a value")

    def _take(self, pattern: re.Pattern[bytes], what: str) -> re.Match[bytes]:
        match = pattern.match(self._buffer, self._at)
        while match is None and self._more():
            match = pattern.match(self._buffer, self._at)
        if match is None:
            raise self._broken(f"expected {what}")
        self._at = match.end()
        return match

    def _next_byte(self) -> bytes:
        """The next byte that is no blank, not consumed; empty at the end of the file."""
        while True:
            self._at = _BLANKS.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._more():
                return b""

    def _more(self) -> bool:
        """Reads another block, dropping what lies before the current place. False at the end of the file."""
        if len(self._buffer) - self._at > MAX_LINE_BYTES:
            raise FileError(
                "line_too_long", f"One value is longer than {MAX_LINE_BYTES // MIB} MiB.", line=self._line_here()
            )
        block = self._stream.read()
        if not block:
            return False
        self._line_here()
        self._dropped += self._at
        self._buffer = self._buffer[self._at :] + block
        self._at = self._counted = 0
        return True

    def _line_here(self) -> int:
        self._line += self._buffer.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _broken(self, what: str) -> FileError:
        at_end = self._at >= len(self._buffer)
        return FileError(
            "truncated" if at_end else "json",
            f"Not JSON: {'the file ends where ' if at_end else ''}{what} (byte {self._dropped + self._at}).",
            row=self._number or None,
            line=self._line_here(),
            excerpt=self._buffer[max(0, self._at - 20) : self._at + 60],
        )


class JsonlReader(TextReader):
    def rows(self) -> Iterator[NumberedRow]:
        number = line = 0
        for offset, raw, careful in self._lines():
            line += 1
            if raw is None:
                number += 1
                self._problems.add(
                    RowError("line_too_long", f"The line is longer than {MAX_LINE_BYTES // MIB} MiB."), number, line
                )
                continue
            if not raw or raw.isspace():
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
