"""Which units a sample has, in SQL: annotate/units.py for queries. A claim that was dropped is no unit."""

from __future__ import annotations

from django.db.models import F, Func, IntegerField

from annotate.units import LISTED_KINDS

_THERE = "jsonb_array_elements({claims}) WITH ORDINALITY AS c (e, n) WHERE c.e -> 'dropped' IS DISTINCT FROM 'true'"


def indices_sql(kind: str, sample: str = "s") -> str:
    """An array of the indices of the units of a kind that samples list; `sample`: the table's name in the query."""
    listed = f"{sample}.{LISTED_KINDS[kind]}"
    if kind == "claim":
        return f"ARRAY(SELECT (c.n - 1)::int FROM {_THERE.format(claims=listed)} ORDER BY c.n)"
    return f"ARRAY(SELECT generate_series(0, jsonb_array_length({listed}) - 1))"


def count_sql(kind: str, sample: str = "s") -> str:
    """How many units of a kind that samples list there are."""
    return _count(kind, f"{sample}.{LISTED_KINDS[kind]}")


def _count(kind: str, listed: str) -> str:
    if kind == "claim":
        return f"(SELECT count(*)::int FROM {_THERE.format(claims=listed)})"
    return f"jsonb_array_length({listed})"


class UnitCount(Func):
    """The same for the ORM, on rows of samples."""

    output_field = IntegerField()

    def __init__(self, kind: str) -> None:
        super().__init__(F(LISTED_KINDS[kind]), template=_count(kind, "%(expressions)s"))
