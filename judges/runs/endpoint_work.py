"""Working at an endpoint: every run that asks there, taking turns, as hard as the endpoint may be asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from judges.endpoints.calls import StopRun
from judges.endpoints.client import open_client
from judges.endpoints.door import useful_threads
from judges.models import Endpoint, Run
from judges.runs import queue
from judges.runs.asking import Pace
from judges.runs.crew import Crew
from judges.runs.laying import lay_chunk, load
from judges.runs.local_work import given_up
from judges.runs.open_run import OpenRun, open_run, stop_run, why_stopped
from judges.runs.places import Place

# How often it looks whether runs were started, paused or cancelled.
_LOOK_SECONDS = 0.5
# How many asks lie ready for each thread: to take them one by one would take longer than to ask them.
_READY = 2
# Between two things that are asked alone, everything else has this long.
_OTHERS_SECONDS = 0.1
# What isn't due for longer than this is left to the process that is woken then.
_PATIENCE_SECONDS = 30.0


@dataclass(slots=True)
class _OneRun:
    """A run that is open here, with what its scorer needs closed in the end. is_idle: nothing of it is due and nothing
    in hand; it is looked at again then."""

    opened: OpenRun
    stack: ExitStack
    is_laid: bool
    is_idle: bool = False
    look_at: float = 0.0
    due_in: float | None = 0.0


class EndpointWork:
    """One stay at an endpoint. rng: of the jitter between tries."""

    def __init__(self, place: Place, rng: Random) -> None:
        self._place = place
        self._rng = rng
        self._runs: dict[int, _OneRun] = {}
        self._endpoint = _endpoints().get(pk=place.pk)
        self._looked = 0.0
        self._turn = 0
        self._alone = _Alone()

    def work(self, has_to_leave: Callable[[], bool]) -> None:
        """Until nothing is left that is soon due, the endpoint is changed, or others need this process more."""
        if not self._place.under_way().exists():
            return
        self._pace = Pace(self._endpoint.concurrency, self._rng)
        try:
            with open_client(self._endpoint) as client:
                self._crew = Crew(
                    client,
                    client.base_url,
                    useful_threads(self._endpoint),
                    self._pace,
                    has_twin=self._endpoint.has_twin,
                )
                try:
                    self._go_on(has_to_leave)
                except Exception:
                    # What is under way was paid; it is kept as soon as the database is back.
                    for one in self._runs.values():
                        one.opened.close()
                    self._crew.close()
                    raise
                except BaseException:
                    self._crew.close(waits=False)
                    raise
                self._crew.close()
        except StopRun as stop:
            for run in self._place.under_way():
                stop_run(run.pk, stop.code, stop.message)
        finally:
            for one in self._runs.values():
                one.stack.close()
        for run_id, one in self._runs.items():
            if one.opened.stopped is not None:
                stop_run(run_id, *one.opened.stopped)
            _settle(run_id)

    def _go_on(self, has_to_leave: Callable[[], bool]) -> None:
        while not has_to_leave() and not self._crew.writer.is_lost:
            self._crew.stirred.clear()
            if not self._look() or not self._runs:
                return
            if self._pace.is_away:
                self._give_up()
            else:
                self._fill()
                self._look_at_idle_runs()
                if self._is_long_idle():
                    return
            self._crew.stirred.wait(_LOOK_SECONDS)

    def _look(self) -> bool:
        """Takes note of runs that were started, paused, resumed, cancelled, or have to stop. False: the endpoint itself
        has changed, and is to be opened anew."""
        for run_id, one in self._runs.items():
            if one.opened.stopped is not None:
                stop_run(run_id, *one.opened.stopped)
        now = time.monotonic()
        if now < self._looked + _LOOK_SECONDS:
            return True
        self._looked = now
        under_way = self._place.ids_under_way()
        for run_id, one in list(self._runs.items()):
            # One that was resumed meanwhile is opened anew once nothing of it is in hand: its budget may be another.
            if run_id not in under_way or not one.opened.is_open:
                one.opened.close()
                self._crew.take_back(one.opened)
                if not one.opened.in_hand:
                    self._drop(run_id)
        if new := under_way - self._runs.keys():
            for run in self._place.under_way().filter(pk__in=new):
                self._open(run)
        as_opened = {name: getattr(self._endpoint, name) for name in ("pk", "revision", "has_twin")}
        return _endpoints().filter(**as_opened).exists()

    def _open(self, run: Run) -> None:
        stack = ExitStack()
        opened = open_run(run, stack)
        if opened is None:
            stack.close()
        else:
            self._runs[run.pk] = _OneRun(opened, stack, run.is_laid)

    def _drop(self, run_id: int) -> None:
        self._runs.pop(run_id).stack.close()
        _settle(run_id)

    def _give_up(self) -> None:
        for one in self._in_turn():
            one.opened.stop(
                "endpoint_away",
                _("The endpoint doesn’t respond to repeated requests. The rest is on hold."),
            )

    def _in_turn(self) -> list[_OneRun]:
        """The runs of which something may go out, the one whose turn it is first."""
        found = [one for one in self._runs.values() if one.opened.is_open]
        if not found:
            return []
        self._turn = (self._turn + 1) % len(found)
        return found[self._turn :] + found[: self._turn]

    def _fill(self) -> None:
        """Hands out what may go out now."""
        runs = self._in_turn()
        if self._alone.is_busy(self._crew.in_hand):
            return
        if self._alone.is_due() and (self._crew.in_hand or self._ask_suspect(runs)):
            return
        if self._pace.rest:
            for one in runs:
                one.is_idle = not one.opened.in_hand  # all that it has may be due later still
            return
        if self._pace.is_doubtful:
            if not self._crew.in_hand and self._hand_out(runs, 1):
                self._pace.probe()
            return
        if self._crew.queued <= self._crew.size // 2:
            self._hand_out(runs, _READY * self._crew.size - self._crew.queued)
        for one in runs:
            if not one.is_laid and (self._crew.queued >= self._crew.size // 2 or one.is_idle):
                try:
                    one.is_laid = not lay_chunk(one.opened.id)
                except Exception as error:  # noqa: BLE001 - it stops this run, and no other one
                    one.opened.stop(*why_stopped(error, one.opened.version))
                one.is_idle, one.look_at = False, 0.0

    def _hand_out(self, runs: list[_OneRun], room: int) -> int:
        """Shares what there is room for among the runs; what one doesn't need the next ones have."""
        handed, now = 0, time.monotonic()
        for position, one in enumerate(runs):
            share = -(-(room - handed) // (len(runs) - position))
            if share <= 0 or now < one.look_at:
                continue
            taken = queue.take(one.opened.id, share)
            one.is_idle = not taken and not one.opened.in_hand
            self._crew.give(load(one.opened, taken))
            handed += len(taken)
        return handed

    def _look_at_idle_runs(self) -> None:
        """What has nothing left is done; what has only things left that may have killed a worker needs to be alone."""
        now = time.monotonic()
        self._alone.is_wanted = False
        for run_id, one in list(self._runs.items()):
            if not one.is_idle or one.opened.in_hand or not one.opened.is_open or not one.is_laid:
                continue
            if now >= one.look_at:
                leased, due_in = queue.left(run_id)
                if leased:
                    queue.free([run_id])  # the crew hasn't got it: what came of it could not be written
                    continue
                if due_in is None:
                    self._drop(run_id)
                    continue
                one.due_in = due_in
                one.look_at = now + min(due_in, _LOOK_SECONDS)
            if one.due_in == 0 and not self._pace.rest:
                self._alone.is_wanted = True

    def _is_long_idle(self) -> bool:
        return not self._crew.in_hand and all(
            one.is_idle and one.is_laid and (one.due_in or 0) > _PATIENCE_SECONDS for one in self._runs.values()
        )

    def _ask_suspect(self, runs: list[_OneRun]) -> bool:
        """Everything that came is written and nothing else is in hand: now one of those that may be what killed. False
        when there is none: what looked like one has only just become due."""
        for one in runs:
            if (taken := queue.take_suspect(one.opened.id)) is not None:
                (todo,) = load(one.opened, [taken])
                self._alone.begins()
                one.look_at = 0.0
                if taken.lost >= queue.DEADLY:
                    self._crew.write(given_up(todo))
                else:
                    self._crew.give([todo])
                return True
        self._alone.ends()
        return False


class _Alone:
    """Turns between what has to be asked with nothing else in hand, and everything else."""

    def __init__(self) -> None:
        self.is_wanted = False
        self._is_in_hand = False
        self._others_until = 0.0

    def is_due(self) -> bool:
        return self.is_wanted and time.monotonic() >= self._others_until

    def is_busy(self, in_hand: int) -> bool:
        """Whether one is being asked just now."""
        if self._is_in_hand and not in_hand:
            self.ends()
        return self._is_in_hand

    def begins(self) -> None:
        self._is_in_hand = True

    def ends(self) -> None:
        self._is_in_hand = False
        self._others_until = time.monotonic() + _OTHERS_SECONDS


def _endpoints() -> QuerySet[Any]:
    """has_twin: whether the same question may be asked at another endpoint, and its reply be kept for this one."""
    twins = Endpoint.objects.filter(project=OuterRef("project"), base_url=OuterRef("base_url")).exclude(
        pk=OuterRef("pk")
    )
    return Endpoint.objects.annotate(has_twin=Exists(twins))


def _settle(run_id: int) -> None:
    """Of a run of which nothing is in hand any more."""
    queue.sweep_cancelled(run_id)
    queue.finish(run_id)
