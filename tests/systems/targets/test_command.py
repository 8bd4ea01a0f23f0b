"""manage.py ask_target, and the process that asks in a worker."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from judges.models import RunState
from systems.models import Response, SystemVersion, TargetRun
from systems.targets.runs import start_run
from tests.annotate.factories import World
from tests.openai_server import OpenAIServer, error
from tests.processes import Worker, environment, forget_messages
from tests.systems.targets.building import answering, make_questions, make_target, version_named

KILLS = 3
AT_ONCE = 8


def ask(*arguments: Any) -> str:
    out = StringIO()
    call_command("ask_target", "desk", *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(*arguments: Any) -> tuple[str, int]:
    with pytest.raises(CommandError) as error:
        ask(*arguments)
    return str(error.value), error.value.returncode


def test_it_asks_by_itself_where_no_worker_is(world: World, server: OpenAIServer) -> None:
    make_questions(world, 3)
    make_target(world, server)
    printed = ask("v7", "--set", "support", "--repeats", 2, "--wait").splitlines()
    run = TargetRun.objects.get()
    assert printed[0] == f"Run {run.pk} of “v7” on support@1: 6 to ask."
    assert printed[-2:] == ["No worker found; asking in this process.", "6 of 6 done"]
    assert Response.objects.filter(status="ok").count() == 6
    assert ask("v7", "--set", "support@1", "--repeats", 2, "--wait").splitlines()[-1] == "0 of 0 done"


def test_failures_have_an_exit_code_and_are_asked_again(world: World, server: OpenAIServer) -> None:
    make_questions(world, 3)
    make_target(world, server)
    server.answers(lambda request: error(400) if request.json["question"] == "What is 1?" else answering(request))
    said = ("1 requests failed. --failed-only asks them again.", 1)
    assert refused("v7", "--set", "support@1", "--wait") == said
    server.answers(answering)
    assert "1 of 1 done" in ask("v7", "--set", "support@1", "--failed-only", "--wait")
    assert Response.objects.filter(status="ok").count() == 3


def test_what_can_not_start(world: World, server: OpenAIServer) -> None:
    make_questions(world, 1)
    no_target = "No target is defined: say where “v7” is asked."
    assert refused("v7", "--set", "support@1") == (no_target, 2)
    assert not SystemVersion.objects.exists()
    make_target(world, server)
    assert refused("v7", "--set", "none") == ("Test set “none” not found in this project.", 2)
    assert refused("v7", "--set", "support@2") == ("Test set “support@2” not found.", 2)
    assert refused("v 7@", "--set", "support@1")[1] == 2
    assert refused("v7", "--set", "support@1", "--budget", "much")[1] == 2
    assert refused("v7", "--set", "support@1", "--repeats", 0)[1] == 2


def test_a_run_that_stops(world: World, server: OpenAIServer) -> None:
    make_questions(world, 3)
    make_target(world, server)
    said = "This run has sent as many requests as it may. Allow more to resume."
    assert refused("v7", "--set", "support@1", "--requests", 2, "--wait") == (said, 1)


@pytest.fixture
def any_worker(transactional_db: None, tmp_path: Any) -> Any:
    forget_messages()
    process = Worker(["config.worker"], environment(), tmp_path / "log")
    yield process
    process.kill()
    forget_messages()


def test_kills_of_the_worker(world: World, any_worker: Worker, server: OpenAIServer) -> None:
    frozen = make_questions(world, 300)
    make_target(world, server, at={"concurrency": AT_ONCE})
    run = start_run(actor=world.alice, version=version_named(world), frozen_set=frozen).run
    for _kill in range(KILLS):
        any_worker.start()
        server.wait_for(len(server.requests) + 60, seconds=90)
        any_worker.kill()
    any_worker.start()
    any_worker.wait_for(lambda: TargetRun.objects.get(pk=run.pk).state == RunState.DONE)
    assert Response.objects.filter(status="ok").count() == 300
    # Nothing is asked twice but what was under way, or had come and was just being written.
    assert len(server.requests) <= 300 + KILLS * 2 * AT_ONCE
