"""Writing what came, beside the threads that ask: replies at once, outcomes many at a time, each in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import Generic, TypeVar

from django.db import DataError, Error, IntegrityError, connection

from judges.models import ScoreStatus
from judges.runs.asking import AskResult, failed
from judges.runs.outcomes import note_fault
from judges.runs.storing import (
    Paid,
    Rows,
    Unanswered,
    note_dropped,
    note_unanswered,
    store_outcomes,
    store_replies,
)

_Each = TypeVar("_Each")

MOST_TOGETHER = 1_000


class Gathering(Generic[_Each]):
    """A thread that does with many at a time what came one by one.

    seconds: how long the first that comes waits for others; most: how many wait for no more. do: called in this thread,
    with a connection to the database of its own; it has to catch what it raises.
    """

    def __init__(
        self, name: str, seconds: float, do: Callable[[list[_Each]], None], *, most: int = MOST_TOGETHER
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._do = do
        self._came: SimpleQueue[_Each | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, each: _Each) -> None:
        self._came.put(each)

    def close(self) -> None:
        """Waits until everything is done."""
        self._came.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            goes_on = True
            while goes_on:
                goes_on = self._one_round()
        finally:
            connection.close()

    def _one_round(self) -> bool:
        """False: that was the last."""
        group: list[_Each] = []
        each = self._came.get()
        until = monotonic() + self._seconds
        while each is not None:
            group.append(each)
            left = until - monotonic()
            if left <= 0 or len(group) >= self._most:
                break
            try:
                each = self._came.get(timeout=left)
            except Empty:
                break
        if group:
            self._do(group)
        return each is not None


# A reply that came waits this long for others; until it is written, it has one of the crew's slots.
_REPLY_SECONDS = 0.002
# An outcome waits this long for others, since nothing waits for it: it can be worked out again from what is written.
_OUTCOME_SECONDS = 0.1
# At an endpoint that answers in no time hundreds would wait by then, and all of them be in hand when the process dies.
_MOST_OUTCOMES = 16
# When the database is away for longer than this, the work is done again later.
_PATIENCE_SECONDS = 60.0
_UNSTORABLE = (DataError, IntegrityError, ValueError, TypeError)


class Writer:
    """on_paid, on_written: called with what is no longer to be written, in the thread that wrote it. Without on_paid no
    replies come.

    is_lost: nothing more can be written, so what came is given up, and asked again later.
    """

    def __init__(
        self,
        on_written: Callable[[Sequence[AskResult]], None],
        on_paid: Callable[[Sequence[Paid]], None] | None = None,
        *,
        outcomes_wait: float = _OUTCOME_SECONDS,
        waits_for_disk: bool = True,
    ) -> None:
        self.is_lost = False
        self._on_written = on_written
        self._on_paid = on_paid
        self._waits_for_disk = waits_for_disk
        self._known: Rows = {}
        most = MOST_TOGETHER if on_paid is None else _MOST_OUTCOMES
        self._outcomes = Gathering[AskResult]("outcomes", outcomes_wait, self._write_outcomes, most=most)
        self._replies = (
            None
            if on_paid is None
            else Gathering[AskResult | Paid | Unanswered]("replies", _REPLY_SECONDS, self._write_paid)
        )

    def put(self, came: AskResult | Paid | Unanswered) -> None:
        """An outcome goes the way of the replies, so that those it rests on are written when its turn comes."""
        if self._replies is not None:
            self._replies.put(came)
        elif isinstance(came, AskResult):
            self._outcomes.put(came)

    def close(self) -> None:
        """Waits until everything is written."""
        if self._replies is not None:
            self._replies.close()
        self._outcomes.close()

    def _write_paid(self, came: list[AskResult | Paid | Unanswered]) -> None:
        paid = [each for each in came if isinstance(each, Paid)]
        self._write_caught(paid, [])
        self._write_caught([each for each in came if isinstance(each, Unanswered)], [])
        if self._on_paid is not None:
            self._on_paid(paid)
        for each in came:
            if isinstance(each, AskResult):
                self._outcomes.put(each)

    def _write_outcomes(self, group: list[AskResult]) -> None:
        self._write_caught([], group)
        self._on_written(group)

    def _write_caught(self, paid: Sequence[Paid | Unanswered], group: list[AskResult]) -> None:
        try:
            self._write(paid, group)
        except Exception as error:  # noqa: BLE001 - who waits for this thread would wait for ever
            self.is_lost = True
            note_fault(error, "Nothing of what judges say can be written any more")

    def _write(self, paid: Sequence[Paid | Unanswered], group: list[AskResult]) -> None:
        if self.is_lost or not (paid or group):
            return
        started = monotonic()
        while True:
            try:
                self._store(paid, group)
                return
            except _UNSTORABLE as error:
                if len(paid) + len(group) == 1:
                    self._write_without(error, paid, group)
                    return
                for each in paid:
                    self._write([each], [])
                for came in group:
                    self._write([], [came])
                return
            except Error as error:
                connection.close()
                if monotonic() - started > _PATIENCE_SECONDS:
                    self.is_lost = True
                    note_fault(error, "The database is away; what judges said is given up, and asked again later")
                    return
                sleep(0.5)

    def _store(self, paid: Sequence[Paid | Unanswered], group: Sequence[AskResult]) -> None:
        if replies := [each for each in paid if isinstance(each, Paid)]:
            self._known.update(store_replies(replies))
        if lost := [each for each in paid if isinstance(each, Unanswered)]:
            note_unanswered(lost)
        if group:
            keys = {(came.todo.run.project_id, answered.key) for came in group for answered in came.replies}
            known = {key: row for key in keys if (row := self._known.get(key)) is not None}
            store_outcomes(group, known, waits_for_disk=self._waits_for_disk)
            for key in keys:
                self._known.pop(key, None)

    def _write_without(self, error: Exception, paid: Sequence[Paid | Unanswered], group: list[AskResult]) -> None:
        """What can't be stored as it is: its outcome is a failure, and a reply isn't kept, though it was paid."""
        note_fault(error, "Something of what a judge said can't be stored")
        if lost := [
            Unanswered(each.run.id, each.answered.cost or Decimal(0)) for each in paid if isinstance(each, Paid)
        ]:
            note_unanswered(lost)
        for came in group:
            try:
                self._store([], [failed(came.todo, ScoreStatus.ERROR, "What the judge said can't be stored.")])
            except _UNSTORABLE as again:
                # Laid, it stays in hand, is freed as lost, and after a few times given up. Otherwise it is counted.
                note_fault(
                    again, f"What came of {came.todo.taken.unit} of sample {came.todo.sample.pk} can't be written"
                )
                if came.todo.taken.id is None:
                    note_dropped(came)
