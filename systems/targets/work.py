"""Working at the runs of a project: one process at a time, one run after the other, as hard as the target may be asked.

What there is to ask is what no response says (systems.targets.read.left_to_ask): so whoever goes on after a death asks
only what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from threading import Event, Lock, Thread

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from judges.endpoints.calls import CallFailed, StopRun, TryLater
from judges.endpoints.door import useful_threads
from judges.models import RunState
from judges.runs.asking import Pace
from judges.runs.crew import MOST_TRIES
from judges.runs.kept_replies import salted
from judges.runs.open_run import Refusals
from judges.runs.outcomes import note_fault
from judges.runs.places import held, is_held
from judges.runs.work import Slice, others_wait
from systems.core.asking_place import AskingPlace
from systems.models import QuestionRevision, Target, TargetReply, TargetRun
from systems.targets.asking import Asker, Came, open_asker
from systems.targets.read import Asked, left_to_ask, target_of
from systems.targets.replies import NoAnswer
from systems.targets.runs import finish_run, limit_reached, stop_run
from systems.targets.storing import Outcome, Storing, as_money
from systems.targets.waiting import Todo, Waiting
from systems.targets.waking import wake

# How often it looks whether the run was paused or cancelled, or its target changed.
_LOOK_SECONDS = 0.5
# More threads than requests may be under way: some prepare, and wait for their reply to be written.
_PER_REQUEST = 1.5
# How many questions lie ready for each thread.
_READY = 2


def runs_to_work(project_id: int | None = None) -> QuerySet[TargetRun]:
    """Those that are to go on, the oldest first. Those of a project that is archived wait until it is restored."""
    runs = TargetRun.objects.filter(
        state=RunState.RUNNING, version__project__archived_at=None, version__project__deleting_at=None
    )
    if project_id is not None:
        runs = runs.filter(version__project=project_id)
    return runs.select_related("version__project", "frozen_set").order_by("pk")


def wake_all() -> None:
    """A message for each project that has a run to work at, and no process at it."""
    for project_id in runs_to_work().order_by().values_list("version__project", flat=True).distinct():
        if not is_held(AskingPlace(project_id)):
            wake(project_id, expires=settings.RUNS_LOOK_SECONDS)


def work(project_id: int, *, rng: Random, in_worker: bool = True, patience: float = 0.0) -> None:
    """Until nothing is left to do there; returns when another process is at it. As judges.runs.work.work."""
    while True:
        slice_ = Slice(others_wait if in_worker else lambda: False)
        with held(AskingPlace(project_id), patience=patience) as is_ours:
            if not is_ours:
                return
            while not slice_.is_over and (run := runs_to_work(project_id).first()) is not None:
                _work_at(run, slice_, rng)
        if slice_.is_over and wake(project_id):
            return
        # A run that was started just now found us still here, and was left to us.
        if not runs_to_work(project_id).exists():
            return


def _work_at(run: TargetRun, has_to_leave: Callable[[], bool], rng: Random) -> None:
    target = target_of(run.version)
    if target is None:
        stop_run(run.pk, "no_target", _("The target was removed. Define one, then resume."))
        return
    try:
        with open_asker(target, run.version) as asker:
            stay = _Stay(run, target, asker, rng)
            stay.work(has_to_leave)
    except (StopRun, Invalid) as stop:
        stop_run(run.pk, stop.code, stop.message)
        return
    if stay.stopped is not None:
        stop_run(run.pk, *stay.stopped)
    else:
        finish_run(run.pk)


class _Stay:
    """At one run, as long as it goes on and its target stays what it is.

    stopped: (code, message) once something said that the run has to stop; the first counts.
    """

    def __init__(self, run: TargetRun, target: Target, asker: Asker, rng: Random) -> None:
        self._run, self._target, self._asker = run, target, asker
        self._pace = Pace(target.endpoint.concurrency, rng)
        self._waiting = Waiting(self._pace)
        self._storing = Storing(run)
        self._refusals = Refusals()
        self._size = math.ceil(useful_threads(target.endpoint) * _PER_REQUEST)
        self._lock = Lock()
        self._stirred = Event()
        self._left: list[Asked] = []
        self.stopped: tuple[str, str] | None = None

    def work(self, has_to_leave: Callable[[], bool]) -> None:
        """Raises what kept it from writing, where that may soon be over."""
        self._left = left_to_ask(self._run)[::-1]
        threads = [Thread(target=self._ask_all, name=f"target-{n}", daemon=True) for n in range(self._size)]
        for thread in threads:
            thread.start()
        waits = False
        try:
            while not has_to_leave() and self._goes_on():
                self._stirred.clear()
                self._fill()
                if not self._left and self._waiting.is_idle:
                    break
                self._stirred.wait(_LOOK_SECONDS)
            waits = True
        except Exception:
            waits = True
            raise
        finally:
            self._waiting.close()
            # A process that is told to end doesn't wait for what is under way.
            for thread in threads if waits else ():
                thread.join()
            self._storing.close()
        if self._storing.lost is not None:
            if isinstance(self._storing.lost, OperationalError | InterfaceError):
                raise self._storing.lost
            self._stop("not_stored", _("What came could not be stored: server error (see log)."))

    def _goes_on(self) -> bool:
        """Whether the run is as it was opened: paused, cancelled or with another target it is left."""
        if self._pace.is_away:
            words = _("The target doesn’t respond to repeated requests. The rest is on hold.")
            self._stop("endpoint_away", words)
        if self.stopped is not None or self._storing.lost is not None:
            return False
        is_same = _identity(target_of(self._run.version)) == _identity(self._target)
        return is_same and runs_to_work(self._run.version.project_id).filter(pk=self._run.pk).exists()

    def _fill(self) -> None:
        """Has some questions lie ready for each thread."""
        room = _READY * self._size - self._waiting.waiting
        if room < self._size or not self._left:
            return
        some, self._left = self._left[-room:][::-1], self._left[:-room]
        revisions = QuestionRevision.objects.select_related("question").in_bulk({revision for revision, _ in some})
        todos = [self._todo(revisions[revision], repeat) for revision, repeat in some]
        self._waiting.put(self._without_kept(todos))

    def _todo(self, revision: QuestionRevision, repeat: int) -> Todo:
        sent = self._asker.sent(revision, repeat)
        return Todo(revision, repeat, sent, self._asker.key_of(sent, revision, repeat))

    def _without_kept(self, todos: Sequence[Todo]) -> Iterator[Todo]:
        """Those that have to be asked. A reply that is kept and says an answer is used; where it says none, that
        is asked anew, under a key of this run."""
        keys = [key for todo in todos for key in (todo.key, salted(todo.key, self._run.pk))]
        kept = {one.key: one for one in TargetReply.objects.filter(version=self._run.version, key__in=keys)}
        for todo in todos:
            anew = salted(todo.key, self._run.pk)
            reply = kept.get(anew) or kept.get(todo.key)
            if reply is None:
                yield todo
                continue
            outcome = self._outcome(todo, reply, is_kept=True)
            if outcome.mapped is not None or reply.key == anew:
                self._storing.put(outcome)
            else:
                todo.key = anew
                yield todo

    def _ask_all(self) -> None:
        while (todo := self._waiting.take()) is not None:
            if self._left and self._waiting.waiting < self._size:
                self._stirred.set()
            try:
                self._ask(todo)
            except Exception as error:  # noqa: BLE001 - a thread that ends would take its question along
                note_fault(error, f"Asking failed in run {self._run.pk} of a target")
                self._stop("failed", _("Asking failed: server error (see log)."))
            finally:
                self._waiting.done()
                if self._waiting.is_idle:
                    self._stirred.set()

    def _ask(self, todo: Todo) -> None:
        """What is not asked, since the run stops, is found again when it goes on."""
        if not self._may_send():
            return
        try:
            came = self._asker.ask(todo.sent)
        except StopRun as stop:
            self._storing.sent(None, None)
            self._stop(stop.code, stop.message)
        except TryLater as later:
            self._storing.sent(None, None)
            self._once_more(todo, later)
        except CallFailed as failure:
            self._storing.sent(None, None)
            self._pace.came()
            self._failed(todo, failure.detail)
        else:
            self._pace.came()
            self._came(todo, came)

    def _may_send(self) -> bool:
        """Counts it as sent. A limit may be exceeded by what is under way when its cost isn't known yet."""
        with self._lock:
            if self.stopped is None and (reached := limit_reached(self._run)) is not None:
                self.stopped = reached
            if self.stopped is not None:
                return False
            self._run.requests += 1
            return True

    def _came(self, todo: Todo, came: Came) -> None:
        reply = TargetReply(
            version=self._run.version, key=todo.key, text=came.text, problem=came.problem, seconds=came.seconds
        )
        outcome = self._outcome(todo, reply, is_kept=False)
        cost = None if outcome.mapped is None else outcome.mapped.measures.get("cost")
        with self._lock:
            self._run.cost += as_money(cost)
        self._storing.sent(reply, cost)
        self._storing.put(outcome)
        if outcome.mapped is None:
            self._count_failure(outcome.detail)
            return
        self._refusals.came("")
        if cost is None and self._run.budget is not None:
            self._stop("unpriced", _("The replies don’t say what they cost, so a budget can’t be kept."))

    def _outcome(self, todo: Todo, reply: TargetReply, *, is_kept: bool) -> Outcome:
        try:
            found = self._asker.mapped(Came(reply.text, reply.problem, reply.seconds))
        except NoAnswer as failure:
            return Outcome(todo.revision, todo.repeat, reply.key, is_kept, None, failure.detail)
        return Outcome(todo.revision, todo.repeat, reply.key, is_kept, found)

    def _once_more(self, todo: Todo, later: TryLater) -> None:
        """While nothing at all comes it is no fault of this question, which stays."""
        after = self._pace.failed(todo.tries + 1, later.seconds)
        if todo.tries + 1 < MOST_TRIES or self._pace.is_doubtful:
            todo.tries = min(todo.tries + 1, MOST_TRIES - 1)
            self._waiting.put([todo], after=after)
        else:
            self._failed(todo, later.detail)

    def _failed(self, todo: Todo, detail: str) -> None:
        self._storing.put(Outcome(todo.revision, todo.repeat, "", False, None, detail))
        self._count_failure(detail)

    def _count_failure(self, detail: str) -> None:
        if (stop := self._refusals.failed("", detail)) is not None:
            self._stop(*stop)

    def _stop(self, code: str, message: str) -> None:
        with self._lock:
            self.stopped = self.stopped or (code, message)
        self._stirred.set()


def _identity(target: Target | None) -> tuple[int, ...]:
    return () if target is None else (target.pk, target.revision, target.endpoint_id, target.endpoint.revision)
