"""Work of the Celery worker: each task fetches by id and calls one idempotent service.

Their names: see annotate.celery_tasks.
"""

from __future__ import annotations

from random import Random
from typing import Any

from celery import shared_task

from judges.runs.work import PATIENCE_SECONDS
from systems.targets.work import wake_all, work


@shared_task(name="systems.tasks.ask_targets", bind=True)
def ask_targets(self: Any, project_id: int) -> None:
    # As judges.celery_tasks.work_on_runs.
    patience = PATIENCE_SECONDS if self.request.delivery_info.get("redelivered") else 0.0
    work(project_id, rng=Random(), patience=patience)


@shared_task(name="systems.tasks.look_for_runs")
def look_for_runs() -> None:
    """Sent by every worker each few seconds (config.celery)."""
    wake_all()
