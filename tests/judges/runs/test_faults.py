"""A judge whose own code fails, or was changed since its version was made, stops its run with a sentence: it neither
goes on for ever nor keeps others from going on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from annotate.core.errors import Conflict
from annotate.models import Sample
from judges.kinds.base import Config, Item, Outcome, Scored
from judges.models import Ask, JudgeVersion, Run, RunState, Score
from judges.runs import write as runs_service
from judges.runs.local_work import lay_lost
from judges.runs.read import progress_of
from judges.runs.write import estimate_run, resume_run, start_run
from tests.annotate.factories import World, make_samples
from tests.judges.runs.building import endpoint_at, plain_judge, worked
from tests.judges.runs.plain_kind import KIND, PlainKind, PlainScorer
from tests.openai_server import OpenAIServer

SAMPLES = 30
EVERYTHING = {"all": True}

Units = Callable[[PlainKind, Config, Sample], Sequence[str]]
units: Units = PlainKind.units


def raising(kind: PlainKind, config: Config, sample: Sample) -> Sequence[str]:
    if sample.external_id == "s17":
        raise KeyError("planted")
    return units(kind, config, sample)


def no_address(kind: PlainKind, config: Config, sample: Sample) -> Sequence[str]:
    return ["paragraph:1"] if sample.external_id == "s17" else units(kind, config, sample)


def no_text(kind: PlainKind, config: Config, sample: Sample) -> Any:
    return [None] if sample.external_id == "s17" else units(kind, config, sample)


@pytest.fixture(params=["calls a model", "asks none"])
def version(request: pytest.FixtureRequest, world: World, server: OpenAIServer) -> JudgeVersion:
    make_samples(world.project, SAMPLES)
    return plain_judge(world, None if request.param == "asks none" else endpoint_at(world, server))


@pytest.mark.parametrize("fault", [raising, no_address, no_text])
def test_what_to_ask_can_not_be_said(version: JudgeVersion, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainKind, "units", fault)
    for plan in (start_run, estimate_run):
        with pytest.raises(Conflict, match="s17") as caught:
            plan(version=version, scope=EVERYTHING)
        assert (caught.value.code, "planted" in caught.value.message) == ("judge_failed", False)
    assert not Run.objects.filter(state=RunState.RUNNING).exists()


@pytest.mark.parametrize("fault", [raising, no_address, no_text])
def test_it_can_not_be_said_in_the_worker(version: JudgeVersion, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_service, "_LAID_AT_ONCE", 0)
    run = start_run(version=version, scope=EVERYTHING)
    other = start_run(version=version, scope={"samples": ["s1", "s2"]})
    monkeypatch.setattr(PlainKind, "units", fault)
    run, other = worked(run), worked(other)
    assert (run.state, run.stop_code) == ("stopped", "judge_failed")
    assert "s17" in run.stop_message
    assert (other.state, progress_of(other).done) == ("done", 4)
    # As long as it isn't mended it stops again, and then it goes on where it was.
    assert worked(resume_run(run=run)).stop_code == "judge_failed"
    monkeypatch.setattr(PlainKind, "units", units)
    run = worked(resume_run(run=run))
    assert (run.state, Ask.objects.filter(run=run, state="done").count()) == ("done", 2 * SAMPLES - 4)
    assert Score.objects.filter(status="ok").count() == 2 * SAMPLES


def test_it_can_not_be_said_of_what_a_dead_process_had_in_hand(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_samples(world.project, SAMPLES)
    monkeypatch.setattr(runs_service, "_LAID_AT_ONCE", 0)
    run = start_run(version=plain_judge(world, None), scope=EVERYTHING)
    Run.objects.filter(pk=run.pk).update(in_hand_to=world.project.samples.order_by("pk").last().pk)  # type: ignore[union-attr]
    monkeypatch.setattr(PlainKind, "units", raising)
    with pytest.raises(Conflict):
        lay_lost(run.pk)
    run = worked(run)
    assert (run.state, run.stop_code) == ("stopped", "judge_failed")


def test_scores_that_are_none_are_failures(version: JudgeVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    def nonsense(unit: str) -> Outcome:
        return Outcome([Scored(unit, "worth", status=[]), Scored(None, "worth")])  # type: ignore[arg-type]

    def score(self: PlainScorer, items: Sequence[Item]) -> Sequence[Outcome]:
        return [nonsense(item.unit) for item in items]

    monkeypatch.setattr(PlainScorer, "score", score)
    monkeypatch.setattr(PlainScorer, "ask", lambda self, item, model: nonsense(item.unit))
    run = worked(start_run(version=version, scope={"samples": ["s1", "s2"]}))
    assert (run.state, progress_of(run).by_status) == ("done", {"error": 4})
    assert Score.objects.filter(run=run, status="error").count() == 4


def test_a_version_of_other_code_is_not_run(version: JudgeVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start_run(version=version, scope=EVERYTHING)
    monkeypatch.setattr(KIND, "code_version", 2)
    run = worked(run)
    assert (run.state, run.stop_code, Score.objects.count()) == ("stopped", "other_code", 0)
    for start in (lambda: resume_run(run=run), lambda: start_run(version=version, scope=EVERYTHING)):
        with pytest.raises(Conflict, match="an older release") as caught:
            start()
        assert caught.value.code == "other_code"
    with pytest.raises(Conflict):
        estimate_run(version=version, scope=EVERYTHING)
    # The release of before is back.
    monkeypatch.undo()
