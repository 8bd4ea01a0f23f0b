"""Columns of very many rows: PostgreSQL packs those of some thousand samples into one value each, so that nothing is
made for a single row."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Literal

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from psycopg import Cursor

from alignment.base.arrays import Array
from alignment.base.coded import Coded
from annotate.core.rows import Parameters, Row, fetch_all
from annotate.models import Project

# Of a column: whole numbers (where there is none 0), numbers (NaN), or whatever JSON can tell (None).
Kind = Literal["whole", "number", "json"]

_PACKED: dict[Kind, str] = {
    "whole": "string_agg(int8send(coalesce({name}, 0)::bigint), '')",
    "number": "string_agg(float8send(coalesce({name}::float8, 'NaN')), '')",
    # As PostgreSQL spells JSON, it has no line break.
    "json": "string_agg(coalesce(to_json({name})::text, 'null'), E'\\n')",
}
_SAMPLES_AT_ONCE = 20_000
_PARTS = """
    SELECT min(id), max(id)
      FROM (SELECT id, row_number() OVER (ORDER BY id) / %(size)s AS part
              FROM annotate_sample WHERE project_id = %(project)s) AS s
     GROUP BY part ORDER BY part
"""


def packed_row(statement: str, given: Parameters) -> tuple[Any, ...]:
    connection.ensure_connection()
    # As bytes; the usual cursor would have them spelled out, and without prepared statements knows nothing else.
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        (row,) = cursor.execute(statement, given, binary=True).fetchall()
        return row


def unpacked(packed: bytes | None, kind: str) -> Array:
    return np.frombuffer(packed or b"", kind).astype(kind[1:])


class Spellings(dict[str, int]):
    """Numbers of texts, in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number

    def codes(self, lines: str | None) -> Array:
        return np.array([] if lines is None else list(map(self.__getitem__, lines.split("\n"))), np.int32)


def columns_of(
    project: Project, rows: QuerySet[Row], samples: Collection[int] | None = None, **columns: Kind
) -> list[Any]:
    """Of rows of what was said about samples of the project (`sample`), in any order: the sample's key, and these
    columns, as arrays, JSON coded. samples: keys; rows of others may be left out."""
    kinds: list[Kind] = ["whole", *columns.values()]
    names = [f"c{place}" for place in range(len(kinds))]
    packed = ", ".join(_PACKED[kind].format(name=name) for name, kind in zip(names, kinds, strict=True))
    spellings = [Spellings() for _ in kinds]
    parts: list[list[Array]] = [[] for _ in kinds]
    for first, last in _parts(project, samples):
        some = rows.filter(sample_id__gte=first, sample_id__lte=last).order_by()
        sql, given = some.values_list("sample_id", *columns).query.sql_with_params()
        row = packed_row(f"SELECT {packed} FROM ({sql}) AS r ({', '.join(names)})", given)
        for part, value, kind, known in zip(parts, row, kinds, spellings, strict=True):
            part.append(known.codes(value) if kind == "json" else unpacked(value, ">f8" if kind == "number" else ">i8"))
    found: list[Any] = []
    for part, kind, known in zip(parts, kinds, spellings, strict=True):
        column = np.concatenate(part) if part else np.empty(0, np.int64)
        found.append(Coded(list(map(json.loads, known)), column) if kind == "json" else column)
    return found


def _parts(project: Project, samples: Collection[int] | None) -> list[tuple[int, int]]:
    """The first and the last key of some thousand samples each."""
    if samples is None:
        return fetch_all(_PARTS, {"project": project.pk, "size": _SAMPLES_AT_ONCE})
    keys = sorted(samples)
    return [(keys[at], keys[at : at + _SAMPLES_AT_ONCE][-1]) for at in range(0, len(keys), _SAMPLES_AT_ONCE)]
