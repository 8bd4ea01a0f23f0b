"""Two endpoints of a project with one base URL are two places, and two processes may work there at the same time: a
question that both have is asked once. Here two threads stand for the processes, each with sessions of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection

from judges.models import Ask, Endpoint, Run, Score
from judges.models import Reply as Kept
from judges.runs.kept_replies import Memory
from judges.runs.open_run import NotNow
from judges.runs.places import QUESTION, is_held, place_of
from judges.runs.write import cancel_run, pause_run, resume_run, start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import being_worked, endpoint_at, plain_judge, wait_for, worked
from tests.openai_server import OpenAIServer, error
from tests.processes import Worker


def runs_at(world: World, *endpoints: Endpoint) -> list[Run]:
    """The same questions at each."""
    judges = [plain_judge(world, each, name=each.name, note=each.name, unit="answer") for each in endpoints]
    return [start_run(version=version, scope={"all": True}) for version in judges]


def twins(world: World, server: OpenAIServer) -> list[Run]:
    ends = [endpoint_at(world, server, name, concurrency=8, price_in=1, price_out=1) for name in ("one", "two")]
    return runs_at(world, *ends)


def locked() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s::oid", [QUESTION])
        (count,) = cursor.fetchone()
    return int(count)


def test_what_two_endpoints_ask_at_the_same_time_is_asked_and_paid_once(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 30)
    one, two = twins(world, server)
    server.latency = 0.1
    with being_worked(one), being_worked(two):
        pass
    assert (one.state, two.state, Score.objects.filter(status="ok").count()) == ("done", "done", 60)
    assert (len(server.requests), Kept.objects.count()) == (30, 30)
    paid = Kept.objects.values_list("cost", flat=True)
    assert one.cost + two.cost == sum(paid) > 0
    assert locked() == 0


def test_what_failed_for_one_is_asked_by_the_other(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 1)
    one, two = twins(world, server)
    server.script(error(400, "no such thing"))
    server.latency = 0.3
    with being_worked(one), being_worked(two):
        pass
    assert (len(server.requests), Kept.objects.count()) == (2, 1)
    assert server.most_at_once == 1
    assert sorted(Ask.objects.values_list("status", flat=True)) == ["error", "ok"]
    assert locked() == 0


@pytest.mark.parametrize("end", [pause_run, cancel_run])
def test_who_waits_for_a_twins_reply_can_be_told_to_stop(
    world: World, server: OpenAIServer, end: Callable[..., Run]
) -> None:
    make_samples(world.project, 5)
    one, two = twins(world, server)
    with being_worked(one), server.held():
        server.wait_for(5)
        with being_worked(two) as thread:
            wait_for(lambda: Ask.objects.filter(run=two, state="leased").count() == 5)
            end(run=two)
            thread.join(10)
            assert not thread.is_alive()
        assert (len(server.requests), Ask.objects.filter(run=two, state="leased").count()) == (5, 0)
    assert one.state == "done"
    if end is pause_run:
        assert worked(resume_run(run=two)).state == "done"
    assert len(server.requests) == 5


def test_a_killed_process_holds_no_question(world: World, plain_worker: Worker, server: OpenAIServer) -> None:
    make_samples(world.project, 3)
    one, two = twins(world, server)
    pause_run(run=two)
    with server.held():
        plain_worker.start()
        server.wait_for(3, seconds=90)
        resume_run(run=two)
        plain_worker.wait_for(lambda: Ask.objects.filter(run=two, state="leased").count() == 3)
        assert (len(server.requests), locked()) == (3, 3)
        plain_worker.kill()
        wait_for(lambda: locked() == 0 and not any(is_held(place_of(run)) for run in (one, two)))
    assert worked(two).state == "done"
    assert len(server.requests) == 6
    assert worked(one).state == "done"
    assert (len(server.requests), Kept.objects.count()) == (6, 3)


def test_only_questions_of_twins_are_locked(world: World, server: OpenAIServer) -> None:
    """Neither another address of the project nor the same one in another project makes a twin; one that is made while
    the first endpoint is worked at does."""
    make_samples(world.project, 40)
    alone = endpoint_at(world, server, concurrency=2)
    endpoint_at(world, server, "other address", base_url=f"{server.url}/other")
    Endpoint.objects.create(project=world.other, name="elsewhere", base_url=server.url)
    (run,) = runs_at(world, alone)
    seen: list[int] = []
    with being_worked(run):
        with server.held():
            server.wait_for(2)
            seen.append(locked())
            endpoint_at(world, server, "twin")
        server.latency = 0.3
        wait_for(lambda: locked() > 0)
        server.latency = 0.0
    assert seen == [0]
    assert (run.state, len(server.requests), locked()) == ("done", 40, 0)


def test_a_lost_session_frees_and_is_replaced(world: World) -> None:
    mine, others = Memory(has_twin=True), Memory(has_twin=True)
    question = (world.project.pk, "k")
    try:
        with mine.only_one(*question), others.only_one(*question):
            assert mine.find(*question, lambda: False) is None
            with pytest.raises(NotNow):
                others.find(*question, lambda: False)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [mine._connection.connection.info.backend_pid])
            assert others.find(*question, lambda: False) is None
        assert locked() == 0 == len(mine._locked)
        with mine.only_one(*question):
            assert mine.find(*question, lambda: False) is None
            assert locked() == 1
        assert locked() == 0
    finally:
        mine.close()
        others.close()
