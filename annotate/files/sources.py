"""Opening a file: what format it is, unpacked if it is gzip, never more bytes than allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import orjson

from annotate.files.csv_file import CsvReader
from annotate.files.json_file import LIST_OPENING, JsonlReader, JsonReader, is_document
from annotate.files.problems import FileError, Limits, Problems
from annotate.files.streams import GZIP, PARQUET, Counted, Reader, Stream, TextReader, refuse_foreign

_READERS: dict[str, type[TextReader]] = {"jsonl": JsonlReader, "json": JsonReader, "csv": CsvReader}
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


# By which what is packed or Parquet is known.
HEAD_BYTES = 16


class OwnFormat(NamedTuple):
    """A format of text that files of one kind have, and no others."""

    name: str
    reader: type[TextReader]


@dataclass
class Source:
    """An opened file."""

    file_format: str
    reader: Reader
    size: int
    _raw: Counted

    @property
    def fraction(self) -> float:
        """How much of the file has been read, by bytes."""
        return min(1.0, self._raw.count / self.size) if self.size else 1.0


def is_plain_text(path: Path, file_name: str) -> bool:
    """Whether the file is neither packed nor Parquet."""
    head = _head(path)
    return not head.startswith(GZIP) and not _is_parquet(head, file_name)


def is_parquet(path: Path, file_name: str) -> bool:
    return _is_parquet(_head(path), file_name)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _is_parquet(head: bytes, file_name: str) -> bool:
    return head.startswith(PARQUET) or _SUFFIXES.get(Path(file_name).suffix.lower()) == "parquet"


@contextmanager
def open_source(
    path: Path,
    file_name: str,
    problems: Problems,
    limits: Limits,
    *,
    own: OwnFormat | None = None,
    only_bytes: int | None = None,
) -> Iterator[Source]:
    """Opens by what the file holds; its name decides only where the bytes leave it open. Raises FileError.

    own: the one format that the file can have. only_bytes: of a text, how many unpacked bytes are read about; reading
    on raises PeekedError.
    """
    size = path.stat().st_size
    if size == 0:
        raise FileError("empty", "The file is empty.")
    if size > limits.file_bytes:
        raise FileError("too_large", f"The file is {size:,} bytes; the limit is {limits.file_bytes:,}.")
    with Counted(path) as raw:
        file_format, reader = _reader(raw, size, file_name, problems, limits, own, only_bytes)
        yield Source(file_format, reader, size, raw)


def _reader(
    raw: Counted,
    size: int,
    file_name: str,
    problems: Problems,
    limits: Limits,
    own: OwnFormat | None,
    only_bytes: int | None,
) -> tuple[str, Reader]:
    """The format, and its reader."""
    suffixes = [suffix.lower() for suffix in Path(file_name).suffixes]
    head = raw.read(HEAD_BYTES)
    raw.seek(0)
    raw.count = 0
    refuse_foreign(head, nested=False)
    if own is None and _is_parquet(head, file_name):
        from annotate.files.parquet_file import ParquetReader

        return "parquet", ParquetReader(raw, size, problems, limits)
    stream = Stream(raw, head.startswith(GZIP), limits, only_bytes)
    if own is not None:
        return own.name, own.reader(stream, problems, limits)
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    file_format = _text_format(stream.peek(), _SUFFIXES.get(suffixes[-1], "") if suffixes else "")
    return file_format, _READERS[file_format](stream, problems, limits)


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
    """Whether the object at the start goes on after its first line, or is a document of rows: then it is no JSONL."""
    first, _, _ = start.partition(b"\n")
    try:
        value = orjson.loads(first)
    except orjson.JSONDecodeError:
        # A broken or very long first line of JSONL opens with a key as well, so the name decides, unless the line is
        # just "{" or begins a list of rows.
        return by_name == "json" or first.strip() == b"{" or LIST_OPENING.match(first) is not None
    return is_document(value)
