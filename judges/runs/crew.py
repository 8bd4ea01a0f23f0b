"""The threads that ask: more of them than requests may be under way, so that some prepare and read meanwhile.

What a kind of judge gets as its model, and what is made of what comes or fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import TypeVar, cast

from django.db import Error as DatabaseError
from django.db import connections

from judges.endpoints.calls import Answered, CallFailed, ChatRequest, EmbedRequest, Model, StopRun, TryLater, key_of
from judges.kinds.base import OneByOne
from judges.models import ScoreStatus
from judges.runs.asking import AskResult, End, Pace, Todo, failed, result_of
from judges.runs.kept_replies import Memory, salted
from judges.runs.open_run import NotNow, OpenRun, why_stopped
from judges.runs.outcomes import note_fault
from judges.runs.storing import Paid, Unanswered
from judges.runs.writer import Writer

_PER_REQUEST = 1.5
MOST_TRIES = 4
# While replies are written others are asked, as long as those are no more than this part of what may be under way.
_WRITTEN_SHARE = 8

_Asked = TypeVar("_Asked", ChatRequest, EmbedRequest)


class Crew:
    """in_hand: how many asks were given and are not yet written. queued: of these, those that no thread has taken up.
    stirred: set when few are queued, and when nothing of a run is in hand any more.

    requests: how many may be under way. has_twin: of the endpoint, see Memory.
    """

    def __init__(self, model: Model, base_url: str, requests: int, pace: Pace, *, has_twin: bool) -> None:
        self.size = math.ceil(requests * _PER_REQUEST)
        self.stirred = Event()
        self.memory = Memory(has_twin=has_twin)
        self.writer = Writer(self._written, self._paid)
        self._slots = BoundedSemaphore(requests + requests // _WRITTEN_SHARE)
        self.model = model
        self.base_url = base_url
        self.pace = pace
        self._todos: SimpleQueue[Todo | None] = SimpleQueue()
        self._lock = Lock()
        self._in_hand = 0
        self._is_halted = False
        self._threads = [Thread(target=self._work, name=f"asking-{n}", daemon=True) for n in range(self.size)]
        for thread in self._threads:
            thread.start()

    @property
    def in_hand(self) -> int:
        return self._in_hand

    @property
    def queued(self) -> int:
        return self._todos.qsize()

    def give(self, todos: Sequence[Todo]) -> None:
        with self._lock:
            self._count(todos, 1)
        for todo in todos:
            self._todos.put(todo)

    def write(self, came: AskResult) -> None:
        """For what is known without asking."""
        with self._lock:
            self._count([came.todo], 1)
        self.writer.put(came)

    def take_back(self, run: OpenRun | None = None) -> None:
        """What no thread has taken up, of the run or of all, goes back to where it came from."""
        for _ in range(self._todos.qsize()):
            try:
                todo = self._todos.get_nowait()
            except Empty:
                return
            if todo is not None and run in (None, todo.run):
                self.writer.put(AskResult(todo, End.UNASKED))
            else:
                self._todos.put(todo)

    def close(self, *, waits: bool = True) -> None:
        """Takes nothing more up. Waits for what is under way, unless this process is told to end."""
        self._is_halted = True
        self.take_back()
        for _ in self._threads:
            self._todos.put(None)
        if waits:
            for thread in self._threads:
                thread.join()
        self.writer.close()
        self.memory.close()

    def _work(self) -> None:
        try:
            while (todo := self._todos.get()) is not None:
                if self.queued < self.size // 2:
                    self.stirred.set()
                self.writer.put(self._ask_one(todo))
        finally:
            connections.close_all()  # a kind may have looked something up

    def _ask_one(self, todo: Todo) -> AskResult:
        if not self.may_ask(todo.run):
            return AskResult(todo, End.UNASKED)
        model = _AskedModel(todo, self)
        try:
            return _ask(todo, model, self.pace)
        except Exception as error:  # noqa: BLE001 - a thread that ends would take its ask along
            note_fault(error, f"Asking failed at ask {todo.taken.id}")
            if not isinstance(error, DatabaseError):  # which may soon be back; anything else would come again and again
                todo.run.stop(*why_stopped(error, todo.run.version))
            return AskResult(todo, End.UNASKED, replies=model.replies)

    def may_ask(self, run: OpenRun) -> bool:
        return run.is_open and not self._is_halted

    # Slots: how much may be sent, or come and not yet written, so that no more than that is ever asked twice. A request
    # takes one, and it is left when the reply is written.

    def take(self) -> None:
        """Raises NotNow when nothing that came could be kept."""
        self._slots.acquire()
        if self.writer.is_lost:  # what came now would be paid and not kept
            self._slots.release()
            raise NotNow

    def leave(self) -> None:
        self._slots.release()

    def paid(self, run: OpenRun, answered: Answered) -> None:
        """Has the reply written, and the slot left after that."""
        self.writer.put(Paid(run, answered))

    def _paid(self, paid: Sequence[Paid]) -> None:
        self.memory.written([(each.run.project_id, each.answered.key) for each in paid])
        for _each in paid:
            self.leave()

    def _written(self, group: Sequence[AskResult]) -> None:
        with self._lock:
            self._count([came.todo for came in group], -1)
        if any(not came.todo.run.in_hand for came in group):
            self.stirred.set()

    def _count(self, todos: Sequence[Todo], by: int) -> None:
        for todo in todos:
            self._in_hand += by
            todo.run.in_hand += by


class _AskedModel:
    """The model that a kind asks about one thing: replies that are kept, the budget, and what came, in its order."""

    def __init__(self, todo: Todo, crew: Crew) -> None:
        self._run = todo.run
        self._is_fresh = todo.run.is_fresh or todo.has_failed
        self._crew = crew
        self._memory = crew.memory
        self.replies: list[Answered] = []

    def chat(self, request: ChatRequest) -> Answered:
        return self._answer(request, self._crew.model.chat)

    def embed(self, request: EmbedRequest) -> Answered:
        return self._answer(request, self._crew.model.embed)

    def _answer(self, request: _Asked, send: Callable[[_Asked], Answered]) -> Answered:
        key = key_of(self._crew.base_url, request)
        if self._is_fresh:
            key = salted(key, self._run.id)
        with self._memory.only_one(self._run.project_id, key):
            answered = self._memory.find(self._run.project_id, key, lambda: self._crew.may_ask(self._run))
            if answered is None:
                with self._run.purse.reserved(request) as priced:
                    answered = self._send(key, request, send, priced)
        self.replies.append(answered)
        return answered

    def _send(self, key: str, request: _Asked, send: Callable[[_Asked], Answered], priced: list[Answered]) -> Answered:
        self._crew.take()
        try:
            # An ask of many requests, such as a search, is left between two of them when this process has to go.
            if not self._crew.may_ask(self._run):
                raise NotNow
            answered = replace(send(request), key=key)
        except BaseException as failure:
            self._crew.leave()
            if isinstance(failure, CallFailed) and failure.may_be_paid:
                self._crew.writer.put(Unanswered(self._run.id, self._run.purse.max_cost(request)))
            if isinstance(failure, CallFailed) and not isinstance(failure, TryLater):
                self._run.refused(request.model, failure.detail)
            raise
        if answered.cost is None and answered.raw is not None and self._run.purse.budget is not None:
            # Nonsense says nothing of what it cost, and nothing of the endpoint's other replies.
            answered = replace(answered, cost=self._run.purse.max_cost(request))
        # It was paid: whatever becomes of the ask, from here on it is kept.
        self._memory.note(self._run.project_id, answered)
        self._crew.paid(self._run, answered)
        self._crew.pace.came()
        self._run.came(request.model)
        priced.append(answered)
        return answered


def _ask(todo: Todo, model: _AskedModel, pace: Pace) -> AskResult:
    """Asks, and never raises: what may not be the judge's fault becomes no failed score."""
    run = todo.run
    try:
        outcome = cast("OneByOne", run.scorer).ask(todo.item, model)
        return result_of(todo, outcome, model.replies)
    except StopRun as stop:
        run.stop(stop.code, stop.message)
        return AskResult(todo, End.UNASKED, replies=model.replies)
    except TryLater as later:
        return _once_more(todo, later, model, pace)
    except CallFailed as call:
        pace.came()
        return failed(todo, call.status, call.detail, model.replies)
    except (DatabaseError, NotNow) as error:
        if isinstance(error, DatabaseError):
            note_fault(error, "The database was away while a judge asked")
        return AskResult(todo, End.UNASKED, replies=model.replies)
    except Exception as error:  # noqa: BLE001 - a kind's fault is one failed score, not the end of a run
        note_fault(error, f"Judge version {run.version.pk} failed at {todo.taken.unit} of sample {todo.sample.pk}")
        return failed(todo, ScoreStatus.ERROR, f"The judge itself failed ({type(error).__name__}).", model.replies)


def _once_more(todo: Todo, later: TryLater, model: _AskedModel, pace: Pace) -> AskResult:
    """Tries count as long as nothing new comes; an ask of several requests that gets on begins to count anew."""
    got_on = any(not answered.is_kept for answered in model.replies)
    tries = 1 if got_on else todo.taken.tries + 1
    after = pace.failed(tries, later.seconds)
    if tries < MOST_TRIES:
        return AskResult(todo, End.AGAIN, detail=later.detail, replies=model.replies, tries=tries, after=after)
    if pace.is_doubtful:
        # No ask gets a reply; that isn't the fault of this one. It stays, and if the endpoint is away the run stops.
        return AskResult(todo, End.AGAIN, detail=later.detail, replies=model.replies, tries=MOST_TRIES - 1, after=after)
    return failed(todo, later.status, later.detail, model.replies)
