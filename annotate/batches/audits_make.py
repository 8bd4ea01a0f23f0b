"""The worker's part in scheduled audits: the batch of each schedule whose date has come.

A date is done in one transaction: the draw, the batch, its tasks, the line of the history and the next date. Whatever
ends it early leaves nothing, and the next look begins anew, with the same seed; of several workers one does it.
"""

from __future__ import annotations

import logging
import random
from datetime import date, timedelta
from typing import Any

from django.db import Error, OperationalError, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotate.batches.audits_read import asked_criteria, audited_by, eligible_samples
from annotate.batches.edit import store_settings
from annotate.batches.sample_choice import MAX_SEED
from annotate.batches.steps import open_batch
from annotate.batches.write import create_batch
from annotate.core import advisory
from annotate.core.errors import Refusal
from annotate.core.trail import note
from annotate.core.weekly_dates import due_on
from annotate.models import AuditSchedule, Batch, Criterion, Project, Sample, ScheduledAudit
from annotate.models.audit import ScheduleStatus
from annotate.samples.read import asked_by, samples_keyed

_log = logging.getLogger(__name__)


class _InTheWay(Exception):
    """Why the batch can't be made, as AuditSchedule.problem keeps it."""

    def __init__(self, code: str, **said: Any) -> None:
        super().__init__(code)
        self.problem = {"code": code, **said}


def look_for_audits(*, today: date | None = None) -> None:
    """Asked for by every worker now and then (config.celery)."""
    today = today or timezone.localdate()
    for pk in list(_due(today).order_by("next_on", "pk").values_list("pk", flat=True)):
        try:
            make_audit(pk, today=today)
        except OperationalError:
            raise  # PostgreSQL went away, or another transaction was in the way; the worker comes again
        except Error:
            _log.exception("The batch of audit schedule %s could not be made", pk)


def make_audit(schedule_id: int, *, today: date) -> ScheduledAudit | None:
    """What was made for the date that has come; None when there is none, when another process is at it or an import is
    being written, and when something is in the way, which the schedule then says."""
    try:
        with transaction.atomic():
            schedule = _taken(schedule_id, today)
            return None if schedule is None else _made(schedule, today)
    except _InTheWay as found:
        problem = found.problem
    except Refusal as refusal:
        problem = {"code": refusal.code, **refusal.details}
    _keep(schedule_id, today, problem)
    return None


def _due(today: date) -> QuerySet[AuditSchedule]:
    return AuditSchedule.objects.filter(
        status=ScheduleStatus.ACTIVE,
        next_on__lte=today,
        project__archived_at__isnull=True,
        project__deleting_at__isnull=True,
    )


def _taken(schedule_id: int, today: date) -> AuditSchedule | None:
    """The schedule, if it is due and this transaction's alone. No import is being written meanwhile: what is imported
    later has a higher primary key, so that the next batch is drawn from all of it."""
    where = AuditSchedule.objects.filter(pk=schedule_id).values_list("project_id", flat=True).first()
    if where is None or not advisory.begin_import(where, wait=False):
        return None
    Project.objects.select_for_update(no_key=True).get(pk=where)
    due = _due(today).filter(pk=schedule_id).select_related("project")
    return due.select_for_update(no_key=True, of=("self",)).first()


def _made(schedule: AuditSchedule, today: date) -> ScheduledAudit:
    project, due = schedule.project, due_on(schedule.next_on, schedule.weeks, today=today)
    criteria = asked_criteria(schedule)
    missing = sorted(set(schedule.criteria) - {criterion.key for criterion in criteria})
    if missing:
        raise _InTheWay("no_criterion", criteria=missing)
    eligible = eligible_samples(project, criteria, schedule.conditions, after=schedule.last_sample)
    among = set(eligible.values_list("pk", flat=True))
    people, gone = audited_by(schedule)
    seed = random.Random(f"audit {schedule.seed} {due.on.isoformat()}").randint(0, MAX_SEED)
    batch: Batch | None = None
    unasked: list[str] = []
    if among:
        if len(people) < schedule.overlap:
            names = [user.name for user in gone]
            raise _InTheWay("too_few_annotators", there=len(people), needed=schedule.overlap, gone=names)
        batch = create_batch(
            project=project, name=f"{schedule.name} {due.on.isoformat()}", criteria=criteria, annotators=people,
            overlap=schedule.overlap, seed=seed, among=among, schedule=schedule.name,
            selection={"method": "random", "n": min(schedule.samples, len(among)), "filter": schedule.conditions},
            due_date=today + timedelta(days=schedule.days), requires=schedule.requires,
        )  # fmt: skip
        unasked = _leave_out_idle(batch, criteria)
        if schedule.opens:
            batch = open_batch(batch=batch, schedule=schedule.name)
    newest = Sample.objects.filter(project=project).aggregate(newest=Max("pk"))["newest"]
    schedule.next_on, schedule.problem = due.after, None
    schedule.last_sample = max(newest or 0, schedule.last_sample)
    schedule.save(update_fields=["next_on", "problem", "last_sample"])
    if batch is None:
        _note(schedule, "empty", on=due.on.isoformat())
    return ScheduledAudit.objects.create(
        schedule=schedule, due_on=due.on, made_at=timezone.now(), missed=due.missed, wanted=schedule.samples,
        eligible=len(among), drawn=0 if batch is None else batch.batch_samples.count(), seed=seed, batch=batch,
        without=[user.username for user in gone], unasked=unasked,
    )  # fmt: skip


def _leave_out_idle(batch: Batch, criteria: list[Criterion]) -> list[str]:
    """Keys of the criteria that find nothing to ask about in what was drawn: with one of these a batch can't be opened.
    Each sample is asked something, so never all of them."""
    drawn = samples_keyed(list(batch.batch_samples.values_list("sample_id", flat=True)))
    idle = [criterion.key for criterion in criteria if not asked_by(drawn, criterion).exists()]
    if idle:
        store_settings(batch, {"criteria": [one for one in criteria if one.key not in idle]}, by=None)
    return idle


def _keep(schedule_id: int, today: date, problem: dict[str, Any]) -> None:
    with transaction.atomic():
        schedule = _taken(schedule_id, today)
        if schedule is not None and schedule.problem != problem:
            schedule.problem = problem
            schedule.save(update_fields=["problem"])
            _note(schedule, "stuck", code=problem["code"])


def _note(schedule: AuditSchedule, what: str, **details: Any) -> None:
    note(
        actor=None, action=f"schedule.{what}", subject=schedule.name, project=schedule.project,
        schedule=schedule.name, **details,
    )  # fmt: skip
