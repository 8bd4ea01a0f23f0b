"""Replies that are kept: found by their question, so that an unchanged one isn't paid twice."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Condition, Lock
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from judges.endpoints.calls import Answered


@dataclass(slots=True, eq=False)
class _Wish:
    """Of one thread: a reply by its question, or why it could not be looked up."""

    project: int
    key: str
    row: Sequence[Any] | None = None
    error: Exception | None = None
    is_done: bool = False


class Memory:
    """For all threads of a process: one connection of its own for looking up, and what came but isn't written yet."""

    def __init__(self) -> None:
        self._connection = connections[DEFAULT_DB_ALIAS].copy()
        self._connection.inc_thread_sharing()
        self._lock = Lock()
        self._wishes: deque[_Wish] = deque()
        self._recent: dict[tuple[int, str], Answered] = {}
        self._asked: set[tuple[int, str]] = set()
        self._answered = Condition()

    @contextmanager
    def only_one(self, project: int, key: str) -> Iterator[None]:
        """Of those who have the same question at the same time one asks; the others wait, and find the reply."""
        with self._answered:
            self._answered.wait_for(lambda: (project, key) not in self._asked)
            self._asked.add((project, key))
        try:
            yield
        finally:
            with self._answered:
                self._asked.discard((project, key))
                self._answered.notify_all()

    def find(self, project: int, key: str) -> Answered | None:
        """Raises what the database raises.

        Of those who look at the same time one looks for all, or they would stand in a row.
        """
        recent = self._recent.get((project, key))
        if recent is not None:
            return replace(recent, is_kept=True)
        wish = _Wish(project, key)
        self._wishes.append(wish)
        with self._lock:
            if not wish.is_done:
                self._look_up()
        if wish.error is not None:
            raise wish.error
        return None if wish.row is None else _answered(key, wish.row)

    def _look_up(self) -> None:
        """For every thread that has a wish by now."""
        wishes = [self._wishes.popleft() for _ in range(len(self._wishes))]
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(
                    "SELECT project_id, key, body, model, tokens_in, tokens_out, latency FROM judges_reply"
                    " JOIN unnest(%s::bigint[], %s::text[]) AS t (project, key) USING (key) WHERE project_id = project",
                    [[wish.project for wish in wishes], [wish.key for wish in wishes]],
                )
                found = {(project, key): row for project, key, *row in cursor.fetchall()}
        except Exception as error:  # noqa: BLE001 - the threads that wait have to know
            self._connection.close()  # it may be gone; the next one to look has a new one
            for wish in wishes:
                wish.error = error
        else:
            for wish in wishes:
                wish.row = found.get((wish.project, wish.key))
        for wish in wishes:
            wish.is_done = True

    def note(self, project: int, answered: Answered) -> None:
        self._recent[project, answered.key] = answered

    def written(self, project: int, key: str) -> None:
        self._recent.pop((project, key), None)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def salted(key: str, run_id: int) -> str:
    """Under which a fresh run keeps its replies: it finds its own again, and none from earlier."""
    return hashlib.sha256(f"{key} of run {run_id}".encode()).hexdigest()


def _answered(key: str, row: Sequence[Any]) -> Answered:
    body, model, tokens_in, tokens_out, latency = row
    body = json.loads(body) if isinstance(body, str) else body
    return Answered(
        key=key,
        text=body.get("text"),
        refusal=body.get("refusal"),
        finish_reason=body.get("finish_reason"),
        vectors=body.get("vectors"),
        model=model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        latency=latency,
        is_kept=True,
        raw=body.get("raw"),
    )
