"""Working at a run of a judge that asks nobody: many units at a time, on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Condition
from typing import cast

from django.db import Error as DatabaseError

from judges.endpoints.calls import StopRun
from judges.kinds.base import Outcome, Together
from judges.models import Run, RunState, ScoreStatus
from judges.running import queue
from judges.running.asking import Came, End, Todo, came_of, failed
from judges.running.faults import note_fault
from judges.running.opened import OpenRun
from judges.running.samples import load
from judges.running.stretches import Stretches
from judges.running.writing import Writer

# A batch takes about this long, whatever the judge: pause and progress are as prompt as that.
_BATCH_SECONDS = 0.5
_FIRST, _MOST = 64, 1_000
# A batch comes to be written in one go.
_TOGETHER_SECONDS = 0.01


def died_with_it(todo: Todo) -> Came:
    return failed(todo, ScoreStatus.ERROR, f"The worker died with it {todo.taken.lost} times.")


class TogetherWork:
    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._in_hand = 0
        self._written_some = Condition()
        self._writer = Writer(self._written, outcomes_wait=_TOGETHER_SECONDS, waits_for_disk=False)
        self._batch = _FIRST
        self._stretches = Stretches(run)
        # Ours, and not begun.
        self._ready: list[Todo] = []
        # What waits was there before: nobody else has any of this run's meanwhile.
        self._waits = True

    def work(self, has_to_leave: Callable[[], bool]) -> None:
        """Until nothing is left, the run is not to go on, or somebody else needs this process more."""
        try:
            while not has_to_leave() and self._goes_on():
                if batch := self._next_batch(has_to_leave):
                    self._do(batch)
                elif has_to_leave() or not self._do_suspect():
                    break
                self._wait_until_at_most(_MOST)
            self._write([Came(todo, End.UNASKED) for todo in self._ready])
        finally:
            self._writer.close()
        if not self._writer.is_lost:
            self._stretches.close()

    def _next_batch(self, has_to_leave: Callable[[], bool]) -> list[Todo]:
        """What waits, then what is not laid yet."""
        room = self._batch - len(self._ready)
        if self._waits and room > 0:
            taken = queue.take(self._run.id, room)
            self._waits = len(taken) == room
            self._ready += load(self._run, taken)
        while len(self._ready) < self._batch and not self._stretches.is_over and not has_to_leave():
            self._ready += self._stretches.next(self._batch)
        batch, self._ready = self._ready[: self._batch], self._ready[self._batch :]
        return batch

    def _goes_on(self) -> bool:
        if self._writer.is_lost or self._run.stopped:
            return False
        return Run.objects.filter(pk=self._run.id, state=RunState.RUNNING).exists()

    def _do(self, todos: Sequence[Todo]) -> None:
        began = time.monotonic()
        came = self._scored(todos)
        seconds = max(time.monotonic() - began, 1e-6)
        self._batch = int(min(max(len(todos) * _BATCH_SECONDS / seconds, 1), self._batch * 4, _MOST))
        self._write(came)

    def _do_suspect(self) -> bool:
        """One of those that may be what killed the worker, with nothing else in hand. Whether there was one."""
        self._wait_until_at_most(0)
        taken = queue.take_suspect(self._run.id)
        if taken is None:
            return False
        (todo,) = load(self._run, [taken])
        self._write([died_with_it(todo)] if taken.lost >= queue.DEADLY else self._scored([todo]))
        self._wait_until_at_most(0)
        return True

    def _scored(self, todos: Sequence[Todo]) -> list[Came]:
        try:
            outcomes = self._outcomes(todos)
        except StopRun as stop:
            self._run.stop(stop.code, stop.message)
            return [Came(todo, End.UNASKED) for todo in todos]
        except DatabaseError:
            raise
        except Exception as error:  # noqa: BLE001 - a kind's fault is one failed score, not the end of a run
            if len(todos) > 1:
                return [came for todo in todos for came in self._scored([todo])]
            (todo,) = todos
            note_fault(error, f"Judge version {self._run.version.pk} failed at {todo.taken.unit}")
            return [failed(todo, ScoreStatus.ERROR, f"The judge itself failed ({type(error).__name__}).")]
        return [came_of(todo, outcome, []) for todo, outcome in zip(todos, outcomes, strict=True)]

    def _outcomes(self, todos: Sequence[Todo]) -> Sequence[Outcome]:
        items = [todo.item for todo in todos]
        outcomes = cast("Together", self._run.scorer).score(items)
        if len(outcomes) != len(items):
            raise ValueError(f"{len(outcomes)} outcomes of {len(items)} items")
        return outcomes

    def _write(self, came: list[Came]) -> None:
        # Of what was not asked and isn't laid there is nothing to write.
        came = [each for each in came if each.end is not End.UNASKED or each.todo.taken.id is not None]
        with self._written_some:
            self._in_hand += len(came)
        for each in came:
            self._writer.put(each)

    def _written(self, group: Sequence[Came]) -> None:
        if not self._writer.is_lost:
            self._stretches.written(group)
        with self._written_some:
            self._in_hand -= len(group)
            self._written_some.notify_all()

    def _wait_until_at_most(self, count: int) -> None:
        with self._written_some:
            while self._in_hand > count and not self._writer.is_lost:
                self._written_some.wait(0.5)
