"""When the batches of an audit schedule are due: days, which the caller's today is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import count, islice
from typing import NamedTuple

_WEEK = timedelta(weeks=1)


def first_date(weekday: int, *, after: date) -> date:
    """The first such weekday after that day."""
    return after + timedelta(days=(weekday - after.weekday() - 1) % 7 + 1)


def next_date(weekday: int, weeks: int, *, today: date, last: date | None) -> date:
    """After today, and in the week that follows the last batch's by so many; where that has passed, in a week soon."""
    if last is None:
        return first_date(weekday, after=today)
    monday = last - timedelta(days=last.weekday())
    found = monday + weeks * _WEEK + timedelta(days=weekday)
    return found if found > today else first_date(weekday, after=today)


class Due(NamedTuple):
    """on: the latest date that has come. missed: how many came before it. after: the next one."""

    on: date
    missed: int
    after: date


def due_on(first: date, weeks: int, *, today: date) -> Due:
    """Of a schedule whose earliest open date has come."""
    missed = (today - first).days // (7 * weeks)
    on = first + missed * weeks * _WEEK
    return Due(on, missed, on + weeks * _WEEK)


def dates_from(first: date, weeks: int, n: int) -> Iterator[date]:
    return (first + step * weeks * _WEEK for step in islice(count(), n))
