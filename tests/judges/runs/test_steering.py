"""Pausing, resuming, cancelling, and the budget."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from decimal import Decimal

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry
from judges.models import Ask, AskState, JudgeVersion, Run, Score
from judges.models import Reply as Kept
from judges.runs.read import progress_of
from judges.runs.write import cancel_run, pause_run, resume_run, start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import being_worked, endpoint_at, plain_judge, wait_for, worked
from tests.openai_server import OpenAIServer, Reply, chat


def _stopped_under_way(world: World, server: OpenAIServer, stop: Callable[[Run], Run]) -> Run:
    """A run of 60 asks, stopped when the first four are under way."""
    make_samples(world.project, 30)
    run = start_run(version=plain_judge(world, endpoint_at(world, server)), scope={"all": True}, actor=world.alice)
    with ExitStack() as until_it_ends, server.held():
        until_it_ends.enter_context(being_worked(run))
        # Four are being asked, the two threads more that there are have each taken one up, and some lie ready.
        server.wait_for(4)
        wait_for(lambda: progress_of(run).under_way >= 10)
        stop(run)
        wait_for(lambda: progress_of(run).under_way == 6)
    return run


def test_nothing_new_goes_out_of_a_paused_run(world: World, server: OpenAIServer) -> None:
    run = _stopped_under_way(world, server, lambda run: pause_run(run=run, actor=world.alice))
    progress = progress_of(run)
    assert (progress.state, progress.under_way) == ("paused", 0)
    assert progress.done == len(server.requests) == Score.objects.count() == 4
    assert progress.waiting == 56
    assert set(Ask.objects.filter(state=AskState.WAITING).values_list("lost", "tries")) == {(0, 0)}
    with pytest.raises(Conflict):
        pause_run(run=run)

    run = resume_run(run=run, actor=world.alice)
    assert progress_of(run).is_waiting_for_worker
    run = worked(run)
    assert (run.state, len(server.requests), Score.objects.count()) == ("done", 60, 60)
    noted = AuditEntry.objects.filter(action__startswith="run.").order_by("pk")
    assert list(noted.values_list("action", flat=True)) == ["run.started", "run.paused", "run.resumed"]


def test_what_waits_in_a_cancelled_run_is_never_asked(world: World, server: OpenAIServer) -> None:
    run = _stopped_under_way(world, server, lambda run: cancel_run(run=run, actor=world.alice))
    progress = progress_of(run)
    assert (progress.state, progress.planned, progress.waiting, progress.under_way) == ("cancelled", 60, 0, 0)
    assert progress.done == len(server.requests) == Score.objects.count() == 4
    assert progress.cancelled == 56
    for change in (pause_run, resume_run, cancel_run):
        with pytest.raises(Conflict):
            change(run=run)


def test_a_budget_stops_a_run_and_a_larger_one_lets_it_go_on(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 30)
    # A reply costs 0.001; of a request the bound is 0.001 and its own tokens.
    server.answers(lambda request: chat("0.5", tokens_in=0, tokens_out=10))
    endpoint = endpoint_at(world, server, price_in=Decimal(0), price_out=Decimal(100))
    run = worked(start_run(version=plain_judge(world, endpoint), scope={"all": True}, budget=Decimal("0.02")))
    assert (run.state, run.stop_code) == ("stopped", "budget")
    assert (run.cost, len(server.requests), Score.objects.count()) == (Decimal("0.02"), 20, 20)
    with pytest.raises(Conflict):
        resume_run(run=run)
    run = worked(resume_run(run=run, budget=Decimal(1)))
    assert (run.state, run.stop_code, run.cost, len(server.requests)) == ("done", "", Decimal("0.06"), 60)


def test_a_budget_is_overshot_by_one_call_at_the_most(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 30)
    # Each reply is dearer than its request said: 0.003 instead of 0.001.
    server.answers(lambda request: chat("0.5", tokens_in=0, tokens_out=30))
    endpoint = endpoint_at(world, server, price_in=Decimal(0), price_out=Decimal(100))
    run = worked(start_run(version=plain_judge(world, endpoint), scope={"all": True}, budget=Decimal("0.02")))
    assert (run.state, run.stop_code) == ("stopped", "budget")
    assert Decimal("0.02") <= run.cost <= Decimal("0.02") + 4 * Decimal("0.003")


def test_a_budget_needs_prices_and_counted_tokens(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 3)
    free = plain_judge(world, endpoint_at(world, server))
    with pytest.raises(Invalid, match="needs prices"):
        start_run(version=free, scope={"all": True}, budget=Decimal(1))
    priced = plain_judge(world, endpoint_at(world, server, name="priced", price_in=1, price_out=1), name="priced")
    for bad in (Decimal(0), Decimal(-1), Decimal("NaN"), Decimal("Infinity")):
        with pytest.raises(Invalid):
            start_run(version=priced, scope={"all": True}, budget=bad)
    server.answers(lambda request: chat("0.5", tokens_in=None, tokens_out=None))
    run = worked(start_run(version=priced, scope={"all": True}, budget=Decimal(1)))
    assert (run.state, run.stop_code) == ("stopped", "unpriced")


def test_a_reply_that_is_nonsense_is_reserved_for_and_no_reason_to_stop(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 3)
    nonsense = Reply(body=b"{}")
    server.answers(lambda request: nonsense if "s1 claim:0" in request.prompt else chat("0.5"))
    priced = plain_judge(world, endpoint_at(world, server, price_in=1, price_out=1))
    run = worked(start_run(version=priced, scope={"all": True}, budget=Decimal(1)))
    assert (run.state, run.unpriced) == ("done", 0)
    costs = list(Kept.objects.values_list("cost", flat=True))
    assert (run.cost, len(costs)) == (sum(costs), 6)
    # Five at what they were, one at what it might have cost.
    assert [costs.count(cost) for cost in sorted(set(costs))] == [5, 1]


def test_a_dropped_version_is_neither_started_nor_resumed(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 1)
    version = plain_judge(world, endpoint_at(world, server))
    run = pause_run(run=start_run(version=version, scope={"all": True}))
    JudgeVersion.objects.filter(pk=version.pk).update(state="dropped")
    with pytest.raises(Conflict, match="is discarded"):
        start_run(version=version, scope={"all": True})
    with pytest.raises(Conflict, match="is discarded"):
        resume_run(run=run)
    assert (Run.objects.get().state, server.requests) == ("paused", [])
