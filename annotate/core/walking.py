"""Long lists, a page at a time from where the reader is. Decision 70 says why.

A condition on texts or on what people said has no index that finds what meets it, so a list that has such conditions is
gone through stretch by stretch, until the page is full or the time is up. What has been looked at by then stays true,
and the next page begins there: nothing is left out, and a page ends in time, or after its first stretch, as long as no
stretch takes longer than the one before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row")
Found = TypeVar("Found", bound=Model)

# Samples of a stretch; how long a page looks for rows, and then counts them; and up to how many are counted.
STRETCH = 10_000
SECONDS = 0.1
MOST_COUNTED = 10_000
# Samples of the largest project whose lists have orders without an index.
MOST_SORTED = 10_000


@dataclass(frozen=True)
class Walked(Generic[Row]):
    """reached: where looking ended before the end of the list, in a list's pages as its cursor; None: it came to the
    end, or has all that was wanted."""

    rows: list[Row]
    reached: Any = None


def walk(
    start: Any,
    ends: Callable[[Any], Any],
    find: Callable[[Any, Any, int], list[Row]],
    wanted: int,
    until: float | None = None,
) -> Walked[Row]:
    """ends: where a stretch ends that starts here; None: the last. find: rows of a stretch, at most so many. until: the
    end of the time for it, by `time.monotonic`."""
    found: list[Row] = []
    if until is None:
        until = time.monotonic() + SECONDS
    while True:
        began = time.monotonic()
        end = ends(start)
        found += find(start, end, wanted - len(found))
        if end is None or len(found) >= wanted:
            return Walked(found)
        now = time.monotonic()
        # Another would take as long.
        if now + (now - began) > until:
            return Walked(found, end)
        start = end


@dataclass(frozen=True)
class Counted:
    """is_all: whether there are no more; otherwise counting ended, by the number or by the time."""

    number: int
    is_all: bool


def first(rows: QuerySet[Found]) -> QuerySet[Found]:
    """Those that `up_to_limit` is told the number of. In an order that an index has: without one, PostgreSQL may look
    for them in all of the table."""
    return rows[: MOST_COUNTED + 1]


def up_to_limit(number: int) -> Counted:
    """number: of `first` rows."""
    return Counted(min(number, MOST_COUNTED), number <= MOST_COUNTED)


def count(ends: Callable[[Any], Any], number: Callable[[Any, Any, int], int], until: float | None = None) -> Counted:
    """number: how many rows a stretch has, counted up to so many. until: as `walk`."""
    walked = walk(None, ends, lambda start, end, most: [None] * number(start, end, most), MOST_COUNTED + 1, until)
    found = min(len(walked.rows), MOST_COUNTED)
    return Counted(found, walked.reached is None and len(walked.rows) <= MOST_COUNTED)
