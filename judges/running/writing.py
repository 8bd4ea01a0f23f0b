"""The thread that writes what came, beside those who ask: replies at once, outcomes many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import TypeVar

from django.db import DataError, Error, IntegrityError, connection

from judges.models import ScoreStatus
from judges.running.asking import Came, failed
from judges.running.faults import note_fault
from judges.running.storing import Paid, Rows, store

# A reply that came waits this long for others; until it is written, nothing more is asked in its place.
_REPLY_SECONDS = 0.004
# An outcome waits this long for others: it can be worked out again from what is written.
_OUTCOME_SECONDS = 0.03
_MOST_TOGETHER = 1_000
# A database that is away for longer than this has whoever comes next do the work again.
_PATIENCE_SECONDS = 60.0
_UNSTORABLE = (DataError, IntegrityError, ValueError, TypeError)

_Each = TypeVar("_Each", Paid, Came)


class Writer:
    """With a connection of its own. on_paid, on_written: called with what is no longer to be written, in its thread.

    is_lost: nothing more can be written, so what came is given up; whoever comes next asks again.
    """

    def __init__(
        self,
        on_written: Callable[[Sequence[Came]], None],
        on_paid: Callable[[Sequence[Paid]], None] | None = None,
        *,
        waits_for_disk: bool = True,
    ) -> None:
        self.is_lost = False
        self._on_written = on_written
        self._on_paid = on_paid
        self._waits_for_disk = waits_for_disk
        self._came: SimpleQueue[Came | Paid | None] = SimpleQueue()
        self._known: Rows = {}
        self._thread = Thread(target=self._work, name="writing", daemon=True)
        self._thread.start()

    def put(self, came: Came | Paid) -> None:
        self._came.put(came)

    def close(self) -> None:
        """Waits until everything is written."""
        self._came.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            while self._one_round():
                pass
        finally:
            connection.close()

    def _one_round(self) -> bool:
        """Waits for something, gathers what comes shortly after, writes it. False: that was the last."""
        paid: list[Paid] = []
        group: list[Came] = []
        first = self._came.get()
        until = monotonic() + (_REPLY_SECONDS if isinstance(first, Paid) else _OUTCOME_SECONDS)
        each: Came | Paid | None = first
        while each is not None:
            if isinstance(each, Paid):
                paid.append(each)
                until = min(until, monotonic() + _REPLY_SECONDS)
            else:
                group.append(each)
            if len(group) >= _MOST_TOGETHER:
                break
            try:
                each = self._came.get(timeout=max(0.0, until - monotonic()))
            except Empty:
                break
        try:
            self._write(paid, group)
        except Exception as error:  # noqa: BLE001 - whoever waits for this thread would wait for ever
            self.is_lost = True
            note_fault(error, "Nothing of what judges say can be written any more")
        if self._on_paid is not None:
            self._on_paid(paid)
        self._on_written(group)
        return each is not None

    def _write(self, paid: list[Paid], group: list[Came]) -> None:
        if self.is_lost or not (paid or group):
            return
        started = monotonic()
        while True:
            try:
                self._store(paid, group)
                return
            except _UNSTORABLE as error:
                if len(paid) + len(group) == 1:
                    self._write_without(error, group)
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

    def _store(self, paid: Sequence[Paid], group: Sequence[Came]) -> None:
        self._known.update(store(paid, group, self._known, waits_for_disk=self._waits_for_disk))
        for came in group:
            for answered in came.replies:
                self._known.pop((came.todo.run.project_id, answered.key), None)

    def _write_without(self, error: Exception, group: list[Came]) -> None:
        """What can't be stored as it is: its outcome is a failure, and a reply isn't kept."""
        note_fault(error, "Something of what a judge said can't be stored")
        for came in group:
            try:
                self._store([], [failed(came.todo, ScoreStatus.ERROR, "What the judge said can't be stored.")])
            except _UNSTORABLE as again:
                # It stays in hand; it is freed as lost, and after a few times given up.
                note_fault(again, f"Ask {came.todo.taken.id} can't be written")
