"""What came, as rows: each statement writes many, and only what is still ours to write."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.db import connection, transaction

from judges.endpoints.calls import Answered
from judges.kinds.base import Scored
from judges.models import ScoreStatus
from judges.runs.asking import AskResult, End
from judges.runs.open_run import OpenRun
from judges.runs.outcomes import storable

_LARGEST_INTEGER = 2**31 - 1
_LARGEST_COST = Decimal(10) ** 8

# (project, key) of a reply -> its row.
Rows = dict[tuple[int, str], int]


@dataclass(frozen=True, slots=True)
class Paid:
    """A reply that a run has just got for its money."""

    run: OpenRun
    answered: Answered


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request that may have been paid and brought no reply that is kept. at_most: what it can have cost; 0 when the
    endpoint has no prices."""

    run: int
    at_most: Decimal


def note_unanswered(lost: Sequence[Unanswered]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE judges_run SET unanswered = unanswered + n, at_most = at_most + total FROM ("
            " SELECT run, count(*) AS n, sum(most) AS total FROM unnest(%s::bigint[], %s::numeric[]) AS t (run, most)"
            " GROUP BY run) AS lost WHERE judges_run.id = run",
            [[each.run for each in lost], [each.at_most for each in lost]],
        )


def note_dropped(came: AskResult) -> None:
    """An outcome that can't be written, whatever it says: its sample is gone."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE judges_run SET dropped = dropped + 1 WHERE id = %s::bigint", [came.todo.run.id])


# One statement, since as many requests as it takes time for are not under way: only what is new is counted.
_REPLIES = """
WITH came AS (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::jsonb[], %s::text[], %s::int[], %s::int[],
        %s::numeric[], %s::float8[])
      AS t (run, project, key, body, model, tokens_in, tokens_out, cost, latency)
), stored AS (
    INSERT INTO judges_reply (project_id, key, body, model, tokens_in, tokens_out, cost, latency, created_at)
    SELECT project, key, body, model, tokens_in, tokens_out, cost, latency, now() FROM came
    ON CONFLICT (project_id, key) DO NOTHING RETURNING project_id, key, id
), paid AS (
    SELECT run, coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unpriced,
        coalesce(sum(tokens_in), 0) AS tokens_in, coalesce(sum(tokens_out), 0) AS tokens_out
    FROM came JOIN stored ON stored.project_id = came.project AND stored.key = came.key GROUP BY run
), counted AS (
    UPDATE judges_run SET cost = judges_run.cost + paid.cost, unpriced = judges_run.unpriced + paid.unpriced,
        tokens_in = judges_run.tokens_in + paid.tokens_in, tokens_out = judges_run.tokens_out + paid.tokens_out,
        worked_at = now()
    FROM paid WHERE judges_run.id = paid.run
)
SELECT project_id, key, id FROM stored
"""


def store_replies(paid: Sequence[Paid]) -> Rows:
    """All or nothing, even if the asks are no longer ours, since they were paid; each run counts what it paid for.
    Returns the rows of those that are new: another process wrote the others at the same time."""
    by_key = {(each.run.project_id, each.answered.key): each for each in paid}
    if not by_key:
        return {}
    rows = [(each.run.id, project, *_row(each.answered)) for (project, _key), each in sorted(by_key.items())]
    with connection.cursor() as cursor:
        cursor.execute(_REPLIES, [list(column) for column in zip(*rows, strict=True)])
        return {(project, key): pk for project, key, pk in cursor.fetchall()}


def store_outcomes(group: Sequence[AskResult], known: Rows, *, waits_for_disk: bool = True) -> None:
    """All or nothing, after the replies that they rest on. known: rows of some of these. Of an ask that is no longer
    ours nothing is written."""
    with transaction.atomic(), connection.cursor() as cursor:
        if not waits_for_disk:
            # What this machine works out by itself costs nothing to work out again after a power cut.
            cursor.execute("SET LOCAL synchronous_commit = off")
        laid = [came for came in group if came.todo.taken.id is not None]
        new = [came for came in group if came.todo.taken.id is None]
        done = _write_laid(cursor, laid, _rows_of(cursor, laid, known)) + _write_new(cursor, new)
        if others := _write_scores(cursor, done):
            _note_was_there(cursor, others)
    _note_rates(done)


def _rows_of(cursor: Any, group: Sequence[AskResult], known: Rows) -> Rows:
    wanted = {(came.todo.run.project_id, answered.key) for came in group for answered in came.replies}
    missing = sorted(wanted - known.keys())
    if not missing:
        return known
    cursor.execute(
        "SELECT project_id, key, id FROM judges_reply"
        " JOIN unnest(%s::bigint[], %s::text[]) AS t (project, key) USING (key) WHERE project_id = project",
        [[project for project, _ in missing], [key for _, key in missing]],
    )
    return {**known, **{(project, key): pk for project, key, pk in cursor.fetchall()}}


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
        names = ["text", "refusal", "finish_reason"]
        if answered.raw is not None:
            names.append("raw")
        texts = {name: getattr(answered, name) for name in names}
        body = {name: storable(text) if isinstance(text, str) else None for name, text in texts.items()}
        if answered.logprobs is not None:
            body["logprobs"] = answered.logprobs
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def _count_of(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= _LARGEST_INTEGER else None


def _cost(answered: Answered) -> Decimal | None:
    cost = answered.cost
    return cost if cost is not None and cost.is_finite() and 0 <= cost < _LARGEST_COST else None


_ASKS = """
UPDATE judges_ask SET leased_until = NULL, status = t.status, detail = t.detail, is_cached = t.is_cached,
    replies = t.replies, tries = t.tries, outcome = t.outcome,
    due_at = CASE WHEN t.after IS NULL THEN NULL ELSE now() + make_interval(secs => t.after) END,
    state = CASE WHEN t.state = 'waiting' AND judges_run.state = 'cancelled' THEN 'cancelled' ELSE t.state END
FROM jsonb_to_recordset(%s::jsonb) AS t (id bigint, fence bigint, state text, status text, detail text,
    is_cached bool, replies bigint[], tries int, after float8, outcome jsonb), judges_run
WHERE judges_ask.id = t.id AND judges_ask.fence = t.fence AND judges_ask.state = 'leased'
  AND judges_run.id = judges_ask.run_id
RETURNING judges_ask.id
"""


def _write_laid(cursor: Any, group: Sequence[AskResult], stored: Rows) -> list[AskResult]:
    """Those that are done, as far as they were still ours."""
    if not group:
        return []
    rows = []
    for came in group:
        taken, run = came.todo.taken, came.todo.run
        is_done = came.end is End.DONE
        keys = [(run.project_id, answered.key) for answered in came.replies]
        ids = [stored[key] for key in keys if key in stored]
        rows.append(
            {
                "id": taken.id,
                "fence": taken.fence,
                "state": "done" if is_done else "waiting",
                "status": came.status if is_done else "",
                "detail": storable(came.detail) if is_done or came.end is End.AGAIN else "",
                "is_cached": is_done and bool(ids) and all(answered.is_kept for answered in came.replies),
                "replies": ids,
                "tries": came.tries if came.end is End.AGAIN else taken.tries,
                "after": came.after if came.end is End.AGAIN else None,
                "outcome": _outcome(came) if is_done else None,
            }
        )
    cursor.execute(_ASKS, [_json(rows)])
    ours = {pk for (pk,) in cursor.fetchall()}
    return [came for came in group if came.end is End.DONE and came.todo.taken.id in ours]


_NEW_ASKS = """
INSERT INTO judges_ask
    (run_id, sample_id, unit, repeat, state, fence, lost, tries, status, detail, is_cached, replies, outcome)
SELECT run, sample, unit, repeat, 'done', 1, 0, 0, status, detail, false, '{}', outcome
FROM jsonb_to_recordset(%s::jsonb) AS t (run bigint, sample bigint, unit text, repeat smallint, status text,
    detail text, outcome jsonb)
ON CONFLICT (run_id, sample_id, unit, repeat) DO NOTHING
RETURNING run_id, sample_id, unit, repeat
"""


def _write_new(cursor: Any, group: Sequence[AskResult]) -> list[AskResult]:
    """Those that no other process has laid meanwhile."""
    by_address = {
        (taken.run, taken.sample, taken.unit, taken.repeat): came
        for came in group
        for taken in (came.todo.taken,)
        if came.end is End.DONE
    }
    if not by_address:
        return []
    rows = [
        {
            "run": run,
            "sample": sample,
            "unit": unit,
            "repeat": repeat,
            "status": came.status,
            "detail": storable(came.detail),
            "outcome": _outcome(came),
        }
        for (run, sample, unit, repeat), came in by_address.items()
    ]
    cursor.execute(_NEW_ASKS, [_json(rows)])
    return [by_address[row] for row in cursor.fetchall()]


def _outcome(came: AskResult) -> Any:
    purpose = came.todo.run.purpose
    return None if purpose.brings_scores else purpose.outcome(came.scores, came.found)


def _json(rows: list[dict[str, Any]]) -> str:
    """Many rows as one parameter: an array for each column takes several times as long to write."""
    return orjson.dumps(rows).decode()


_SCORES = """
INSERT INTO judges_score
    (version_id, run_id, sample_id, unit, dimension, repeat, status, number, label, rationale, finding,
     confidence)
SELECT version, run, sample, unit, dimension, repeat, status, number, label, rationale, finding, confidence
FROM jsonb_to_recordset(%s::jsonb) AS t (version bigint, run bigint, sample bigint, unit text, dimension text,
    repeat smallint, status text, number float8, label text, rationale text, finding text, confidence float8)
ON CONFLICT (version_id, dimension, sample_id, unit, repeat) DO UPDATE
SET run_id = excluded.run_id, status = excluded.status, number = excluded.number, label = excluded.label,
    rationale = excluded.rationale, finding = excluded.finding, confidence = excluded.confidence
WHERE judges_score.status <> 'ok'
"""


def _write_scores(cursor: Any, group: Sequence[AskResult]) -> list[AskResult]:
    """A good score never changes; one that failed is replaced. Returns what brought no score, since another run had
    brought all of them meanwhile."""
    rows: dict[tuple[Any, ...], tuple[OpenRun, Scored]] = {}
    brought = 0
    group = [came for came in group if came.todo.run.purpose.brings_scores]
    for came in group:
        taken, run = came.todo.taken, came.todo.run
        for scored in came.scores:
            brought += 1
            key = (run.version.pk, scored.dimension, taken.sample, scored.unit, taken.repeat)
            if key not in rows or rows[key][1].status != ScoreStatus.OK:
                rows[key] = (run, scored)
    if not rows:
        return []
    found = [
        {
            "version": version,
            "run": run.id,
            "sample": sample,
            "unit": unit,
            "dimension": dimension,
            "repeat": repeat,
            "status": scored.status,
            "number": scored.number,
            "label": None if scored.label is None else storable(str(scored.label)),
            "rationale": scored.rationale,
            "finding": scored.finding,
            "confidence": scored.confidence,
        }
        for (version, dimension, sample, unit, repeat), (run, scored) in rows.items()
    ]
    cursor.execute(_SCORES, [_json(found)])
    return [] if cursor.rowcount == brought else _of_others(cursor, group)


def _of_others(cursor: Any, group: Sequence[AskResult]) -> list[AskResult]:
    """Those all of whose scores are there, and good, and another run's."""
    places = {id(came): [_place(came, scored) for scored in came.scores] for came in group}
    asked = {place for of_one in places.values() for place in of_one}
    cursor.execute(
        "SELECT t.* FROM judges_score JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[],"
        " %s::int[]) AS t (run, version, sample, unit, dimension, repeat) USING (unit, dimension, repeat)"
        " WHERE version_id = t.version AND sample_id = t.sample AND run_id <> t.run AND status = 'ok'",
        [list(column) for column in zip(*asked, strict=True)],
    )
    others = set(cursor.fetchall())
    return [came for came in group if came.scores and others.issuperset(places[id(came)])]


def _place(came: AskResult, scored: Scored) -> tuple[Any, ...]:
    taken, run = came.todo.taken, came.todo.run
    return (run.id, run.version.pk, taken.sample, scored.unit, scored.dimension, taken.repeat)


def _note_was_there(cursor: Any, group: Sequence[AskResult]) -> None:
    places = [(taken.run, taken.sample, taken.unit, taken.repeat) for came in group for taken in (came.todo.taken,)]
    cursor.execute(
        "UPDATE judges_ask SET was_there = true"
        " FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::int[]) AS t (run, sample, unit, repeat)"
        " WHERE run_id = t.run AND sample_id = t.sample AND judges_ask.unit = t.unit AND judges_ask.repeat = t.repeat",
        [list(column) for column in zip(*places, strict=True)],
    )


def _note_rates(group: Sequence[AskResult]) -> None:
    """How fast each run goes. Not within the transaction: counting replies would have to wait for it."""
    done = Counter(came.todo.run for came in group)
    for run, count in done.items():
        if (rate := run.rate(count)) is not None:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit = off")
                cursor.execute(
                    "UPDATE judges_run SET per_second = %s::float8, worked_at = now() WHERE id = %s::bigint",
                    [rate, run.id],
                )
