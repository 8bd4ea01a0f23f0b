"""Progress: of a batch by annotator and criterion, and of many projects in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Avg, BooleanField, Case, Count, Exists, IntegerField, Q, QuerySet, Subquery, When

from annotate.core.blindness import Reader
from annotate.core.rows import fetch_all
from annotate.core.units import KIND_ORDER, asks_sql, count_sql, of_abstentions, without_abstentions
from annotate.core.walking import MOST_COUNTED
from annotate.labels.read import is_carried, of_batch
from annotate.labels.settled_read import HOLDING, STANDING, Standing
from annotate.models import Batch, BatchSample, Criterion, Flag, Label, Project, Release, Sample, Task, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, Purpose, TaskStatus
from annotate.models.label import RULED_METHODS, VerdictState
from annotate.samples.read import asked_by
from annotate.tasks.read import free_samples, open_queues, without_words


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
    # By one label that no one approved, so that reports leave them out (annotate.labels.settled_read).
    single: int
    disputed: int
    # Of both: by their labels alone, and how many of these a reviewer has approved.
    agreed: int
    approved: int
    # Samples of the batch that it can't be asked of: it is about the answer, and they have none.
    not_asked: int
    # Has no verdicts.
    is_text: bool


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
    """Every user who labels the batch or has tasks in it. Tasks that measure an annotator count like any other; those
    handed on don't. Of a pull queue: what each has taken. Empty while the batch is a draft."""
    if batch.status == BatchStatus.DRAFT:
        return []
    return [AnnotatorProgress(*row) for row in fetch_all(_ANNOTATORS, {"batch": batch.pk})]


def free_tasks(batch: Batch) -> int:
    """How many tasks of the batch's queue no annotator has taken."""
    return Task.objects.filter(batch=batch, annotator=None, status=TaskStatus.PENDING).count()


@dataclass(frozen=True)
class Unfinished:
    """What is not finished in a batch, for the admin who is about to end it."""

    # Not begun, or not even taken from the queue.
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
    # Not their keys, which are in no index with their states (task_by_status).
    tasks = Task.objects.filter(batch=batch).aggregate(
        waiting=Count("status", filter=Q(status=TaskStatus.PENDING)),
        begun=Count("status", filter=Q(status__in=[TaskStatus.IN_PROGRESS, TaskStatus.RETURNED])),
        submitted=Count("status", filter=Q(status=TaskStatus.SUBMITTED)),
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
        disputed=disputed_units(batch),
        half_labelled=half.filter(done__gt=0, open__gt=0).count(),
    )


def open_tasks(batch: Batch) -> int:
    """How many are left, begun or not."""
    return Task.objects.filter(batch=batch, status__in=OPEN_TASK_STATUSES).count()


def disputed_units(batch: Batch) -> int:
    """As `batch_criteria` counts them, looked for among those that wait (verdict_waiting)."""
    waiting = Verdict.objects.filter(~Q(state=VerdictState.SETTLED), criterion__in=batch.asked_criteria())
    return without_abstentions(of_batch(waiting, batch)).count()


@dataclass(frozen=True)
class OpenWork:
    """What a user still has to do in a batch."""

    number: int
    name: str
    status: str
    tasks: int


def open_work(project: Project, user: User) -> list[OpenWork]:
    rows = (
        Task.objects.filter(batch__project=project, annotator=user, status__in=OPEN_TASK_STATUSES)
        .exclude(batch__status=BatchStatus.CLOSED)
        .order_by("batch__number")
        .values_list("batch__number", "batch__name", "batch__status")
        .annotate(n=Count("id"))
    )
    return [OpenWork(number, name, str(BatchStatus(status).label), n) for number, name, status, n in rows]


def open_flags(batch: Batch) -> int:
    """How many flags on samples of the batch are not resolved."""
    return Flag.objects.filter(
        resolved_at__isnull=True, sample__in=BatchSample.objects.filter(batch=batch).values("sample")
    ).count()


def batch_skips(batch: Batch, *, reader: Reader) -> list[Task]:
    """The tasks that were skipped, each with its reason, as far as the reader may know it."""
    skipped = Task.objects.filter(batch=batch, status=TaskStatus.SKIPPED).select_related("sample", "annotator")
    return without_words(skipped.order_by("sample_id", "annotator__username"), batch.project, reader=reader)


_UNITS = " ".join(f"WHEN '{kind}' THEN {count_sql(kind)}" for kind in KIND_ORDER)
# Each unit as often as people label its sample; where labels are given anew, as often as an annotator is asked to. Of
# these `batch_criteria` takes off those that are filled in already.
_EXPECTED = f"""
    WITH asked AS (
        SELECT b.sample_id, CASE WHEN whole.relabels_id IS NULL THEN b.overlap ELSE (
                   SELECT count(*)::int FROM annotate_task t WHERE t.batch_id = b.batch_id AND t.sample_id = b.sample_id
                      AND t.purpose = 'label' AND t.status <> 'released') END AS people
          FROM annotate_batchsample b JOIN annotate_batch whole ON whole.id = b.batch_id WHERE b.batch_id = %(batch)s
    )
    SELECT c.id, coalesce(sum(a.people * CASE c.unit {_UNITS} END) FILTER (WHERE {asks_sql()}), 0)::int,
           count(*) FILTER (WHERE NOT {asks_sql()})
      FROM annotate_batchcriterion bc JOIN annotate_criterion c ON c.id = bc.criterion_id
     CROSS JOIN asked a JOIN annotate_sample s ON s.id = a.sample_id
     WHERE bc.batch_id = %(batch)s GROUP BY c.id
"""


# PostgreSQL expects it to be faster to read those of the whole project than to look up as many as a batch has. What was
# said in a task that was skipped or handed on in the end counts for nothing.
_SAID_IN_BATCH = """
    annotate_label.task_id = ANY(ARRAY(SELECT t.id FROM annotate_task t WHERE t.batch_id = %s AND t.purpose = 'label'
                                          AND t.status NOT IN ('released', 'skipped')))
"""
_VERDICTS_OF_BATCH = """
    annotate_verdict.sample_id = ANY(ARRAY(SELECT of.sample_id FROM annotate_batchsample of WHERE of.batch_id = %s
                                     UNION SELECT of.sample_id FROM annotate_verdict of WHERE of.batch_id = %s))
"""


def batch_criteria(batch: Batch) -> list[CriterionProgress]:
    asked = {pk: counts for pk, *counts in fetch_all(_EXPECTED, {"batch": batch.pk})}
    labels = Label.objects.filter(task__batch=batch, task__purpose=Purpose.LABEL)
    standing = labels.exclude(task__status=TaskStatus.RELEASED)
    filled_in = counts_without_abstentions(standing.filter(is_carried()), "criterion_id", labels=Count("id"))
    said = counts_without_abstentions(
        Label.objects.filter(~is_carried()).extra(where=[_SAID_IN_BATCH], params=[batch.pk]),  # noqa: S610 - ours
        "criterion_id",
        given=Count("id", filter=Q(value__isnull=False)),
        cant_tell=Count("id", filter=~Q(cant_tell="")),
    )
    is_settled = Q(state=VerdictState.SETTLED)
    verdicts = counts_without_abstentions(
        of_batch(Verdict.objects.alias(standing=STANDING), batch).extra(  # noqa: S610 - ours
            where=[_VERDICTS_OF_BATCH], params=[batch.pk, batch.pk]
        ),
        "criterion_id",
        settled=Count("id", filter=is_settled & ~Q(standing=Standing.SINGLE)),
        single=Count("id", filter=Q(standing=Standing.SINGLE)),
        disputed=Count("id", filter=~is_settled),
        agreed=Count("id", filter=is_settled & Q(method__in=RULED_METHODS)),
        approved=Count("id", filter=Q(approved_at__isnull=False)),
    )
    return [
        CriterionProgress(
            key=criterion.key,
            name=criterion.name,
            expected=expected - filled_in[criterion.pk]["labels"],
            not_asked=not_asked,
            is_text=criterion.is_text,
            **said[criterion.pk],
            **verdicts[criterion.pk],
        )
        for criterion in batch.asked_criteria()
        for expected, not_asked in [asked.get(criterion.pk, (0, 0))]
    ]


def left_out(batch: Batch) -> int:
    """Samples of the batch without anything that it asks about: no task is made for them."""
    samples = Sample.objects.filter(batches=batch)
    return samples.count() - asked_by(samples, *batch.asked_criteria()).count()


def counts_by(rows: QuerySet[Any], by: str, **counts: Count) -> dict[int, dict[str, int]]:
    """Value of the field `by` -> the counts of its rows; zeros for a value without rows."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(counts, 0))
    for row in rows.order_by().values(by).annotate(**counts):
        found[row.pop(by)] = row
    return found


def counts_without_abstentions(rows: QuerySet[Any], by: str, **counts: Count) -> dict[int, dict[str, int]]:
    """The same of `without_abstentions(rows)`. Its rows are counted and those of abstentions taken off: where each row
    has to be asked, PostgreSQL reads them one process alone, in the order of an index."""
    found = counts_by(rows, by, **counts)
    for value, without in counts_by(of_abstentions(rows), by, **counts).items():
        found[value] = {name: number - without[name] for name, number in found[value].items()}
    return found


# Finished tasks from which their average forecasts the next ones.
FEWEST_DONE = 3


@dataclass
class Counts:
    """What a project holds and what waits in it."""

    samples: int = 0
    criteria: int = 0
    draft_batches: int = 0
    open_batches: int = 0
    batches: int = 0
    # Tasks of open batches.
    tasks: int = 0
    tasks_done: int = 0
    # Up to a limit (MOST_COUNTED); whether there are more.
    settled: int = 0
    settled_more: bool = False
    disputed: int = 0
    # Whether any unit has a verdict, also one that rests on a single label.
    has_verdicts: bool = False
    # Flags that are not resolved.
    flags: int = 0
    releases: int = 0

    @property
    def tasks_left(self) -> int:
        return self.tasks - self.tasks_done


@dataclass(frozen=True)
class OwnBatch:
    """A batch in which the user still has tasks."""

    number: int
    name: str
    due_date: date | None
    waiting: int
    done: int = 0
    # At work on a task, on average; None when nothing was measured.
    seconds: float | None = None

    @property
    def minutes_left(self) -> int | None:
        return round(self.waiting * self.seconds / 60) if self.seconds and self.done >= FEWEST_DONE else None


class CountOf(Subquery):
    """How many rows, for several numbers in one statement."""

    template = "(SELECT count(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def counts_of(projects: Sequence[Project]) -> dict[int, Counts]:
    """Counts per project id."""
    found = {project.pk: Counts() for project in projects}
    keys = list(found)
    _fill(found, Sample.objects.filter(project__in=keys), "project_id", samples=Count("id"))
    _fill(found, Criterion.objects.filter(project__in=keys, is_current=True), "project_id", criteria=Count("id"))
    _fill(
        found,
        Batch.objects.filter(project__in=keys, qualification__isnull=True),
        "project_id",
        batches=Count("id"),
        open_batches=Count("id", filter=Q(status=BatchStatus.OPEN)),
        draft_batches=Count("id", filter=Q(status=BatchStatus.DRAFT)),
    )
    _fill(
        found,
        Task.objects.filter(batch__project__in=keys, batch__status=BatchStatus.OPEN, batch__qualification__isnull=True),
        "batch__project_id",
        # Not their keys, which are in no index with their states (task_by_status).
        tasks=Count("status"),
        tasks_done=Count("status", filter=Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])),
    )
    # As the index of what waits has it (verdict_waiting).
    waiting = Verdict.objects.filter(~Q(state=VerdictState.SETTLED), criterion__project__in=keys)
    _fill(found, without_abstentions(waiting), "criterion__project_id", disputed=Count("id"))
    criteria = defaultdict(list)
    for project, criterion in Criterion.objects.filter(project__in=keys).order_by().values_list("project", "pk"):
        criteria[project].append(criterion)
    of_project = {pk: without_abstentions(Verdict.objects.filter(criterion__in=ids)) for pk, ids in criteria.items()}
    # A subquery for each project: a limit is of a whole one, and without a limit millions are read. The criteria stand
    # in it by their numbers, by which PostgreSQL knows how few or many verdicts to expect.
    holding = {pk: rows.alias(standing=STANDING).filter(standing__in=HOLDING) for pk, rows in of_project.items()}
    settled = Case(
        *(When(pk=pk, then=CountOf(rows[: MOST_COUNTED + 1])) for pk, rows in holding.items()),
        output_field=IntegerField(),
    )
    has_any = Case(*(When(pk=pk, then=Exists(rows)) for pk, rows in of_project.items()), output_field=BooleanField())
    listed = Project.objects.filter(pk__in=list(criteria)).order_by()
    for pk, number, has_verdicts in listed.values_list("pk", settled, has_any):
        counts = found[pk]
        counts.settled, counts.settled_more = min(number, MOST_COUNTED), number > MOST_COUNTED
        counts.has_verdicts = has_verdicts
    _fill(found, Flag.objects.filter(project__in=keys, resolved_at=None), "project_id", flags=Count("id"))
    _fill(found, Release.objects.filter(project__in=keys), "project_id", releases=Count("id"))
    return found


def _fill(found: dict[int, Counts], rows: QuerySet[Any], by: str, **numbers: Count) -> None:
    for project, counts in counts_by(rows, by, **numbers).items():
        for name, count in counts.items():
            setattr(found[project], name, count)


def own_batches(user: User, projects: Sequence[Project]) -> dict[int, list[OwnBatch]]:
    """The open batches, per project id, in which the user still has tasks or could take some from the queue, with what
    they have done in each. Without rounds, which are steps of a qualification."""
    mine: dict[int, dict[str, Any]] = {
        row["batch"]: dict(row)
        for row in Task.objects.filter(
            annotator=user,
            batch__project__in=projects,
            batch__status=BatchStatus.OPEN,
            batch__qualification__isnull=True,
        )
        .exclude(status=TaskStatus.RELEASED)
        .order_by()
        .values("batch")
        .annotate(
            waiting=Count("id", filter=Q(status__in=OPEN_TASK_STATUSES)),
            done=Count("id", filter=Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])),
            seconds=Avg("active_seconds", filter=Q(status=TaskStatus.SUBMITTED, active_seconds__gt=0)),
        )
    }
    queues = set(open_queues(user).filter(project__in=projects).values_list("pk", flat=True))
    found: dict[int, list[OwnBatch]] = {}
    for batch in Batch.objects.filter(pk__in=mine.keys() | queues).order_by("number"):
        row = mine.get(batch.pk, {"waiting": 0, "done": 0, "seconds": None})
        free = free_samples(user=user, batches=[batch.pk]) if batch.pk in queues else 0
        if row["waiting"] + free:
            found.setdefault(batch.project_id, []).append(
                OwnBatch(
                    number=batch.number,
                    name=batch.name,
                    due_date=batch.due_date,
                    waiting=row["waiting"] + free,
                    done=row["done"],
                    seconds=row["seconds"],
                )
            )
    return found
