"""What is to be asked next, for threads that take from it: what is due, as hard as the target may be asked just now."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from threading import Condition

from judges.runs.asking import Pace
from systems.models import QuestionRevision
from systems.targets.template import Sent

# Of what nobody told a thread: how soon the target has rested.
_LOOK_SECONDS = 0.5


@dataclass(slots=True)
class Todo:
    """One question on one repeat. key: that its reply is kept under. tries: how often it was asked in vain."""

    revision: QuestionRevision
    repeat: int
    sent: Sent
    key: str
    tries: int = 0


class Waiting:
    """in_hand: how many were taken and are not done; waiting: how many may still be taken."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._change = Condition()
        self._due: list[tuple[float, int, Todo]] = []
        self._numbers = count()
        self._is_closed = False
        self.in_hand = 0

    @property
    def waiting(self) -> int:
        return len(self._due)

    @property
    def is_idle(self) -> bool:
        with self._change:
            return not self._due and not self.in_hand

    def put(self, todos: Iterable[Todo], *, after: float = 0.0) -> None:
        """after: seconds until they are due."""
        due = time.monotonic() + after
        with self._change:
            for todo in todos:
                heapq.heappush(self._due, (due, next(self._numbers), todo))
            self._change.notify_all()

    def take(self) -> Todo | None:
        """Waits for one; None once it is closed."""
        with self._change:
            while not self._is_closed:
                if (wait := self._seconds()) <= 0:
                    if self._pace.is_doubtful:
                        self._pace.probe()
                    self.in_hand += 1
                    return heapq.heappop(self._due)[2]
                self._change.wait(wait)
        return None

    def done(self) -> None:
        """With one that was taken, whatever came of it."""
        with self._change:
            self.in_hand -= 1
            self._change.notify_all()

    def close(self) -> None:
        with self._change:
            self._is_closed = True
            self._change.notify_all()

    def _seconds(self) -> float:
        """Until the next may go out."""
        if not self._due or (self._pace.is_doubtful and self.in_hand) or self._pace.is_away:
            return _LOOK_SECONDS
        return min(_LOOK_SECONDS, max(self._due[0][0] - time.monotonic(), self._pace.rest))
