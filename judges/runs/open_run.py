"""A run as the process that works at it has it open: its limits, its money, and when it stops by itself."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from threading import Condition, Lock

from django.db import Error as DatabaseError
from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Refusal
from annotate.core.trail import note
from judges.endpoints.calls import Answered, CallFailed, ChatRequest, EmbedRequest, StopRun
from judges.kinds.base import OneByOne, Together
from judges.models import Endpoint, JudgeKind, JudgeVersion, Run, RunState
from judges.runs.outcomes import Gate, note_fault
from judges.runs.purposes import Purpose, purpose_of
from judges.versions.identity import check_code

# Of English about four characters are a token, of Chinese one or two: a reservation is rather too large.
_CHARACTERS_PER_TOKEN = 2
# When a request doesn't bound its reply.
_USUAL_REPLY = 4_096
_MILLION = Decimal(1_000_000)


class NotNow(Exception):
    """The run has been paused or stopped meanwhile: nothing of it goes out."""


class Purse:
    """Of one run in one process; all threads share it. Without a budget everything may go out.

    Each call is reserved at what it may cost at most before it is made. When there is no room beside those under way,
    it waits for what they really cost; when nothing is under way and there is some money left, one call may go out.
    Calls that are dearer than their requests said can overshoot the budget, by what is under way at the most. One that
    brought no reply and may have been paid counts as what was reserved for it.
    """

    def __init__(self, budget: Decimal | None, spent: Decimal, endpoint: Endpoint | None) -> None:
        self.budget = budget
        self._spent = spent
        self._reserved: dict[int, Decimal] = {}
        self._changed = Condition()
        self._is_open = True
        self._number = 0
        self._price_in = (endpoint and endpoint.price_in) or Decimal(0)
        self._price_out = (endpoint and endpoint.price_out) or Decimal(0)

    @contextmanager
    def reserved(self, request: ChatRequest | EmbedRequest) -> Iterator[list[Answered]]:
        """Around a call; what it brought is put into the list. Raises StopRun when there is no money for it,
        NotNow when the run was stopped while it waited."""
        if self.budget is None:
            yield []
            return
        number = self._reserve(self.max_cost(request))
        came: list[Answered] = []
        is_lost = False
        try:
            yield came
        except CallFailed as failure:
            is_lost = failure.may_be_paid
            raise
        finally:
            self._settle(number, came, is_lost=is_lost)
        if any(answered.cost is None for answered in came):
            raise StopRun("unpriced", _("The endpoint doesn’t report token counts, so a budget can’t be kept."))

    def close(self) -> None:
        """No thread waits any more: the run is not to go on."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def max_cost(self, request: ChatRequest | EmbedRequest) -> Decimal:
        """What it may cost at most."""
        if isinstance(request, ChatRequest):
            characters = sum(len(message["content"]) for message in request.messages)
            out = request.max_tokens or _USUAL_REPLY
        else:
            characters, out = sum(len(text) for text in request.texts), 0
        tokens = characters // _CHARACTERS_PER_TOKEN + 1
        return (self._price_in * tokens + self._price_out * out) / _MILLION

    def _reserve(self, cost: Decimal) -> int:
        assert self.budget is not None
        with self._changed:
            while self._is_open and self._reserved and self._spent + self._under_way() + cost > self.budget:
                self._changed.wait()
            if not self._is_open:
                raise NotNow
            if self._spent >= self.budget:
                raise StopRun("budget", _("The budget of this run is spent."))
            self._number += 1
            self._reserved[self._number] = cost
            return self._number

    def _settle(self, number: int, came: list[Answered], *, is_lost: bool) -> None:
        with self._changed:
            reserved = self._reserved.pop(number)
            if is_lost:
                self._spent += reserved
            for answered in came:
                self._spent += reserved if answered.cost is None else answered.cost
            self._changed.notify_all()

    def _under_way(self) -> Decimal:
        return sum(self._reserved.values(), Decimal(0))


def stop_run(run_id: int, code: str, message: str) -> None:
    """What is under way still comes in; what waits stays, for when the run is resumed."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("version__judge__project").get(pk=run_id)
        if run.state != RunState.RUNNING:
            return
        run.state = RunState.STOPPED
        run.stop_code, run.stop_message = code[:40], message
        run.save(update_fields=["state", "stop_code", "stop_message"])
        judge = run.version.judge
        note(
            actor=None, action="run.stopped", subject=judge.name, project=judge.project, run=run.pk, code=run.stop_code
        )


_RATE_SECONDS = 60.0
_TELL_SECONDS = 0.5
# After this many requests in a row that were refused in the same words, the others would be too.
MANY_REFUSED = 50


class Refusals:
    """Requests in a row that failed in the same words, each kind of them counted by itself. Safe to use from several
    threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows: dict[str, tuple[str, int]] = {}

    def came(self, kind: str) -> None:
        with self._lock:
            self._rows.pop(kind, None)

    def failed(self, kind: str, detail: str) -> tuple[str, str] | None:
        """Why to stop, once there were too many."""
        with self._lock:
            before, row = self._rows.get(kind, ("", 0))
            row = row + 1 if detail == before else 1
            self._rows[kind] = (detail, row)
        if row < MANY_REFUSED:
            return None
        words = _("%(n)s requests in a row failed: %(detail)s")
        return "refused", words % {"n": MANY_REFUSED, "detail": detail}


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
        # A rubric's share, or a number from 0 to 100, is compared with the criterion as any other metric is.
        is_on_scale = run.version.judge.kind == JudgeKind.LLM and run.version.config["answer_with"] == "options"
        self.gate = Gate(self.project, is_on_scale=is_on_scale)
        self.purse = Purse(run.budget, run.cost + run.at_most, run.version.endpoint)
        self.is_open = True
        self.in_hand = 0
        self.stopped: tuple[str, str] | None = None
        self._lock = Lock()
        self._opened = time.monotonic()
        self._done: deque[tuple[float, int]] = deque()
        self._told = -_TELL_SECONDS
        self._refusals = Refusals()

    def stop(self, code: str, message: str) -> None:
        with self._lock:
            if self.stopped is None:
                self.stopped = (code, message)
        self.close()

    def came(self, model: str) -> None:
        """A reply of that model came."""
        self._refusals.came(model)

    def refused(self, model: str, detail: str) -> None:
        """A request brought no reply, and trying again would bring none: an endpoint that knows no such model says so a
        hundred thousand times. By model, since a judge that asks two may get on with one of them."""
        if (stop := self._refusals.failed(model, detail)) is not None:
            self.stop(*stop)

    def close(self) -> None:
        self.is_open = False
        self.purse.close()

    def rate(self, count: int) -> float | None:
        """Asks per second over the last minute, with those that have just become done. None when it was told a moment
        ago: writing it waits for others that change the run."""
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
        check_code(run.version)
        purpose = purpose_of(run)
        return OpenRun(run, purpose, stack.enter_context(purpose.open()))
    except Exception as error:  # noqa: BLE001 - a judge that can't be opened stops its run, and no other one
        stop_run(run.pk, *why_stopped(error, run.version))
    return None


def why_stopped(error: Exception, version: JudgeVersion) -> tuple[str, str]:
    """(code, message) of a run that can't go on for this; what else it is goes to the log. Raises the error again when
    it is the database's, which may soon be back."""
    if isinstance(error, StopRun | Refusal):
        return error.code, error.message
    if isinstance(error, DatabaseError):
        raise error
    note_fault(error, f"Judge version {version.pk} can't go on")
    return "judge_failed", _("Judge failed: server error (see log).")
