"""Stretches of samples that a judge which asks nobody works at before their asks are laid.

Such a judge does thousands of units a second, and its asks would take longer to lay, to take and to mark as done than
to do. So the run notes up to which sample it is worked at, and every ask is written once, as done, with its scores.
When the process dies, whoever comes next lays what it had in hand as asks that wait, and with which one has died.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from threading import Lock

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Greatest

from annotate.models import Sample
from judges.models import Ask, Run, RunState
from judges.running.asking import Came, Todo
from judges.running.laying import CHUNK, insert, locked_run
from judges.running.opened import OpenRun
from judges.running.purposes import purpose_of
from judges.running.queue import Taken
from judges.running.scopes import samples_in

# Of the samples that come first nobody knows yet how many asks they bring.
_FIRST_SAMPLES = 16


def lay_lost(run_id: int) -> None:
    """Lays what somebody had in hand who is gone. Only for whoever holds the lock of the run's place."""
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
        """About so many, since they are in hand from now on.

        Empty when the next samples have all their scores, or when it is over: there are no more, the run is not to go
        on, or somebody else has taken it over.
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

    def written(self, group: Sequence[Came]) -> None:
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
