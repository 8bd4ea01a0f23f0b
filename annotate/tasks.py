"""What the worker does for annotate. A task takes ids and calls a service that may run twice."""

from __future__ import annotations

import uuid

from celery import shared_task


@shared_task
def run_import(job_id: str) -> None:
    from annotate.services.imports import run_job

    run_job(uuid.UUID(job_id))
