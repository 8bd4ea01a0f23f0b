"""A thread that does with many at a time what came one by one."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Generic, TypeVar

from django.db import connection

_Each = TypeVar("_Each")

MOST_TOGETHER = 1_000


class Gathering(Generic[_Each]):
    """seconds: how long the first that comes waits for others. do: called in this thread, with a connection to the
    database of its own; it has to catch whatever it raises."""

    def __init__(self, name: str, seconds: float, do: Callable[[list[_Each]], None]) -> None:
        self._seconds = seconds
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
            if left <= 0 or len(group) >= MOST_TOGETHER:
                break
            try:
                each = self._came.get(timeout=left)
            except Empty:
                break
        if group:
            self._do(group)
        return each is not None
