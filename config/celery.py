"""The Celery application. Its settings are the `CELERY_*` names of config/settings.py."""

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("touchstone")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def hold_services(**_: Any) -> None:
    """A worker uses the embedded services like any other process, however it was started."""
    from config.embedded import ensure_services

    ensure_services()
