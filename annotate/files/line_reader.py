"""Text files with one row on each line. A line ends at the byte \\n only (str.splitlines would also cut at U+2028)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from annotate.files.problems import MAX_BLANK_LINES, MAX_LINE_BYTES, MIB, RowError, too_many_blank_lines
from annotate.files.streams import NumberedRow, TextReader
from annotate.files.strict_json import needs_care


class LineReader(TextReader):
    @staticmethod
    @abstractmethod
    def row_of(raw: bytes, careful: bool, offset: int) -> dict[str, Any]:
        """The row on a line. careful: what `needs_care` says of it; offset: where it begins in the file. Raises
        RowError."""

    def rows(self) -> Iterator[NumberedRow]:
        number = line = blank = 0
        row_of = self.row_of
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
                row = row_of(raw, careful, offset)
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
