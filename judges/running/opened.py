"""A run as the process that works at it has it open."""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack
from threading import Lock

from django.db import Error as DatabaseError
from django.utils.translation import gettext as _

from annotate.core.errors import Refusal
from judges.endpoints.calls import StopRun
from judges.kinds.base import OneByOne, Together
from judges.models import JudgeKind, Run
from judges.running.faults import note_fault
from judges.running.outcomes import Gate
from judges.running.purposes import Purpose, purpose_of
from judges.running.purse import Purse
from judges.running.stopping import stop_run

_RATE_SECONDS = 60.0
_TELL_SECONDS = 0.5
# So many requests in a row refused in the same words, and not one reply: so would the others be.
MANY_REFUSED = 50


class OpenRun:
    """What all threads need of a run.

    is_open: whether anything new may go out. stopped: (code, message) once something said that it has to stop; the
    first counts. in_hand: how many of its asks the crew has.
    """

    def __init__(self, run: Run, purpose: Purpose, scorer: Together | OneByOne) -> None:
        self.id = run.pk
        self.version = run.version
        self.purpose = purpose
        self.scorer = scorer
        self.project = run.version.judge.project
        self.project_id = self.project.pk
        self.is_fresh = run.is_fresh
        # A rubric's share, or a number from 0 to 100, is held against the criterion as any other metric is.
        is_on_scale = run.version.judge.kind == JudgeKind.LLM and run.version.config["answer_with"] == "options"
        self.gate = Gate(self.project, is_on_scale=is_on_scale)
        self.purse = Purse(run.budget, run.cost, run.version.endpoint)
        self.is_open = True
        self.in_hand = 0
        self.stopped: tuple[str, str] | None = None
        self._lock = Lock()
        self._opened = time.monotonic()
        self._done: deque[tuple[float, int]] = deque()
        self._told = -_TELL_SECONDS
        self._refused: dict[str, tuple[str, int]] = {}

    def stop(self, code: str, message: str) -> None:
        with self._lock:
            if self.stopped is None:
                self.stopped = (code, message)
        self.close()

    def came(self, model: str) -> None:
        """A reply of that model came."""
        with self._lock:
            self._refused.pop(model, None)

    def refused(self, model: str, detail: str) -> None:
        """A request brought no reply, and trying again would bring none: an endpoint that knows no such model says so a
        hundred thousand times. By model, since a judge that asks two may get on with one of them."""
        with self._lock:
            before, row = self._refused.get(model, ("", 0))
            row = row + 1 if detail == before else 1
            self._refused[model] = (detail, row)
        if row >= MANY_REFUSED:
            self.stop(
                "refused",
                _("%(n)s requests in a row brought no reply: %(detail)s") % {"n": MANY_REFUSED, "detail": detail},
            )

    def close(self) -> None:
        self.is_open = False
        self.purse.close()

    def rate(self, count: int) -> float | None:
        """Asks per second over the last minute, with those that have just become done. None when it was told a moment
        ago: who writes it waits for whoever else changes the run."""
        now = time.monotonic()
        self._done.append((now, count))
        while self._done[0][0] < now - _RATE_SECONDS:
            self._done.popleft()
        if now < self._told + _TELL_SECONDS:
            return None
        self._told = now
        return sum(each for _, each in self._done) / max(min(_RATE_SECONDS, now - self._opened), 0.001)


def open_run(run: Run, stack: ExitStack) -> OpenRun | None:
    """The run with its scorer open until the stack closes. None when it can't be: then it has been stopped."""
    try:
        purpose = purpose_of(run)
        return OpenRun(run, purpose, stack.enter_context(purpose.open()))
    except StopRun as stop:
        stop_run(run.pk, stop.code, stop.message)
    except Refusal as refusal:
        stop_run(run.pk, refusal.code, refusal.message)
    except DatabaseError:
        raise
    except Exception as error:  # noqa: BLE001 - a judge that can't be opened stops its run, and no other one
        note_fault(error, f"Judge version {run.version.pk} can't be opened")
        stop_run(run.pk, "judge_failed", _("The judge can't be started; the log says more."))
    return None
