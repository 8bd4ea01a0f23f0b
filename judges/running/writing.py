"""Writing what came: many outcomes in one short transaction, all or nothing, each only by whoever holds its lease."""

from __future__ import annotations

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import orjson
from django.db import DataError, Error, IntegrityError, connection, transaction

from judges.endpoints.calls import Answered
from judges.kinds.base import Scored
from judges.models import ScoreStatus
from judges.running.asking import Came, End, failed
from judges.running.faults import note_fault
from judges.running.opened import OpenRun
from judges.running.outcomes import storable

_log = logging.getLogger(__name__)

# What comes within this time is written together.
_GATHER_SECONDS = 0.03
_MOST_TOGETHER = 1_000
# A database that is away for longer than this has whoever comes next do the work again.
_PATIENCE_SECONDS = 60.0
_LARGEST_INTEGER = 2**31 - 1
_LARGEST_COST = Decimal(10) ** 8


class Writer:
    """A thread that writes beside those who ask, with a connection of its own.

    is_lost: the database took nothing for so long that what came is given up; whoever comes next asks again.
    on_written: called with what was written, in that thread.
    """

    def __init__(
        self,
        on_written: Callable[[Sequence[Came]], None],
        *,
        waits_for_disk: bool = True,
    ) -> None:
        self.is_lost = False
        self._on_written = on_written
        self._waits_for_disk = waits_for_disk
        self._came: SimpleQueue[list[Came] | None] = SimpleQueue()
        self._ended = Event()
        self._thread = Thread(target=self._work, name="writing", daemon=True)
        self._thread.start()

    def put(self, came: list[Came]) -> None:
        self._came.put(came)

    def close(self) -> None:
        """Waits until everything is written."""
        self._came.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            is_open = True
            while is_open:
                group = self._came.get()
                if group is None:
                    return
                group = list(group)
                if self._waits_for_disk:
                    sleep(_GATHER_SECONDS)
                while len(group) < _MOST_TOGETHER:
                    try:
                        more = self._came.get_nowait()
                    except Empty:
                        break
                    if more is None:
                        is_open = False
                        break
                    group += more
                self._write(group)
                self._on_written(group)
        except BaseException as error:
            self.is_lost = True
            note_fault(error, "Nothing of what judges say can be written any more")
            raise
        finally:
            connection.close()
            self._ended.set()

    def _write(self, group: list[Came]) -> None:
        started = monotonic()
        while not self.is_lost:
            try:
                write(group, waits_for_disk=self._waits_for_disk)
                return
            except (DataError, IntegrityError, ValueError, TypeError) as error:
                note_fault(error, "Something of what judges said can't be stored; one by one")
                self._write_each(group)
                return
            except Error as error:
                connection.close()
                if monotonic() - started > _PATIENCE_SECONDS:
                    self.is_lost = True
                    note_fault(error, "The database is away; what judges said is given up, and asked again later")
                    return
                sleep(0.5)

    def _write_each(self, group: list[Came]) -> None:
        for came in group:
            try:
                write([came], waits_for_disk=self._waits_for_disk)
            except (DataError, IntegrityError, ValueError, TypeError):
                without = failed(came.todo, ScoreStatus.ERROR, "What the judge said can't be stored.")
                try:
                    write([without], waits_for_disk=self._waits_for_disk)
                except (Error, ValueError, TypeError) as error:
                    # Left in hand; whoever comes next sees it as lost, and after a few times gives it up.
                    note_fault(error, f"Ask {came.todo.taken.id} can't be written")


def write(group: Sequence[Came], *, waits_for_disk: bool = True) -> None:
    """All or nothing. Of an ask that is no longer ours only its replies are kept, which were paid."""
    with transaction.atomic(), connection.cursor() as cursor:
        if not waits_for_disk:
            # What this machine works out by itself costs nothing to work out again after a power cut.
            cursor.execute("SET LOCAL synchronous_commit = off")
        ids = _write_replies(cursor, group)
        ours = _write_asks(cursor, group, ids)
        _write_scores(cursor, [came for came in group if came.end is End.DONE and came.todo.taken.id in ours])
        _count(cursor, group, ids, ours)


class _Kept:
    """Which row a reply has, and which are new and paid by which run."""

    def __init__(self) -> None:
        self.ids: dict[tuple[int, str], int] = {}
        self.paid: list[tuple[OpenRun, Answered]] = []


_REPLIES = """
INSERT INTO judges_reply (project_id, key, body, model, tokens_in, tokens_out, cost, latency, created_at)
SELECT project, key, body, model, tokens_in, tokens_out, cost, latency, now()
FROM unnest(%s::bigint[], %s::text[], %s::jsonb[], %s::text[], %s::int[], %s::int[], %s::numeric[], %s::float8[])
  AS t (project, key, body, model, tokens_in, tokens_out, cost, latency)
ON CONFLICT (project_id, key) DO NOTHING RETURNING project_id, key, id
"""


def _write_replies(cursor: Any, group: Sequence[Came]) -> _Kept:
    kept = _Kept()
    new: dict[tuple[int, str], tuple[OpenRun, Answered]] = {}
    wanted: set[tuple[int, str]] = set()
    for came in group:
        run = came.todo.run
        for answered in came.replies:
            wanted.add((run.project_id, answered.key))
            if not answered.is_kept:
                new.setdefault((run.project_id, answered.key), (run, answered))
    if new:
        rows = [(project, *_row(answered)) for (project, _), (_, answered) in sorted(new.items(), key=lambda at: at[0])]
        cursor.execute(_REPLIES, [list(column) for column in zip(*rows, strict=True)])
        for project, key, pk in cursor.fetchall():
            kept.ids[project, key] = pk
            kept.paid.append(new[project, key])
    if missing := sorted(wanted - kept.ids.keys()):
        cursor.execute(
            "SELECT project_id, key, id FROM judges_reply"
            " JOIN unnest(%s::bigint[], %s::text[]) AS t (project, key) USING (key) WHERE project_id = project",
            [[project for project, _ in missing], [key for _, key in missing]],
        )
        kept.ids.update({(project, key): pk for project, key, pk in cursor.fetchall()})
    return kept


def _row(answered: Answered) -> tuple[Any, ...]:
    return (
        answered.key,
        _body(answered),
        storable(answered.model),
        _count_of(answered.tokens_in),
        _count_of(answered.tokens_out),
        _cost(answered),
        answered.latency if math.isfinite(answered.latency) and answered.latency > 0 else 0.0,
    )


def _body(answered: Answered) -> str:
    if answered.vectors is not None:
        body: dict[str, Any] = {"vectors": [list(vector) for vector in answered.vectors]}
    else:
        body = {
            name: storable(text) if isinstance(text, str) else None
            for name, text in (
                ("text", answered.text),
                ("refusal", answered.refusal),
                ("finish_reason", answered.finish_reason),
                ("raw", answered.raw),
            )
            if name != "raw" or text is not None
        }
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def _count_of(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= _LARGEST_INTEGER else None


def _cost(answered: Answered) -> Decimal | None:
    cost = answered.cost
    return cost if cost is not None and cost.is_finite() and 0 <= cost < _LARGEST_COST else None


_ASKS = """
UPDATE judges_ask SET leased_until = NULL, status = t.status, detail = t.detail, is_cached = t.is_cached,
    replies = t.replies::bigint[], tries = t.tries,
    due_at = CASE WHEN t.after IS NULL THEN NULL ELSE now() + make_interval(secs => t.after) END,
    state = CASE WHEN t.state = 'waiting' AND judges_run.state = 'cancelled' THEN 'cancelled' ELSE t.state END
FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bool[], %s::text[], %s::int[],
            %s::float8[]) AS t (id, fence, state, status, detail, is_cached, replies, tries, after), judges_run
WHERE judges_ask.id = t.id AND judges_ask.fence = t.fence AND judges_ask.state = 'leased'
  AND judges_run.id = judges_ask.run_id
RETURNING judges_ask.id
"""


def _write_asks(cursor: Any, group: Sequence[Came], kept: _Kept) -> set[int]:
    """Those that were still ours."""
    rows = []
    for came in group:
        taken, run = came.todo.taken, came.todo.run
        is_done = came.end is End.DONE
        ids = [kept.ids[run.project_id, answered.key] for answered in came.replies]
        rows.append(
            (
                taken.id,
                taken.fence,
                "done" if is_done else "waiting",
                str(came.status.value) if is_done else "",
                storable(came.detail) if is_done or came.end is End.AGAIN else "",
                is_done and bool(ids) and all(answered.is_kept for answered in came.replies),
                "{" + ",".join(str(pk) for pk in ids) + "}",
                came.tries if came.end is End.AGAIN else taken.tries,
                came.after if came.end is End.AGAIN else None,
            )
        )
    rows.sort()
    cursor.execute(_ASKS, [list(column) for column in zip(*rows, strict=True)])
    return {pk for (pk,) in cursor.fetchall()}


_SCORES = """
INSERT INTO judges_score
    (version_id, run_id, sample_id, unit, dimension, repeat, status, number, label, rationale)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::smallint[], %s::text[],
                     %s::float8[], %s::text[], %s::text[])
ON CONFLICT (version_id, dimension, sample_id, unit, repeat) DO UPDATE
SET run_id = excluded.run_id, status = excluded.status, number = excluded.number, label = excluded.label,
    rationale = excluded.rationale
WHERE judges_score.status <> 'ok'
"""


def _write_scores(cursor: Any, group: Sequence[Came]) -> None:
    """A good score never changes; one that failed is replaced."""
    rows: dict[tuple[Any, ...], tuple[OpenRun, Scored]] = {}
    for came in group:
        taken, run = came.todo.taken, came.todo.run
        for scored in came.scores:
            key = (run.version.pk, scored.dimension, taken.sample, scored.unit, taken.repeat)
            if key not in rows or rows[key][1].status != ScoreStatus.OK:
                rows[key] = (run, scored)
    if not rows:
        return
    columns = zip(
        *(
            (
                version,
                run.id,
                sample,
                unit,
                dimension,
                repeat,
                str(ScoreStatus(scored.status).value),
                scored.number,
                None if scored.label is None else storable(str(scored.label)),
                scored.rationale,
            )
            for (version, dimension, sample, unit, repeat), (run, scored) in sorted(
                rows.items(), key=lambda row: row[0]
            )
        ),
        strict=True,
    )
    cursor.execute(_SCORES, [list(column) for column in columns])


def _count(cursor: Any, group: Sequence[Came], kept: _Kept, ours: set[int]) -> None:
    """What each run paid for, once per reply that is kept, and how fast it goes."""
    done = Counter(came.todo.run for came in group if came.end is End.DONE and came.todo.taken.id in ours)
    paid: dict[OpenRun, list[Answered]] = defaultdict(list)
    for run, answered in kept.paid:
        paid[run].append(answered)
    for run in sorted(done.keys() | paid.keys(), key=lambda run: run.id):
        costs = [_cost(answered) for answered in paid[run]]
        cursor.execute(
            "UPDATE judges_run SET cost = cost + %s::numeric, unpriced = unpriced + %s::int,"
            " tokens_in = tokens_in + %s::bigint, tokens_out = tokens_out + %s::bigint,"
            " per_second = %s::float8, worked_at = now() WHERE id = %s::bigint",
            [
                sum((cost for cost in costs if cost is not None), Decimal(0)),
                costs.count(None),
                sum(_count_of(answered.tokens_in) or 0 for answered in paid[run]),
                sum(_count_of(answered.tokens_out) or 0 for answered in paid[run]),
                run.rate(done[run]),
                run.id,
            ],
        )
