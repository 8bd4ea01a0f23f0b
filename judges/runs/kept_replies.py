"""Replies that are kept: found by their question, so that an unchanged one isn't paid twice."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Condition, Lock
from time import sleep
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db import Error as DatabaseError

from judges.endpoints.calls import Answered
from judges.runs.open_run import NotNow
from judges.runs.places import QUESTION

# A project and the key of a reply.
_Question = tuple[int, str]

# Between two looks whether another process has got the reply: twice as long each time, up to the second one.
_FIRST_PAUSE_SECONDS = 0.01
_LONGEST_PAUSE_SECONDS = 0.2


@dataclass(slots=True, eq=False)
class _Wish:
    """Of one thread: a reply by its question, or why it could not be looked up. is_elsewhere: another process is asking
    it just now."""

    project: int
    key: str
    row: Sequence[Any] | None = None
    error: Exception | None = None
    is_elsewhere: bool = False
    is_done: bool = False

    @property
    def question(self) -> _Question:
        return self.project, self.key


class Memory:
    """For all threads of a process: one connection of its own for looking up, and what came but isn't written yet.

    has_twin: the endpoint's base URL is also another endpoint's of the project, where another process may have the same
    questions at the same time. So each question that is asked is locked in the session of that connection until its
    reply is written; the lock ends with the process however that ends.
    """

    def __init__(self, *, has_twin: bool = False) -> None:
        self._has_twin = has_twin
        self._connection = connections[DEFAULT_DB_ALIAS].copy()
        self._connection.inc_thread_sharing()
        self._lock = Lock()
        self._wishes: deque[_Wish] = deque()
        self._recent: dict[_Question, Answered] = {}
        self._asked: set[_Question] = set()
        self._answered = Condition()
        self._locked: set[_Question] = set()

    @contextmanager
    def only_one(self, project: int, key: str) -> Iterator[None]:
        """Of those who have the same question at the same time one asks; the others wait, and find the reply."""
        question = project, key
        with self._answered:
            self._answered.wait_for(lambda: question not in self._asked)
            self._asked.add(question)
        try:
            yield
        finally:
            if question in self._locked and question not in self._recent:  # what came is unlocked when it is written
                self._unlock([question])
            with self._answered:
                self._asked.discard(question)
                self._answered.notify_all()

    def find(self, project: int, key: str, may_wait: Callable[[], bool]) -> Answered | None:
        """None: it is this thread's to ask, within `only_one`. While another process asks it, waits for its reply as
        long as `may_wait` says so, then raises NotNow. Raises what the database raises.

        Of those who look at the same time one looks for all, or they would stand in a row.
        """
        pause = _FIRST_PAUSE_SECONDS
        while True:
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
            if wish.row is not None:
                return _answered(key, wish.row)
            if not wish.is_elsewhere:
                return None
            if not may_wait():
                raise NotNow
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _look_up(self) -> None:
        """For every thread that has a wish by now."""
        wishes = [self._wishes.popleft() for _ in range(len(self._wishes))]
        try:
            found = self._rows([wish.question for wish in wishes])
            if self._has_twin and (missing := [wish.question for wish in wishes if wish.question not in found]):
                self._try_to_lock(missing)
                # Before it was unlocked elsewhere its reply was written.
                found.update(self._rows([question for question in missing if question in self._locked]))
        except Exception as error:  # noqa: BLE001 - the threads that wait have to know
            self._disconnect()
            for wish in wishes:
                wish.error = error
        else:
            for wish in wishes:
                wish.row = found.get(wish.question)
                wish.is_elsewhere = self._has_twin and wish.question not in self._locked
        for wish in wishes:
            wish.is_done = True

    def _rows(self, questions: Sequence[_Question]) -> dict[_Question, Sequence[Any]]:
        if not questions:
            return {}
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT project_id, key, body, model, tokens_in, tokens_out, latency FROM judges_reply"
                " JOIN unnest(%s::bigint[], %s::text[]) AS t (project, key) USING (key) WHERE project_id = project",
                _columns(questions),
            )
            return {(project, key): row for project, key, *row in cursor.fetchall()}

    def _try_to_lock(self, questions: Sequence[_Question]) -> None:
        """Never waits: the connection is for all threads."""
        free = sorted(set(questions) - self._locked)
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT project, key, pg_try_advisory_lock(%s::int, hashtext(project || ' ' || key))"
                " FROM unnest(%s::bigint[], %s::text[]) AS t (project, key)",
                [QUESTION, *_columns(free)],
            )
            self._locked.update((project, key) for project, key, is_ours in cursor.fetchall() if is_ours)

    def _unlock(self, questions: Sequence[_Question]) -> None:
        with self._lock:
            ours = sorted(self._locked.intersection(questions))
            if not ours:
                return
            self._locked.difference_update(ours)
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute(
                        "SELECT pg_advisory_unlock(%s::int, hashtext(project || ' ' || key))"
                        " FROM unnest(%s::bigint[], %s::text[]) AS t (project, key)",
                        [QUESTION, *_columns(ours)],
                    )
            except DatabaseError:
                self._disconnect()

    def _disconnect(self) -> None:
        """The connection may be gone; the next one to look has a new one. Its locks are gone with its session."""
        self._connection.close()
        self._locked.clear()

    def note(self, project: int, answered: Answered) -> None:
        self._recent[project, answered.key] = answered

    def written(self, questions: Sequence[_Question]) -> None:
        if self._has_twin:
            self._unlock(questions)  # first: of what is no longer recent here no lock is held any more
        for question in questions:
            self._recent.pop(question, None)

    def close(self) -> None:
        with self._lock:
            self._disconnect()


def salted(key: str, run_id: int) -> str:
    """Under which a fresh run keeps its replies: it finds its own again, and none from earlier."""
    return hashlib.sha256(f"{key} of run {run_id}".encode()).hexdigest()


def _columns(questions: Sequence[_Question]) -> list[list[Any]]:
    return [[project for project, _ in questions], [key for _, key in questions]]


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
        logprobs=body.get("logprobs"),
    )
