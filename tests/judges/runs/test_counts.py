"""What a run says of itself adds up: what it asked, what it scored, and what it may have paid."""

from __future__ import annotations

import uuid
from decimal import Decimal
from random import Random
from threading import Thread
from typing import Any

import pytest
from django.db import connection

from judges.canaries.write import check_canaries
from judges.models import Ask, Reply, Run, Score
from judges.runs import asking as pace
from judges.runs import write as runs_service
from judges.runs.queue import free, take
from judges.runs.read import failures, progress_of
from judges.runs.write import RequestKey, pause_run, resume_run, start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import asked_of, endpoint_at, llm_judge, plain_judge, worked
from tests.judges.runs.plain_kind import PlainScorer
from tests.openai_server import OpenAIServer, chat, error
from tests.openai_server import Reply as Sent

EVERYTHING = {"all": True}


def adds_up(run: Run) -> tuple[int, int]:
    """How many of its scores the run brought, and how many were there, once that is all that it asked."""
    progress = progress_of(run)
    assert progress.done == sum(progress.by_status.values()) + progress.already
    assert run.scores.filter(status="ok").count() == progress.by_status.get("ok", 0)
    assert progress.failed == run.scores.exclude(status="ok").count()
    return progress.by_status.get("ok", 0), progress.already


def test_what_a_stopped_run_asks_later_may_be_scored_by_then(world: World, server: OpenAIServer) -> None:
    """A run is stopped by its budget, another one asks for the rest, and the first is resumed."""
    make_samples(world.project, 30)
    server.answers(lambda request: chat("0.5", tokens_in=0, tokens_out=10))
    endpoint = endpoint_at(world, server, price_in=Decimal(0), price_out=Decimal(100))
    version = plain_judge(world, endpoint)
    first = worked(start_run(version=version, scope=EVERYTHING, budget=Decimal("0.02")))
    assert (first.stop_code, adds_up(first)) == ("budget", (20, 0))
    second = worked(start_run(version=version, scope=EVERYTHING))
    assert adds_up(second) == (40, 0)
    first = worked(resume_run(run=first, budget=Decimal(1)))
    assert (first.state, progress_of(first).done, adds_up(first)) == ("done", 60, (20, 40))
    assert (first.cost, len(server.requests), Score.objects.count()) == (Decimal("0.02"), 60, 60)


def test_two_runs_that_ask_the_same_at_the_same_time(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 20)
    server.answers(lambda request: "no number" if asked_of(request) == "s3 claim:0" else "0.5")
    version = plain_judge(world, endpoint_at(world, server))
    runs = [start_run(version=version, scope=EVERYTHING) for _ in range(3)]
    worked(runs[0])
    found = []
    for run in runs:
        run.refresh_from_db()
        progress = progress_of(run)
        assert (run.state, progress.done) == ("done", 40)
        # Each tried again what failed; of these scores there is only the last.
        assert progress.by_status["parse_error"] == 1
        assert run.scores.filter(status="ok").count() == progress.by_status.get("ok", 0)
        found.append((progress.by_status.get("ok", 0), progress.already))
    assert (sum(ok for ok, _ in found), sum(there for _, there in found)) == (39, 2 * 39)


def test_a_check_with_canaries_beside_a_run_brings_none_of_its_scores(world: World, server: OpenAIServer) -> None:
    """They come together, and about the same units, which are scored by then."""
    make_samples(world.project, 3)
    endpoint_at(world, server, "main")
    server.answers(lambda request: {"reason": "so", "value": "yes"})
    version = llm_judge(world)
    run = pause_run(run=start_run(version=version, scope=EVERYTHING))
    check = pause_run(run=check_canaries(version=version, samples=3, seed=1))
    worked(start_run(version=version, scope=EVERYTHING))
    resume_run(run=run)
    check = worked(resume_run(run=check))
    run.refresh_from_db()
    assert (adds_up(run), check.state, progress_of(check).already) == ((0, 6), "done", 0)


@pytest.mark.parametrize("laid_at_once", [0, 1000])
def test_a_judge_that_asks_nobody_adds_up_too(world: World, laid_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_service, "_LAID_AT_ONCE", laid_at_once)
    make_samples(world.project, 20)
    version = plain_judge(world, None)
    first, second = (start_run(version=version, scope=EVERYTHING) for _ in range(2))
    assert adds_up(worked(first)) == (40, 0)
    assert adds_up(worked(second)) == ((0, 40) if laid_at_once else (0, 0)), "what is laid later sees what is there"


def test_a_failure_beside_a_good_score_is_none(world: World, server: OpenAIServer) -> None:
    """Another run has brought the score meanwhile, so there is nothing to try again."""
    make_samples(world.project, 1)
    version = plain_judge(world, endpoint_at(world, server), unit="answer")
    run = start_run(version=version, scope=EVERYTHING)
    worked(start_run(version=version, scope=EVERYTHING))
    Run.objects.filter(pk=run.pk).update(state="running")
    Ask.objects.filter(run=run).update(state="waiting", status="", is_cached=False, was_there=False)
    Reply.objects.all().delete()
    server.answers(lambda request: "no number")
    run = worked(run)
    assert (adds_up(run), progress_of(run).failed, failures(run, reader=world.alice)) == ((0, 1), 0, [])


def test_the_same_request_ten_times_at_once(world: World) -> None:
    make_samples(world.project, 3)
    version = plain_judge(world, None)
    key, found = RequestKey(uuid.uuid4(), "all"), []

    def start() -> None:
        try:
            found.append(start_run(version=version, scope=EVERYTHING, actor=world.alice, key=key).pk)
        finally:
            connection.close()

    threads = [Thread(target=start) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found)), Run.objects.count()) == (10, 1, 1)


# What may have been paid


@pytest.mark.parametrize(
    ("trouble", "lost"),
    [
        (Sent(hangs=True), True),
        (Sent(hangs_up=True), True),
        (chat("0.5", cut=40), True),
        (Sent(b"x" * 1_100_000), True),
        (error(504), True),
        (error(503), False),
        (error(429), False),
        (error(400), False),
    ],
    ids=["hangs", "hangs up", "cut off", "too long", "gateway", "trouble", "too many", "refused"],
)
def test_requests_without_a_reply_are_counted(
    world: World, server: OpenAIServer, trouble: Sent, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_FIRST_SECONDS", 0.002)
    make_samples(world.project, 1)
    endpoint = endpoint_at(world, server, price_in=Decimal(0), price_out=Decimal(100), timeout_seconds=1)
    version = plain_judge(world, endpoint, unit="answer")
    server.script(trouble)
    run = worked(start_run(version=version, scope=EVERYTHING))
    assert run.state == "done"
    progress = progress_of(run)
    # Ten tokens at most, by what the request says.
    assert (progress.unanswered, progress.at_most) == ((1, Decimal("0.001")) if lost else (0, 0))


def test_they_count_in_the_budget(world: World, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_FIRST_SECONDS", 0.002)
    make_samples(world.project, 30)
    server.answers(lambda request: chat("0.5", tokens_in=0, tokens_out=10))
    server.script(*(Sent(hangs_up=True) for _ in range(5)))
    endpoint = endpoint_at(world, server, price_in=Decimal(0), price_out=Decimal(100), concurrency=1)
    run = worked(start_run(version=plain_judge(world, endpoint), scope=EVERYTHING, budget=Decimal("0.02")))
    assert (run.stop_code, run.cost, run.at_most) == ("budget", Decimal("0.015"), Decimal("0.005"))
    assert len(server.requests) == 20


def test_what_a_dead_process_had_under_way_is_counted(world: World, server: OpenAIServer) -> None:
    """No more than the endpoint is asked at once, and an eighth; of what was taken most was not sent yet."""
    make_samples(world.project, 30)
    run = start_run(version=plain_judge(world, endpoint_at(world, server, concurrency=8)), scope=EVERYTHING)
    take(run.pk, 3)
    free([run.pk])
    assert Run.objects.get(pk=run.pk).unanswered == 3
    take(run.pk, 40)
    free([run.pk])
    assert Run.objects.get(pk=run.pk).unanswered == 3 + 9
    # Its slots are shared by all of its runs, and each request may have been as dear as the dearest that came.
    other = start_run(version=plain_judge(world, run.version.endpoint, name="other"), scope=EVERYTHING)
    for each, cost in ((run, "0.003"), (run, "0.002"), (other, "0.5")):
        body = {"project": world.project, "key": cost, "body": {}, "latency": 1, "cost": Decimal(cost)}
        ask = each.asks.filter(replies=[]).first()
        Ask.objects.filter(pk=ask.pk).update(replies=[Reply.objects.create(**body).pk])
    take(run.pk, 30)
    take(other.pk, 15)
    free([run.pk, other.pk])
    found = dict(Run.objects.values_list("pk", "unanswered"))
    assert found == {run.pk: 3 + 9 + 6, other.pk: 3}
    assert Run.objects.get(pk=run.pk).at_most == 6 * Decimal("0.003")
    assert Run.objects.get(pk=other.pk).at_most == 3 * Decimal("0.5")
    local = start_run(version=plain_judge(world, None, name="alone"), scope=EVERYTHING)
    take(local.pk, 5)
    free([local.pk])
    assert Run.objects.get(pk=local.pk).unanswered == 0


def test_an_outcome_whose_sample_is_gone_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here deletes a sample; an operator may, by hand."""
    make_samples(world.project, 20)
    monkeypatch.setattr(runs_service, "_LAID_AT_ONCE", 0)
    run = start_run(version=plain_judge(world, None, unit="answer"), scope=EVERYTHING)
    score = PlainScorer.score

    def scoring(self: PlainScorer, items: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM annotate_sample WHERE external_id = 's3'")
        return score(self, items)

    monkeypatch.setattr(PlainScorer, "score", scoring)
    run = worked(run)
    progress = progress_of(run)
    assert (run.state, progress.done, progress.dropped, run.scores.count()) == ("done", 19, 1, 19)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_it_adds_up(
    world: World, server: OpenAIServer, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unsteady endpoint that answers out of turn, and a budget that is spent again and again with replies under
    way."""
    monkeypatch.setattr(pace, "_FIRST_SECONDS", 0.002)
    make_samples(world.project, 40)
    rng = Random(seed)

    def answer(request: Any) -> Any:
        fine = chat("0.5", tokens_in=0, tokens_out=10)
        trouble = [
            chat("no number", tokens_in=0, tokens_out=10),
            chat(None, refusal="no", tokens_in=0, tokens_out=10),
            Sent(b"nonsense"),
            Sent(hangs_up=True),
            error(503),
            error(400),
        ]
        return rng.choice([fine, fine, fine, *trouble])

    server.answers(answer)
    endpoint = endpoint_at(world, server, price_in=Decimal(0), price_out=Decimal(100), concurrency=8)
    run = start_run(version=plain_judge(world, endpoint), scope=EVERYTHING, budget=Decimal("0.02"))
    for _ in range(20):
        run = worked(run)
        adds_up(run)
        paid = Reply.objects.filter(project=world.project)
        assert run.cost == sum(reply.cost or 0 for reply in paid)
        assert paid.count() + run.unanswered <= len(server.requests)
        if run.state == "done":
            break
        assert run.stop_code == "budget"
        assert run.cost + run.at_most < Decimal(str(run.budget)) + 8 * Decimal("0.001"), "what was under way"
        run = resume_run(run=run, budget=run.cost + run.at_most + Decimal("0.02"))
    assert (run.state, progress_of(run).done) == ("done", 80)
    assert run.scores.count() == 80
