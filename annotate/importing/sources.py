"""Opening a file: what format it is, unpacked if it is gzip, never more bytes than allowed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from annotate.importing.limits import MIB, Limits
from annotate.importing.problems import FileError, Problems

# (number of the row from 1, line it begins on or None, the row)
NumberedRow = tuple[int, int | None, dict[str, Any]]

BLOCK = 1 * MIB
FORMATS = ("jsonl", "json", "csv", "parquet")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
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


class _Counted:
    """The bytes of a file as they are on disk; how many have been read is the measure of progress."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data

    def seek(self, *args: int) -> int:
        return self._file.seek(*args)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return self._file.closed


class Stream:
    """Decoded bytes, without a byte order mark, within the limits."""

    def __init__(self, raw: _Counted, packed: bool, limits: Limits) -> None:
        self._raw = raw
        self._packed = packed
        self._limits = limits
        self._file: Any = gzip.GzipFile(fileobj=raw, mode="rb") if packed else raw
        self._ahead = b""
        self.count = 0
        # Where the first byte handed out stands in the decoded file.
        self.start = 0
        self._ahead = self._next(64 * 1024)
        if packed:
            _refuse_foreign(self._ahead, nested=True)
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


@dataclass
class Source:
    """An opened file. Use as a context manager."""

    file: IO[bytes]
    size: int
    file_format: str
    reader: Reader
    _raw: _Counted

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    @property
    def fraction(self) -> float:
        """How much of the file has been read, by bytes."""
        return min(1.0, self._raw.count / self.size) if self.size else 1.0


def open_source(path: Path, file_name: str, problems: Problems, limits: Limits) -> Source:
    """Opens by what the file holds; its name decides only where the bytes leave it open. Raises FileError."""
    size = path.stat().st_size
    if size == 0:
        raise FileError("empty", "The file is empty.")
    if size > limits.file_bytes:
        raise FileError("too_large", f"The file is {size:,} bytes; the limit is {limits.file_bytes:,}.")
    file = path.open("rb", buffering=0)
    try:
        return _open(file, size, file_name, problems, limits)
    except BaseException:
        file.close()
        raise


def _open(file: IO[bytes], size: int, file_name: str, problems: Problems, limits: Limits) -> Source:
    from annotate.importing.read_csv import CsvReader
    from annotate.importing.read_json import JsonReader
    from annotate.importing.read_jsonl import JsonlReader

    raw = _Counted(file)
    suffixes = [suffix.lower() for suffix in Path(file_name).suffixes]
    head = raw.read(16)
    raw.seek(0)
    raw.count = 0
    _refuse_foreign(head, nested=False)
    if head.startswith(_PARQUET) or (suffixes and _SUFFIXES.get(suffixes[-1]) == "parquet"):
        from annotate.importing.read_parquet import ParquetReader

        return Source(file, size, "parquet", ParquetReader(raw, size, problems, limits), raw)
    stream = Stream(raw, head.startswith(_GZIP), limits)
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    file_format = _text_format(stream.peek(), _SUFFIXES.get(suffixes[-1], "") if suffixes else "")
    readers: dict[str, Callable[[Stream, Problems, Limits], Reader]] = {
        "jsonl": JsonlReader,
        "json": JsonReader,
        "csv": CsvReader,
    }
    return Source(file, size, file_format, readers[file_format](stream, problems, limits), raw)


def _text_format(head: bytes, by_name: str) -> str:
    start = head.lstrip()
    if not start:
        raise FileError("empty", "The file holds nothing but blanks.")
    if by_name == "csv":
        return "csv"
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{"):
        return "json" if _is_one_object(start, by_name) else "jsonl"
    if by_name:
        raise FileError(
            "format", f"Named as {by_name.upper()}, but it does not begin with {{ or [.", row=1, line=1, excerpt=start
        )
    return "csv"


def _is_one_object(start: bytes, by_name: str) -> bool:
    """Whether the object at the start goes on after its first line, or wraps a list of rows: then it is no JSONL."""
    import orjson

    first, _, _ = start.partition(b"\n")
    try:
        value = orjson.loads(first)
    except orjson.JSONDecodeError:
        # A broken or very long first line of JSONL opens with a key as well, so the name decides, unless the line is
        # just "{" or begins a list of rows.
        return by_name == "json" or first.strip() == b"{" or _opens_a_list(first)
    from annotate.importing.read_json import ROW_KEYS

    return (
        isinstance(value, dict)
        and any(isinstance(value.get(key), list) for key in ROW_KEYS)
        and "question" not in value
    )


def _opens_a_list(first: bytes) -> bool:
    from annotate.importing.read_json import LIST_OPENING

    return LIST_OPENING.match(first) is not None


def _refuse_foreign(head: bytes, *, nested: bool) -> None:
    for magic, name in {**_FOREIGN, **({_GZIP: "gzip", _PARQUET: "Parquet"} if nested else {})}.items():
        if head.startswith(magic):
            within = " inside gzip" if nested else ""
            raise FileError("format", f"This is {name}{within}; give JSONL, JSON, CSV (or these as .gz), or Parquet.")


def _refuse_utf16(head: bytes) -> None:
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    # Latin text in UTF-16 or UTF-32 has a zero in every second byte.
    if marked or (len(head) >= 4 and head[:400].count(0) * 3 > len(head[:400])):
        raise FileError(
            "encoding", "This is UTF-16 or UTF-32 text (from byte 0 on); save the file as UTF-8.", row=1, line=1
        )
