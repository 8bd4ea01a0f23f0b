"""Asking about one thing: what a kind of judge gets as its model, what is made of what comes or fails, and how hard the
endpoint may be asked just now (backing off, resting, giving it up).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random
from threading import Lock
from typing import Any, Protocol, TypeVar, cast

from django.db import Error as DatabaseError

from annotate.models import Sample
from judges.endpoints.calls import (
    Answered,
    CallFailed,
    ChatRequest,
    EmbedRequest,
    Model,
    StopRun,
    TryLater,
    key_of,
)
from judges.kinds.base import Item, OneByOne, Outcome, Scored
from judges.models import ScoreStatus
from judges.runs.kept_replies import Memory, salted
from judges.runs.open_run import NotNow, OpenRun
from judges.runs.outcomes import failures, note_fault
from judges.runs.queue import Taken

MOST_TRIES = 4
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


_Asked = TypeVar("_Asked", ChatRequest, EmbedRequest)


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
class Came:
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


def came_of(todo: Todo, outcome: Outcome, replies: list[Answered]) -> Came:
    """Through the gate. The ask's own status is the first that isn't ok."""
    scores = todo.run.gate.checked(outcome.scores, todo.wanted, todo.sample)
    bad = next((scored for scored in scores if scored.status != ScoreStatus.OK), None)
    return Came(
        todo,
        End.DONE,
        status=ScoreStatus.OK if bad is None else ScoreStatus(bad.status),
        detail="" if bad is None else bad.detail,
        scores=scores,
        found=outcome.found,
        replies=replies,
    )


def failed(todo: Todo, status: ScoreStatus, detail: str, replies: list[Answered] | None = None) -> Came:
    scores = failures(todo.wanted, status, detail)
    return Came(todo, End.DONE, status=status, detail=detail, scores=scores, replies=replies or [])


class Slots(Protocol):
    """How much may be sent, or come and not yet written, so that no more than that is ever asked twice."""

    def take(self) -> None:
        """Raises NotNow when nothing that came could be kept."""
        ...

    def leave(self) -> None: ...

    def paid(self, run: OpenRun, answered: Answered) -> None:
        """Has the reply written, and the slot left after that."""
        ...


class AskedModel:
    """The model that a kind asks about one thing: replies that are kept, the budget, and what came, in its order."""

    def __init__(self, todo: Todo, model: Model, base_url: str, memory: Memory, pace: Pace, slots: Slots) -> None:
        self._run = todo.run
        self._is_fresh = todo.run.is_fresh or todo.has_failed
        self._model = model
        self._base_url = base_url
        self._memory = memory
        self._pace = pace
        self._slots = slots
        self.replies: list[Answered] = []

    def chat(self, request: ChatRequest) -> Answered:
        return self._answer(request, self._model.chat)

    def embed(self, request: EmbedRequest) -> Answered:
        return self._answer(request, self._model.embed)

    def _answer(self, request: _Asked, send: Callable[[_Asked], Answered]) -> Answered:
        key = key_of(self._base_url, request)
        if self._is_fresh:
            key = salted(key, self._run.id)
        with self._memory.only_one(self._run.project_id, key):
            answered = self._memory.find(self._run.project_id, key)
            if answered is None:
                with self._run.purse.reserved(request) as priced:
                    answered = self._send(key, request, send, priced)
        self.replies.append(answered)
        return answered

    def _send(self, key: str, request: _Asked, send: Callable[[_Asked], Answered], priced: list[Answered]) -> Answered:
        self._slots.take()
        try:
            if not self._run.is_open:
                raise NotNow
            answered = replace(send(request), key=key)
        except BaseException as failure:
            self._slots.leave()
            if isinstance(failure, CallFailed) and not isinstance(failure, TryLater):
                self._run.refused(request.model, failure.detail)
            raise
        if answered.cost is None and answered.raw is not None and self._run.purse.budget is not None:
            # Nonsense says nothing of what it cost, and nothing of the endpoint's other replies.
            answered = replace(answered, cost=self._run.purse.most(request))
        # It was paid: whatever becomes of the ask, from here on it is kept.
        self._memory.note(self._run.project_id, answered)
        self._slots.paid(self._run, answered)
        self._pace.came()
        self._run.came(request.model)
        priced.append(answered)
        return answered


def ask(todo: Todo, model: AskedModel, pace: Pace) -> Came:
    """Asks, and never raises: what may not be the judge's fault becomes no failed score."""
    run = todo.run
    try:
        outcome = cast("OneByOne", run.scorer).ask(todo.item, model)
    except StopRun as stop:
        run.stop(stop.code, stop.message)
        return Came(todo, End.UNASKED, replies=model.replies)
    except TryLater as later:
        return _once_more(todo, later, model, pace)
    except CallFailed as call:
        pace.came()
        return failed(todo, call.status, call.detail, model.replies)
    except (DatabaseError, NotNow) as error:
        if isinstance(error, DatabaseError):
            note_fault(error, "The database was away while a judge asked")
        return Came(todo, End.UNASKED, replies=model.replies)
    except Exception as error:  # noqa: BLE001 - a kind's fault is one failed score, not the end of a run
        note_fault(error, f"Judge version {run.version.pk} failed at {todo.taken.unit} of sample {todo.sample.pk}")
        return failed(todo, ScoreStatus.ERROR, f"The judge itself failed ({type(error).__name__}).", model.replies)
    return came_of(todo, outcome, model.replies)


def _once_more(todo: Todo, later: TryLater, model: AskedModel, pace: Pace) -> Came:
    """Tries count as long as nothing new comes; an ask of several requests that gets on begins to count anew."""
    got_on = any(not answered.is_kept for answered in model.replies)
    tries = 1 if got_on else todo.taken.tries + 1
    after = pace.failed(tries, later.seconds)
    if tries < MOST_TRIES:
        return Came(todo, End.AGAIN, detail=later.detail, replies=model.replies, tries=tries, after=after)
    if pace.is_doubtful:
        # No ask gets a reply; that isn't the fault of this one. It stays, and if the endpoint is away the run stops.
        return Came(todo, End.AGAIN, detail=later.detail, replies=model.replies, tries=MOST_TRIES - 1, after=after)
    return failed(todo, later.status, later.detail, model.replies)
