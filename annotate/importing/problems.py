"""What is wrong with a file, said so that a person finds the place: row, line, field, code, a sentence, an excerpt."""

from __future__ import annotations

from typing import TypedDict

from annotate.importing.limits import SHOWN_ERRORS, SHOWN_EXCERPT


class Problem(TypedDict):
    row: int | None
    line: int | None
    field: str | None
    code: str
    message: str
    excerpt: str


class RowError(Exception):
    """This row is refused; reading goes on with the next one, so that all errors of a file are found at once."""

    def __init__(self, code: str, message: str, *, field: str | None = None, excerpt: object = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.excerpt = excerpt


class FileError(RowError):
    """The file can't be read any further."""

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
        super().__init__(code, message, field=field, excerpt=excerpt)
        self.row = row
        self.line = line


class Problems:
    """Counts all errors and keeps the first hundred."""

    def __init__(self) -> None:
        self.first: list[Problem] = []
        self.total = 0

    def __bool__(self) -> bool:
        return self.total > 0

    def add(self, error: RowError, row: int | None = None, line: int | None = None) -> None:
        self.total += 1
        if len(self.first) >= SHOWN_ERRORS:
            return
        if isinstance(error, FileError):
            row, line = error.row or row, error.line or line
        self.first.append(
            {
                "row": row,
                "line": line,
                "field": plain(error.field) if error.field is not None else None,
                "code": error.code,
                "message": plain(error.message),
                "excerpt": excerpt(error.excerpt),
            }
        )


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
