"""Judges that ask no model, over more samples than are laid at once: what they do is laid when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from random import Random

import pytest

from judges.endpoints.calls import StopRun
from judges.kinds.base import Item, Outcome, Scored
from judges.models import Ask, AskState, JudgeVersion, Run, RunState, Score
from judges.runs import work as waking
from judges.runs import work as working
from judges.runs import write as runs_service
from judges.runs.asking import AskResult, End, Todo
from judges.runs.local_work import Stretches, lay_lost
from judges.runs.open_run import open_run
from judges.runs.places import place_of
from judges.runs.queue import DEADLY
from judges.runs.read import progress_of
from judges.runs.storing import store_outcomes
from judges.runs.work import work
from judges.runs.write import cancel_run, pause_run, resume_run, start_run
from tests.annotate.factories import World, make_sample, make_samples
from tests.judges.runs.building import plain_judge, worked
from tests.judges.runs.plain_kind import PlainScorer
from tests.processes import Worker

SAMPLES, UNITS = 100, 200


@pytest.fixture(autouse=True)
def _laid_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_service, "_LAID_AT_ONCE", 0)


@pytest.fixture
def version(world: World) -> JudgeVersion:
    make_samples(world.project, SAMPLES)
    return plain_judge(world, None)


Meanwhile = Callable[[Callable[[], object]], Counter[tuple[int, str]]]


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """How often each unit was scored, with something done while the first of them are."""

    def counted(do: Callable[[], object]) -> Counter[tuple[int, str]]:
        counts: Counter[tuple[int, str]] = Counter()
        score = PlainScorer.score

        def scoring(self: PlainScorer, items: Sequence[Item]) -> Sequence[Outcome]:
            if not counts:
                do()
            counts.update((item.sample.pk, item.unit) for item in items)
            return score(self, items)

        monkeypatch.setattr(PlainScorer, "score", scoring)
        return counts

    return counted


def test_a_pause_leaves_nothing_half_done(version: JudgeVersion, scored: Meanwhile) -> None:
    run = start_run(version=version, scope={"all": True})
    counts = scored(lambda: pause_run(run=run))
    run = worked(run)
    assert run.state == RunState.PAUSED
    assert run.in_hand_to is None
    assert 0 < len(counts) < UNITS
    # What was begun came in, and what was not is not laid.
    assert run.planned == len(counts) == Score.objects.count()
    assert set(Ask.objects.values_list("state", "fence", "lost")) == {(AskState.DONE, 1, 0)}
    progress = progress_of(run)
    assert (progress.is_laid, progress.expected, progress.left) == (False, UNITS, UNITS - len(counts))
    assert progress.share == pytest.approx(len(counts) / UNITS)

    run = worked(resume_run(run=run))
    assert (run.state, run.is_laid, run.planned) == (RunState.DONE, True, UNITS)
    assert Score.objects.filter(run=run, status="ok").count() == UNITS
    assert set(counts.values()) == {1}
    assert progress_of(run).expected == UNITS


def test_what_was_not_begun_in_a_cancelled_run_is_never_asked(version: JudgeVersion, scored: Meanwhile) -> None:
    run = start_run(version=version, scope={"all": True})
    counts = scored(lambda: cancel_run(run=run))
    run = worked(run)
    progress = progress_of(run)
    assert (progress.state, progress.planned, progress.left) == ("cancelled", len(counts), 0)
    assert (progress.expected, progress.never) == (UNITS, UNITS - len(counts))
    assert Score.objects.count() == len(counts) < UNITS


def test_a_judge_that_can_not_go_on_stops_its_run(version: JudgeVersion, scored: Meanwhile) -> None:
    def stop() -> None:
        raise StopRun("no_memory", "There is no room.")

    run = start_run(version=version, scope={"all": True})
    scored(stop)
    run = worked(run)
    assert (run.state, run.stop_code, run.in_hand_to, run.planned) == (RunState.STOPPED, "no_memory", None, 0)
    assert Ask.objects.count() == 0
    run = worked(resume_run(run=run))
    assert (run.state, run.planned, Score.objects.count()) == (RunState.STOPPED, 0, 0)


def test_others_get_their_turn(version: JudgeVersion, scored: Meanwhile, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start_run(version=version, scope={"all": True})
    counts = scored(lambda: None)
    monkeypatch.setattr(working, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(working, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(waking, "wake", lambda place: True)
    turns = []
    while Run.objects.get(pk=run.pk).state == RunState.RUNNING and len(turns) < 9:
        before = len(counts)
        monkeypatch.setattr(waking, "others_wait", lambda: len(counts) > before)  # noqa: B023 - until the next turn
        work(place_of(run), rng=Random(1))
        turns.append(len(counts) - before)
        assert Run.objects.get(pk=run.pk).in_hand_to is None
        assert Score.objects.count() == len(counts)
    assert len(turns) > 1
    assert (len(counts), set(counts.values())) == (UNITS, {1})


def test_what_has_a_score_is_not_asked_again(world: World, version: JudgeVersion) -> None:
    worked(start_run(version=version, scope={"all": True}))
    nothing = worked(start_run(version=version, scope={"all": True}))
    assert (nothing.state, nothing.is_laid, nothing.planned) == ("done", True, 0)
    make_sample(world.project, SAMPLES + 1)
    run = worked(start_run(version=version, scope={"all": True}))
    assert (run.state, run.planned, Score.objects.count()) == ("done", 2, UNITS + 2)
    again = worked(start_run(version=version, scope={"all": True}, repeats=2, again=True))
    assert (again.planned, again.scores.count()) == (2 * (UNITS + 2), 2 * (UNITS + 2))


def _in_hand(run: Run) -> tuple[Stretches, list[Todo]]:
    opened = open_run(Run.objects.get(pk=run.pk), ExitStack())
    assert opened is not None
    stretches = Stretches(opened)
    return stretches, stretches.next(8)


def _came(todo: Todo, number: float) -> AskResult:
    return AskResult(todo, End.DONE, scores=[Scored(todo.taken.unit, "worth", number=number)])


def test_a_late_process_writes_nothing(version: JudgeVersion) -> None:
    run = start_run(version=version, scope={"all": True})
    late, todos = _in_hand(run)
    first, *others = [_came(todo, 0.1) for todo in todos]
    store_outcomes([first], {})
    # Another process takes over before `late` has told the run of it.
    lay_lost(run.pk)
    assert Ask.objects.filter(state=AskState.DONE).count() == 1
    assert set(Ask.objects.exclude(state=AskState.DONE).values_list("state", "lost")) == {(AskState.WAITING, 1)}
    run.refresh_from_db()
    assert (run.in_hand_to, run.planned, run.laid_to) == (None, len(todos), todos[-1].taken.sample)

    store_outcomes([first, *others], {})
    late.written([first, *others])
    assert Score.objects.get().number == 0.1
    assert late.next(8) == []
    assert late.is_over
    heir, _todos = _in_hand(run)
    in_hand_to = Run.objects.get(pk=run.pk).in_hand_to
    late.close()
    run.refresh_from_db()
    assert run.in_hand_to == in_hand_to is not None
    heir.close()
    run = worked(run)
    assert (run.state, run.planned, Score.objects.count(), Ask.objects.count()) == ("done", UNITS, UNITS, UNITS)


def test_only_what_is_written_counts_as_laid(version: JudgeVersion) -> None:
    """A process that is killed after this has the rest laid."""
    run = start_run(version=version, scope={"all": True})
    stretches, todos = _in_hand(run)
    gap = [_came(todo, 0.1) for todo in todos if todo is not todos[3]]
    store_outcomes(gap, {})
    stretches.written(gap)
    assert stretches.next(8)
    run.refresh_from_db()
    assert (run.planned, run.laid_to) == (len(gap), todos[1].taken.sample)
    lay_lost(run.pk)
    waiting = Ask.objects.filter(state=AskState.WAITING).order_by("pk")
    taken = todos[3].taken
    assert (waiting[0].sample_id, waiting[0].unit, waiting[0].lost) == (taken.sample, taken.unit, 1)
    assert worked(run).scores.filter(status="ok").count() == UNITS


def test_a_unit_that_kills_is_given_up_and_nothing_else(world: World, plain_worker: Worker) -> None:
    make_samples(world.project, 40)
    version = plain_judge(world, None, unit="answer", poison="Question 2?")
    run = start_run(version=version, scope={"all": True})
    assert not run.is_laid
    plain_worker.start()
    plain_worker.wait_for(lambda: Run.objects.get(pk=run.pk).state == RunState.DONE)
    run.refresh_from_db()
    assert (run.planned, run.in_hand_to, Score.objects.filter(status="ok").count()) == (40, None, 39)
    poison = Ask.objects.exclude(status="ok").get()
    assert (poison.sample.external_id, poison.status, poison.lost) == ("s2", "error", DEADLY)
