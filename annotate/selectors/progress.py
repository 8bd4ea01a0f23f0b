"""How far things are: per annotator, per criterion, per project."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Q, Sum

from annotate.models import Batch, BatchCriterion, BatchSample, Label, Task, Verdict
from annotate.models.batch import Purpose, TaskStatus
from annotate.models.verdict import VerdictState


@dataclass(frozen=True)
class AnnotatorProgress:
    name: str
    total: int
    done: int
    skipped: int
    in_progress: int
    active_seconds: int

    @property
    def left(self) -> int:
        return self.total - self.done - self.skipped

    @property
    def percent(self) -> int:
        return _percent(self.done + self.skipped, self.total)

    @property
    def seconds_per_task(self) -> float | None:
        finished = self.done + self.skipped
        return self.active_seconds / finished if finished else None


@dataclass(frozen=True)
class CriterionProgress:
    key: str
    name: str
    # How many labels the batch asks for: each unit's overlap, added up.
    expected: int
    given: int
    settled: int
    disputed: int

    @property
    def percent(self) -> int:
        return _percent(self.given, self.expected)


def _percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 0


def batch_annotators(batch: Batch) -> list[AnnotatorProgress]:
    rows = (
        Task.objects.filter(batch=batch, annotator__isnull=False)
        .values("annotator__display_name", "annotator__username")
        .annotate(
            total=Count("id"),
            done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
            skipped=Count("id", filter=Q(status=TaskStatus.SKIPPED)),
            in_progress=Count("id", filter=Q(status=TaskStatus.IN_PROGRESS)),
            active=Sum("active_seconds"),
        )
        .order_by("annotator__username")
    )
    return [
        AnnotatorProgress(
            name=row["annotator__display_name"] or row["annotator__username"],
            total=row["total"],
            done=row["done"],
            skipped=row["skipped"],
            in_progress=row["in_progress"],
            active_seconds=row["active"] or 0,
        )
        for row in rows
    ]


def batch_skips(batch: Batch) -> list[Task]:
    """The tasks that were skipped, each with its reason: what nobody labelled, somebody has to look at."""
    skipped = Task.objects.filter(batch=batch, status=TaskStatus.SKIPPED).select_related("sample", "annotator")
    return list(skipped.order_by("sample_id", "annotator__username"))


# Each unit as often as people label its sample. The units of a listed kind are the entries of a JSON array of the
# sample; the others exist once a sample.
_EXPECTED = """
    SELECT coalesce(sum(b.overlap * jsonb_array_length(s.claims)), 0),
           coalesce(sum(b.overlap * jsonb_array_length(s.contexts)), 0),
           coalesce(sum(b.overlap * jsonb_array_length(s.key_facts)), 0),
           coalesce(sum(b.overlap * jsonb_array_length(s.entities)), 0),
           coalesce(sum(b.overlap), 0)
    FROM annotate_batchsample b JOIN annotate_sample s ON s.id = b.sample_id WHERE b.batch_id = %s
"""


def batch_criteria(batch: Batch) -> list[CriterionProgress]:
    with connection.cursor() as cursor:
        cursor.execute(_EXPECTED, [batch.pk])
        claims, contexts, facts, entities, samples = cursor.fetchone()
    units = {"claim": claims, "context": contexts, "fact": facts, "entity": entities}
    given = dict(
        # What was said in a task that was skipped or handed on in the end counts for nothing.
        Label.objects.filter(task__batch=batch, task__purpose=Purpose.LABEL, value__isnull=False)
        .exclude(task__status__in=[TaskStatus.SKIPPED, TaskStatus.RELEASED])
        .values_list("criterion_id")
        .annotate(n=Count("id"))
    )
    # By sample, not by Verdict.batch: a sample can be in several batches, and its unit has one verdict.
    verdicts = (
        Verdict.objects.filter(
            sample__in=BatchSample.objects.filter(batch=batch).values("sample"),
            criterion__in=BatchCriterion.objects.filter(batch=batch).values("criterion"),
        )
        .values_list("criterion_id")
        .annotate(n=Count("id"))
    )
    settled = dict(verdicts.filter(state=VerdictState.SETTLED))
    disputed = dict(verdicts.exclude(state=VerdictState.SETTLED))
    return [
        CriterionProgress(
            key=criterion.key,
            name=criterion.name,
            expected=units.get(criterion.unit, samples),
            given=given.get(criterion.pk, 0),
            settled=settled.get(criterion.pk, 0),
            disputed=disputed.get(criterion.pk, 0),
        )
        for criterion in batch.asked_criteria()
    ]
