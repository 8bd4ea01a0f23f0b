"""The labelling loop's reads and guarded writes, one SQL statement each.

Every decision of every annotator passes here, so these are written by hand: a read brings all that the rules need, the
rules run in Python without holding a lock, and a write repeats in its WHERE what the rules relied on. A write that
finds it changed writes nothing, and the caller starts over.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.core.rows import execute, fetch_one
from annotate.core.units import asks_sql, count_sql, indices_sql
from annotate.labels.read import ANSWERED
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus
from annotate.models.project import Scale

_OPEN = [status.value for status in OPEN_TASK_STATUSES]


@dataclass(frozen=True)
class AskedCriterion:
    """A criterion of the batch, with what the rules need of it."""

    id: int
    key: str
    unit: str
    scale: str
    options: list[dict[str, Any]]
    required: bool
    cant_tell: bool
    prefill: str

    @property
    def levels(self) -> list[Any]:
        return [option["value"] for option in self.options]

    @property
    def is_text(self) -> bool:
        return self.scale == Scale.TEXT

    @property
    def is_multi(self) -> bool:
        return self.scale == Scale.MULTI


@dataclass(frozen=True)
class StoredLabel:
    id: int
    value: Any
    cant_tell: str
    comment: str
    evidence: list[dict[str, Any]]
    revision: int


@dataclass(frozen=True)
class TaskRow:
    """An annotator's task with its batch and the units of its sample."""

    id: int
    status: str
    sample_id: int
    batch_id: int
    batch_name: str
    batch_status: str
    purpose: str
    gold_feedback: bool
    strategy: str
    # How many people label the sample; 1 for one that isn't the batch's own (gold).
    overlap: int
    rater_id: int
    # Of each kind that samples list; a claim that was dropped is not among them.
    unit_indices: dict[str, Sequence[int]]
    # None when they were not asked for: only evidence needs their texts.
    contexts: list[dict[str, Any]] | None
    # Those that can be asked of the sample.
    criteria: list[AskedCriterion]
    # (unit, criterion id) of every label that answers: by a value, or by saying that none can be given. None when not
    # asked for.
    given: set[tuple[str, int]] | None
    # Those of the (unit, criterion key) that were asked for.
    labels: dict[tuple[str, str], StoredLabel]
    # The newest version of the project's guidelines; None: there is none.
    guideline_version: int | None
    # Of a round: whose training or test it is.
    qualification_id: int | None


_READ_TASK = f"""
    SELECT t.id, t.status, t.sample_id, t.batch_id, b.name, b.status, t.purpose, b.gold_feedback,
           b.strategy, coalesce(bs.overlap, 1), r.id,
           {indices_sql("claim")}, {count_sql("context")}, {count_sql("fact")}, {count_sql("entity")},
           CASE WHEN %(with_contexts)s THEN s.contexts END,
           (SELECT jsonb_agg(jsonb_build_array(c.id, c.key, c.unit, c.scale, c.options, c.required, c.cant_tell,
                                            c.prefill)
                             ORDER BY bc.position)
              FROM annotate_batchcriterion bc JOIN annotate_criterion c ON c.id = bc.criterion_id
             WHERE bc.batch_id = t.batch_id AND {asks_sql()}),
           CASE WHEN %(with_given)s THEN
             (SELECT coalesce(jsonb_agg(jsonb_build_array(l.unit, l.criterion_id)), '[]')
                FROM annotate_label l WHERE l.task_id = t.id AND {ANSWERED}) END,
           (SELECT jsonb_agg(jsonb_build_array(l.unit, c.key, l.id, l.value, l.cant_tell, l.comment, l.evidence,
                                            l.revision))
              FROM unnest(%(units)s::text[], %(keys)s::text[]) AS of (unit, key)
              JOIN annotate_label l ON l.task_id = t.id AND l.unit = of.unit
              JOIN annotate_criterion c ON c.id = l.criterion_id AND c.key = of.key
              -- A label carried over to a later version lies in the same task.
              JOIN annotate_batchcriterion bc ON bc.batch_id = t.batch_id AND bc.criterion_id = c.id),
           (SELECT max(g.number) FROM annotate_guidelineversion g WHERE g.project_id = b.project_id),
           b.qualification_id
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id
      JOIN annotate_sample s ON s.id = t.sample_id
      LEFT JOIN annotate_batchsample bs ON bs.batch_id = t.batch_id AND bs.sample_id = t.sample_id
      JOIN annotate_membership m
        ON m.project_id = b.project_id AND m.user_id = t.annotator_id AND m.is_active
      JOIN annotate_rater r ON r.project_id = b.project_id AND r.user_id = t.annotator_id
     WHERE t.id = %(task)s AND t.annotator_id = %(annotator)s AND b.status <> %(draft)s
"""


def read_task(
    *,
    annotator_id: int,
    task_id: int,
    labels: Collection[tuple[str, str]] = (),
    with_contexts: bool = False,
    with_given: bool = False,
) -> TaskRow | None:
    """The annotator's own task, or None. labels: (unit, criterion key) of those to bring along."""
    row = fetch_one(
        _READ_TASK,
        {
            "task": task_id,
            "annotator": annotator_id,
            "draft": BatchStatus.DRAFT.value,
            "units": [unit for unit, _key in labels],
            "keys": [key for _unit, key in labels],
            "with_contexts": with_contexts,
            "with_given": with_given,
        },
    )
    if row is None:
        return None
    contexts, criteria, given, stored = (None if text is None else json.loads(text) for text in row[15:19])
    _, status, sample_id, batch_id, batch_name, batch_status, purpose, gold_feedback, strategy = row[:9]
    overlap, rater_id = row[9:11]
    return TaskRow(
        id=task_id,
        status=status,
        sample_id=sample_id,
        batch_id=batch_id,
        batch_name=batch_name,
        batch_status=batch_status,
        purpose=purpose,
        gold_feedback=gold_feedback,
        strategy=strategy,
        overlap=overlap,
        rater_id=rater_id,
        unit_indices={"claim": row[11], "context": range(row[12]), "fact": range(row[13]), "entity": range(row[14])},
        contexts=contexts,
        criteria=[AskedCriterion(*asked) for asked in criteria or []],
        given=None if given is None else {(unit, criterion_id) for unit, criterion_id in given},
        labels={(unit, key): StoredLabel(*label) for unit, key, *label in stored or []},
        guideline_version=row[19],
        qualification_id=row[20],
    )


@dataclass(frozen=True, slots=True)
class NewRevision:
    """What a label says from now on. seen: the revision that this one follows; 0: none yet."""

    unit: str
    criterion: AskedCriterion
    value: Any
    cant_tell: str
    comment: str
    evidence: list[dict[str, Any]]
    active_ms: int | None
    guideline_version: int | None
    seen: int
    key: uuid.UUID

    @property
    def answers(self) -> bool:
        return self.value is not None or self.cant_tell != ""

    def as_json(self) -> dict[str, Any]:
        named = {"criterion": self.criterion.id, "key": str(self.key)}
        return {name: getattr(self, name) for name in self.__slots__ if name not in named} | named


# `open_task` holds the row lock that makes the guard true until the end of the statement. Whose task it is belongs to
# the guard: the task may have changed hands since it was read. A save renews the lease.
_WRITE_LABELS = """
    WITH open_task AS (
        SELECT t.id, now() + make_interval(mins => b.lease_minutes) AS lease
          FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
         WHERE t.id = %(task)s AND t.annotator_id = %(actor)s AND t.status = ANY(%(open)s)
           AND b.status = %(batch_open)s
           FOR UPDATE OF t
    ), said AS (
        SELECT * FROM jsonb_to_recordset(%(said)s::jsonb) AS x
            (unit text, criterion bigint, value jsonb, cant_tell text, comment text, evidence jsonb, active_ms int,
             guideline_version int, seen int, key uuid)
    ), saved AS (
        INSERT INTO annotate_label AS l
               (task_id, rater_id, sample_id, unit, criterion_id, value, cant_tell, comment, evidence, active_ms,
                guideline_version, revision, updated_at)
        SELECT o.id, %(rater)s, %(sample)s, unit, criterion, value, cant_tell, comment, evidence, active_ms,
               guideline_version, seen + 1, now()
          FROM said, open_task o
        ON CONFLICT (task_id, unit, criterion_id) WHERE task_id IS NOT NULL DO UPDATE
           SET value = excluded.value, cant_tell = excluded.cant_tell, comment = excluded.comment,
               evidence = excluded.evidence, active_ms = greatest(l.active_ms, excluded.active_ms),
               guideline_version = excluded.guideline_version, revision = excluded.revision,
               updated_at = excluded.updated_at
         WHERE l.revision = excluded.revision - 1
        RETURNING id, unit, criterion_id, revision
    ), noted AS (
        UPDATE annotate_task t SET status = %(in_progress)s, started_at = coalesce(started_at, now()),
               active_seconds = greatest(active_seconds, %(active_seconds)s),
               lease_expires_at = CASE WHEN lease_expires_at IS NOT NULL THEN o.lease END
          FROM open_task o WHERE t.id = o.id AND EXISTS (SELECT FROM saved)
    )
    INSERT INTO annotate_labelevent
           (label_id, revision, value, cant_tell, comment, evidence, actor_id, idempotency_key, created_at)
    SELECT l.id, l.revision, value, cant_tell, comment, evidence, %(actor)s, key, now()
      FROM saved l JOIN said ON said.unit = l.unit AND said.criterion = l.criterion_id
"""


def write_labels(*, task: TaskRow, actor_id: int, said: Sequence[NewRevision], active_seconds: int) -> bool:
    """Stores the labels' next revisions with their events. False: the task, or one of the labels, changed since the
    read, and of several some may be stored; the caller takes that back.

    Raises IntegrityError when another request used a key in between.
    """
    stored = execute(
        _WRITE_LABELS,
        {
            "task": task.id,
            "open": _OPEN,
            "batch_open": BatchStatus.OPEN.value,
            "in_progress": TaskStatus.IN_PROGRESS.value,
            "rater": task.rater_id,
            "sample": task.sample_id,
            "said": json.dumps([one.as_json() for one in said]),
            "active_seconds": active_seconds,
            "actor": actor_id,
        },
    )
    return stored == len(said)


# On the task, since a guard that counts labels is no guard when it waits for a row in the middle of its statement: it
# goes on counting in the old snapshot. On the sample (of all batches): two people finishing it at the same moment must
# not both think that the other is still at work, nor one settle without the other's votes.
_LOCK = """
    SELECT FROM annotate_task t JOIN annotate_sample s ON s.id = t.sample_id
     WHERE t.id = %s FOR UPDATE OF t FOR NO KEY UPDATE OF s
"""

# What a reviewer asked for is done with the next submission.
_FINISH = f"""
    UPDATE annotate_task t SET status = %(status)s::text, skip_reason = %(reason)s,
           return_message = CASE WHEN %(status)s::text = 'submitted' THEN '' ELSE t.return_message END,
           returned_by_id = CASE WHEN %(status)s::text = 'submitted' THEN NULL ELSE t.returned_by_id END,
           submitted_at = CASE WHEN %(status)s::text = 'submitted' THEN now() END,
           active_seconds = greatest(active_seconds, %(active_seconds)s)
     WHERE t.id = %(task)s AND t.annotator_id = %(actor)s AND t.status = ANY(%(open)s)
       AND (%(given)s::bigint IS NULL OR %(given)s::bigint = (
             SELECT count(*) FROM annotate_label l WHERE l.task_id = t.id AND {ANSWERED}))
       AND EXISTS (SELECT FROM annotate_batch b WHERE b.id = t.batch_id AND b.status = %(batch_open)s)
    RETURNING (SELECT count(*) FROM annotate_task o
                WHERE o.batch_id = t.batch_id AND o.sample_id = t.sample_id AND o.id <> t.id
                  AND o.purpose = 'label' AND o.status = ANY(%(open)s))
"""


def finish_task(
    *, task: TaskRow, actor_id: int, status: TaskStatus, skip_reason: str, active_seconds: int, given: int | None
) -> int | None:
    """Submits or skips, inside the caller's transaction. Returns how many others are still at work on the sample; None
    when something changed since the read, also how many labels of the task answer. given: how many do; None: any."""
    execute(_LOCK, [task.id])
    row = fetch_one(
        _FINISH,
        {
            "task": task.id,
            "actor": actor_id,
            "status": status.value,
            "reason": skip_reason,
            "active_seconds": active_seconds,
            "given": given,
            "open": _OPEN,
            "batch_open": BatchStatus.OPEN.value,
        },
    )
    return row[0] if row else None
