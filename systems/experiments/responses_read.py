"""Which responses to which questions an experiment compares, and which of them went out to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotate.core.rows import fetch_all
from annotate.models import Batch, BatchSample
from annotate.models.batch import BatchStatus, Came
from systems.core.response_fields import FIELDS
from systems.models import Experiment, ExperimentDraw, ExperimentVersion

# With a set, answers to what it says; without, to what the baseline and one other at least were asked.
_RESPONSES = f"""
    WITH compared AS (
        SELECT r.id, c.position, c.is_baseline, r.question_id, r.revision_id
          FROM systems_response r
          JOIN systems_experimentversion c ON c.version_id = r.version_id AND c.experiment_id = %(experiment)s
         WHERE %(set)s::bigint IS NULL OR r.revision_id IN (
               SELECT revision_id FROM systems_frozenquestion WHERE frozen_set_id = %(set)s)
    ), asked AS (
        SELECT question_id FROM compared GROUP BY question_id
        HAVING %(set)s::bigint IS NOT NULL OR bool_or(is_baseline) AND NOT bool_and(is_baseline)
    )
    SELECT c.position, c.question_id, q.group_key, v.kind, v.category, v.difficulty, r.status = 'failed', r.sample_id,
           coalesce(s.abstained, false),
           {", ".join(f"({field.sql})::float8" for field in FIELDS.values())}
      FROM compared c
      JOIN asked USING (question_id)
      JOIN systems_response r ON r.id = c.id
      JOIN systems_question q ON q.id = c.question_id
      JOIN systems_questionrevision v ON v.id = c.revision_id
      LEFT JOIN annotate_sample s ON s.id = r.sample_id
     ORDER BY c.question_id, c.position, r.repeat
"""
# Columns of it before the measures.
_BEFORE = 9


@dataclass(frozen=True, slots=True)
class Asked:
    """What is said of a question; "" where nothing is."""

    kind: str
    category: str
    difficulty: str


@dataclass(frozen=True)
class Compared:
    """Columns with an entry for each response, in the order of questions and versions; `question` by primary key,
    `sample` None where there is none. groups, asked: of each question. left_out: questions that were not there, or not
    to be labelled, when the order was drawn."""

    version: list[int]
    question: list[int]
    failed: list[bool]
    sample: list[int | None]
    abstained: list[bool]
    measures: dict[str, list[float | None]]
    groups: dict[int, str]
    asked: dict[int, Asked]
    left_out: int

    @cached_property
    def samples(self) -> list[int]:
        return [sample for sample in self.sample if sample is not None]


def compared_responses(experiment: Experiment) -> Compared:
    """Once an order was drawn, only those to questions of its groups: the figures are of these."""
    rows = fetch_all(_RESPONSES, {"experiment": experiment.pk, "set": experiment.frozen_set_id})
    every = {row[1]: row[2] for row in rows}
    there = set(experiment.order)
    if there:
        rows = [row for row in rows if row[2] in there]
    groups = {row[1]: row[2] for row in rows}
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [[]] * (_BEFORE + len(FIELDS))
    return Compared(
        version=columns[0],
        question=columns[1],
        failed=columns[6],
        sample=columns[7],
        abstained=columns[8],
        measures=dict(zip(FIELDS, columns[_BEFORE:], strict=True)),
        groups=groups,
        # Where versions were asked several revisions, as the last of them has it.
        asked={row[1]: Asked(*row[3:6]) for row in rows},
        left_out=len(every) - len(groups),
    )


def compared_versions(experiment: Experiment) -> list[ExperimentVersion]:
    return list(experiment.compared.select_related("version"))


@dataclass(frozen=True)
class SentOut:
    """What went out to people with a known chance: groups of questions, and samples; `closed` groups are those of which
    nothing can change any more in what people say."""

    groups: set[str]
    closed: set[str]
    samples: set[int]


def sent_out(experiment: Experiment) -> SentOut:
    """Batches in which the answers of all versions to a question lie together, as they were drawn: not drafts, and none
    from which samples were taken by hand."""
    draws = [draw for draw in draws_of(experiment) if counts(draw.batch)]
    rows = BatchSample.objects.filter(batch__in=[draw.batch_id for draw in draws], probability__isnull=False)
    return SentOut(
        groups={group for draw in draws for group in draw.groups},
        closed={group for draw in draws if draw.batch.status == BatchStatus.CLOSED for group in draw.groups},
        samples=set(rows.values_list("sample_id", flat=True)),
    )


def draws_of(experiment: Experiment) -> Sequence[ExperimentDraw]:
    return list(experiment.draws.select_related("batch"))


def counts(batch: Batch) -> bool:
    return batch.status != BatchStatus.DRAFT and is_drawn(batch)


def is_drawn(batch: Batch) -> bool:
    """Whether all that was drawn is still in it."""
    return bool(batch.selection["came"] == Came.EXPERIMENT)
