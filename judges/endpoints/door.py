"""Rate limits of an endpoint: requests at once and requests per minute, over all threads of the process."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judges.models.judge import Endpoint


class Door:
    """Lets requests through one by one, in the order in which they arrive.

    Those of one minute are spread over it: `per_minute` of them at its beginning would use up a server's own limit for
    that minute, and exceed it by the server's clock.
    """

    def __init__(
        self,
        at_once: int,
        per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._change = threading.Condition()
        self._waiting: deque[object] = deque()
        self._inside = 0
        self._next_at = 0.0
        self.set_limits(at_once, per_minute)

    def set_limits(self, at_once: int, per_minute: int | None) -> None:
        with self._change:
            self._at_once, self._per_minute = at_once, per_minute
            self._change.notify_all()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Waits for this request's turn, and counts it as under way until the end of the block."""
        wait = self._enter()
        try:
            if wait > 0:
                self._sleep(wait)
            yield
        finally:
            with self._change:
                self._inside -= 1
                self._change.notify_all()

    def _enter(self) -> float:
        """Takes a place inside. Returns for how many seconds the request has to wait still."""
        ticket = object()
        with self._change:
            self._waiting.append(ticket)
            try:
                while self._waiting[0] is not ticket or self._inside >= self._at_once:
                    self._change.wait()
            finally:
                self._waiting.remove(ticket)
                self._change.notify_all()
            self._inside += 1
            if self._per_minute is None:
                return 0.0
            now = self._clock()
            at = max(now, self._next_at)
            self._next_at = at + 60.0 / self._per_minute
            return at - now


_doors: dict[int, Door] = {}
_doors_lock = threading.Lock()


def door_of(endpoint: Endpoint) -> Door:
    """The endpoint's door in this process, with the limits that the endpoint has now."""
    with _doors_lock:
        door = _doors.get(endpoint.pk)
        if door is None:
            door = _doors[endpoint.pk] = Door(endpoint.concurrency)
        door.set_limits(endpoint.concurrency, endpoint.requests_per_minute)
        return door


def useful_threads(endpoint: Endpoint) -> int:
    """How many threads can be kept busy: any more would wait for their turn by requests_per_minute for longer than a
    request may take."""
    if endpoint.requests_per_minute is None:
        return endpoint.concurrency
    busy = math.ceil(endpoint.requests_per_minute * endpoint.timeout_seconds / 60)
    return max(1, min(endpoint.concurrency, busy))
