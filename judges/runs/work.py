"""Waking the worker, and working at a place until nothing is left there. Messages carry no work, they only say where
there is some: the queue of record is in PostgreSQL.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from random import Random

from django.conf import settings
from kombu.exceptions import OperationalError

from annotate.core.background import hand_over
from judges.runs.endpoint_work import EndpointWork
from judges.runs.local_work import TogetherWork, lay_lost
from judges.runs.open_run import open_run, stop_run, why_stopped
from judges.runs.places import Place, held, is_held
from judges.runs.queue import finish, free, in_hand, places_with_work, sweep_cancelled

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
    """Sends a message for each place that has work and no process at it. Sent again as long as that is so, so the
    messages don't outlive the next look."""
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


# Of a message that comes again: the worker that had it before is dead, as a rule, and the database may need a moment to
# see that, and to let the place go.
PATIENCE_SECONDS = 5.0
# After so long it makes room if others wait: an import must not wait for a run of an hour.
SLICE_SECONDS = 15.0
# And from then on it looks this often whether any do.
LOOK_SECONDS = 1.0


class Slice:
    """How long this process may stay at a place."""

    def __init__(self, others_wait: Callable[[], bool]) -> None:
        self._others_wait = others_wait
        self._until = time.monotonic() + SLICE_SECONDS
        self.is_over = False

    def __call__(self) -> bool:
        """Whether to leave now, so that others get a turn."""
        if not self.is_over and time.monotonic() > self._until:
            self._until = time.monotonic() + LOOK_SECONDS
            self.is_over = self._others_wait()
        return self.is_over


def work(place: Place, *, rng: Random, in_worker: bool = True, patience: float = 0.0) -> None:
    """Works there as long as there is something to do; returns when another process is at it.

    patience: seconds in which that process may still go. in_worker: makes room for other messages, after sending itself
    a message to go on later.
    """
    must_leave = others_wait if in_worker else lambda: False
    while True:
        with held(place, patience=patience) as is_ours:
            if not is_ours:
                return
            patience = 0.0
            slice_ = Slice(must_leave)
            free(in_hand(place))
            _work_held(place, slice_, rng)
        if slice_.is_over and wake(place):
            return
        # A run that was started just now found us still here, and was left to us.
        if place not in places_with_work():
            return


def _work_held(place: Place, has_to_leave: Slice, rng: Random) -> None:
    if place.kind == "endpoint":
        EndpointWork(place, rng).work(has_to_leave)
        return
    run = place.under_way().first()
    if run is None:
        return
    try:
        lay_lost(run.pk)
    except Exception as error:  # noqa: BLE001 - or the run would begin here again and again
        stop_run(run.pk, *why_stopped(error, run.version))
        return
    with ExitStack() as stack:
        opened = open_run(run, stack)
        if opened is None:
            return
        TogetherWork(opened).work(has_to_leave)
        if opened.stopped is not None:
            stop_run(run.pk, *opened.stopped)
    sweep_cancelled(run.pk)
    finish(run.pk)
