"""The Celery application. Its settings are the `CELERY_*` names of config/settings.py."""

import logging
import os
from typing import Any

import celery
from celery import Celery, bootsteps
from celery.signals import (
    before_task_publish,
    celeryd_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_before_create_process,
)
from celery.utils.log import get_multiprocessing_logger
from django.conf import settings
from django.utils.log import configure_logging
from kombu.exceptions import OperationalError

from config import collector, logs
from config.embedded import ensure_services

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# How often the worker's main process says that it lives.
ALIVE_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Task(celery.Task):
    """A task that finds PostgreSQL, or the store of files, away says so in a line and comes again, unless it has
    expired by then."""

    max_retries = 100

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from django.db import DatabaseError, InterfaceError

        from annotate.core.errors import RETRY_SECONDS, StorageError
        from config.errors import passes

        try:
            return self.run(*args, **kwargs)  # not super()'s, which would hide the request
        except (DatabaseError, InterfaceError, StorageError) as error:
            if not passes(error):
                raise
            who = "The store of files" if isinstance(error, StorageError) else "PostgreSQL"
            _log.warning("%s can't answer %s: %s", who, self.name, str(error).partition("\n")[0])
            raise self.retry(exc=error, countdown=RETRY_SECONDS) from None


app = Celery("touchstone", task_cls=Task)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="celery_tasks")


@celeryd_init.connect
def hold_services(**_: Any) -> None:
    """A worker uses the embedded services like any other process, however it was started; and it outlives Redis."""
    from config import broker
    from config.storage import try_out_storage

    try_out_storage()
    app.services = ensure_services()  # for the life of the process: what is not referenced is given up
    broker.use(broker.Alive(settings.DATA_DIR / "worker.alive"))


@worker_before_create_process.connect
def spare_the_collector(**_: Any) -> None:
    collector.freeze()


@setup_logging.connect
def log_as_all_processes(**_: Any) -> None:
    """Instead of Celery's own handlers and formats."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    # What it says of processes that have ended.
    processes = get_multiprocessing_logger()
    processes.propagate = True
    processes.setLevel(logging.ERROR)


@before_task_publish.connect
def pass_on_request_id(headers: dict[str, Any], **_: Any) -> None:
    if asked_by := logs.request_id():
        headers["request_id"] = asked_by


@task_prerun.connect
def name_task_in_logs(task: celery.Task, task_id: str, **_: Any) -> None:
    logs.begin_task(task.name, task_id, getattr(task.request, "request_id", None))


@task_postrun.connect
def end_task_in_logs(state: str, **_: Any) -> None:
    logs.end_task(state.lower())


class Look(bootsteps.StartStopStep):
    """From each connection to Redis on, by the timer of the worker's main process: that one may have neither threads
    nor a connection to the database, which its processes would inherit."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        from config.broker import Transport

        parent.timer.call_repeatedly(ALIVE_SECONDS, Transport.alive.touch)
        for task, seconds in (
            ("judges.tasks.look_for_runs", settings.RUNS_LOOK_SECONDS),
            ("systems.tasks.look_for_runs", settings.RUNS_LOOK_SECONDS),
            ("annotate.tasks.look_for_lost_jobs", settings.JOBS_LOOK_SECONDS),
            ("annotate.tasks.look_for_deletions", settings.DELETIONS_LOOK_SECONDS),
            ("annotate.tasks.look_for_audits", settings.AUDITS_LOOK_SECONDS),
            ("annotate.tasks.look_for_old", settings.RETENTION_LOOK_SECONDS),
            ("judges.tasks.look_for_ends", settings.CERTIFICATES_LOOK_SECONDS),
            ("judges.tasks.look_for_reports", settings.REPORTS_LOOK_SECONDS),
        ):
            self._look(task, seconds)
            # Cancelled with everything else of this connection when that is lost; the next one begins anew.
            parent.timer.call_repeatedly(seconds, self._look, (task, seconds))

    def _look(self, task: str, seconds: float) -> None:
        try:
            # A process that is too busy to look within this time gets the next message.
            app.send_task(task, expires=seconds, retry=False)
        except (OperationalError, OSError):
            pass  # Redis is away; the worker says so itself, and looks when it is back


app.steps["consumer"].add(Look)
