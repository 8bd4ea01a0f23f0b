"""Working at a run of a judge that asks no model: many units at a time, on this machine.

Such a judge does thousands of units a second, and its asks would take longer to lay, to take and to mark as done than
to do. So it works at stretches of samples before their asks are laid: the run notes up to which sample it is worked at,
and every ask is written once, as done, with its scores. When the process dies, the next one lays what was in hand as
asks that wait, and with which a process has died.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Condition, Lock
from typing import cast

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Greatest

from annotate.models import Sample
from judges.endpoints.calls import StopRun
from judges.kinds.base import Outcome, Together
from judges.models import Ask, Run, RunState, ScoreStatus
from judges.runs.asking import AskResult, End, Todo, failed, result_of
from judges.runs.laying import CHUNK, insert, load, locked_run, samples_in
from judges.runs.open_run import OpenRun, why_stopped
from judges.runs.outcomes import note_fault
from judges.runs.purposes import purpose_of
from judges.runs.queue import DEADLY, Taken, take, take_suspect
from judges.runs.writer import Writer

# How many asks samples bring is not known before the first.
_FIRST_SAMPLES = 16


def lay_lost(run_id: int) -> None:
    """Lays what a process that is gone had in hand. Only for the holder of the lock of the run's place."""
    with transaction.atomic():
        run = locked_run(run_id)
        # Of one that was cancelled or paused meanwhile nothing is laid; if it goes on, it is when it does.
        if run.in_hand_to is None or run.state != RunState.RUNNING:
            return
        project = run.version.judge.project
        samples = samples_in(project, run.scope).filter(id__gt=run.laid_to, id__lte=run.in_hand_to)
        insert(run, purpose_of(run).to_ask(list(samples)), lost=1)
        run.planned = run.asks.count()
        run.laid_to, run.in_hand_to = run.in_hand_to, None
        run.save(update_fields=["planned", "laid_to", "in_hand_to"])


class Stretches:
    """Of one run, for the one process that works at it; what is written is told by another thread."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._samples = _FIRST_SAMPLES
        self._in_hand_to: int | None = None
        # Whether nothing comes any more; and whether that is because there is nothing.
        self.is_over = self._is_all = False
        self._lock = Lock()
        # Sample -> how many of its asks are not written yet, in the order of the samples.
        self._left: dict[int, int] = {}
        self._laid_to = 0
        self._written = self._counted = 0

    def next(self, count: int) -> list[Todo]:
        """About `count` asks, which are in hand from now on.

        Empty when the next samples have all their scores, or when it is over: there are no more, the run is not to go
        on, or another process has taken it over.
        """
        with transaction.atomic():
            run = locked_run(self._run.id)
            if run.is_laid or run.state != RunState.RUNNING or run.in_hand_to != self._in_hand_to:
                self.is_over = True
                return []
            most = max(1, min(self._samples, CHUNK // run.repeats))
            after = run.laid_to if run.in_hand_to is None else run.in_hand_to
            samples = list(samples_in(self._run.project, run.scope).filter(id__gt=after)[:most])
            self.is_over = self._is_all = len(samples) < most
            if not samples:
                return []
            self._note(run, samples[-1].pk)
        self._in_hand_to = run.in_hand_to
        return self._todos(samples, count)

    def written(self, group: Sequence[AskResult]) -> None:
        """What came of these is there to stay."""
        with self._lock:
            for came in group:
                if came.todo.taken.id is None:
                    self._left[came.todo.taken.sample] -= 1
                    self._written += 1
            self._get_on()

    def _get_on(self) -> None:
        """Past every sample of which nothing is left, up to the first of which something is."""
        while self._left and not next(iter(self._left.values())):
            self._laid_to = next(iter(self._left))
            del self._left[self._laid_to]

    def close(self) -> None:
        """Nothing is in hand any more: what isn't written has not been begun."""
        if self._in_hand_to is None and not self._is_all:
            return
        is_laid = self._is_all and not self._left
        Run.objects.filter(pk=self._run.id, in_hand_to=self._in_hand_to).update(
            planned=Ask.objects.filter(run_id=self._run.id).count(),
            laid_to=Greatest("laid_to", Value(self._laid_to)),
            in_hand_to=None,
            is_laid=is_laid,
        )

    def _note(self, run: Run, in_hand_to: int) -> None:
        with self._lock:
            run.laid_to = max(run.laid_to, self._laid_to)
            run.planned += self._written - self._counted
            self._counted = self._written
        run.in_hand_to = in_hand_to
        run.save(update_fields=["planned", "laid_to", "in_hand_to"])

    def _todos(self, samples: list[Sample], count: int) -> list[Todo]:
        for sample in samples:
            sample.project = self._run.project
        by_key = {sample.pk: sample for sample in samples}
        asks = self._run.purpose.to_ask(samples)
        asked = Counter(sample for sample, _unit, _repeat in asks)
        with self._lock:
            self._left.update((sample.pk, asked[sample.pk]) for sample in samples)
            self._get_on()
        enough = len(samples) * count // max(1, len(asks))
        self._samples = min(max(1, enough), 4 * self._samples, CHUNK)
        return [
            Todo(Taken(None, self._run.id, sample, unit, repeat, fence=0, tries=0, lost=0), self._run, by_key[sample])
            for sample, unit, repeat in asks
        ]


# A batch takes about this long, whatever the judge: pause and progress are as prompt as that.
_BATCH_SECONDS = 0.5
_FIRST, _MOST = 64, 1_000
# A batch comes to be written in one go.
_TOGETHER_SECONDS = 0.01


def given_up(todo: Todo) -> AskResult:
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
        # What waits was there before: no other process has any of this run's meanwhile.
        self._waits = True

    def work(self, has_to_leave: Callable[[], bool]) -> None:
        """Until nothing is left, the run is not to go on, or others need this process more."""
        try:
            while not has_to_leave() and self._goes_on():
                if batch := self._next_batch(has_to_leave):
                    self._do(batch)
                elif has_to_leave() or not self._do_suspect():
                    break
                self._wait_until_at_most(_MOST)
            self._write([AskResult(todo, End.UNASKED) for todo in self._ready])
        finally:
            self._writer.close()
        if not self._writer.is_lost:
            self._stretches.close()

    def _next_batch(self, has_to_leave: Callable[[], bool]) -> list[Todo]:
        """What waits, then what is not laid yet."""
        room = self._batch - len(self._ready)
        if self._waits and room > 0:
            taken = take(self._run.id, room)
            self._waits = len(taken) == room
            self._ready += load(self._run, taken)
        while len(self._ready) < self._batch and not self._stretches.is_over and not has_to_leave():
            try:
                self._ready += self._stretches.next(self._batch)
            except Exception as error:  # noqa: BLE001 - it stops the run, which would begin here again and again
                self._run.stop(*why_stopped(error, self._run.version))
                return []
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
        taken = take_suspect(self._run.id)
        if taken is None:
            return False
        (todo,) = load(self._run, [taken])
        self._write([given_up(todo)] if taken.lost >= DEADLY else self._scored([todo]))
        self._wait_until_at_most(0)
        return True

    def _scored(self, todos: Sequence[Todo]) -> list[AskResult]:
        try:
            outcomes = self._outcomes(todos)
            return [result_of(todo, outcome, []) for todo, outcome in zip(todos, outcomes, strict=True)]
        except StopRun as stop:
            self._run.stop(stop.code, stop.message)
            return [AskResult(todo, End.UNASKED) for todo in todos]
        except DatabaseError:
            raise
        except Exception as error:  # noqa: BLE001 - a kind's fault is one failed score, not the end of a run
            if len(todos) > 1:
                return [came for todo in todos for came in self._scored([todo])]
            (todo,) = todos
            note_fault(error, f"Judge version {self._run.version.pk} failed at {todo.taken.unit}")
            return [failed(todo, ScoreStatus.ERROR, f"The judge itself failed ({type(error).__name__}).")]

    def _outcomes(self, todos: Sequence[Todo]) -> Sequence[Outcome]:
        items = [todo.item for todo in todos]
        outcomes = cast("Together", self._run.scorer).score(items)
        if len(outcomes) != len(items):
            raise ValueError(f"{len(outcomes)} outcomes of {len(items)} items")
        return outcomes

    def _write(self, came: list[AskResult]) -> None:
        # Of what was not asked and isn't laid there is nothing to write.
        came = [each for each in came if each.end is not End.UNASKED or each.todo.taken.id is not None]
        with self._written_some:
            self._in_hand += len(came)
        for each in came:
            self._writer.put(each)

    def _written(self, group: Sequence[AskResult]) -> None:
        if not self._writer.is_lost:
            self._stretches.written(group)
        with self._written_some:
            self._in_hand -= len(group)
            self._written_some.notify_all()

    def _wait_until_at_most(self, count: int) -> None:
        with self._written_some:
            while self._in_hand > count and not self._writer.is_lost:
                self._written_some.wait(0.5)
