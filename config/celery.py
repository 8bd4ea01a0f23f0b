"""The Celery application. Its settings are the `CELERY_*` names of config/settings.py."""

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, worker_ready
from kombu.exceptions import OperationalError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# How often every worker has somebody look for runs of judges that nobody is at.
LOOK_SECONDS = 15.0

app = Celery("touchstone")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def hold_services(**_: Any) -> None:
    """A worker uses the embedded services like any other process, however it was started."""
    from config.embedded import ensure_services

    ensure_services()


@worker_ready.connect
def look_for_runs(sender: Any, **_: Any) -> None:
    """From now on, by the timer of the worker's main process: that one may have neither threads nor a connection to
    the database, which its processes would inherit."""

    def look() -> None:
        try:
            # Who is too busy to look within this time gets the next message.
            app.send_task("judges.tasks.look_for_runs", expires=LOOK_SECONDS, retry=False)
        except (OperationalError, OSError):
            pass  # Redis is away; the worker says so itself, and the next look comes

    look()
    sender.timer.call_repeatedly(LOOK_SECONDS, look)
