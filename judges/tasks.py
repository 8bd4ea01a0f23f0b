"""Work of the Celery worker: each task fetches by id and calls one idempotent service."""

from __future__ import annotations

from celery import shared_task

from annotate.models import Criterion, User


@shared_task
def freeze_report(criterion_id: int, user_id: int | None = None) -> None:
    # Imported by the worker only: matplotlib is nothing a web process should load.
    from judges.services import reports

    criterion = Criterion.objects.select_related("project").get(pk=criterion_id)
    reports.freeze_report(
        criterion=criterion, user=None if user_id is None else User.objects.filter(pk=user_id).first()
    )
