"""The queue of record: fences, two workers, making room, and what may have killed a worker."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from threading import Event, Thread

import pytest
from django.db import connection

from judges.endpoints.calls import Answered
from judges.kinds.base import Scored
from judges.models import Ask, AskState, Reply, Run, RunState, Score, ScoreStatus
from judges.runs import work as waking
from judges.runs import work as working
from judges.runs.asking import AskResult, End, Todo
from judges.runs.open_run import open_run
from judges.runs.places import Place, held, is_held, place_of
from judges.runs.queue import DEADLY, SUSPECT, Taken, free, take
from judges.runs.read import progress_of
from judges.runs.storing import Paid, store_outcomes, store_replies
from judges.runs.work import work
from judges.runs.write import start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import being_worked, endpoint_at, plain_judge, wait_for, worked
from tests.openai_server import OpenAIServer


def _started(world: World, server: OpenAIServer, samples: int = 3) -> Run:
    make_samples(world.project, samples)
    return start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True})


def _came(run: Run, taken: Taken, number: float) -> AskResult:
    opened = open_run(run, ExitStack())
    assert opened is not None
    ask = Ask.objects.select_related("sample").get(pk=taken.id)
    scored = Scored(unit=taken.unit, dimension="worth", number=number)
    return AskResult(Todo(taken, opened, ask.sample), End.DONE, scores=[scored])


def test_a_late_process_writes_nothing(world: World, server: OpenAIServer) -> None:
    run = _started(world, server)
    (late,) = take(run.pk, 1)
    free([run.pk])
    (now,) = take(run.pk, 1)
    assert (now.id, now.fence, now.lost) == (late.id, late.fence + 1, 1)
    came = _came(run, late, 0.1)
    store_replies([Paid(came.todo.run, Answered(key="k" * 64, text="0.1", tokens_in=3))])
    store_outcomes([came], {})
    assert (Score.objects.count(), Ask.objects.get(pk=late.id).state) == (0, AskState.LEASED)
    assert Reply.objects.get().key == "k" * 64  # which was paid

    store_outcomes([_came(run, now, 0.2)], {})
    assert Score.objects.get().number == 0.2
    store_outcomes([_came(run, now, 0.3)], {})
    assert Score.objects.get().number == 0.2
    run.refresh_from_db()
    assert (run.tokens_in, run.unpriced) == (3, 1)


def test_a_waiting_process_gets_the_place_of_one_that_stops(world: World, server: OpenAIServer) -> None:
    place = place_of(_started(world, server))
    is_held, has_to_go = Event(), Event()

    def hold() -> None:
        with held(place):
            is_held.set()
            has_to_go.wait(60)
        connection.close()

    holder = Thread(target=hold)
    holder.start()
    try:
        assert is_held.wait(60)
        with held(place, patience=0.05) as is_ours:
            assert not is_ours
        has_to_go.set()
        with held(place, patience=60) as is_ours:
            assert is_ours
    finally:
        has_to_go.set()
        holder.join()
    with held(place) as is_ours:
        assert is_ours  # it was let go of


def test_one_process_works_at_a_place_at_a_time(world: World, server: OpenAIServer) -> None:
    run = _started(world, server)
    place = place_of(run)
    assert not is_held(place)
    with ExitStack() as until_it_ends, server.held():
        until_it_ends.enter_context(being_worked(run))
        server.wait_for(4)
        assert is_held(place)
        assert not progress_of(run).is_waiting_for_worker
        with held(place) as is_ours:
            assert not is_ours
        work(place, rng=Random(2), in_worker=False)  # returns at once
        assert set(Ask.objects.values_list("lost", flat=True)) == {0}
    assert (run.state, len(server.requests)) == ("done", 6)


def test_it_makes_room_when_others_wait(world: World, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _started(world, server, 50)
    sent: list[Place] = []
    monkeypatch.setattr(working, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(working, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(waking, "others_wait", lambda: len(server.requests) > 10)
    monkeypatch.setattr(waking, "wake", lambda place: sent.append(place) or len(sent) > 1)
    work(place_of(run), rng=Random(1))
    # The first message could not be sent, so it went on.
    assert sent == [place_of(run)] * 2
    assert 10 < len(server.requests) < 100
    states = set(Ask.objects.values_list("state", "lost", "tries"))
    assert states == {(AskState.DONE, 0, 0), (AskState.WAITING, 0, 0)}
    assert not is_held(place_of(run))


def test_what_may_have_killed_is_asked_alone_and_given_up_in_the_end(world: World, server: OpenAIServer) -> None:
    run = _started(world, server)
    asks = list(Ask.objects.order_by("pk"))
    Ask.objects.filter(pk=asks[0].pk).update(lost=SUSPECT)
    Ask.objects.filter(pk=asks[1].pk).update(lost=DEADLY)
    assert [taken.id for taken in take(run.pk, 99)] == [ask.pk for ask in asks[2:]]
    free([run.pk])
    run = worked(run)
    assert run.state == RunState.DONE
    given_up = Ask.objects.exclude(status=ScoreStatus.OK).get()
    assert (given_up.pk, given_up.status) == (asks[1].pk, "error")
    assert "died with it 5 times" in given_up.detail
    assert len(server.requests) == 5
    assert server.requests[-1].prompt.startswith("0 of s1 claim:0")  # when everything else was written


def test_who_holds_a_place_is_known_by_its_session(world: World, server: OpenAIServer) -> None:
    place = place_of(_started(world, server))
    with held(place) as is_ours:
        assert is_ours
        assert is_held(place)
        connection.close()
        wait_for(lambda: not is_held(place))
