"""A JSON document that names each column once: {"question": […, …], "answer": […, …]}."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Self

from annotate.files.json_scanner import Scanner
from annotate.files.problems import MAX_COLUMNS, MAX_LINE_BYTES, MIB, FileError, Limits, Problems, RowError
from annotate.files.streams import NumberedRow
from annotate.files.strict_json import parse_object

# The first row is known only when the last column is there, so all of them are kept, as the bytes that they are.
MAX_COLUMNS_BYTES = 64 * MIB
_HOLDS_ROWS = re.compile(rb"\[[ \t\r\n]*+\{")


class Columns:
    """The members of an object. Their lists are cut in step, so that they cost their own size and one row."""

    def __init__(self) -> None:
        # By its name, as it stands in the file: where the list begins, and the list.
        self._lists: dict[bytes, tuple[int, bytes]] = {}
        self._bytes = 0
        # Why these are no columns; only of interest when there are no rows elsewhere.
        self._problem: FileError | None = None

    @classmethod
    def read(cls, text: Scanner) -> Self:
        """All of the object that begins here."""
        columns = cls()
        for name in text.members():
            columns.add(name, text)
        return columns

    def __bool__(self) -> bool:
        """Whether they can be meant as columns. A list of objects alone is a list of rows under an unknown key."""
        return any(not _HOLDS_ROWS.match(raw) for _, raw in self._lists.values())

    @property
    def names(self) -> list[str]:
        """Of the lists."""
        return [shown(name) for name in self._lists]

    def add(self, name: bytes, text: Scanner) -> None:
        """Reads the value of this member."""
        is_list, offset, line = text.next_byte() == b"[", text.offset, text.line
        raw = text.column(MAX_COLUMNS_BYTES)
        self._bytes += len(raw)
        if name in self._lists:
            said = f"Two columns are called “{shown(name)}”."
            self._problem = self._problem or FileError("duplicate_column", said, line=line, field=shown(name))
        elif self._bytes > MAX_COLUMNS_BYTES or len(self._lists) == MAX_COLUMNS:
            limit = f"{MAX_COLUMNS:,} columns and {MAX_COLUMNS_BYTES // MIB} MiB"
            said = f"A document of columns has at most {limit}; write a list of rows, or JSON Lines."
            self._problem = self._problem or FileError("too_large", said, line=line)
        elif not is_list:
            said = f"“{shown(name)}” is no list, as the other columns are; write one entry for each row."
            self._problem = self._problem or FileError("columns", said, line=line, field=shown(name), excerpt=raw)
        else:
            self._lists[name] = offset, raw

    def rows(self, problems: Problems, limits: Limits) -> Iterator[NumberedRow]:
        """Raises FileError."""
        if self._problem is not None:
            raise self._problem
        self._check(limits)
        names = list(self._lists)
        for number, cells in enumerate(zip(*map(self._cells, names), strict=True), 1):
            raw = b"{" + b",".join(b"%b:%b" % pair for pair in zip(names, cells, strict=True)) + b"}"
            try:
                if len(raw) > MAX_LINE_BYTES:
                    raise RowError("line_too_long", f"The row is longer than {MAX_LINE_BYTES // MIB} MiB.")
                row = parse_object(raw)
            except RowError as error:
                problems.add(error, number)
            else:
                yield number, None, row

    def _check(self, limits: Limits) -> None:
        """All lists are whole, and of one length."""
        lengths: dict[bytes, int] = {}
        for name, (offset, raw) in self._lists.items():
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                said = f"Not UTF-8: byte {offset + error.start} of the file is 0x{raw[error.start]:02x}."
                raise FileError("encoding", said, field=shown(name)) from None
            lengths[name] = sum(1 for _ in islice(self._cells(name), limits.rows + 1))
        usual = max(lengths, key=lambda name: list(lengths.values()).count(lengths[name]))
        for name, length in lengths.items():
            if length != lengths[usual]:
                raise FileError(
                    "columns",
                    f"The column “{shown(name)}” has {length:,} entries, “{shown(usual)}” has {lengths[usual]:,}.",
                    field=shown(name),
                )
        if lengths[usual] > limits.rows:
            raise limits.too_many_rows(limits.rows + 1)

    def _cells(self, name: bytes) -> Iterator[bytes]:
        offset, raw = self._lists[name]
        blocks = iter((raw,))
        text = Scanner(lambda: next(blocks, b""), start=offset)
        text.next_byte()
        text.step()
        if text.next_byte() == b"]":
            return
        yield text.value()
        while text.has_next(b"]"):
            yield text.value()


def shown(name: bytes) -> str:
    """A key without its quotes, for messages."""
    return name[1:-1].decode("utf-8", "replace")[:80]
