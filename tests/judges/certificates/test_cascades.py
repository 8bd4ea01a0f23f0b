"""Two judges looked at in one look, made one judge of, run where they are needed, and watched."""

from __future__ import annotations

import json
import math
import random
import re
from typing import Any

import pytest

from alignment import level_of_look
from alignment.aligning.cascades import AGREEMENTS
from alignment.judging.triage import ROUNDING
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.labels.consensus import settle_imported
from annotate.models import Criterion, Sample
from judges.certificates.cascades import look_at_cascade, use_cascade
from judges.certificates.cascades_read import cascade_standing, cost_of, left_by_cascade
from judges.certificates.decision_read import next_look
from judges.certificates.write import look_at_test
from judges.core.scores_read import Scores, current_version
from judges.kinds import cascade as kind
from judges.models import CascadeLook, JudgeVersion, Score, ScoreStatus
from judges.reports.write import build_report
from judges.runs.write import estimate_run, start_run
from judges.versions.write import create_judge, drop_version, set_direction
from tests.annotate.factories import World, make_batch, make_world
from tests.judges.building import add_judge, add_labels, add_samples, drawn_in_full
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer, Request
from tests.openai_server.messages import chat

COUNT = 400
NEW = 60
NEWS = [f"s{number:03}" for number in range(COUNT, COUNT + NEW)]


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    """Claims that say whether they are true. Two people label all but the new ones; a cheap judge is right where it is
    far from a half, and a dear one, asked by a prompt, in 39 of 40."""
    world = make_world()
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    openai_server.answers(reply)
    rng, names = random.Random(4), [f"s{number:03}" for number in range(COUNT + NEW)]
    truth = {name: rng.random() < 0.5 for name in names}
    samples = add_samples(world.project, names, contexts=[{"text": "Some text."}])
    for name, sample in samples.items():
        sample.claims = [{"text": f"Claim {name} is {'true' if truth[name] else 'false'}."}]
    Sample.objects.bulk_update(samples.values(), ["claims"])
    support = the_criterion(world)
    rows = [(name, "claim:0", who, word(truth[name])) for name in names[:COUNT] for who in "xy"]
    add_labels(support, samples, rows)
    settle_imported(project=world.project, criterion=support, needed=2)
    drawn_in_full(support)
    add_judge(world.project, "cheap", samples, [(name, "claim:0", cheap(rng, truth[name])) for name in names])
    return world


def the_criterion(world: World) -> Criterion:
    (support,) = world.criteria("support")
    return support


def word(is_true: bool) -> str:
    return "yes" if is_true else "no"


def cheap(rng: random.Random, is_true: bool) -> float:
    """Beyond a quarter from a half it is right."""
    away = rng.uniform(0, 0.5)
    is_right = away > 0.25 or rng.random() < 0.6
    return round(0.5 + (away if is_true == is_right else -away), 3)


def reply(request: Request) -> Any:
    number, said = re.findall(r"Claim s(\d+) is (true|false)", request.prompt)[-1]
    is_true = (said == "true") != (int(number) % 40 == 7)
    return chat(json.dumps({"reason": "so", "value": word(is_true)}))


def dear_judge(world: World, *names: str) -> JudgeVersion:
    """Run on the labelled samples, or on those named."""
    version = llm_judge(world, "dear")
    named = list(names) or [f"s{number:03}" for number in range(COUNT)]
    run = worked(start_run(version=version, scope={"samples": named}))
    assert run.state == "done", run.stop_message
    return version


def looked(world: World) -> CascadeLook:
    return look_at_cascade(criterion=the_criterion(world), cheap="cheap", dear="dear", user=world.alice)


def test_one_look_tests_every_share_and_counts_with_all_others(world: World) -> None:
    dear_judge(world)
    support = the_criterion(world)
    look_at_test(criterion=support, judge_name="cheap")
    look = looked(world)
    assert (look.number, look.level) == (2, level_of_look(2))
    assert next_look(support) == 3
    assert looked(world) == look, "nothing has changed, so nothing is spent"
    result = look.result
    assert [one["agreement"] for one in result["certified"]] == list(AGREEMENTS)
    best = result["certified"][1]
    assert best["step"]["disagreement"]["high"] <= 0.15
    shares = best["step"]["shares"]
    assert shares["cheap"] > 0.4
    assert shares["cheap"] + shares["dear"] > 0.9
    # As all that is looked at, by a second source: the scores and people's labels themselves.
    threshold, (dev, test) = result["judges"][0]["threshold"], (look.samples["dev"], look.samples["test"])
    assert not {*dev} & {*test}
    scores = dict(Score.objects.filter(version=look.cheap).values_list("sample__external_id", "number"))
    sure = [name for name in test if abs(scores[name] - threshold) >= best["step"]["cheap"] * (1 - ROUNDING)]
    assert shares["cheap"] == pytest.approx(len(sure) / len(test))
    with pytest.raises(Conflict, match="number 3"):
        look_at_cascade(criterion=support, cheap="dear", dear="cheap", expected=2)
    with pytest.raises(Invalid, match="two different"):
        look_at_cascade(criterion=support, cheap="dear", dear="dear")
    with pytest.raises(Conflict, match="direction"):
        set_direction(judge=look.cheap.judge, higher_is_better=False)


def test_it_is_not_looked_at_with_a_judge_that_was_not_run_on_all(world: World) -> None:
    dear_judge(world, *(f"s{number:03}" for number in range(300)))
    with pytest.raises(Conflict, match="dear"):
        looked(world)
    assert not CascadeLook.objects.exists()


def test_unsettled_units_count_as_disagreement(world: World) -> None:
    dear_judge(world)
    support = the_criterion(world)
    before = looked(world).result
    samples = {sample.external_id: sample for sample in world.project.samples.all()}
    on_test = set(CascadeLook.objects.get().samples["test"])
    # What people pass, so that the two who are unsure leave it open.
    contested = [name for name in sorted(on_test) if "true." in samples[name].claims[0]["text"]][:30]
    add_labels(support, samples, [(name, "claim:0", who, "unsure") for name in contested for who in "uv"])
    settle_imported(project=world.project, criterion=support, needed=2)
    after = looked(world).result
    assert (before["unsettled"], after["unsettled"]) == (0, 30)
    assert after["units"] == before["units"]
    assert after["certified"][1]["step"] is None, "a sixth is unsettled"


def test_as_one_judge_it_asks_the_dear_one_only_where_it_is_needed(world: World, openai_server: OpenAIServer) -> None:
    dear_judge(world)
    look = looked(world)
    judge = use_cascade(look=look, agreement=0.85, name="both", actor=world.alice)
    version = current_version(judge)
    assert version is not None
    assert [member["comes"] for member in version.config["members"]] == [kind.STORED, kind.ASKED]
    assert version.endpoint is not None
    openai_server.forget()
    openai_server.answers(reply)
    estimate = estimate_run(version=version, scope={"samples": NEWS})
    run = worked(start_run(version=version, scope={"samples": NEWS}))
    assert run.state == "done"
    scores = dict(Score.objects.filter(version=look.cheap).values_list("sample__external_id", "number"))
    cut, threshold = look.result["certified"][1]["step"]["cheap"], look.result["judges"][0]["threshold"]
    needed = {name for name in NEWS if abs(scores[name] - threshold) < cut * (1 - ROUNDING)}
    asked = {re.findall(r"Claim (s\d+)", request.prompt)[-1] for request in openai_server.requests if request.is_chat}
    assert asked == needed
    assert 0 < len(needed) < NEW / 2 + 10
    assert estimate.asks == NEW
    assert abs(estimate.requests - len(needed)) < 15
    assert run.cost > 0
    said = {one.sample.external_id: one for one in Score.objects.filter(version=version).select_related("sample")}
    assert {name for name, one in said.items() if "“dear”" in one.rationale} == needed
    for name in NEWS:
        passes = scores[name] >= threshold
        if name not in needed:
            assert said[name].number == float(passes)
    # What the dear judge was asked before it is not asked again.
    openai_server.forget()
    assert worked(start_run(version=version, scope={"samples": sorted(look.samples["test"])})).state == "done"
    assert not openai_server.requests


def test_what_neither_is_sure_of_is_left_to_people_and_is_no_failure(world: World) -> None:
    """With a dear judge that has scores, of which it is not sure near its threshold."""
    rng = random.Random(9)
    samples = {sample.external_id: sample for sample in world.project.samples.all()}
    said = []
    for name, sample in samples.items():
        away = rng.uniform(0, 0.5)
        is_right = away > 0.2 or rng.random() < 0.5
        is_true = sample.claims[0]["text"].endswith("true.")
        said.append((name, "claim:0", round(0.5 + (away if is_true == is_right else -away), 3)))
    add_judge(world.project, "dear", samples, said)
    look = looked(world)
    judge = use_cascade(look=look, agreement=0.9, name="both")
    version = current_version(judge)
    assert version is not None
    assert version.endpoint is None
    run = worked(start_run(version=version, scope={"all": True}))
    assert (run.state, run.asks.exclude(status="ok").count()) == ("done", 0)
    left = set(
        Score.objects.filter(version=version, status=ScoreStatus.LEFT).values_list("sample__external_id", flat=True)
    )
    share = look.result["certified"][2]["step"]["shares"]["people"]
    assert len(left) / (COUNT + NEW) == pytest.approx(share, abs=0.08)
    assert len(left) > 0
    assert start_run(version=version, scope={"all": True}).planned == 0, "what is left to people is answered"
    found = left_by_cascade(version, reader=SYSTEM)
    assert set(found.rest) == left
    assert set(found.unlabelled) == {name for name in left if int(name[1:]) >= COUNT}
    assert found.samples == COUNT + NEW
    # To a user nothing of the test half is told.
    shown = left_by_cascade(version, reader=world.alice)
    assert set(shown.rest) == left - set(look.samples["test"])
    # Nor of what they still have to label.
    make_batch(world.project, [world.alice], samples=NEWS, criteria=[the_criterion(world)])
    shown = left_by_cascade(version, reader=world.alice)
    assert set(shown.rest) == left - set(look.samples["test"]) - set(NEWS)
    assert shown.shown == shown.samples - NEW - len(look.samples["test"])
    assert shown.held_back == NEW, "how many of them are left would tell of a single one"
    held = [one for one in Scores(version, reader=world.alice)[0:1000] if one.held_back]
    assert {one.sample.external_id for one in held} >= {*NEWS, *look.samples["test"]}
    assert {one.status for one in held} == {ScoreStatus.OK}
    assert cost_of(look.cheap).unit is None, "nobody knows what imported scores cost"
    assert cost_of(version).unit == 0


def test_a_judge_of_labels_decides_by_its_confidence(world: World, openai_server: OpenAIServer) -> None:
    """Both are asked at one endpoint, in one run; the small one is wrong where it is not sure."""

    def answer(request: Request) -> Any:
        if request.json["model"] != "small":
            return reply(request)
        number, said = re.findall(r"Claim s(\d+) is (true|false)", request.prompt)[-1]
        chance = 0.55 + int(number) % 9 / 20
        is_true = (said == "true") == (chance > 0.7 or int(number) % 2 == 0)
        tokens = ['{"reason": "so", "value": "', word(is_true), '"}']
        logs = [0.0, math.log(chance), 0.0]
        return chat("".join(tokens), logprobs=list(zip(tokens, logs, strict=True)))

    openai_server.answers(answer)
    dear_judge(world)
    small = llm_judge(world, "small", model="small", confidence="logprobs")
    named = {"samples": [f"s{number:03}" for number in range(COUNT)]}
    assert worked(start_run(version=small, scope=named)).state == "done"
    look = look_at_cascade(criterion=the_criterion(world), cheap="small", dear="dear")
    assert [one["by_confidence"] for one in look.result["judges"]] == [True, False]
    cut = look.result["certified"][1]["step"]["cheap"]
    assert 0.55 < cut <= 0.95
    version = current_version(use_cascade(look=look, agreement=0.85, name="both"))
    assert version is not None
    assert [member["comes"] for member in version.config["members"]] == [kind.ASKED, kind.ASKED]
    openai_server.forget()
    openai_server.answers(answer)
    assert worked(start_run(version=version, scope={"samples": NEWS})).state == "done"
    asked: dict[str, set[str]] = {"small": set(), "m": set()}
    for request in openai_server.requests:
        asked[request.json["model"]].add(re.findall(r"Claim (s\d+)", request.prompt)[-1])
    assert asked["small"] == set(NEWS)
    assert asked["m"] == {name for name in NEWS if 0.55 + int(name[1:]) % 9 / 20 < cut - 1e-6}


def test_a_cascade_is_only_what_a_look_certified(world: World) -> None:
    dear_judge(world)
    look = looked(world)
    config = {"criterion": "support", "look": look.number, "agreement": 0.85}
    for change, why in (
        ({"look": 7}, "No test evaluation"),
        ({"agreement": 0.86}, "certified nothing"),
        ({"members": []}, "Already set"),
        ({"sure": 1}, "Unknown field"),
    ):
        with pytest.raises(Invalid, match=why):
            create_judge(project=world.project, name="x", kind="cascade", config={**config, **change}, endpoint="main")
    version = current_version(use_cascade(look=look, agreement=0.85, name="both"))
    assert version is not None
    with pytest.raises(Conflict, match="both"):
        drop_version(version=look.dear)
    # At another endpoint the dear judge is another one.
    other = create_judge(
        project=world.project, name="elsewhere", kind="cascade", config=config, endpoint=elsewhere(world)
    )
    stopped = worked(start_run(version=other.versions.get(), scope={"samples": ["s401"]}))
    assert (stopped.state, stopped.stop_code) == ("stopped", "other_endpoint")


def elsewhere(world: World) -> str:
    main = world.project.endpoints.get()
    main.pk, main.name = None, "elsewhere"
    main.save()
    return "elsewhere"


def test_it_holds_until_people_say_otherwise(world: World) -> None:
    dear_judge(world)
    look = looked(world)
    version = current_version(use_cascade(look=look, agreement=0.85, name="both"))
    assert version is not None
    worked(start_run(version=version, scope={"samples": NEWS}))
    assert cascade_standing(version).ended is None
    support = the_criterion(world)
    samples = {sample.external_id: sample for sample in world.project.samples.all()}
    passes = dict(Score.objects.filter(version=version).values_list("sample__external_id", "number"))
    rows = [(name, "claim:0", who, word(not passes[name])) for name in NEWS if name in passes for who in "xy"]
    add_labels(support, samples, rows)
    settle_imported(project=world.project, criterion=support, needed=2)
    drawn_in_full(support)
    standing = cascade_standing(version)
    assert standing.ended is not None
    assert standing.ended[0] in ("drift", "drift_or_streak", "labels_undeclared")


def test_where_the_cheap_judge_has_no_answer_nobody_decides(world: World, openai_server: OpenAIServer) -> None:
    """The dear one might else decide what the cheap one would have been sure of, where its own agreement is not known.
    What nobody decided is neither right nor wrong when people label it."""
    samples = {sample.external_id: sample for sample in world.project.samples.all()}
    cheap = JudgeVersion.objects.get(judge__name="cheap")
    rows = Score.objects.filter(version=cheap).values_list("sample__external_id", "number")
    add_judge(world.project, "twin", samples, [(name, "claim:0", number) for name, number in rows])
    members = [{"judge": name, "dimension": "support"} for name in ("cheap", "twin")]
    config = {"criterion": "support", "members": members}
    both = create_judge(project=world.project, name="mean", kind="ensemble", config=config)
    worked(start_run(version=both.versions.get(), scope={"all": True}))
    dear_judge(world)
    look = look_at_cascade(criterion=the_criterion(world), cheap="mean", dear="dear")
    version = current_version(use_cascade(look=look, agreement=0.85, name="both"))
    assert version is not None
    Score.objects.filter(version=cheap, sample__external_id__in=NEWS).delete()
    openai_server.forget()
    worked(start_run(version=version, scope={"samples": NEWS}))
    assert set(Score.objects.filter(version=version).values_list("status", flat=True)) == {ScoreStatus.ERROR}
    assert not openai_server.requests
    support = the_criterion(world)
    add_labels(support, samples, [(name, "claim:0", who, "yes") for name in NEWS for who in "xy"])
    drawn_in_full(support)
    assert cascade_standing(version).ended is None


def test_evenly_split_labels_from_elsewhere_count_without_verdicts(transactional_db: None) -> None:
    world, rng = make_world(), random.Random(1)
    samples = add_samples(world.project, [f"s{number:03}" for number in range(300)], contexts=[{"text": "Some text."}])
    truth = {name: rng.random() < 0.5 for name in samples}
    split = {name for name in samples if rng.random() < 0.3}
    said = [(name, who, truth[name] != (who == "y" and name in split)) for name in samples for who in "xy"]
    add_labels(the_criterion(world), samples, [(name, "claim:0", who, word(value)) for name, who, value in said])
    drawn_in_full(the_criterion(world))
    for judge in ("cheap", "dear"):
        rows = [(name, "claim:0", 0.5 + (1 if truth[name] else -1) * rng.uniform(0.01, 0.5)) for name in samples]
        add_judge(world.project, judge, samples, rows)
    result = looked(world).result
    on_test = result["units"]
    assert abs(on_test - 150) < 30
    assert result["unsettled"] == pytest.approx(0.3 * on_test, abs=15)
    assert all(one["step"] is None for one in result["certified"])


def test_two_judges_of_stored_scores_need_no_endpoint(world: World) -> None:
    version = llm_judge(world, "dear", confidence="repeats")
    worked(start_run(version=version, scope={"samples": [f"s{number:03}" for number in range(COUNT)]}, repeats=2))
    made = current_version(use_cascade(look=looked(world), agreement=0.85, name="both"))
    assert made is not None
    assert made.endpoint is None
    assert [member["comes"] for member in made.config["members"]] == [kind.STORED, kind.STORED]


def test_a_report_says_of_every_pair_what_it_would_decide_on_dev(world: World) -> None:
    dear_judge(world)
    found = build_report(criterion=the_criterion(world)).result["cascades"]
    assert found["agreements"] == list(AGREEMENTS)
    pairs = {(one["cheap"], one["dear"]): one["levels"] for one in found["pairs"]}
    assert pairs.keys() == {("cheap", "dear"), ("dear", "cheap")}
    for level in pairs["cheap", "dear"]:
        assert level["cheap"] + level["dear"] + level["people"] == pytest.approx(1)
        assert level["cheap"] > 0.3
        assert level["disagreement"]["value"] <= 1 - level["agreement"] + 0.05


def test_rounding_is_that_of_regions() -> None:
    assert kind.ROUNDING == ROUNDING
