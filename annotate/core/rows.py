"""Rows by statements written by hand, and the one row that a caller needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Max, Model, QuerySet

Row = TypeVar("Row", bound=Model)
Parameters = Mapping[str, Any] | Sequence[Any]
_ROWS_AT_ONCE = 20_000


def fetch_all(sql: str, parameters: Parameters | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def fetch_each(sql: str, parameters: Parameters | None = None) -> Iterator[tuple[Any, ...]]:
    """The same, some thousand at a time."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            yield from rows


def fetch_one(sql: str, parameters: Parameters | None = None) -> Any:
    """The first row as a tuple, or None."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()


def execute(sql: str, parameters: Parameters | None = None) -> int:
    """Returns how many rows the statement concerned."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.rowcount


@contextmanager
def snapshot() -> Iterator[None]:
    """Everything read inside is of one moment, whatever others write. A caller's transaction keeps its isolation."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def limit_and_offset(part: slice) -> dict[str, int | None]:
    """Parameters of `LIMIT %(limit)s OFFSET %(offset)s` that bring this part of the rows."""
    start = part.start or 0
    return {"limit": None if part.stop is None else part.stop - start, "offset": start}


def first_or_raise(rows: QuerySet[Row], refusal: Exception) -> Row:
    row = rows.first()
    if row is None:
        raise refusal
    return row


def next_position(rows: QuerySet[Any]) -> int:
    """The first `position` after those of the rows; 0 when there are none."""
    last = rows.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1
