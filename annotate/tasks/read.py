"""Tasks: an annotator's own, with nothing that another person or a judge said; the order in which they work through
them, and what they could take from a queue (task_queue takes it); and the tasks of a batch for those who run it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, may_know_names, samples_still_to_label
from annotate.core.choices import choices
from annotate.core.errors import Invalid
from annotate.core.permissions import no_such_task
from annotate.core.rounds import MAY_HAVE_TASKS, MET_IN_ROUND, is_qualified
from annotate.core.rows import fetch_all, fetch_one, first_or_raise
from annotate.core.units import asks_sql, indices_sql
from annotate.models import Batch, Label, Project, Task, Try, User
from annotate.models.batch import OPEN_TASK_STATUSES, OPEN_TASK_STATUSES_SQL, BatchStatus, Purpose, Strategy, TaskStatus
from annotate.tasks.threads_read import THREADS_OF_TASK

# Everything the workspace needs for one task, in one statement: the labelling loop passes here at every submit. Left
# out on purpose: retrieval scores, metadata (they may name the model) and everything that others said; but for what a
# judge proposes in a batch that has it verified (annotate.batches.proposing).
_PAYLOAD = f"""
    SELECT json_build_object(
      'id', t.id, 'status', t.status, 'position', t.position, 'active_seconds', t.active_seconds,
      'leased', t.lease_expires_at IS NOT NULL,
      'guideline_version', (SELECT max(g.number) FROM annotate_guidelineversion g WHERE g.project_id = b.project_id),
      'return_message', t.return_message,
      'returned_by', (SELECT coalesce(nullif(u.display_name, ''), u.username) FROM annotate_user u
                        JOIN annotate_project p ON p.id = b.project_id AND p.show_names
                       WHERE u.id = t.returned_by_id AND t.return_message <> ''),
      'batch', json_build_object('number', b.number, 'name', b.name, 'due_date', b.due_date),
      'sample', json_build_object(
        'question', s.question, 'answer', s.answer, 'answer_b', s.answer_b, 'reference', s.reference,
        'abstained', s.abstained,
        'contexts', (SELECT coalesce(json_agg(json_build_object('id', e -> 'id', 'text', e -> 'text') ORDER BY n), '[]')
                       FROM jsonb_array_elements(s.contexts) WITH ORDINALITY AS listed (e, n)),
        'claims', (SELECT coalesce(json_agg(json_build_object(
                            'index', i, 'text', s.claims -> i -> 'text',
                            'start', s.claims -> i -> 'start', 'end', s.claims -> i -> 'end') ORDER BY i), '[]')
                     FROM unnest({indices_sql("claim")}) AS listed (i)),
        'key_facts', s.key_facts, 'entities', s.entities),
      'criteria', (
        SELECT coalesce(json_agg(json_build_object(
                 'key', c.key, 'name', c.name, 'unit', c.unit, 'scale', c.scale, 'prompt', c.prompt, 'help', c.help,
                 'required', c.required, 'cant_tell', c.cant_tell, 'prefill', c.prefill,
                 'options', c.options,
                 'passes', c.passes) ORDER BY bc.position), '[]')
          FROM annotate_batchcriterion bc JOIN annotate_criterion c ON c.id = bc.criterion_id
         WHERE bc.batch_id = b.id AND {asks_sql()}),
      'labels', (
        SELECT coalesce(json_agg(json_build_object(
                 'unit', l.unit, 'criterion', c.key, 'value', l.value, 'cant_tell', l.cant_tell,
                 'comment', l.comment, 'evidence', l.evidence, 'active_ms', l.active_ms, 'revision', l.revision)
                 ORDER BY l.id), '[]')
          FROM annotate_label l JOIN annotate_criterion c ON c.id = l.criterion_id
          -- A label carried over to a later version lies in the same task.
          JOIN annotate_batchcriterion bc ON bc.batch_id = b.id AND bc.criterion_id = c.id
         WHERE l.task_id = t.id),
      -- What a judge proposes, where the draw of the batch shows it; never in tasks that measure the annotator.
      'proposals', (
        SELECT json_object_agg(c.key, json_build_object('judge', p.judge, 'values', p.proposed))
          FROM annotate_proposedvalues p JOIN annotate_criterion c ON c.id = p.criterion_id
         WHERE p.batch_id = t.batch_id AND p.sample_id = t.sample_id AND p.shown
           AND t.purpose = '{Purpose.LABEL.value}'),
      'threads', {THREADS_OF_TASK})::text
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id
      JOIN annotate_sample s ON s.id = t.sample_id
"""


def read_payload(where: str, **given: Any) -> dict[str, Any] | None:
    """The task `t` that this names, as the workspace needs it, or None."""
    row = fetch_one(_PAYLOAD + where, given)
    if row is None:
        return None
    task: dict[str, Any] = json.loads(row[0])
    for criterion in task["criteria"]:
        criterion["options"] = choices(
            unit=criterion["unit"],
            scale=criterion["scale"],
            options=criterion["options"],
            passes=criterion.pop("passes"),
        )
    return task


_OWN = """
      JOIN annotate_membership m
        ON m.project_id = b.project_id AND m.user_id = t.annotator_id AND m.is_active
     WHERE t.id = %(task)s AND t.annotator_id = %(annotator)s AND b.status <> 'draft'
"""


def own_task(*, user: User, task_id: int) -> dict[str, Any]:
    """One of the user's own tasks. Raises Http404 for another's."""
    task = read_payload(_OWN, annotator=user.pk, task=task_id)
    if task is None:
        raise no_such_task(user, task_id)
    return task


def finished_tasks(*, user: User, project: Project, words: str = "") -> QuerySet[Task]:
    """The latest first; `words` is looked for in the question and the answer."""
    tasks = (
        Task.objects.filter(
            annotator=user, batch__project=project, status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED]
        )
        .exclude(batch__status=BatchStatus.DRAFT)
        .annotate(test_is_over=test_is_over())
        .select_related("batch", "sample")
        .only(
            "status", "skip_reason", "submitted_at", "purpose",
            "batch__name", "batch__number", "batch__status", "batch__gold_feedback", "sample__question",
        )
        # A skipped task has no time of its own but that of its beginning.
        .order_by(Coalesce("submitted_at", "started_at").desc(nulls_last=True), "-id")
    )  # fmt: skip
    if words:
        tasks = tasks.filter(Q(sample__question__icontains=words) | Q(sample__answer__icontains=words))
    return tasks


def may_change(task: Task) -> bool:
    """Whether its annotator may take it back (annotate.tasks.write.reopen_task). test_is_over: as `finished_tasks` adds
    it."""
    shown = task.purpose == Purpose.GOLD and task.batch.gold_feedback and task.status == TaskStatus.SUBMITTED
    return task.batch.status == BatchStatus.OPEN and not shown and not task.test_is_over  # type: ignore[attr-defined]


def test_is_over() -> Exists:
    """Of tasks: whether they belong to a test that has its result."""
    return Exists(Try.objects.filter(tasks=OuterRef("pk"), finished_at__isnull=False))


def has_labelled(user: User) -> bool:
    """Anything, in any project."""
    return Label.objects.filter(task__annotator=user).exists()


def is_own_task(user: User, project: Project, task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, annotator=user, batch__project=project).exists()


def tasks_of(batch: Batch, *, measuring: bool, status: str = "", username: str = "", reader: Reader) -> ShownTasks:
    """By sample; of one status, and of one annotator, when they are named. measuring: also gold and second readings,
    which must not be shown to people who might have one."""
    if status and status not in TaskStatus.values:
        raise Invalid("bad_status", f"status: one of {', '.join(TaskStatus.values)}.")
    tasks = Task.objects.filter(batch=batch).select_related("sample", "annotator").order_by("sample_id", "id")
    if not measuring:
        tasks = tasks.filter(purpose=Purpose.LABEL)
    if status:
        tasks = tasks.filter(status=status)
    return ShownTasks(tasks.filter(annotator__username=username) if username else tasks, batch.project, reader=reader)


@dataclass(frozen=True)
class ShownTasks:
    """Tasks as the reader may see them; a slice of it is a list. Not to be saved."""

    tasks: QuerySet[Task]
    project: Project
    reader: Reader = field(kw_only=True)

    def count(self) -> int:
        return self.tasks.count()

    def __getitem__(self, part: slice) -> list[Task]:
        return without_words(self.tasks[part], self.project, reader=self.reader)


def without_words(tasks: Iterable[Task], project: Project, *, reader: Reader) -> list[Task]:
    """Without what others wrote of samples that the reader still has to label: why they skipped one, what a reviewer
    asked for. The latter says whose label it is about, and the time of a submission which letter is whose: those who
    may not know names see neither. Not to be saved."""
    tasks, named = list(tasks), may_know_names(reader, project)
    blind = samples_still_to_label(reader, {task.sample_id for task in tasks if task.annotator != reader})
    for task in tasks:
        is_blind = task.annotator != reader and task.sample_id in blind
        task.skip_reason = "" if is_blind else task.skip_reason
        task.return_message = task.return_message if named and not is_blind else ""
        task.submitted_at = task.submitted_at if named or task.annotator == reader else None
    return tasks


def task_rows(batch: Batch, *, username: str | None = None, status: str = "", reader: Reader) -> ShownTasks:
    """In the order of people and of their work, each with its sample and annotator, never one that measures its
    annotator. username "": those that are free in the queue. What was handed on is left out, unless its status is asked
    for."""
    tasks = Task.objects.filter(batch=batch, purpose=Purpose.LABEL).select_related("sample", "annotator")
    if username is not None:
        tasks = tasks.filter(annotator__username=username) if username else tasks.filter(annotator__isnull=True)
    tasks = tasks.filter(status=status) if status else tasks.exclude(status=TaskStatus.RELEASED)
    return ShownTasks(tasks.order_by("annotator__username", "position", "id"), batch.project, reader=reader)


def people_of(batch: Batch) -> QuerySet[User]:
    """Every user who has, or had, a task of the batch, and those who may take one."""
    had = Q(pk__in=batch.tasks.filter(annotator__isnull=False).values("annotator"))
    return User.objects.filter(had | Q(pk__in=batch.annotators.values("pk"))).order_by("username")


def one_task(batch: Batch, task_id: int, *, reader: Reader) -> Task:
    tasks = Task.objects.filter(batch=batch, pk=task_id).select_related("sample", "annotator", "batch")
    task = first_or_raise(tasks, Http404(_("Task not found in this batch.")))
    return without_words([task], batch.project, reader=reader)[0]


# The order of work: what a reviewer sent back, then earlier batches first, each in its own order. Two questions, since
# one that sorts by both reads all open tasks of a person to find the first.
_NEXT = f"""
     WHERE t.id = coalesce(
       (SELECT o.id FROM annotate_task o JOIN annotate_batch ob ON ob.id = o.batch_id
         WHERE o.annotator_id = %(annotator)s AND o.status IN {OPEN_TASK_STATUSES_SQL}
           AND NOT o.return_message = ''
           AND ob.status = 'open' AND NOT o.id = ANY(%(exclude)s) AND {{scope}}
         ORDER BY o.batch_id, o.position, o.id LIMIT 1),
       (SELECT o.id FROM annotate_task o JOIN annotate_batch ob ON ob.id = o.batch_id
         WHERE o.annotator_id = %(annotator)s AND o.status IN {OPEN_TASK_STATUSES_SQL}
           AND ob.status = 'open' AND NOT o.id = ANY(%(exclude)s) AND {{scope}}
         ORDER BY o.batch_id, o.position, o.id LIMIT 1))
"""


def next_task(
    *, user: User, project: Project, batch_number: int | None = None, exclude: Collection[int] = ()
) -> dict[str, Any] | None:
    """The user's next open task that the browser doesn't hold yet, or None when nothing is left."""
    scope, given = "ob.project_id = %(project)s", {"project": project.pk}
    if batch_number is not None:
        scope, given = scope + " AND ob.number = %(number)s", {**given, "number": batch_number}
    return read_payload(_NEXT.format(scope=scope), annotator=user.pk, exclude=list(exclude), **given)


def following_task(*, user: User, batch_id: int, exclude: Collection[int]) -> dict[str, Any] | None:
    """The task to prefetch after one was finished: the next open one of the same person and batch."""
    scope = "o.batch_id = %(batch)s"
    return read_payload(_NEXT.format(scope=scope), annotator=user.pk, exclude=list(exclude), batch=batch_id)


def open_queues(user: User) -> QuerySet[Batch]:
    """From which the user may take tasks, in any project."""
    queues = Batch.objects.filter(status=BatchStatus.OPEN, strategy=Strategy.PULL, annotators=user)
    return queues.filter(Q(requires__isnull=True) | Q(is_qualified(user)))


def queues_of(*, user: User, project: Project, batch_number: int | None = None) -> list[int]:
    """The open pull batches that the user labels, the earliest first."""
    batches = open_queues(user).filter(project=project).order_by("id")
    if batch_number is not None:
        batches = batches.filter(number=batch_number)
    return list(batches.values_list("id", flat=True))


# Behind the person's place there may be a few more, which the queue gives last.
_FREE = f"""
    WITH tags AS (
        SELECT b.id AS batch, given.tag, coalesce((
                   SELECT max(o.position) FROM annotate_task o
                    WHERE o.annotator_id = m.user_id AND o.batch_id = b.id AND o.tag = given.tag), -1) AS place
          FROM annotate_batch b
          JOIN annotate_membership m ON m.project_id = b.project_id AND m.user_id = %(user)s AND m.is_active
         CROSS JOIN LATERAL unnest(ARRAY[''] || m.tags) AS given (tag)
         WHERE b.id = ANY(%(batches)s)
         GROUP BY b.id, given.tag, m.user_id
    )
    SELECT count(DISTINCT (t.batch, free.sample_id)) FROM tags t CROSS JOIN LATERAL (
        SELECT f.sample_id FROM annotate_task f
         WHERE f.batch_id = t.batch AND f.tag = t.tag AND f.position > t.place
           AND f.annotator_id IS NULL AND f.status = 'pending'
         ORDER BY f.position LIMIT %(most)s) free
     WHERE NOT EXISTS (SELECT FROM annotate_task o WHERE o.batch_id = t.batch AND o.sample_id = free.sample_id
                        AND o.annotator_id = %(user)s)
       AND NOT {MET_IN_ROUND.format(sample="free.sample_id", user="%(user)s")}
"""
MOST_COUNTED = 1000


def free_samples(*, user: User, batches: Collection[int]) -> int:
    """How many samples wait in these queues that the user could take, if no other did.

    Exact up to a thousand free tasks after the user's place (of each expertise), and not counted beyond.
    """
    if not batches:
        return 0
    (count,) = fetch_one(_FREE, {"user": user.pk, "batches": list(batches), "most": MOST_COUNTED})
    return count


# A sample waits in as many copies as people are to label it, and each of them takes one. What an annotator had already
# is taken off, so that a queue of a million is gone through once, and not once for each of its annotators.
_TO_TAKE = f"""
    WITH free AS (
        SELECT DISTINCT f.sample_id, f.tag FROM annotate_task f
         WHERE f.batch_id = %(batch)s AND f.annotator_id IS NULL AND f.status = 'pending'
    ), waiting AS (
        SELECT tag, count(*) AS n FROM free GROUP BY tag
    ), had AS (
        SELECT o.annotator_id, f.tag, count(DISTINCT f.sample_id) AS n
          FROM annotate_task o JOIN free f ON f.sample_id = o.sample_id
         WHERE o.annotator_id IS NOT NULL
           AND o.batch_id IN (SELECT id FROM annotate_batch WHERE id = %(batch)s OR qualification_id IS NOT NULL)
         GROUP BY o.annotator_id, f.tag
    )
    SELECT p.user_id, sum(w.n - coalesce(had.n, 0))::bigint
      FROM annotate_batch_annotators p
      JOIN annotate_batch b ON b.id = p.batch_id
      JOIN annotate_membership m ON m.project_id = b.project_id AND m.user_id = p.user_id AND m.is_active
      JOIN waiting w ON w.tag = '' OR w.tag = ANY(m.tags)
      LEFT JOIN had ON had.annotator_id = p.user_id AND had.tag = w.tag
     WHERE p.batch_id = %(batch)s AND {MAY_HAVE_TASKS.format(user="p.user_id")}
     GROUP BY p.user_id HAVING sum(w.n - coalesce(had.n, 0)) > 0
"""


def samples_to_take(batch: Batch) -> dict[int, int]:
    """User id -> how many samples of the batch's queue that annotator could take if no other did: all are counted, so
    this is for the worker. Who could take none is left out."""
    return dict(fetch_all(_TO_TAKE, {"batch": batch.pk}))


def work_progress(*, user: User, project: Project, batch_number: int | None = None) -> dict[str, int]:
    """Counts of the user's tasks in open batches. What they could still take from a queue is left, too."""
    tasks = Task.objects.filter(annotator=user, batch__project=project, batch__status=BatchStatus.OPEN).exclude(
        status=TaskStatus.RELEASED
    )
    if batch_number is not None:
        tasks = tasks.filter(batch__number=batch_number)
    counts = tasks.aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
        skipped=Count("id", filter=Q(status=TaskStatus.SKIPPED)),
        left=Count("id", filter=Q(status__in=OPEN_TASK_STATUSES)),
    )
    free = free_samples(user=user, batches=queues_of(user=user, project=project, batch_number=batch_number))
    return {**counts, "total": counts["total"] + free, "left": counts["left"] + free}
