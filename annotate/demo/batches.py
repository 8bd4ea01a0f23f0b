"""Batches of the demo that are labelled already: their tasks with the times at which these were done, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from annotate.batches.steps import open_batch
from annotate.batches.write import create_batch
from annotate.core.rows import execute
from annotate.labels.consensus import settle_samples
from annotate.models import Batch, Criterion, Label, Membership, Project, Rater, Task, User, Verdict
from annotate.models.batch import TaskStatus
from annotate.models.label import VerdictMethod, VerdictState
from annotate.models.project import Role
from annotate.verdicts.adjudication import decide, mark_read

_SEED = 7


@dataclass(frozen=True, slots=True)
class Done:
    """What was said in a task, as rows with unit, criterion, value and comment, and when."""

    said: Sequence[Mapping[str, Any]]
    started_at: datetime
    submitted_at: datetime

    @property
    def seconds(self) -> int:
        return round((self.submitted_at - self.started_at).total_seconds())


def open_for_annotators(
    project: Project, name: str, *, overlap: int, criteria: Sequence[str] = (), **chosen: Any
) -> Batch:
    """An open batch for all annotators. criteria: their keys; none: all."""
    members = Membership.objects.filter(project=project, role=Role.ANNOTATOR).select_related("user")
    asked: Iterable[Criterion] = project.criteria.filter(is_current=True)
    return open_batch(
        batch=create_batch(
            project=project,
            name=name,
            criteria=[one for one in asked if not criteria or one.key in criteria],
            annotators=[member.user for member in members.order_by("user__id")],
            overlap=overlap,
            seed=_SEED,
            created_by=User.objects.get(username="alma"),
            **chosen,
        )
    )


def tasks_of(batch: Batch) -> list[Task]:
    """In the order in which each annotator gets them."""
    tasks = Task.objects.filter(batch=batch, annotator__isnull=False)
    return list(tasks.select_related("sample", "annotator").order_by("annotator", "position"))


def one_after_other(
    tasks: Sequence[Task], said: Mapping[Task, Sequence[Mapping[str, Any]]], until: datetime
) -> dict[Task, Done]:
    """Done each with the time that it took, the last one by then."""
    done: dict[Task, Done] = {}
    at = until
    for task in reversed(tasks):
        before = at - timedelta(seconds=20 + 4 * len(said[task]))
        done[task] = Done(said[task], before, at)
        at = before
    return {task: done[task] for task in tasks}


def submit(batch: Batch, done: Mapping[Task, Done]) -> None:
    """Writes what was said in the batch's tasks, and settles it by the batch's rule."""
    _write_labels(batch.project, done)
    for task, one in done.items():
        task.status, task.active_seconds = TaskStatus.SUBMITTED, one.seconds
        task.started_at, task.submitted_at = one.started_at, one.submitted_at
    Task.objects.bulk_update(done, ["status", "started_at", "submitted_at", "active_seconds"])
    execute(_DATE_LABELS, [batch.pk])
    execute(_LOG_LABELS, [batch.pk])
    began = min(one.started_at for one in done.values()) - timedelta(minutes=10)
    Batch.objects.filter(pk=batch.pk).update(created_at=began, opened_at=began)
    criterion_ids = list(batch.criteria.values_list("id", flat=True))
    needed = {task.sample_id: batch.overlap for task in done}
    settle_samples(criterion_ids=criterion_ids, needed=needed, batch_id=batch.pk)
    execute(_DATE_VERDICTS, [batch.pk])


def settle_disputes(batch: Batch, decided: Mapping[tuple[str, str, str], tuple[Any, str]]) -> None:
    """The reviewer decides what the labels don't. decided: by sample, criterion and unit the value and the reason."""
    remy = User.objects.get(username="remy")
    disputed = Verdict.objects.filter(batch=batch, state=VerdictState.DISPUTED)
    for verdict in disputed.select_related("sample", "criterion").order_by("pk"):
        value, reason = decided[verdict.sample.external_id, verdict.criterion.key, verdict.unit]
        decide(
            reviewer=remy,
            project=batch.project,
            verdict_id=verdict.pk,
            expected_revision=verdict.revision,
            value=value,
            reason=reason,
        )


def read_lessons(batch: Batch) -> None:
    """Ana has seen what the reviewer decided otherwise than she had."""
    ana = User.objects.get(username="ana")
    decided = Verdict.objects.filter(batch=batch, method=VerdictMethod.ADJUDICATED).values_list("pk", flat=True)
    mark_read(user=ana, project=batch.project, verdict_ids=list(decided))


def _write_labels(project: Project, done: Mapping[Task, Done]) -> None:
    criteria = {criterion.key: criterion for criterion in project.criteria.filter(is_current=True)}
    raters = {rater.user_id: rater for rater in Rater.objects.filter(project=project)}
    Label.objects.bulk_create(
        Label(
            task=task,
            rater=raters[task.annotator_id],
            sample=task.sample,
            unit=said["unit"],
            criterion=criteria[said["criterion"]],
            value=said["value"],
            comment=said.get("comment", ""),
            # The demo's guidelines were never others.
            guideline_version=1,
        )
        for task, one in done.items()
        for said in one.said
    )


# One after the other while the task was worked on.
_DATE_LABELS = """
    UPDATE annotate_label l SET updated_at = t.started_at + (t.submitted_at - t.started_at) * n.share
      FROM annotate_task t, (
        SELECT l.id, row_number() OVER w / count(*) OVER (PARTITION BY l.task_id)::float AS share
          FROM annotate_label l JOIN annotate_task t ON t.id = l.task_id WHERE t.batch_id = %s
        WINDOW w AS (PARTITION BY l.task_id ORDER BY l.id)
      ) n
     WHERE t.id = l.task_id AND n.id = l.id
"""
_LOG_LABELS = """
    INSERT INTO annotate_labelevent (label_id, revision, value, cant_tell, comment, evidence, actor_id,
                                     idempotency_key, created_at)
    SELECT l.id, l.revision, l.value, l.cant_tell, l.comment, l.evidence, t.annotator_id, gen_random_uuid(),
           l.updated_at
      FROM annotate_label l JOIN annotate_task t ON t.id = l.task_id WHERE t.batch_id = %s ORDER BY l.updated_at, l.id
"""
_DATE_VERDICTS = """
    UPDATE annotate_verdict v SET updated_at = (
        SELECT max(t.submitted_at) FROM annotate_task t WHERE t.batch_id = v.batch_id AND t.sample_id = v.sample_id)
     WHERE v.batch_id = %s
"""
