"""An ask in hand, what came of it, and how hard an endpoint may be asked just now (backing off, resting, giving up)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from threading import Lock
from typing import Any

from annotate.models import Sample
from judges.endpoints.calls import Answered
from judges.kinds.base import Item, Outcome, Scored
from judges.models import ANSWERED, ScoreStatus
from judges.runs.open_run import OpenRun
from judges.runs.outcomes import failures
from judges.runs.queue import Taken

# After this many requests in a row without a reply the endpoint may be away: from then on it is asked one by one.
_MANY = 10
# And after this many of these it is.
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


@dataclass(slots=True)
class Todo:
    """An ask that was taken, with what is needed to ask it.

    has_failed: in an earlier run it brought no score, so that the replies of that time are of no use.
    """

    taken: Taken
    run: OpenRun
    sample: Sample
    has_failed: bool = False

    @property
    def wanted(self) -> list[tuple[str, str]]:
        """(dimension, unit) of every score that it is to bring."""
        return self.run.purpose.wanted(self.taken.unit, self.sample)

    @property
    def item(self) -> Item:
        return self.run.purpose.item(self.sample, self.taken.unit, self.taken.repeat)


class End(Enum):
    DONE = "done"
    # Once more, not before `after` seconds.
    AGAIN = "again"
    # As if it had never been taken.
    UNASKED = "unasked"


@dataclass(slots=True)
class AskResult:
    """What came of an ask. found: beside scores. replies: what came on the way is kept however it ended."""

    todo: Todo
    end: End
    status: ScoreStatus = ScoreStatus.OK
    detail: str = ""
    scores: list[Scored] = field(default_factory=list)
    found: Any = None
    replies: list[Answered] = field(default_factory=list)
    tries: int = 0
    after: float = 0.0


def result_of(todo: Todo, outcome: Outcome, replies: list[Answered]) -> AskResult:
    """Through the gate. The ask's own status is the first that is a failure."""
    scores = todo.run.gate.checked(outcome.scores, todo.wanted, todo.sample)
    bad = next((scored for scored in scores if scored.status not in ANSWERED), None)
    return AskResult(
        todo,
        End.DONE,
        status=ScoreStatus.OK if bad is None else ScoreStatus(bad.status),
        detail="" if bad is None else bad.detail,
        scores=scores,
        found=outcome.found,
        replies=replies,
    )


def failed(todo: Todo, status: ScoreStatus, detail: str, replies: list[Answered] | None = None) -> AskResult:
    scores = failures(todo.wanted, status, detail)
    return AskResult(todo, End.DONE, status=status, detail=detail, scores=scores, replies=replies or [])
