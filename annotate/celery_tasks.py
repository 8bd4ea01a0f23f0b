"""What the worker does for annotate. A task takes ids and calls a service that may run twice.

Tasks have names of their own, by which they are asked for (annotate.core.background), and which messages of an earlier
version that still wait in the broker know.
"""

from __future__ import annotations

from typing import Any

from celery import shared_task

from annotate.batches import audits_make
from annotate.core import jobs
from annotate.files import releases, retention
from annotate.members import mail_resets
from annotate.projects import deletion
from annotate.tasks.mail import send_address_changed, send_batch_opened, send_task_returned

# Seconds until a mail that couldn't be sent is tried again; less than the broker's visibility timeout.
_MAIL_RETRIES = (60, 300, 600, 600)


@shared_task(name="annotate.tasks.note_download")
def note_download(release_id: int, actor_id: int, at: str) -> None:
    releases.note_download(release_id, actor_id, at)


@shared_task(name="annotate.tasks.make_release")
def make_release(job_id: str) -> None:
    jobs.work_on(job_id, releases.make_requested)


@shared_task(name="annotate.tasks.look_for_lost_jobs")
def look_for_lost_jobs() -> None:
    """Asked for by every worker each minute (config.celery)."""
    jobs.look_for_lost()


@shared_task(name="annotate.tasks.look_for_deletions")
def look_for_deletions() -> None:
    """Asked for when a deletion begins, and by every worker each few seconds (config.celery)."""
    deletion.look_for_deletions()


@shared_task(name="annotate.tasks.look_for_audits")
def look_for_audits() -> None:
    """Asked for by every worker each minute (config.celery)."""
    audits_make.look_for_audits()


@shared_task(name="annotate.tasks.look_for_old")
def look_for_old() -> None:
    """Asked for by every worker each hour (config.celery)."""
    retention.look_for_old()


@shared_task(name="annotate.tasks.mail_batch_opened", bind=True, max_retries=len(_MAIL_RETRIES))
def mail_batch_opened(self: Any, batch_id: int, user_ids: list[int] | None = None) -> None:
    if not send_batch_opened(batch_id, user_ids):
        _try_again(self)


@shared_task(name="annotate.tasks.mail_task_returned", bind=True, max_retries=len(_MAIL_RETRIES))
def mail_task_returned(self: Any, task_id: int) -> None:
    if not send_task_returned(task_id):
        _try_again(self)


@shared_task(name="annotate.tasks.mail_password_reset", bind=True, max_retries=len(_MAIL_RETRIES))
def mail_password_reset(self: Any, email: str) -> None:
    if not mail_resets.mail_resets(email):
        _try_again(self)


@shared_task(name="annotate.tasks.mail_address_changed", bind=True, max_retries=len(_MAIL_RETRIES))
def mail_address_changed(self: Any, user_id: int, before: str) -> None:
    if not send_address_changed(user_id, before):
        _try_again(self)


def _try_again(task: Any) -> None:
    """Later; after the last time the mail is given up, which the log has said already."""
    tries = task.request.retries
    if tries < len(_MAIL_RETRIES):
        raise task.retry(countdown=_MAIL_RETRIES[tries])
