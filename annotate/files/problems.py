"""The limits of a file, and what is wrong with one: row, line, field, code, a sentence and an excerpt for each problem.

Fixed limits are constants; those that an operator may change come from the settings.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ParamSpec, TypedDict, TypeVar

from django.conf import settings

MIB = 1 << 20

MAX_LINE_BYTES = 8 * MIB
MAX_FIELD_BYTES = 1 * MIB
MAX_DEPTH = 20
# Of a table, and so of the keys of one row; and everything in a row together, to whatever depth.
MAX_COLUMNS = 1_000
MAX_VALUES = 100_000
# Lines with nothing on them cost time and no bytes in a packed file.
MAX_BLANK_LINES = 100_000
# After so many errors reading stops: more of them help no one, and each costs more than a good row.
MAX_ERRORS = 10_000
MAX_ID_CHARACTERS = 500
# Between the id of a sample and the version of the pipeline that pushed it.
VERSION_MARK = "@"
SHOWN_ERRORS = 100
SHOWN_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that guard the machine rather than the format."""

    file_bytes: int
    decoded_bytes: int
    rows: int
    # A compressed file may not grow by more than this, once it has grown past `ratio_from_bytes`.
    ratio: int = 200
    ratio_from_bytes: int = 64 * MIB

    @classmethod
    def from_settings(cls) -> Limits:
        return cls(
            file_bytes=settings.IMPORT_MAX_FILE_BYTES,
            decoded_bytes=settings.IMPORT_MAX_DECODED_BYTES,
            rows=settings.IMPORT_MAX_ROWS,
        )

    def too_many_rows(self, row: int, line: int | None = None) -> FileError:
        return FileError("too_large", f"The file has more than {self.rows:,} rows.", row=row, line=line)


def too_many_columns(count: int, **where: Any) -> FileError:
    return FileError("too_large", f"{count:,} columns; the limit is {MAX_COLUMNS:,}.", **where)


def too_many_blank_lines(line: int) -> FileError:
    return FileError("too_large", f"More than {MAX_BLANK_LINES:,} lines with nothing on them.", line=line)


P = ParamSpec("P")
T = TypeVar("T")
# After every row: what is wrong with the file as a whole comes last.
_BEHIND_ALL = float("inf")


class Problem(TypedDict):
    row: int | None
    line: int | None
    field: str | None
    code: str
    message: str
    excerpt: str


class RowError(Exception):
    """This row is refused; reading goes on with the next one, so that all errors of a file are found at once."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        row: int | None = None,
        line: int | None = None,
        field: str | None = None,
        excerpt: object = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        # Either may quote a key of the file: half of a surrogate pair could not even be sent.
        self.message = plain(message)
        self.row = row
        self.line = line
        self.field = plain(field) if field is not None else None
        self.excerpt = excerpt


class FileError(RowError):
    """The file can't be read any further."""


class Attempts:
    """Runs checks that don't need each other, and keeps what they refuse instead of stopping at the first.

    For rows that were refused already: one after the other is faster, and most rows are right.
    """

    def __init__(self) -> None:
        self.errors: list[RowError] = []

    def __call__(self, check: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What the check returns; None when it refuses."""
        try:
            return check(*args, **kwargs)
        except RowError as error:
            self.errors.append(error)
            return None


class Problems:
    """Counts the errors and keeps the first hundred in the order of the rows, whenever they were found. `add` raises
    FileError when there are so many that reading on would help no one."""

    def __init__(self) -> None:
        self.total = 0
        self._kept: list[tuple[float, Problem]] = []

    def __bool__(self) -> bool:
        return self.total > 0

    @property
    def first(self) -> list[Problem]:
        return [problem for _, problem in self._kept]

    def add(self, error: RowError, row: int | None = None, line: int | None = None) -> None:
        self.total += 1
        row, line = error.row or row, error.line or line
        place = _BEHIND_ALL if row is None else row
        # Why reading stopped is shown in any case.
        if len(self._kept) < SHOWN_ERRORS or place < self._kept[-1][0] or isinstance(error, FileError):
            self._keep(error, row, line, place)
        if self.total == MAX_ERRORS:
            raise FileError("too_many_errors", f"{MAX_ERRORS:,} errors; the rest of the file was not read.")

    def _keep(self, error: RowError, row: int | None, line: int | None, place: float) -> None:
        if len(self._kept) == SHOWN_ERRORS:
            self._kept.pop()
        problem: Problem = {
            "row": row,
            "line": line,
            "field": error.field,
            "code": error.code,
            "message": error.message,
            "excerpt": excerpt(error.excerpt),
        }
        insort(self._kept, (place, problem), key=itemgetter(0))


def plain(text: str) -> str:
    """The text with everything that has no glyph of its own spelled out: errors are stored, logged and printed."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def excerpt(value: object) -> str:
    """At most 80 characters of the offending value."""
    if isinstance(value, bytes):
        value = value[: 4 * SHOWN_EXCERPT].decode("utf-8", "backslashreplace")
    text = plain(str(value)[: SHOWN_EXCERPT + 1] if isinstance(value, str) else _short_repr(value))
    return text if len(text) <= SHOWN_EXCERPT else text[: SHOWN_EXCERPT - 1] + "…"


def _short_repr(value: object) -> str:
    """repr without walking through a value of megabytes."""
    if isinstance(value, dict):
        return repr(dict(list(value.items())[:5]))[:500]
    if isinstance(value, list):
        return repr(value[:5])[:500]
    return repr(value)[:500] if value is not None else ""
