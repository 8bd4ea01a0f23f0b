"""The queue of record: asks are taken, given back, freed and counted here, each in one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection

from judges.models import RunState
from judges.runs.places import Place

# After this many deaths with an ask in hand it may be what killed: from then on it is asked alone.
SUSPECT = 3
# After this many, the last of them with nothing else in hand, it is given up.
DEADLY = SUSPECT + 2
# Longer than any request: what frees an ask sooner is that no process holds its place's lock.
LEASE_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Taken:
    """An ask that is ours as long as its fence is the latest.

    id: None when it is laid only when it is done (judges.runs.local_work): ours as long as no other process lays it.
    """

    id: int | None
    run: int
    sample: int
    unit: str
    repeat: int
    fence: int
    tries: int
    lost: int


_TAKE = """
UPDATE judges_ask SET state = 'leased', fence = fence + 1, leased_until = now() + make_interval(secs => %s::int)
WHERE id IN (
    SELECT id FROM judges_ask
    WHERE run_id = %s::bigint AND state = 'waiting' AND (due_at IS NULL OR due_at <= now())
      AND lost BETWEEN %s::int AND %s::int
    ORDER BY id LIMIT %s::int FOR UPDATE SKIP LOCKED
)
RETURNING id, run_id, sample_id, unit, repeat, fence, tries, lost
"""


def take(run_id: int, count: int) -> list[Taken]:
    """Up to `count` asks of the run that are due, in the order in which they were laid."""
    return _take(run_id, count, 0, SUSPECT - 1)


def take_suspect(run_id: int) -> Taken | None:
    """One of those that may be what killed."""
    found = _take(run_id, 1, SUSPECT, 32_767)
    return found[0] if found else None


def _take(run_id: int, count: int, least: int, most: int) -> list[Taken]:
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [LEASE_SECONDS, run_id, least, most, count])
        return [Taken(*row) for row in sorted(cursor.fetchall())]


# Of what was in hand at most as much was under way as the endpoint is asked at once, with what was being written: of
# each of its runs the same share, each request taken for as dear as the run's dearest reply.
_FREE = """
WITH freed AS (
    UPDATE judges_ask SET leased_until = NULL, lost = lost + 1,
        state = CASE WHEN judges_run.state = 'cancelled' THEN 'cancelled' ELSE 'waiting' END
    FROM judges_run
    WHERE judges_ask.state = 'leased' AND judges_ask.run_id = ANY(%s::bigint[]) AND judges_run.id = judges_ask.run_id
    RETURNING judges_ask.run_id
), counted AS (
    SELECT run_id, count(*) AS n, (sum(count(*)) OVER (ORDER BY run_id))::bigint AS up_to,
        (sum(count(*)) OVER ())::bigint AS whole, max(concurrency + concurrency / 8) AS most
    FROM freed JOIN judges_run ON judges_run.id = run_id JOIN judges_judgeversion v ON v.id = version_id
    JOIN judges_endpoint ON judges_endpoint.id = v.endpoint_id GROUP BY run_id
), shared AS (
    SELECT run_id, up_to * least(whole, most) / whole - (up_to - n) * least(whole, most) / whole AS n,
        (SELECT max(cost) FROM judges_reply WHERE id IN
            (SELECT unnest(replies) FROM judges_ask WHERE judges_ask.run_id = counted.run_id)) AS dearest
    FROM counted
)
UPDATE judges_run SET unanswered = unanswered + n, at_most = at_most + n * coalesce(dearest, 0)
FROM shared WHERE judges_run.id = run_id
"""


def free(runs: list[int]) -> None:
    """Frees what a process that is gone had in hand, and counts what of it may have been paid. Only for the holder of
    the lock of these runs' place."""
    if not runs:
        return
    with connection.cursor() as cursor:
        cursor.execute(_FREE, [runs])


def in_hand(place: Place) -> list[int]:
    """The runs there that have asks in hand."""
    return list(place.runs().filter(asks__state="leased").order_by().values_list("pk", flat=True).distinct())


_LEFT = """
SELECT (SELECT count(*) FROM judges_ask WHERE run_id = %s::bigint AND state = 'leased'),
    extract(epoch FROM min(coalesce(due_at, now())) - now())
FROM judges_ask WHERE run_id = %s::bigint AND state = 'waiting'
"""


def left(run_id: int) -> tuple[int, float | None]:
    """How many of the run's asks are in hand, and seconds until one that waits may go out; None: none waits."""
    with connection.cursor() as cursor:
        cursor.execute(_LEFT, [run_id, run_id])
        leased, due_in = cursor.fetchone()
    return leased, None if due_in is None else max(0.0, float(due_in))


# One state at a time: each has an index of its own.
_FINISH = """
UPDATE judges_run SET state = 'done', finished_at = now(), stop_code = '', stop_message = ''
WHERE id = %s::bigint AND is_laid AND state = ANY(%s::text[])
  AND NOT EXISTS (SELECT 1 FROM judges_ask WHERE run_id = %s::bigint AND state = 'waiting')
  AND NOT EXISTS (SELECT 1 FROM judges_ask WHERE run_id = %s::bigint AND state = 'leased')
"""


def finish(run_id: int) -> bool:
    """Whether nothing was left to do, so that the run is done now."""
    open_states = (RunState.RUNNING, RunState.PAUSED, RunState.STOPPED)
    with connection.cursor() as cursor:
        cursor.execute(_FINISH, [run_id, [str(state) for state in open_states], run_id, run_id])
        return bool(cursor.rowcount)


def sweep_cancelled(run_id: int) -> None:
    """What came back to a run while it was being cancelled."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE judges_ask SET state = 'cancelled' WHERE run_id = %s::bigint AND state = 'waiting'"
            " AND EXISTS (SELECT 1 FROM judges_run WHERE id = %s::bigint AND state = 'cancelled')",
            [run_id, run_id],
        )


def places_with_work() -> list[Place]:
    """Where there is something to do just now, whether or not a process is at it: runs that go on with asks that are
    due, that are not laid or not marked as done; and asks that are in hand."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT judges_judgeversion.endpoint_id,"
            " CASE WHEN judges_judgeversion.endpoint_id IS NULL THEN judges_run.id END"
            " FROM judges_run JOIN judges_judgeversion ON judges_judgeversion.id = judges_run.version_id"
            " WHERE judges_run.id IN (SELECT run_id FROM judges_ask WHERE state = 'leased')"
            " OR judges_run.state = 'running' AND (NOT is_laid"
            "  OR EXISTS (SELECT 1 FROM judges_ask WHERE run_id = judges_run.id AND state = 'waiting'"
            "             AND (due_at IS NULL OR due_at <= now()))"
            "  OR NOT EXISTS (SELECT 1 FROM judges_ask WHERE run_id = judges_run.id AND state = 'waiting'))"
        )
        rows: list[tuple[Any, Any]] = cursor.fetchall()
    return [Place("run", run) if endpoint is None else Place("endpoint", endpoint) for endpoint, run in rows]
