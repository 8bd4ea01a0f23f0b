"""The threads that ask: more of them than requests may be under way, so that some prepare and read meanwhile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Lock, Thread

from django.db import connections

from judges.endpoints.calls import Answered, Model
from judges.runs.asking import AskedModel, Came, End, Pace, Todo, ask
from judges.runs.kept_replies import Memory
from judges.runs.open_run import NotNow, OpenRun
from judges.runs.outcomes import note_fault
from judges.runs.storing import Paid
from judges.runs.writer import Writer

_PER_REQUEST = 1.5
# While replies are written others are asked, as long as those are no more than this part of what may be under way.
_WRITTEN_SHARE = 8


class Crew:
    """in_hand: how many asks were given and are not yet written. queued: of these, those that no thread has taken up.
    stirred: set when few are queued, and when nothing of a run is in hand any more.

    requests: how many may be under way.
    """

    def __init__(self, model: Model, base_url: str, requests: int, pace: Pace) -> None:
        self.size = math.ceil(requests * _PER_REQUEST)
        self.stirred = Event()
        self.memory = Memory()
        self.writer = Writer(self._written, self._paid)
        self._slots = BoundedSemaphore(requests + requests // _WRITTEN_SHARE)
        self._model = model
        self._base_url = base_url
        self._pace = pace
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

    def write(self, came: Came) -> None:
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
                self.writer.put(Came(todo, End.UNASKED))
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
                self.writer.put(self._came_of(todo))
        finally:
            connections.close_all()  # a kind may have looked something up

    def _came_of(self, todo: Todo) -> Came:
        if self._is_halted or not todo.run.is_open:
            return Came(todo, End.UNASKED)
        model = AskedModel(todo, self._model, self._base_url, self.memory, self._pace, self)
        try:
            return ask(todo, model, self._pace)
        except Exception as error:  # noqa: BLE001 - a thread that ends would take its ask along
            note_fault(error, f"Asking failed at ask {todo.taken.id}")
            return Came(todo, End.UNASKED, replies=model.replies)

    # Slots of judges.runs.asking: a request takes one, and it is left when the reply is written.

    def take(self) -> None:
        self._slots.acquire()
        if self.writer.is_lost:  # what came now would be paid and not kept
            self._slots.release()
            raise NotNow

    def leave(self) -> None:
        self._slots.release()

    def paid(self, run: OpenRun, answered: Answered) -> None:
        self.writer.put(Paid(run, answered))

    def _paid(self, paid: Sequence[Paid]) -> None:
        for each in paid:
            self.memory.written(each.run.project_id, each.answered.key)
            self.leave()

    def _written(self, group: Sequence[Came]) -> None:
        with self._lock:
            self._count([came.todo for came in group], -1)
        if any(not came.todo.run.in_hand for came in group):
            self.stirred.set()

    def _count(self, todos: Sequence[Todo], by: int) -> None:
        for todo in todos:
            self._in_hand += by
            todo.run.in_hand += by
