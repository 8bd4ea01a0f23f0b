"""How hard an endpoint may be asked just now: backing off, resting, and when to give it up."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from threading import Lock

MOST_TRIES = 4
# So many requests in a row without a reply, and the endpoint may be away: from then on it is asked one by one.
_MANY = 10
# And after so many of these it is.
_PROBES = 4
_FIRST_SECONDS = 1.0
_MOST_SECONDS = 30.0
# Whatever a server says, after this long it may be asked again.
_LONGEST_REST = 3600.0


class Pace:
    """Of one endpoint in one process; all threads share it. rng: of the jitter."""

    def __init__(self, concurrency: int, rng: Random, clock: Callable[[], float] = time.monotonic) -> None:
        self._many = max(_MANY, concurrency)
        self._rng = rng
        self._clock = clock
        self._lock = Lock()
        self._row = 0
        self._is_probing = False
        self._probes = 0
        self._rest_until = 0.0

    def came(self) -> None:
        """A reply came, good or bad: the endpoint is there."""
        with self._lock:
            self._row = self._probes = 0
            self._is_probing = False

    def probe(self) -> None:
        """What goes out next goes out alone, to see whether the endpoint is there."""
        with self._lock:
            self._is_probing = True

    def failed(self, tries: int, seconds: float | None) -> float:
        """After the `tries`-th try in vain: seconds until the next one. seconds: what the server asked for."""
        with self._lock:
            self._row += 1
            if self._is_probing:
                self._is_probing = False
                self._probes += 1
            if seconds is not None:
                seconds = min(max(seconds, 0.0), _LONGEST_REST)
                self._rest_until = max(self._rest_until, self._clock() + seconds)
                return seconds + self._rng.uniform(0, 0.1) * min(seconds, 10.0)
            if self.is_doubtful:
                rest = self._rng.uniform(0.5, 1) * min(_FIRST_SECONDS * 2.0**self._probes, _MOST_SECONDS)
                self._rest_until = max(self._rest_until, self._clock() + rest)
            return self._rng.uniform(0, min(_FIRST_SECONDS * 2.0 ** (tries - 1), _MOST_SECONDS))

    @property
    def is_doubtful(self) -> bool:
        """Whether to ask one by one."""
        return self._row >= self._many

    @property
    def is_away(self) -> bool:
        return self._probes >= _PROBES

    @property
    def rest(self) -> float:
        """Seconds in which nothing goes out."""
        return max(0.0, self._rest_until - self._clock())
