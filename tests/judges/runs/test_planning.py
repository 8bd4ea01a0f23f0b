"""What a run is over, what it would take, and how far it has come."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from io import StringIO
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from judges.api import runs_serializers as shapes
from judges.management import runs as run_commands
from judges.models import Ask, AskState, Run, Score
from judges.runs import laying
from judges.runs import write as runs
from judges.runs.laying import check_scope, samples_in
from judges.runs.places import place_of
from judges.runs.read import one_run, progress_of, runs_of
from judges.runs.work import work
from judges.runs.write import estimate_run, start_run
from judges.versions.write import create_judge
from tests.annotate.factories import World, make_sample, make_samples, make_world
from tests.judges.runs.building import endpoint_at, plain_judge, worked
from tests.openai_server import OpenAIServer


@pytest.mark.django_db
def test_scopes() -> None:
    world = make_world()
    samples = make_samples(world.project, 4)
    make_sample(world.project, 5, pipeline_version="v7")
    batch = world.batch(selection={"method": "list", "samples": ["s2", "s3"], "note": "two"})

    def of(scope: Any) -> list[str]:
        checked = check_scope(world.project, scope)
        return list(samples_in(world.project, checked).values_list("external_id", flat=True))

    assert of({"all": True}) == ["s1", "s2", "s3", "s4", "s5"]
    assert of({"batch": batch.number}) == ["s2", "s3"]
    assert of({"samples": ["s4", "s1", "s4"]}) == ["s1", "s4"]
    assert of({"pipeline": "v7"}) == ["s5"]
    assert samples[0].external_id == "s1"
    for bad in (
        None,
        {},
        {"all": False},
        {"all": True, "batch": 1},
        {"batch": 99},
        {"batch": "1"},
        {"batch": True},
        {"samples": []},
        {"samples": ["s1", "nobody"]},
        {"samples": [1]},
        {"samples": "s1"},
        {"pipeline": "v8"},
        {"pipeline": "\x00"},
        {"everything": True},
    ):
        with pytest.raises(Invalid):
            check_scope(world.project, bad)


def test_an_estimate(world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    make_samples(world.project, 40)
    openai_server.answers(lambda request: "1")
    endpoint = endpoint_at(world, openai_server, price_in=Decimal(2), price_out=Decimal(10))
    version = plain_judge(world, endpoint, requests=3)
    found = estimate_run(version=version, scope={"all": True}, repeats=2)
    assert (found.asks, found.requests, found.tokens_in, found.tokens_out) == (160, 480, 16_000, 1_600)
    assert (found.cost, found.currency, found.seconds) == (Decimal("0.048"), "USD", None)
    monkeypatch.setattr(runs, "_MEASURED", 10)
    assert estimate_run(version=version, scope={"all": True}, repeats=2) == replace(found, is_estimated=True)

    worked(start_run(version=version, scope={"samples": ["s1", "s2"]}))
    after = estimate_run(version=version, scope={"samples": ["s1", "s2", "s3"]})
    assert (after.asks, after.requests) == (2, 6)
    assert after.seconds is not None
    assert after.seconds > 0


def test_a_large_scope_is_laid_by_the_worker(
    world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laying, "CHUNK", 4)
    monkeypatch.setattr(runs, "_LAID_AT_ONCE", 5)
    openai_server.answers(lambda request: "1")
    make_samples(world.project, 10)
    for version in (plain_judge(world, endpoint_at(world, openai_server)), plain_judge(world, None, name="alone")):
        run = start_run(version=version, scope={"all": True})
        progress = progress_of(run)
        assert (progress.planned, progress.is_laid, progress.eta_seconds) == (0, False, None)
        run = worked(run)
        assert (run.state, run.planned, run.is_laid, Ask.objects.filter(run=run).count()) == ("done", 20, True, 20)


def test_progress_takes_few_queries(world: World, openai_server: OpenAIServer) -> None:
    make_samples(world.project, 20)
    started = start_run(version=plain_judge(world, endpoint_at(world, openai_server)), scope={"all": True})
    run = one_run(world.project, started.pk)
    Ask.objects.filter(pk__in=Ask.objects.values("pk")[:5]).update(state=AskState.DONE, status="ok")
    with CaptureQueriesContext(connection) as queries:
        shown = shapes.Run.show(shapes.with_progress(run, reader=SYSTEM))
    # Asks, findings, and whether a process is at it.
    assert len(queries) == 3
    assert shown["progress"]["waiting"] == 35
    assert shown["progress"]["by_status"] == {"ok": 5}
    assert shown["progress"]["is_waiting_for_worker"] is True
    assert list(runs_of(world.project)) == [run]
    with pytest.raises(Http404):
        one_run(world.other, run.pk)


def test_from_the_command_line(world: World, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    make_samples(world.project, 3)
    openai_server.answers(lambda request: "1")
    plain_judge(world, endpoint_at(world, openai_server))

    def run_judge(*args: str) -> str:
        out = StringIO()
        call_command("run_judge", "desk", *args, stdout=out)
        return out.getvalue()

    monkeypatch.setattr(run_commands, "_PATIENCE_SECONDS", 0.0)
    said = run_judge("plain", "--wait")
    assert "No worker found" in said
    assert "6 of 6 done" in said
    assert "0 to process" in run_judge("plain", "--wait")
    assert "12 to process" in run_judge("plain", "--again", "--repeats", "2")
    for wrong in (["nobody"], ["plain", "--batch", "7"], ["plain", "--budget", "much"], ["plain", "--budget", "3"]):
        with pytest.raises(CommandError) as error:
            run_judge(*wrong)
        assert error.value.returncode == 2
    openai_server.key = "sk-another"
    with pytest.raises(CommandError) as error:
        run_judge("plain", "--again", "--wait")
    assert error.value.returncode == 1
    assert Run.objects.order_by("pk").last().state == "stopped"


def test_a_run_scores_every_unit_once(world: World) -> None:
    make_samples(world.project, 30)
    judge = create_judge(
        project=world.project,
        name="overlap",
        kind="lexical",
        config={"measure": "token_overlap", "unit": "claim", "dimension": "overlap"},
    )
    version = judge.versions.get()
    run = start_run(version=version, scope={"all": True}, actor=world.alice)
    assert (run.state, run.planned) == ("running", 60)
    work(place_of(run), rng=Random(1), in_worker=False)
    run.refresh_from_db()
    progress = progress_of(run)
    assert (progress.state, progress.done, progress.by_status) == ("done", 60, {"ok": 60})
    assert Score.objects.filter(version=version).count() == 60
    again = start_run(version=version, scope={"all": True})
    assert (again.state, again.planned) == ("done", 0)
