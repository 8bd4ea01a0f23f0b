"""Waking the worker. Messages carry no work, only where there is some: the queue of record is in PostgreSQL."""

from __future__ import annotations

import logging

from django.conf import settings
from kombu.exceptions import OperationalError

from annotate.core.background import hand_over
from judges.running.places import Place, is_held
from judges.running.queue import places_with_work

_log = logging.getLogger(__name__)


def wake(place: Place, *, expires: float | None = None) -> bool:
    """Whether the message could be sent. If not, the work waits for `wake_all`."""
    try:
        hand_over("judges.tasks.work_on_runs", place.kind, place.pk, expires=expires)
    except OperationalError as error:
        _log.warning("The broker is away, work at %s %s waits: %s", place.kind, place.pk, type(error).__name__)
        return False
    return True


def wake_all() -> None:
    """Has somebody go wherever there is work and nobody at it. Sent again as long as that is so, so the messages don't
    outlive the next look."""
    for place in places_with_work():
        if not is_held(place):
            wake(place, expires=settings.RUNS_LOOK_SECONDS)


def others_wait() -> bool:
    """Whether messages lie in the broker's queue because all of the worker's processes are busy."""
    import redis  # by the worker only

    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
            return bool(client.llen(settings.CELERY_TASK_DEFAULT_QUEUE))
    except redis.RedisError:
        return False
