"""What is tried again, how often and when; and what stops a run."""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from annotate.core.blindness import SYSTEM
from judges.models import Ask, AskState, Score
from judges.runs import asking as pace
from judges.runs.asking import Pace
from judges.runs.open_run import MANY_REFUSED, open_run
from judges.runs.read import failures, progress_of
from judges.runs.write import resume_run, start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import asked_of, endpoint_at, plain_judge, worked
from tests.openai_server import OpenAIServer, chat, error


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pauses between tries are a hundredth of what they are."""
    monkeypatch.setattr(pace, "_FIRST_SECONDS", 0.01)


def test_four_tries_and_then_it_fails(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 5)
    tried: Counter[str] = Counter()

    def answer(request: object) -> object:
        unit = asked_of(request)  # type: ignore[arg-type]
        tried[unit] += 1
        if unit == "s1 claim:0" or (unit == "s2 claim:0" and tried[unit] < 4):
            return error(503, "overloaded, said the server")
        return "0.5"

    server.answers(answer)  # type: ignore[arg-type]
    run = worked(start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True}))
    assert (run.state, progress_of(run).by_status) == ("done", {"ok": 9, "error": 1})
    assert (tried["s1 claim:0"], tried["s2 claim:0"]) == (4, 4)
    (failure,) = failures(run, reader=SYSTEM)
    assert failure.sample == "s1"
    assert "said the server" not in failure.detail
    assert Score.objects.get(sample__external_id="s1", unit="claim:0").number is None


def test_an_ask_that_gets_on_counts_anew(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 1)
    version = plain_judge(world, endpoint_at(world, server), unit="answer", requests=3)
    busy = error(503, "busy")
    server.script(busy, busy, busy, "1", busy, busy, busy, "2", busy, busy, busy, "3")
    run = worked(start_run(version=version, scope={"all": True}))
    assert (progress_of(run).by_status, len(server.requests)) == ({"ok": 1}, 12)
    assert Score.objects.get().number == 3


def test_what_cannot_help_is_not_tried_again(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 1)
    server.answers(lambda request: error(400, "no such option"))
    run = worked(start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True}))
    assert (progress_of(run).by_status, len(server.requests)) == ({"error": 2}, 2)


def test_a_server_that_says_when_is_asked_then(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 1)
    server.script(error(429, "slowly", retry_after="60"))
    version = plain_judge(world, endpoint_at(world, server), unit="answer")
    before = timezone.now()
    run = worked(start_run(version=version, scope={"all": True}))
    ask = Ask.objects.get()
    assert (run.state, ask.state, ask.tries, len(server.requests)) == ("running", AskState.WAITING, 1, 1)
    assert ask.due_at is not None
    assert timedelta(seconds=59) < ask.due_at - before < timedelta(seconds=90)

    Ask.objects.update(due_at=before)
    assert worked(run).state == "done"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_the_run(world: World, server: OpenAIServer, status: int) -> None:
    make_samples(world.project, 20)
    server.answers(lambda request: error(status, "sk-secret is wrong"))
    run = worked(start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True}))
    assert run.state == "stopped"
    assert run.stop_code
    assert "sk-secret" not in run.stop_message
    progress = progress_of(run)
    assert (progress.waiting, progress.done, progress.under_way, Score.objects.count()) == (40, 0, 0, 0)
    assert len(server.requests) <= 6

    server.answers(lambda request: "0.5")
    assert worked(resume_run(run=run)).state == "done"


def test_an_endpoint_that_is_away_stops_the_run_and_fails_nothing(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 20)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    endpoint = endpoint_at(world, server, base_url=nowhere)
    run = worked(start_run(version=plain_judge(world, endpoint), scope={"all": True}))
    assert (run.state, run.stop_code) == ("stopped", "endpoint_away")
    assert Ask.objects.filter(state=AskState.WAITING).count() == 40
    assert Score.objects.count() == 0
    endpoint.base_url = server.url
    endpoint.save()
    run = resume_run(run=run)
    assert not Ask.objects.filter(tries__gt=0).exists()
    assert worked(run).state == "done"


def test_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_FIRST_SECONDS", 1.0)
    now = 100.0
    kept = Pace(4, Random(3), clock=lambda: now)
    waits = [[kept.failed(tries, None) for tries in (1, 2, 3)] for _ in range(3)]
    assert all(0 <= wait <= 2.0**tries for waited in waits for tries, wait in enumerate(waited))
    assert len({wait for waited in waits for wait in waited}) == 9
    assert (kept.is_doubtful, kept.rest) == (False, 0.0)
    kept.failed(1, None)
    assert kept.is_doubtful
    assert kept.rest > 0
    for _ in range(50):
        kept.failed(1, None)  # sent before it was doubtful: they say nothing more
    assert not kept.is_away
    for _ in range(4):
        kept.probe()
        kept.failed(1, None)
    assert kept.is_away
    kept.came()
    assert not kept.is_doubtful
    assert kept.failed(1, 7.0) >= 7.0
    now += 6.9
    assert kept.rest > 0
    now += 60.0
    assert kept.rest == 0.0


def test_an_endpoint_that_refuses_everything_stops_the_run(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 100)
    server.answers(lambda request: error(404, "no such model"))
    run = worked(start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True}))
    assert (run.state, run.stop_code) == ("stopped", "refused")
    assert MANY_REFUSED <= len(server.requests) < MANY_REFUSED + 4
    assert progress_of(run).by_status == {"error": len(server.requests)}
    server.answers(lambda request: "0.5")
    assert worked(resume_run(run=run)).state == "done"


def test_refusals_between_replies_stop_nothing(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 100)
    server.answers(lambda request: "0.5" if asked_of(request).endswith("9 claim:0") else error(400, "no"))
    run = worked(start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True}))
    assert (run.state, progress_of(run).by_status) == ("done", {"ok": 10, "error": 190})


def test_replies_that_are_kept_are_no_refusals(world: World, server: OpenAIServer) -> None:
    """Nor are those that come and say nothing: the endpoint answers."""
    make_samples(world.project, 40)
    server.answers(lambda request: chat("0.5", finish_reason="length"))
    first = plain_judge(world, endpoint_at(world, server))
    assert worked(start_run(version=first, scope={"all": True})).state == "done"
    second = plain_judge(world, first.endpoint, name="again")
    assert worked(start_run(version=second, scope={"all": True})).state == "done"


def test_a_judge_of_two_models_stops_when_one_is_unknown(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 1)
    run = start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True})
    with ExitStack() as stack:
        opened = open_run(run, stack)
        assert opened is not None
        for _ in range(MANY_REFUSED):
            assert opened.is_open
            opened.came("chats")
            opened.refused("embeds", "The endpoint knows no such model.")
        assert opened.stopped is not None
        assert opened.stopped[0] == "refused"
