"""Dates of audit schedules: 5 January 2026 is a Monday."""

from datetime import date

import pytest

from annotate.core.weekly_dates import Due, dates_from, due_on, first_date, next_date

MONDAY = date(2026, 1, 5)


def day(n: int) -> date:
    return date(2026, 1, n)


@pytest.mark.parametrize(("weekday", "expected"), [(0, 12), (1, 6), (6, 11)])
def test_the_first_date_is_after_today(weekday: int, expected: int) -> None:
    assert first_date(weekday, after=MONDAY) == day(expected)


@pytest.mark.parametrize(
    ("weekday", "weeks", "today", "expected"),
    [
        (0, 1, 5, 12),  # the same rhythm
        (2, 1, 5, 14),  # another weekday counts from the week of the last one
        (0, 2, 5, 19),
        (0, 4, 5, 33),
        (0, 1, 14, 19),  # what that gives has passed: the next such day
        (0, 1, 12, 19),  # today is no date any more
    ],
)
def test_another_rhythm_counts_from_the_week_of_the_last_batch(
    weekday: int, weeks: int, today: int, expected: int
) -> None:
    found = next_date(weekday, weeks, today=day(today), last=MONDAY)
    assert (found - date(2025, 12, 31)).days == expected


def test_without_a_last_batch_it_is_the_first_such_day() -> None:
    assert next_date(3, 4, today=MONDAY, last=None) == day(8)


@pytest.mark.parametrize(
    ("today", "weeks", "on", "missed", "after"),
    [
        (5, 1, day(5), 0, day(12)),
        (11, 1, day(5), 0, day(12)),
        (12, 1, day(12), 1, day(19)),
        (27, 1, day(26), 3, date(2026, 2, 2)),
        (27, 2, day(19), 1, date(2026, 2, 2)),
    ],
)
def test_of_missed_dates_the_latest_counts(today: int, weeks: int, on: date, missed: int, after: date) -> None:
    assert due_on(MONDAY, weeks, today=day(today)) == Due(on, missed, after)


def test_the_next_dates_are_that_many_weeks_apart() -> None:
    assert list(dates_from(MONDAY, 2, 3)) == [day(5), day(19), date(2026, 2, 2)]
