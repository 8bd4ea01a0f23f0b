"""A judge is aligned with people, by runs at a real server that follows rules and finds them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from annotate.labels.consensus import settle_imported
from judges.aligning.write import advance, start_alignment
from judges.models import Alignment, AlignmentStep, Score
from judges.reports.evidence import settled_on_dev
from tests.annotate.factories import World, make_world
from tests.judges.aligning.planted import RULES, PlantedModel, claims
from tests.judges.building import add_labels, add_samples
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer

SAMPLES = 160


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    planted(world, SAMPLES)
    return world


def planted(world: World, count: int, seed: int = 3) -> None:
    """One claim in each sample, which two people label by all four rules; half of the samples become dev."""
    made = claims(count, random.Random(seed))
    names = [f"s{number:04}" for number in range(count)]
    samples: dict[str, Any] = add_samples(world.project, names)
    for name, claim in zip(names, made, strict=True):
        samples[name].claims = [{"text": claim.text}]
        samples[name].contexts = [{"text": f"Of visit {name}."}]
        samples[name].question, samples[name].answer = "When?", claim.text
    type(samples[names[0]]).objects.bulk_update(samples.values(), ["claims", "contexts", "question", "answer"])
    (support,) = world.criteria("support")
    rows = [(name, "claim:0", claim.people_say()) for name, claim in zip(names, made, strict=True)]
    add_labels(support, samples, [(*key, rater, value) for *key, value in rows for rater in "xy"])
    settle_imported(project=world.project, criterion=support, needed=2)
    settled_on_dev(support)


def aligned(of: Alignment) -> Alignment:
    """After all its steps have been worked at here."""
    for _ in range(5):
        of.refresh_from_db()
        if of.step == AlignmentStep.DONE:
            return of
        assert of.run is not None
        run = worked(of.run)
        assert run.state == "done", (run.state, run.stop_message)
        advance(of.pk)
    raise AssertionError("it has no end")


def test_from_a_judge_without_the_rules_to_one_with_them(world: World, openai_server: OpenAIServer) -> None:
    model = PlantedModel(seed=1)
    openai_server.answers(model)
    (support,) = world.criteria("support")
    version = llm_judge(world)
    of = aligned(start_alignment(version=version, criterion=support, seed=5, actor=world.alice))
    result = of.result
    names = [one["name"] for one in result["candidates"]]
    assert names[0] == "start"
    assert "rules" in names
    assert result["gain"]["low"] > 0
    assert result["candidates"][result["chosen"]]["name"].startswith("rules")
    assert {one for rule in of.rules.all() for one in RULES if f"a {one}" in rule.text} == set(RULES)
    assert Score.objects.count() == 0, "no score comes of it"
