"""Every run ends, whatever a server does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Thread
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judges.models import Ask, AskState, Run, RunState, Score
from judges.models import Reply as Kept
from judges.runs import asking as pace
from judges.runs import laying, queue
from judges.runs import write as runs_service
from judges.runs import writer as writing
from judges.runs.endpoint_work import EndpointWork
from judges.runs.kept_replies import Memory
from judges.runs.places import held, place_of
from judges.runs.read import progress_of
from judges.runs.write import resume_run, start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import endpoint_at, plain_judge, wait_for, worked
from tests.openai_server import OpenAIServer, Reply, chat, error


def test_what_becomes_due_between_two_looks_is_asked(
    world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing could be taken, and a moment later something is due: that is no sign of an ask that kills."""
    make_samples(world.project, 1)
    openai_server.answers(lambda request: "0.5")
    openai_server.script(error(429, "slowly", retry_after="20"))
    endpoint = endpoint_at(world, openai_server, concurrency=1)
    run = start_run(version=plain_judge(world, endpoint, unit="answer"), scope={"all": True})
    look = queue.left
    looks: list[int] = []

    def becomes_due(run_id: int) -> queue.Left:
        looks.append(run_id)
        Ask.objects.filter(run=run_id, state=AskState.WAITING).update(due_at=timezone.now())
        return look(run_id)

    monkeypatch.setattr(queue, "left", becomes_due)
    monkeypatch.setattr("judges.runs.asking.Pace.rest", 0.0)
    with held(place_of(run)):
        EndpointWork(place_of(run), Random(1)).work(lambda: len(looks) > 10)
    assert Run.objects.get(pk=run.pk).state == "done"
    assert len(openai_server.requests) == 2


TROUBLES: list[Callable[[], Any]] = [
    lambda: error(429, "slowly", retry_after="0"),
    lambda: error(429, "slowly"),
    lambda: error(500, "oh"),
    lambda: error(503, "oh", retry_after="0.01"),
    lambda: error(400, "no"),
    lambda: Reply(hangs_up=True),
    lambda: chat("0.5", cut=40),
    lambda: Reply(b"<html>"),
    lambda: "no number",
]


def test_runs_end_whatever_comes(world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs take turns at a server that answers half of what it is asked as it should, by chance."""
    monkeypatch.setattr(pace, "_FIRST_SECONDS", 0.002)
    make_samples(world.project, 80)
    rng = Random(5)
    openai_server.answers(lambda request: "0.5" if rng.random() < 0.5 else rng.choice(TROUBLES)())
    endpoint = endpoint_at(world, openai_server, concurrency=6, price_in=1, price_out=1)
    versions = [plain_judge(world, endpoint, name=f"judge {n}", model=f"m{n}", requests=1 + n) for n in range(3)]
    runs = [start_run(version=version, scope={"all": True}) for version in versions]
    for _resumed in range(50):
        worked(runs[0])
        stopped = Run.objects.filter(state=RunState.STOPPED)
        if not stopped:
            break
        for run in stopped:  # so much in a row that the endpoint seemed to be away
            resume_run(run=run)
    for run in runs:
        run.refresh_from_db()
        progress = progress_of(run)
        assert (run.state, progress.done, progress.under_way) == ("done", 160, 0)
        assert run.scores.filter(status="ok").count() == progress.by_status["ok"]
        assert run.scores.count() == 160
    assert not Score.objects.filter(status="ok").exclude(number=0.5)
    keys = Kept.objects.values_list("key", flat=True)
    assert len(keys) == len(set(keys))


def test_a_fault_while_writing_ends_the_stay_and_loses_nothing(
    world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_samples(world.project, 20)
    openai_server.answers(lambda request: "0.5")
    run = start_run(version=plain_judge(world, endpoint_at(world, openai_server)), scope={"all": True})
    stores = writing.store_outcomes
    faults = [RuntimeError("unexpected")]

    def store(*args: Any, **options: Any) -> Any:
        if faults:
            raise faults.pop()
        return stores(*args, **options)

    monkeypatch.setattr(writing, "store_outcomes", store)

    def work_here() -> None:
        worked(run)
        connection.close()

    thread = Thread(target=work_here, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    run.refresh_from_db()
    assert (run.state, run.scores.filter(status="ok").count(), faults) == ("done", 40, [])
    # What had come and could not be written was asked again, and no more than that.
    assert len(openai_server.requests) <= 40 + 4


def test_a_lost_connection_is_replaced(transactional_db: None) -> None:
    memory = Memory()
    try:
        assert memory.find(1, "k", lambda: False) is None
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [memory._connection.connection.info.backend_pid])
        with pytest.raises(DatabaseError):
            memory.find(1, "k", lambda: False)
        assert memory.find(1, "k", lambda: False) is None
    finally:
        memory.close()


def test_all_who_look_at_the_same_time_find_their_own_in_one_query(world: World) -> None:
    names = [f"k{n}" for n in range(30)]
    for name in names[::2]:
        Kept.objects.create(project=world.project, key=name, body={"text": name}, model="m", latency=0.1)
    memory = Memory()
    found: dict[str, str | None] = {}

    def look(name: str) -> None:
        answered = memory.find(world.project.pk, name, lambda: False)
        found[name] = None if answered is None else answered.text

    threads = [Thread(target=look, args=(name,)) for name in names]
    try:
        with CaptureQueriesContext(memory._connection) as queries:
            with memory._lock:
                for thread in threads:
                    thread.start()
                wait_for(lambda: len(memory._wishes) == len(names))
            for thread in threads:
                thread.join()
    finally:
        memory.close()
    assert len(queries) == 1
    assert found == {name: name if name in names[::2] else None for name in names}


def test_many_repeats_are_laid_bit_by_bit(
    world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred repeats of a thousand samples are not laid while a user waits for a page."""
    monkeypatch.setattr(laying, "CHUNK", 5)
    monkeypatch.setattr(runs_service, "_LAID_AT_ONCE", 10)
    openai_server.answers(lambda request: "0.5")
    make_samples(world.project, 8)
    version = plain_judge(world, endpoint_at(world, openai_server), unit="answer")
    run = start_run(version=version, scope={"all": True}, repeats=3)
    assert (run.is_laid, run.planned) == (False, 0)
    laying.lay_chunk(run.pk)
    assert Ask.objects.count() == 3
    run = worked(run)
    assert (run.state, run.planned, run.scores.count()) == ("done", 24, 24)
