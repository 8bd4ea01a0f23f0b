"""When a batch will be done, as far as its last days tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import connection
from django.utils import timezone

from annotate.models import Batch
from annotate.models.batch import BatchStatus
from annotate.selectors.dashboard import FEWEST_TASKS, PACE_DAYS

_OPEN = """
    SELECT count(*) FILTER (WHERE status IN ('pending', 'in_progress', 'returned')),
           count(*) FILTER (WHERE status IN ('submitted', 'skipped')),
           count(*) FILTER (WHERE status = 'submitted' AND submitted_at >= %(since)s),
           count(*) FILTER (WHERE status = 'submitted' AND active_seconds > 0),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY active_seconds)
               FILTER (WHERE status = 'submitted' AND active_seconds > 0)
      FROM annotate_task WHERE batch_id = %(batch)s
"""
# Longer than this nobody plans, and the sum would only say that almost nothing happens.
LONGEST_DAYS = 3650


@dataclass(frozen=True)
class Forecast:
    """left: tasks; work_seconds: time at work that they need; done_on: the day at the pace of the last days. None:
    too little has happened to tell."""

    left: int
    finished: int
    work_seconds: int | None
    done_on: date | None
    due: date | None
    today: date

    @property
    def is_late(self) -> bool:
        """It will not be done in time, or the time is over."""
        if self.due is None or not self.left:
            return False
        return self.is_overdue or (self.done_on is not None and self.done_on > self.due)

    @property
    def is_overdue(self) -> bool:
        return self.due is not None and self.left > 0 and self.due < self.today

    @property
    def percent(self) -> int:
        whole = self.left + self.finished
        return 100 * self.finished // whole if whole else 0


def forecast(batch: Batch, *, now: datetime | None = None) -> Forecast:
    now = now or timezone.now()
    since = max(now - timedelta(days=PACE_DAYS), batch.opened_at or now)
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, {"batch": batch.pk, "since": since})
        left, finished, lately, timed, median = cursor.fetchone()
    done_on = None
    if batch.status == BatchStatus.OPEN and left and lately >= FEWEST_TASKS:
        # A batch that was opened this morning has had one day: people also sleep.
        days = max((now - since) / timedelta(days=1), 1.0)
        ahead = left * days / lately
        done_on = timezone.localdate(now + timedelta(days=ahead)) if ahead <= LONGEST_DAYS else None
    return Forecast(
        left=left,
        finished=finished,
        work_seconds=round(left * median) if left and timed >= FEWEST_TASKS else None,
        done_on=done_on,
        due=batch.due_date,
        today=timezone.localdate(now),
    )
