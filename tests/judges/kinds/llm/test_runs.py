"""LLM judges run: laid out, asked at a real connection, stored; what is known already is not asked again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.models import Sample
from judges.models import JudgeVersion, Reply, Run, Score
from judges.runs.read import progress_of
from judges.runs.write import estimate_run, start_run
from judges.versions.write import add_version
from tests.annotate.factories import World, make_samples, make_world
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer, Request

FINE = {"reason": "so", "value": "yes"}


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main")
    make_samples(world.project, 4)
    return world


def run(version: JudgeVersion, **how: Any) -> Run:
    return worked(start_run(version=version, scope={"all": True}, **how))


def test_claim_by_claim(world: World, openai_server: OpenAIServer) -> None:
    openai_server.answers(lambda request: FINE)
    version = llm_judge(world)
    first = run(version)
    assert (first.state, first.planned, progress_of(first).by_status) == ("done", 8, {"ok": 8})
    assert set(Score.objects.values_list("unit", "label", "rationale")) == {
        ("claim:0", "yes", "so"),
        ("claim:1", "yes", "so"),
    }
    assert run(version).planned == 0
    # Another version that asks the same of the same: all of it is kept from before.
    before = len(openai_server.requests)
    scores = [{**option, "score": place} for place, option in enumerate(version.config["options"])]
    of_its_own = {**version.config, "criterion": None, "dimension": "own", "unit": "claim", "options": scores}
    other = run(add_version(judge=version.judge, config=of_its_own, endpoint="main"))
    assert (progress_of(other).by_status, progress_of(other).kept) == ({"ok": 8}, 8)
    assert set(other.scores.values_list("number", "rationale")) == {(0.0, "yes: so")}
    assert len(openai_server.requests) == before == Reply.objects.count()


def test_a_rubric_keeps_its_own_scale(world: World, openai_server: OpenAIServer) -> None:
    """The criterion goes from 1 to 5."""
    openai_server.answers(lambda request: {"1": {"reason": "", "met": False}, "2": {"reason": "", "met": True}})
    rubric = {"criterion": "grade", "template": "rubric", "requirements": [{"text": "a"}, {"text": "b", "weight": 3}]}
    assert progress_of(run(llm_judge(world, **rubric))).by_status == {"ok": 4}
    assert set(Score.objects.values_list("number", "label")) == {(0.75, None)}


def test_all_claims_of_an_answer_at_once(world: World, openai_server: OpenAIServer) -> None:
    def half(request: Request) -> Any:
        good = {"1": FINE, "2": FINE}
        return {**good, "2": {**FINE, "value": "perhaps"}} if "Question 2?" in request.prompt else good

    openai_server.answers(half)
    version = llm_judge(world, template="all_claims")
    first = run(version)
    assert (first.state, first.planned) == ("done", 4)
    scores = Score.objects.filter(version=version)
    assert scores.count() == 8
    assert list(scores.exclude(status="ok").values_list("sample__external_id", "unit", "number", "label")) == [
        ("s2", "claim:1", None, None)
    ]
    asked = len(openai_server.requests)
    openai_server.answers(lambda request: json.dumps({"1": {**FINE, "value": "no"}, "2": FINE}))
    # Only the one that failed is asked about anew, and what was known of its answer stays.
    second = run(version, fresh=True)
    assert (second.planned, len(openai_server.requests) - asked) == (1, 1)
    assert set(Score.objects.filter(version=version).values_list("status", "label")) == {("ok", "yes")}


def test_samples_that_lack_what_the_prompt_needs_are_counted_before_a_run(world: World) -> None:
    Sample.objects.filter(project=world.project, external_id__in=["s0", "s1", "s2"]).update(reference="Ten days.")
    Sample.objects.filter(project=world.project, external_id="s0").update(claims=[])
    version = llm_judge(
        world, template=None, prompt="By the reference:\n{{options}}\n{{reference}}\n{{claim}}", unit="claim"
    )
    found = estimate_run(version=version, scope={"all": True})
    assert (found.asks, found.samples, found.unfit) == (4, 4, 2)
