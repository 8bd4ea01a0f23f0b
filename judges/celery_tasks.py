"""Work of the Celery worker: each task fetches by id and calls one idempotent service.

Their names: see annotate.celery_tasks.
"""

from __future__ import annotations

from random import Random
from typing import Any

from celery import shared_task

from annotate.core import jobs
from annotate.models import Criterion, User
from judges.aligning.write import advance_all
from judges.certificates import watch
from judges.models import Judge
from judges.reports import mistakes_kept, up_to_date
from judges.reports import write as reports
from judges.reports.read import Labels
from judges.runs.places import Place
from judges.runs.work import PATIENCE_SECONDS, wake_all, work


@shared_task(name="judges.tasks.freeze_report")
def freeze_report(criterion_id: int, user_id: int | None = None, labels: Labels = "settled") -> None:
    criterion = Criterion.objects.select_related("project").get(pk=criterion_id)
    user = None if user_id is None else User.objects.filter(pk=user_id).first()
    reports.freeze_report(criterion=criterion, user=user, labels=labels)


@shared_task(name="judges.tasks.find_mistakes")
def find_mistakes(criterion_id: int, judge_id: int, dimension: str, user_id: int) -> None:
    criterion = Criterion.objects.select_related("project").get(pk=criterion_id)
    series = mistakes_kept.Series(criterion, Judge.objects.get(pk=judge_id), dimension)
    mistakes_kept.find_mistakes(series, User.objects.get(pk=user_id))


@shared_task(name="judges.tasks.make_report")
def make_report(job_id: str) -> None:
    jobs.work_on(job_id, reports.make_requested)


@shared_task(name="judges.tasks.look_for_reports")
def look_for_reports() -> None:
    """Sent by every worker now and then (config.celery)."""
    up_to_date.look_for_reports()


@shared_task(name="judges.tasks.look_for_ends")
def look_for_ends() -> None:
    """Sent by every worker each few minutes (config.celery)."""
    watch.look_for_ends()


@shared_task(name="judges.tasks.work_on_runs", bind=True)
def work_on_runs(self: Any, kind: str, pk: int) -> None:
    """At an endpoint, or at a run of a judge that asks no model."""
    patience = PATIENCE_SECONDS if self.request.delivery_info.get("redelivered") else 0.0
    work(Place(kind, pk), rng=Random(), patience=patience)
    # Of an alignment the next step begins now, not when somebody looks for it.
    advance_all()


@shared_task(name="judges.tasks.look_for_runs")
def look_for_runs() -> None:
    """Sent by every worker each few seconds (config.celery)."""
    advance_all()
    wake_all()
