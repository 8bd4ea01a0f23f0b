"""`kill -9`: nothing is lost, nothing scored twice, and nothing asked again but what was under way."""

from __future__ import annotations

from judges.models import Ask, AskState, Reply, Run, RunState, Score
from judges.runs.queue import DEADLY
from judges.runs.write import start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import endpoint_at, plain_judge
from tests.openai_server import OpenAIServer
from tests.processes import Worker

# bench.kills does the same twenty times.
KILLS = 6
AT_ONCE = 8


def test_kills_of_the_worker(world: World, plain_worker: Worker, openai_server: OpenAIServer) -> None:
    openai_server.answers(lambda request: "0.5")
    make_samples(world.project, 300)
    version = plain_judge(world, endpoint_at(world, openai_server, concurrency=AT_ONCE))
    run = start_run(version=version, scope={"all": True})
    assert run.planned == 600
    for _kill in range(KILLS):
        plain_worker.start()
        openai_server.wait_for(len(openai_server.requests) + 80, seconds=90)
        plain_worker.kill()
    plain_worker.start()
    plain_worker.wait_for(lambda: Run.objects.get(pk=run.pk).state == RunState.DONE)
    assert Ask.objects.filter(run=run, state=AskState.DONE, status="ok").count() == 600
    assert Score.objects.filter(run=run, status="ok").count() == 600
    assert Reply.objects.count() == 600
    # Of eight at once, one more may have come and not be written.
    assert len(openai_server.requests) <= 600 + KILLS * (AT_ONCE + 1)


def test_an_ask_that_kills_is_given_up_and_nothing_else(
    world: World, plain_worker: Worker, openai_server: OpenAIServer
) -> None:
    openai_server.answers(lambda request: "0.5")
    make_samples(world.project, 12)
    version = plain_judge(world, endpoint_at(world, openai_server), unit="answer", poison="Question 2?")
    run = start_run(version=version, scope={"all": True})
    plain_worker.start()
    plain_worker.wait_for(lambda: Run.objects.get(pk=run.pk).state == RunState.DONE)
    poison = Ask.objects.exclude(status="ok").get()
    assert (poison.sample.external_id, poison.status) == ("s2", "error")
    assert Score.objects.filter(status="ok").count() == 11
    # Each time the worker's process died, and its other one, or a new one, took over.
    assert poison.lost == DEADLY
