"""Looking through a list ends in time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.core import walking


@pytest.mark.parametrize(
    ("takes", "looked_at"),
    [
        ([3, 3, 3, 3], 3),
        ([6, 6], 1),
        # However long the first takes: the next page would begin where this one did.
        ([20, 1], 1),
        ([1, 4, 4], 3),
    ],
)
def test_no_stretch_begins_that_would_end_too_late(
    takes: list[int], looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0]
    monkeypatch.setattr(walking, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(walking, "SECONDS", 10)

    def find(start: int | None, end: int | None, most: int) -> list[str]:
        now[0] += takes[start or 0]
        return []

    def ends(start: int | None) -> int | None:
        end = (start or 0) + 1
        return None if end == len(takes) else end

    walked = walking.walk(None, ends, find, 50)
    assert walked.reached == (None if looked_at == len(takes) else looked_at)
