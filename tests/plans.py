"""What PostgreSQL did, or would do, for a statement: for tests of what it reads, which never assert times."""

from __future__ import annotations

from typing import Any

from django.db import connection


def plan_of(sql: str, *, run: bool = True) -> dict[str, Any]:
    """run: whether the statement is run, so that the plan has its rows."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ({'ANALYZE, BUFFERS, ' if run else ''}FORMAT JSON) {sql}")
        plan: dict[str, Any] = cursor.fetchone()[0][0]["Plan"]
    return plan


def nodes(plan: dict[str, Any], *, within: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """within: only where such a relation to its parent leads, not what is looked up."""
    children = [one for one in plan.get("Plans", []) if not within or one["Parent Relationship"] in within]
    return [plan, *(node for child in children for node in nodes(child, within=within))]


def rows_read(plan: dict[str, Any], table: str) -> float:
    """How many rows of it were looked at, also those that were none of those wanted."""
    return sum(
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in nodes(plan)
        if node.get("Relation Name") == table
    )
