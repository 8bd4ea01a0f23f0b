"""How far things are: per annotator, per criterion, per project."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Q

from annotate.models import Batch, BatchSample, Flag, Label, Project, Task, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, Purpose, TaskStatus
from annotate.models.verdict import RULED_METHODS, VerdictState
from annotate.selectors.counting import is_carried
from annotate.selectors.of_batch import of_batch
from annotate.unit_sql import count_sql


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
    # Answered, but not with a value.
    cant_tell: int
    settled: int
    disputed: int
    # Of the settled ones: by their labels alone, and how many of these a reviewer has approved.
    agreed: int
    approved: int

    @property
    def percent(self) -> int:
        return _percent(self.given, self.expected)


def _percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 0


_ANNOTATORS = """
    SELECT coalesce(nullif(u.display_name, ''), u.username), count(t.id),
           count(*) FILTER (WHERE t.status = 'submitted'), count(*) FILTER (WHERE t.status = 'skipped'),
           count(*) FILTER (WHERE t.status = 'in_progress'), coalesce(sum(t.active_seconds), 0)
      FROM annotate_user u
      LEFT JOIN annotate_task t ON t.annotator_id = u.id AND t.batch_id = %(batch)s AND t.status <> 'released'
     WHERE t.id IS NOT NULL OR u.id IN (SELECT p.user_id FROM annotate_batch_annotators p WHERE p.batch_id = %(batch)s)
     GROUP BY u.id ORDER BY u.username
"""


def batch_annotators(batch: Batch) -> list[AnnotatorProgress]:
    """Everybody who labels the batch or has tasks in it. Tasks that measure somebody are theirs to do like any other;
    those handed on are not. Of a pull queue: what each has taken. Nobody while the batch is a draft."""
    if batch.status == BatchStatus.DRAFT:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_ANNOTATORS, {"batch": batch.pk})
        return [AnnotatorProgress(*row) for row in cursor.fetchall()]


def free_tasks(batch: Batch) -> int:
    """How many tasks wait in the batch's queue for whoever asks."""
    return Task.objects.filter(batch=batch, annotator=None, status=TaskStatus.PENDING).count()


@dataclass(frozen=True)
class Unfinished:
    """What is not through in a batch, for whoever is about to end it."""

    # Nobody has begun them; those of a queue that nobody took are among them.
    waiting: int
    begun: int
    submitted: int
    disputed: int
    # Samples that some have labelled and others have not: they go to the reviewers with the labels that there are.
    half_labelled: int

    @property
    def tasks(self) -> int:
        return self.waiting + self.begun


def unfinished(batch: Batch) -> Unfinished:
    tasks = Task.objects.filter(batch=batch).aggregate(
        waiting=Count("id", filter=Q(status=TaskStatus.PENDING)),
        begun=Count("id", filter=Q(status__in=[TaskStatus.IN_PROGRESS, TaskStatus.RETURNED])),
        submitted=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
    )
    half = (
        Task.objects.filter(batch=batch, purpose=Purpose.LABEL)
        .order_by()
        .values("sample")
        .annotate(
            done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
            open=Count("id", filter=Q(status__in=OPEN_TASK_STATUSES)),
        )
    )
    return Unfinished(
        **tasks,
        disputed=sum(row.disputed for row in batch_criteria(batch)),
        half_labelled=half.filter(done__gt=0, open__gt=0).count(),
    )


@dataclass(frozen=True)
class OpenWork:
    """What somebody still has to do in a batch."""

    number: int
    name: str
    status: str
    tasks: int


def open_work(project: Project, user: User) -> list[OpenWork]:
    rows = (
        Task.objects.filter(batch__project=project, annotator=user, status__in=OPEN_TASK_STATUSES)
        .exclude(batch__status=BatchStatus.CLOSED)
        .order_by("batch__number")
        .values("batch__number", "batch__name", "batch__status")
        .annotate(n=Count("id"))
    )
    return [
        OpenWork(row["batch__number"], row["batch__name"], str(BatchStatus(row["batch__status"]).label), row["n"])
        for row in rows
    ]


def open_flags(batch: Batch) -> int:
    """How many samples of the batch somebody reported and nobody has looked into."""
    return Flag.objects.filter(
        resolved_at__isnull=True, sample__in=BatchSample.objects.filter(batch=batch).values("sample")
    ).count()


def batch_skips(batch: Batch) -> list[Task]:
    """The tasks that were skipped, each with its reason: what nobody labelled, somebody has to look at."""
    skipped = Task.objects.filter(batch=batch, status=TaskStatus.SKIPPED).select_related("sample", "annotator")
    return list(skipped.order_by("sample_id", "annotator__username"))


# Each unit as often as people label its sample; where labels are given anew, as often as somebody is asked to, but for
# those that are filled in already (below).
_EXPECTED = f"""
    WITH asked AS (
        SELECT b.sample_id, CASE WHEN whole.relabels_id IS NULL THEN b.overlap ELSE (
                   SELECT count(*)::int FROM annotate_task t WHERE t.batch_id = b.batch_id AND t.sample_id = b.sample_id
                      AND t.purpose = 'label' AND t.status <> 'released') END AS people
          FROM annotate_batchsample b JOIN annotate_batch whole ON whole.id = b.batch_id WHERE b.batch_id = %s
    )
    SELECT coalesce(sum(a.people * {count_sql("claim")}), 0),
           coalesce(sum(a.people * {count_sql("context")}), 0),
           coalesce(sum(a.people * {count_sql("fact")}), 0),
           coalesce(sum(a.people * {count_sql("entity")}), 0),
           coalesce(sum(a.people), 0)
    FROM asked a JOIN annotate_sample s ON s.id = a.sample_id
"""


def batch_criteria(batch: Batch) -> list[CriterionProgress]:
    with connection.cursor() as cursor:
        cursor.execute(_EXPECTED, [batch.pk])
        claims, contexts, facts, entities, samples = cursor.fetchone()
    units = {"claim": claims, "context": contexts, "fact": facts, "entity": entities}
    standing = Label.objects.filter(task__batch=batch, task__purpose=Purpose.LABEL).exclude(
        task__status=TaskStatus.RELEASED
    )
    filled_in = dict(standing.filter(is_carried()).order_by().values_list("criterion_id").annotate(n=Count("id")))
    said = {
        criterion: (given, cant_tell)
        # What was said in a task that was skipped or handed on in the end counts for nothing.
        for criterion, given, cant_tell in standing.exclude(task__status=TaskStatus.SKIPPED)
        .filter(~is_carried())
        .values_list("criterion_id")
        .annotate(given=Count("id", filter=Q(value__isnull=False)), cant_tell=Count("id", filter=~Q(cant_tell="")))
    }
    is_settled = Q(state=VerdictState.SETTLED)
    verdicts = {
        criterion: dict(zip(("settled", "disputed", "agreed", "approved"), counts, strict=True))
        for criterion, *counts in of_batch(Verdict.objects.all(), batch)
        .order_by()
        .values_list("criterion_id")
        .annotate(
            settled=Count("id", filter=is_settled),
            disputed=Count("id", filter=~is_settled),
            agreed=Count("id", filter=is_settled & Q(method__in=RULED_METHODS)),
            approved=Count("id", filter=Q(approved_at__isnull=False)),
        )
    }
    no_verdicts = {"settled": 0, "disputed": 0, "agreed": 0, "approved": 0}
    return [
        CriterionProgress(
            key=criterion.key,
            name=criterion.name,
            expected=units.get(criterion.unit, samples) - filled_in.get(criterion.pk, 0),
            given=said.get(criterion.pk, (0, 0))[0],
            cant_tell=said.get(criterion.pk, (0, 0))[1],
            **verdicts.get(criterion.pk, no_verdicts),
        )
        for criterion in batch.asked_criteria()
    ]
