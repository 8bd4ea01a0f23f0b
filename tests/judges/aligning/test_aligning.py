"""A judge is aligned with people, by runs at a real server that follows rules and finds them."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from itertools import cycle
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.core.errors import Conflict, Invalid
from annotate.labels.consensus import settle_imported
from annotate.models import Label, Sample
from judges.aligning.asking import config_of, united_rules, usable_rules
from judges.aligning.candidates import WHOLE
from judges.aligning.read import spent
from judges.aligning.write import (
    advance,
    cancel_alignment,
    decide_rule,
    pause_alignment,
    resume_alignment,
    start_alignment,
)
from judges.management.commands.align_judge import lines_of
from judges.models import Alignment, AlignmentStep, Endpoint, Rule, Score
from judges.reports.evidence import settled_on_dev
from tests.annotate.factories import World, make_world
from tests.judges.aligning.planted import RULES, PlantedModel, claims
from tests.judges.building import add_labels, add_samples
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer
from tests.openai_server.messages import chat

SAMPLES = 120


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    planted(world, SAMPLES)
    return world


def planted(world: World, count: int, seed: int = 3) -> None:
    """One claim in each sample, two samples in a group; two people label it by all four rules. Half of the groups
    become dev."""
    made = claims(count, random.Random(seed))
    names = [f"s{number:04}" for number in range(count)]
    samples: dict[str, Any] = add_samples(world.project, names)
    for name, claim in zip(names, made, strict=True):
        samples[name].claims = [{"text": claim.text}]
        samples[name].contexts = [{"text": f"Of visit {name}."}]
        samples[name].question, samples[name].answer = "When?", claim.text
        samples[name].group_key = f"g{int(name[1:]) // 2}"
    Sample.objects.bulk_update(samples.values(), ["claims", "contexts", "question", "answer", "group_key"])
    (support,) = world.criteria("support")
    rows = [(name, "claim:0", claim.people_say()) for name, claim in zip(names, made, strict=True)]
    add_labels(support, samples, [(*key, rater, value) for *key, value in rows for rater in "xy"])
    settle_imported(project=world.project, criterion=support, needed=2)
    settled_on_dev(support)


def aligned(of: Alignment) -> Alignment:
    """After all its steps have been worked at here."""
    for _ in AlignmentStep:
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
    for rule in of.rules.all():
        assert rule.groups >= 2
        assert len(rule.sources) >= rule.groups


def test_no_prompt_knows_the_labels_that_it_is_measured_by(world: World, openai_server: OpenAIServer) -> None:
    (support,) = world.criteria("support")
    dev = set(settled_on_dev(support))
    for sample in world.project.samples.all():
        # Words of each sample's own, in all that a prompt might show of it.
        sample.question = f"When, zq{sample.external_id}?"
        sample.contexts = [{"text": f"Of visit zc{sample.external_id}."}]
        sample.save()
    for label in Label.objects.filter(rater__name="x").select_related("sample"):
        label.comment = f"because zl{label.sample.external_id}"
        label.save(update_fields=["comment"])
    model = PlantedModel(seed=2)
    openai_server.answers(model)
    of = aligned(start_alignment(version=llm_judge(world), criterion=support, seed=5))
    seen = {mark for prompt in model.prompts for mark in re.findall(r"z[qcl](s\d{4})", prompt)}
    assert seen == dev
    assert any("because zl" in prompt for prompt in model.prompts), "people's reasons are shown"
    group_of = {name: group for name, _unit, group, *_rest in of.units}
    fold_of = {group: fold for _name, _unit, group, fold, *_rest in of.units}
    sources = {tuple(source): rule for rule, source in _found(of)}
    for place, candidate in enumerate(of.candidates[1:], start=1):
        for part in set(fold_of.values()):
            config = config_of(of, place, part)
            shown = {group_of[one["sample"]] for one in config["examples"]["drawn"]}
            assert part not in {fold_of[group] for group in shown}, candidate["name"]
            made = candidate["parts"][str(part)]
            assert bool(made["examples"]) == bool(shown)
    for number, united in united_rules(of).items():
        for rule in united:
            for source in rule["sources"]:
                assert tuple(source) in sources
                assert number == WHOLE or fold_of[group_of[source[0]]] != number
    # As it was asked: of a unit, with the prompt of its fold, no other sample of its group is shown.
    inner = [config_of(of, place, fold) for place in range(1, len(of.candidates)) for fold in set(fold_of.values())]
    assert all(not config["rules"] or config["prompt"].count("{{rules}}") == 1 for config in inner if "rules" in config)


def _found(of: Alignment) -> list[tuple[str, tuple[str, str]]]:
    return [(one.text, (one.sample, one.unit)) for one in usable_rules(of)]


@pytest.mark.parametrize("where", ["question", "answer", "reference", "contexts", "claims", "key_facts", "entities"])
def test_a_rule_that_quotes_a_sample_goes_nowhere(world: World, openai_server: OpenAIServer, where: str) -> None:
    (support,) = world.criteria("support")
    closed = world.project.samples.exclude(external_id__in=settled_on_dev(support)).first()
    assert closed is not None
    text = "The pharmacy in the old mill opens at nine on every second Monday of the month."
    listed = {"contexts": [{"text": text}], "claims": [{"text": text}], "key_facts": [text], "entities": [text]}
    setattr(closed, where, listed.get(where, text))
    closed.save()
    quoting = "The Pharmacy in the old mill: opens at nine, on every second day."
    model = PlantedModel(seed=3)
    openai_server.answers(lambda request: {"rule": quoting} if '{"rule": …}' in request.prompt else model(request))
    of = aligned(start_alignment(version=llm_judge(world), criterion=support, seed=5))
    assert not any(quoting in prompt for prompt in model.prompts)
    assert of.rules.count() == 0
    assert not any(one["name"].startswith("rules") for one in of.result["candidates"])


def test_a_model_that_finds_nothing(world: World, openai_server: OpenAIServer) -> None:
    model = PlantedModel(seed=3)
    replies = cycle(["", "{}", {"rule": "x" * 301}, {"rule": 7}, {"rule": ""}, chat("", refusal="No."), "No rule."])
    openai_server.answers(lambda request: next(replies) if '{"rule": …}' in request.prompt else model(request))
    (support,) = world.criteria("support")
    of = aligned(start_alignment(version=llm_judge(world), criterion=support, seed=5))
    names = [one["name"] for one in of.result["candidates"]]
    assert names[0] == "start"
    assert not any("rules" in name for name in names)
    assert of.base.judge.versions.count() == 1, "no worse judge comes into use"


def test_a_budget_that_ends_in_the_middle(world: World, openai_server: OpenAIServer) -> None:
    openai_server.answers(PlantedModel(seed=1))
    (support,) = world.criteria("support")
    of = start_alignment(version=llm_judge(world), criterion=support, seed=5, budget=Decimal("0.003"))
    for _ in range(5):
        assert of.run is not None
        run = worked(of.run)
        advance(of.pk)
        of.refresh_from_db()
        if run.state != "done":
            break
    assert (run.state, run.stop_code) == ("stopped", "budget")
    assert spent(of) <= Decimal("0.0033")
    came = len(openai_server.requests)
    with pytest.raises(Conflict):
        resume_alignment(of=of, budget=Decimal("0.001"))
    resume_alignment(of=of, budget=Decimal(1))
    of = aligned(of)
    assert of.result["gain"]["low"] is not None
    asked = [request.body for request in openai_server.requests]
    assert len(asked) > came
    assert len(set(asked)) == len(asked), "no question twice"


def test_paused_and_cancelled(world: World, openai_server: OpenAIServer) -> None:
    openai_server.answers(PlantedModel(seed=1))
    (support,) = world.criteria("support")
    of = start_alignment(version=llm_judge(world), criterion=support, seed=5)
    pause_alignment(of=of)
    assert worked(of.run).state == "paused"
    advance(of.pk)
    of.refresh_from_db()
    assert (of.step, len(openai_server.requests)) == ("start", 0)
    assert aligned(resume_alignment(of=of)).result is not None
    with pytest.raises(Conflict, match="is done"):
        cancel_alignment(of=of)
    ended = cancel_alignment(of=start_alignment(version=of.base, criterion=support, seed=6))
    advance(ended.pk)
    ended.refresh_from_db()
    assert (ended.step, ended.run.state, ended.result) == ("start", "cancelled", None)


def test_what_is_not_known_to_have_cost_nothing_is_unknown(
    world: World, openai_server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.answers(PlantedModel(seed=1))
    version = llm_judge(world)
    Endpoint.objects.update(price_in=None, price_out=None)
    call_command("align_judge", "desk", "by prompt", "--estimate")
    assert "cost: unknown" in capsys.readouterr().out
    of = aligned(start_alignment(version=version, criterion=world.criteria("support")[0], seed=5))
    assert any("Spent: unknown" in line for line in lines_of(of))


def test_what_can_not_be_aligned(world: World, openai_server: OpenAIServer) -> None:
    support, grade = world.criteria("support", "grade")
    number = llm_judge(world, "number", answer_with="number")
    with pytest.raises(Invalid, match="answer with a criterion"):
        start_alignment(version=number, criterion=support)
    version = llm_judge(world)
    with pytest.raises(Invalid, match="doesn’t answer"):
        start_alignment(version=version, criterion=grade)
    with pytest.raises(Conflict, match="aligning needs 10"):
        start_alignment(version=version, criterion=support, samples=9)
    assert Alignment.objects.count() == 0


def test_by_command(world: World, openai_server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    openai_server.answers(PlantedModel(seed=1))
    version = llm_judge(world)
    call_command("align_judge", "desk", "by prompt", "--estimate")
    said = re.search(r"At most ([\d,]+) requests about 60 samples; cost: ([\d.]+) USD", capsys.readouterr().out)
    assert said
    of_judge = world.project.judges.get(name="by prompt")
    with pytest.MonkeyPatch.context() as patch:
        # Nobody else works here.
        patch.setattr("judges.management.runs._PATIENCE_SECONDS", -1)
        call_command("align_judge", "desk", "by prompt", "--seed", "5", "--budget", "1")
    out = capsys.readouterr().out
    assert "Improvement shown on dev." in out
    assert "A claim that names a date is not supported. (from" in out
    of = Alignment.objects.get()
    requests, cost = int(said[1].replace(",", "")), Decimal(said[2])
    assert len(openai_server.requests) <= requests
    assert 0 < spent(of) <= cost
    assert f"Spent: {spent(of):.4f} USD." in out
    rule = of.rules.first()
    assert rule is not None
    decide_rule(rule=rule, state="dropped", actor=world.alice)
    others = of.rules.exclude(pk=rule.pk)
    decide_rule(rule=others[0], state="accepted", text=" No claim that\nnames a price. ", actor=world.alice)
    call_command("align_judge", "desk", "by prompt", "--try", str(of.pk), "--samples", "10")
    assert "is on trial on 10 samples" in capsys.readouterr().out
    tried = of_judge.versions.latest("number")
    assert (tried.state, tried.based_on) == ("trial", version)
    assert tried.config["rules"] == [one.text for one in of.rules.exclude(state="dropped")]
    assert "No claim that names a price." in tried.config["rules"]
    with pytest.raises(CommandError, match="has no alignment"):
        call_command("align_judge", "desk", "by prompt", "--try", "999999")


def test_a_rule_is_decided_in_words(world: World) -> None:
    support = world.criteria("support")[0]
    of = Alignment.objects.create(base=llm_judge(world), criterion=support, dimension="support", seed=1, units=[])
    rule = Rule.objects.create(alignment=of, proposed="So.", text="So.", sources=[], groups=2)
    for given in ({"state": "kept"}, {"state": "accepted", "text": " "}, {"state": "accepted", "text": "x" * 301}):
        with pytest.raises(Invalid):
            decide_rule(rule=rule, actor=world.alice, **given)
    assert decide_rule(rule=rule, state="accepted", text="So  it\nis.", actor=world.alice).text == "So it is."
