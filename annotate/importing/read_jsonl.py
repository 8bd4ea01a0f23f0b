"""JSON Lines: one object per line, and a line ends at the byte \\n only (str.splitlines would also cut at U+2028)."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.importing.limits import MAX_LINE_BYTES, MIB, Limits
from annotate.importing.problems import FileError, Problems, RowError
from annotate.importing.streams import NumberedRow, Stream
from annotate.importing.strictjson import needs_care, parse_object


class JsonlReader:
    typed = True

    def __init__(self, stream: Stream, problems: Problems, limits: Limits) -> None:
        self._stream = stream
        self._problems = problems
        self._limits = limits

    def columns(self) -> None:
        return None

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
                raise FileError(
                    "too_large", f"The file has more than {self._limits.rows:,} rows.", row=number, line=line
                )
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
