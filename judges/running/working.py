"""Working at a place until nothing is left there: what a message of the worker, or a command, sets going."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from random import Random

from judges.models import Run
from judges.running import queue, waking
from judges.running.at_endpoint import EndpointWork
from judges.running.opened import open_run
from judges.running.places import Place, held
from judges.running.stopping import stop_run
from judges.running.stretches import lay_lost
from judges.running.together import TogetherWork

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
    """Works there as long as there is something to do; returns when somebody else is at it.

    patience: seconds in which that one may still go. in_worker: makes room for other messages, after sending itself a
    message to go on later.
    """
    must_leave = waking.others_wait if in_worker else lambda: False
    while True:
        with held(place, patience=patience) as is_ours:
            if not is_ours:
                return
            patience = 0.0
            slice_ = Slice(must_leave)
            queue.free(queue.in_hand(place))
            _work_held(place, slice_, rng)
        if slice_.is_over and waking.wake(place):
            return
        # Whoever started a run just now found us still here, and left it to us.
        if place not in queue.places_with_work():
            return


def _work_held(place: Place, has_to_leave: Slice, rng: Random) -> None:
    if place.kind == "endpoint":
        EndpointWork(place, rng).work(has_to_leave)
        return
    run = place.under_way().first()
    if run is not None:
        _work_together(run, has_to_leave)


def _work_together(run: Run, has_to_leave: Slice) -> None:
    lay_lost(run.pk)
    with ExitStack() as stack:
        opened = open_run(run, stack)
        if opened is None:
            return
        TogetherWork(opened).work(has_to_leave)
        if opened.stopped is not None:
            stop_run(run.pk, *opened.stopped)
    queue.sweep_cancelled(run.pk)
    queue.finish(run.pk)
