"""Work that takes longer than a request may: asked for, done by the worker, and watched until it ends."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from annotate.core.advisory import held, held_keys, lock_key
from annotate.core.background import hand_over
from annotate.core.errors import Refusal, Unavailable
from annotate.models import Job, Project, User
from annotate.models.job import UNDER_WAY, JobKind, JobStatus

# The task of Celery that does them, which is given a job's id.
_TASKS = {JobKind.REPORT: "judges.tasks.make_report", JobKind.RELEASE: "annotate.tasks.make_release"}

_log = logging.getLogger(__name__)


def ask_for(*, project: Project, user: User, kind: JobKind, asked: Mapping[str, Any]) -> tuple[Job, bool]:
    """The job, and whether it is a new one: what somebody asks for twice while it is under way is one.

    Raises Unavailable when the message can't be sent (outside a transaction; within one, on commit).
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        same = {"project": project, "kind": kind, "created_by": user, "asked": dict(asked)}
        job = Job.objects.filter(**same, status__in=UNDER_WAY).first()
        if job is not None:
            return job, False
        job = Job.objects.create(**same)
        transaction.on_commit(lambda: _send(job))
    return job, True


def _send(job: Job) -> None:
    try:
        hand_over(_TASKS[JobKind(job.kind)], str(job.pk))
    except BrokerError as error:
        job.delete()
        raise Unavailable("no_broker", "The worker can't be reached just now; nothing was requested.") from error


def look_for_lost() -> None:
    """Sends again what nobody does although it was asked for a while ago: Redis keeps no message when it is killed, and
    a worker that is takes its own along. Of one that only waits for its turn, the second message finds it done."""
    before = timezone.now() - timedelta(seconds=settings.JOBS_LOOK_SECONDS)
    at_work = held_keys()
    for job in Job.objects.filter(status__in=UNDER_WAY, created_at__lt=before):
        if lock_key(job.pk) not in at_work:
            hand_over(_TASKS[JobKind(job.kind)], str(job.pk), expires=settings.JOBS_LOOK_SECONDS)


def work_on(job_id: str, make: Callable[[Job], object]) -> None:
    """Has `make` done once: it ends the job (`end`) together with what it stores. A message that comes again, of a
    worker that died, goes on with what is not done."""
    with held(uuid.UUID(job_id)) as is_ours:
        job = Job.objects.select_related("project", "created_by").filter(pk=job_id).first()
        if not is_ours or job is None or job.status not in UNDER_WAY:
            return
        job.status = JobStatus.RUNNING
        job.save(update_fields=["status"])
        try:
            make(job)
        except OperationalError:
            raise  # PostgreSQL went away; the task comes again
        except Refusal as refusal:
            _fail(job, refusal.code, refusal.message)
        except Exception:  # noqa: BLE001 - whatever it is, the job must not stay running for ever
            _fail(job, "internal", "It failed: server error (see log). Nothing was made.")
            _log.exception("Job %s stopped", job_id)


def end(job: Job, number: int) -> None:
    job.status, job.result, job.finished_at = JobStatus.DONE, number, timezone.now()
    job.save(update_fields=["status", "result", "finished_at"])


def _fail(job: Job, code: str, message: str) -> None:
    job.status, job.error_code, job.error_message, job.finished_at = JobStatus.FAILED, code, message, timezone.now()
    job.save(update_fields=["status", "error_code", "error_message", "finished_at"])
