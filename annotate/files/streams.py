"""The bytes of a file as readers get them (unpacked, counted, never more than allowed), and what a reader is."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import FileIO
from typing import Any, Protocol

from annotate.files.problems import MIB, FileError, Limits, Problems

# (number of the row from 1, line it begins on or None, the row)
NumberedRow = tuple[int, int | None, dict[str, Any]]

BLOCK = 1 * MIB
# As many bytes of a gzip file are read for one that it holds: a line packed by itself takes three times its size.
_PACKED_BYTES = 4
GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"PK\x05\x06": "an empty zip archive",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"%PDF": "a PDF",
    b"SQLite format 3": "an SQLite database",
    b"\x80\x04\x95": "a Python pickle",
    b"ARROW1": "an Arrow file",
    b"\xd0\xcf\x11\xe0": "an old Office document",
}
_UTF8_BOM = b"\xef\xbb\xbf"


class Reader(Protocol):
    """Rows of one format. `typed`: values have types of their own; a CSV cell is only text."""

    typed: bool

    def columns(self) -> list[str] | None:
        """The header, for formats that have one; read before `rows`."""
        ...

    def rows(self) -> Iterator[NumberedRow]:
        """Bad rows go to the problems given at the start; raises FileError when reading can't go on."""
        ...


class Counted(FileIO):
    """The bytes of a file as they are on disk; how many have been read is the measure of progress."""

    count = 0
    # Reading beyond so many raises FileError.
    most: int | None = None

    def read(self, size: int | None = -1) -> bytes:
        if self.most is not None and self.count > self.most:
            raise FileError("archive", "The gzip file holds next to nothing, many times over; pack it anew.")
        data = super().read(size) or b""
        self.count += len(data)
        return data


class PeekedError(Exception):
    """As much was read as was asked for."""


class Stream:
    """Decoded bytes, without a byte order mark, within the limits."""

    def __init__(self, raw: Counted, packed: bool, limits: Limits, only_bytes: int | None = None) -> None:
        self._raw = raw
        self._only_bytes = only_bytes
        self._packed = packed
        self._limits = limits
        self._file: Any = gzip.GzipFile(fileobj=raw, mode="rb") if packed else raw
        self.count = 0
        # Where the first byte handed out stands in the decoded file.
        self.start = 0
        self._ahead = self._next(64 * 1024)
        if packed:
            refuse_foreign(self._ahead, nested=True)
        _refuse_utf16(self._ahead)
        if self._ahead.startswith(_UTF8_BOM):
            self._ahead = self._ahead[len(_UTF8_BOM) :]
            self.start = len(_UTF8_BOM)

    def peek(self) -> bytes:
        """The first bytes, up to 64 KiB, still to be read."""
        return self._ahead

    def read(self, size: int = BLOCK) -> bytes:
        if self._ahead:
            data, self._ahead = self._ahead, b""
            return data
        return self._next(size)

    def _next(self, size: int) -> bytes:
        if self._only_bytes is not None and self.count >= self._only_bytes:
            raise PeekedError
        if self._packed:
            # Empty parts take bytes and time and become nothing, and one call reads all of them.
            self._raw.most = self._raw.count + _PACKED_BYTES * size
        try:
            data = self._file.read(size)
        except EOFError:
            raise FileError("archive", "The gzip file ends too early: it was cut off on the way here.") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise FileError("archive", f"The gzip file is damaged: {error}.") from None
        self.count += len(data)
        limits = self._limits
        if self.count > limits.decoded_bytes:
            raise FileError("too_large", f"Unpacked, the file is larger than {limits.decoded_bytes // MIB:,} MiB.")
        if self._packed and self.count > limits.ratio_from_bytes and self.count > limits.ratio * self._raw.count:
            raise FileError(
                "too_large",
                f"The gzip file grows by more than {limits.ratio} times when unpacked; unpack it yourself first.",
            )
        return data


class TextReader(Reader):
    """A reader of decoded bytes. Values have types of their own and there is no header, unless a format says so."""

    typed = True

    def __init__(self, stream: Stream, problems: Problems, limits: Limits) -> None:
        self._stream = stream
        self._problems = problems
        self._limits = limits

    def columns(self) -> list[str] | None:
        return None


def refuse_foreign(head: bytes, *, nested: bool) -> None:
    for magic, name in {**_FOREIGN, **({GZIP: "gzip", PARQUET: "Parquet"} if nested else {})}.items():
        if head.startswith(magic):
            within = " inside gzip" if nested else ""
            raise FileError("format", f"This is {name}{within}; give JSONL, JSON, CSV (or these as .gz), or Parquet.")


_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def _refuse_utf16(head: bytes) -> None:
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    # Latin text in UTF-16 or UTF-32 has a zero in every second byte, and none once it is read so.
    begin = head[: min(len(head), 400) // 4 * 4]
    if not marked and begin.count(0) * 3 <= len(begin):
        return
    if not marked and all("\0" in begin.decode(name, "replace") for name in _WIDE):
        raise FileError(
            "format", "This is no text, but something binary; give JSONL, JSON, CSV (or these as .gz), or Parquet."
        )
    raise FileError(
        "encoding", "This is UTF-16 or UTF-32 text (from byte 0 on); save the file as UTF-8.", row=1, line=1
    )
