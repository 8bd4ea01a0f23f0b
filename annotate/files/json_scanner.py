"""Cuts a JSON document of any size into its values without parsing it as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from annotate.files.problems import MAX_LINE_BYTES, MAX_VALUES, MIB, FileError

# What is nested deeper than a value may be is refused with its row; what is nested this deep is not read to its end.
_DEEPEST = 1_000
# Of a document, outside its list of rows; and so many lists and objects, each of which costs as much as many bytes.
_MOST_MEMBERS = 100_000
_MOST_OPENED = 4_000_000
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Up to the next bracket that is not inside a string.
_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb"[ \t\r\n]*+(" + _STRING + rb")[ \t\r\n]*+:[ \t\r\n]*+", re.DOTALL)
_STRING_VALUE = re.compile(_STRING, re.DOTALL)
_BARE_VALUE = re.compile(rb"[-+.0-9A-Za-z]++(?=[ \t\r\n,}\]])")
_FIRST = re.compile(rb"\[[ \t\r\n]*+(.)", re.DOTALL)


class Scanner:
    """Where reading has come to in the bytes that `read` gives, the next block at each call. start: where the first of
    them stands in the file. row: the number of the row that is read, for messages."""

    def __init__(self, read: Callable[[], bytes], *, start: int = 0, line: int = 1) -> None:
        self._read = read
        self._buffer = b""
        self._at = 0
        self._dropped = start  # bytes of the file before the buffer
        self._line = line
        self._counted = 0  # the buffer's line ends before here are in `_line`
        self._members = 0
        self._opened = 0  # by `column`
        self.row: int | None = None

    @property
    def offset(self) -> int:
        return self._dropped + self._at

    @property
    def line(self) -> int:
        self._count_lines()
        return self._line

    def next_byte(self) -> bytes:
        """The next byte that is no blank, not consumed; empty at the end of the file."""
        while True:
            self._at = _BLANKS.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._more():
                return b""

    def step(self) -> None:
        """Past the byte that `next_byte` returned."""
        self._at += 1

    def has_next(self, end: bytes) -> bool:
        """Past the byte that divides two values, or that ends them: `end`."""
        separator = self.next_byte()
        self._at += 1
        if separator not in (b",", end):
            raise self.broken(f"expected , or {end.decode()}")
        return separator == b","

    def members(self) -> Iterator[bytes]:
        """The keys of the object that begins here, with their quotes. Each time the value is to be read."""
        self._at += 1
        if self.next_byte() == b"}":
            self._at += 1
            return
        while True:
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise FileError("too_large", f"More than {_MOST_MEMBERS:,} keys outside the rows.", line=self.line)
            yield self._take(_KEY, "a key")[1]
            if not self.has_next(b"}"):
                return

    def begins_with_object(self) -> bool:
        """Whether the first element of the list that begins here is an object; also of an empty list."""
        while (match := _FIRST.match(self._buffer, self._at)) is None and self._more():
            pass
        return match is None or match[1] in b"{]"

    def here(self, most: int) -> bytes:
        return self._buffer[self._at : self._at + most]

    def value(self) -> bytes:
        """The value that begins here, as it is in one row."""
        return self.bracketed() if self.next_byte() in (b"{", b"[") else self._simple()

    def column(self, most: int) -> bytes:
        """The value that begins here, of at most so many bytes, which may hold something for each row."""
        if self.next_byte() not in (b"{", b"["):
            return self._simple()
        raw = self.bracketed(most, _MOST_OPENED - self._opened)
        self._opened += raw.count(b"[") + raw.count(b"{")
        return raw

    def _simple(self) -> bytes:
        return self._take(_STRING_VALUE if self.next_byte() == b'"' else _BARE_VALUE, "a value")[0]

    def bracketed(self, most: int = MAX_LINE_BYTES, most_opened: int = MAX_VALUES) -> bytes:
        """The object or list that begins here, of at most so many bytes, and lists and objects."""
        start, depth, opened = self._at, 0, 0
        while True:
            match = _TO_BRACKET.match(self._buffer, self._at)
            if match is None:
                kept = self._at - start
                self._at = start
                if not self._more(most):
                    raise FileError(
                        "truncated",
                        "The file ends in the middle of a row.",
                        row=self.row,
                        line=self.line,
                        excerpt=self._buffer[start:],
                    )
                start, self._at = self._at, self._at + kept
                continue
            self._at = match.end()
            if match[1] in b"[{":
                depth += 1
                opened += 1
                if opened > most_opened:
                    said = f"Holds more than {most_opened:,} values."
                    raise FileError("too_many_values", said, row=self.row, line=self.line)
            else:
                depth -= 1
            if depth > _DEEPEST:
                raise FileError("depth", f"Nested more than {_DEEPEST:,} levels deep.", row=self.row, line=self.line)
            if depth == 0:
                return self._buffer[start : self._at]

    def broken(self, what: str) -> FileError:
        at_end = self._at >= len(self._buffer)
        return FileError(
            "truncated" if at_end else "json",
            f"Not JSON: {'the file ends where ' if at_end else ''}{what} (byte {self.offset}).",
            row=self.row,
            line=self.line,
            excerpt=self._buffer[max(0, self._at - 20) : self._at + 60],
        )

    def _take(self, pattern: re.Pattern[bytes], what: str) -> re.Match[bytes]:
        match = pattern.match(self._buffer, self._at)
        while match is None and self._more():
            match = pattern.match(self._buffer, self._at)
        if match is None:
            raise self.broken(f"expected {what}")
        self._at = match.end()
        return match

    def _more(self, most: int = MAX_LINE_BYTES) -> bool:
        """Reads as much again as is still needed of the buffer, which drops the rest. False at the end of the file."""
        pending = len(self._buffer) - self._at
        if pending > most:
            raise FileError(
                "line_too_long", f"One value is longer than {most // MIB} MiB.", row=self.row, line=self.line
            )
        blocks, size = [self._buffer[self._at :]], 0
        while size <= pending and (block := self._read()):
            blocks.append(block)
            size += len(block)
        if not size:
            return False
        self._count_lines()
        self._dropped += self._at
        self._buffer = b"".join(blocks)
        self._at = self._counted = 0
        return True

    def _count_lines(self) -> None:
        self._line += self._buffer.count(b"\n", self._counted, self._at)
        self._counted = self._at
