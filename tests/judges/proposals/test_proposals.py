"""Claims proposed by a judge's model at a server on loopback, looked at, and taken over by the rules for claims."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from annotate.core.errors import Conflict, Invalid
from annotate.models import ClaimEdit
from annotate.samples.claims_write import edit_claims
from judges.models import Run, Score
from judges.proposals.read import proposals
from judges.proposals.write import estimate_proposals, propose_claims, take_over
from judges.runs.read import progress_of
from judges.versions.write import create_judge
from tests.annotate.api.test_schema import problems
from tests.annotate.factories import World, make_sample, make_samples, make_world
from tests.clients import client_of
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer, Request
from tests.openai_server.messages import chat

HOURS = [
    {"text": "It opens at nine.", "quote": "It opens at nine."},
    {"text": "The museum closes at five.", "quote": "It closes at five."},
]


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    openai_server.answers(taken_apart)
    return world


def taken_apart(request: Request) -> Any:
    if "Question 2?" in request.prompt:
        return chat("", refusal="No.")
    if "Question 3?" in request.prompt:
        return {"claims": HOURS, "and": "more"}
    return {"claims": HOURS}


def states(run: Run) -> dict[str, str]:
    return {one.sample.external_id: one.state for one in proposals(run)}


def test_from_proposals_to_claims(world: World) -> None:
    samples = make_samples(world.project, 5)
    version = llm_judge(world)
    # Something rests on the claims of one: it isn't even asked about.
    run = Run.objects.create(version=version)
    Score.objects.create(version=version, run=run, sample=samples[4], unit="claim:0", dimension="support", label="yes")
    assert estimate_proposals(version=version, scope={"all": True}).asks == 4
    run = worked(propose_claims(version=version, scope={"all": True}, actor=world.alice))
    progress = progress_of(run)
    assert (run.state, progress.planned) == ("done", 4)
    assert progress.by_status == {"ok": 2, "refused": 1, "parse_error": 1}
    assert Score.objects.count() == 1
    assert states(run) == {"s1": "untouched", "s2": "failed", "s3": "failed", "s4": "untouched"}

    take_over(run=run, sample_id=samples[0].pk, actor=world.rita)
    samples[0].refresh_from_db()
    # What was there keeps its index; what is said in other words has no place of its own.
    assert [(one["text"], one["start"], one.get("dropped", False)) for one in samples[0].claims] == [
        ("It opens at nine.", 0, False),
        ("It closes at five.", 18, True),
        ("The museum closes at five.", None, False),
    ]
    edit = ClaimEdit.objects.filter(sample=samples[0]).latest("revision")
    assert (edit.actor, edit.change["op"], samples[0].claims_revision) == (world.rita, "replace", 2)
    take_over(run=run, sample_id=samples[0].pk, actor=world.rita)
    assert ClaimEdit.objects.filter(sample=samples[0]).count() == 2

    drop = {"op": "drop", "claim": 0}
    edit_claims(actor=world.rita, project=world.project, sample_id=samples[3].pk, change=drop, expected_revision=1)
    assert states(run) == {"s1": "same", "s2": "failed", "s3": "failed", "s4": "changed"}
    with pytest.raises(Conflict, match="changed since"):
        take_over(run=run, sample_id=samples[3].pk, actor=world.rita)
    with pytest.raises(Conflict):
        take_over(run=run, sample_id=samples[1].pk, actor=world.rita)


def test_once_people_are_at_work_claims_stay(world: World) -> None:
    sample = make_sample(world.project)
    run = worked(propose_claims(version=llm_judge(world), scope={"all": True}))
    world.batch()
    assert states(run) == {"s1": "fixed"}
    with pytest.raises(Conflict) as refused:
        take_over(run=run, sample_id=sample.pk, actor=world.rita)
    assert refused.value.code == "claims_in_use"
    assert propose_claims(version=llm_judge(world, "other"), scope={"all": True}).planned == 0


def test_by_api(world: World) -> None:
    make_samples(world.project, 2)
    make_sample(world.project, 7)
    version = llm_judge(world)
    alice, rita, ann = client_of(world.alice), client_of(world.rita), client_of(world.ann)
    url = f"/api/projects/desk/judges/{version.judge_id}/claims/"
    scope = {"scope": {"all": True}}
    assert rita.post(url, scope, format="json").status_code == 403
    assert alice.post(url + "estimate/", scope, format="json").json()["asks"] == 3
    made = alice.post(url, {**scope, "budget": "3"}, format="json")
    assert made.status_code == 202, made.content
    worked(Run.objects.get())
    here = f"/api/projects/desk/runs/{made.json()['id']}/claims/"
    found = rita.get(here).json()
    assert [one["state"] for one in found["results"]] == ["untouched", "failed", "untouched"]
    schema = SchemaGenerator().get_schema(request=None, public=True)
    operation = schema["paths"]["/api/projects/{slug}/runs/{run_id}/claims/"]["get"]
    shape = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert problems(found, shape, schema) == []
    assert ann.get(here).status_code == 403
    assert rita.post(here + "take-over/", {"sample": "s1"}, format="json").json()["count"] == 1
    assert rita.post(here + "take-over/", {"sample": "s2"}, format="json").status_code == 409
    taken = rita.post(here + "take-over/", {}, format="json")
    assert taken.json() == {"count": 1, "left": 0, "refused": []}
    assert [one["state"] for one in rita.get(here).json()["results"]] == ["same", "failed", "same"]
    trail = alice.get("/api/projects/desk/audit/").json()["results"]
    assert "run.claims_taken" in {entry["action"] for entry in trail}


def test_only_of_a_judge_with_a_model_to_ask(world: World) -> None:
    config = {"measure": "token_overlap", "criterion": "support"}
    lexical = create_judge(project=world.project, name="words", kind="lexical", config=config)
    with pytest.raises(Invalid):
        propose_claims(version=lexical.versions.get(), scope={"all": True})
