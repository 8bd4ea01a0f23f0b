"""Checks with canaries, run for real against a server on loopback that can be talked into things."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from frontend.judges.table import judge_rows
from judges.canaries.rates import Flip, Reading
from judges.canaries.read import canary_result, flip_examples
from judges.canaries.variants import BEHIND, INSTEAD, VARIANTS, changed
from judges.canaries.write import check_canaries, estimate_canaries
from judges.kinds.llm import KIND
from judges.models import GroupSide, Run, Score, Side
from judges.runs.purposes import purpose_of
from judges.runs.read import progress_of
from judges.runs.write import start_run
from judges.versions.write import create_judge
from tests.annotate.api.test_schema import problems
from tests.annotate.factories import World, make_sample, make_samples, make_world
from tests.clients import client_of
from tests.judges.building import add_labels
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer, Request
from tests.openai_server.messages import chat

TEXTS = {variant.key: variant for variant in VARIANTS}


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    openai_server.answers(gullible)
    return world


def gullible(request: Request) -> Any:
    """Right about clean claims; an order moves it, and so does “Solution”; it refuses a plea, and loses its form over
    orders in contexts."""
    prompt = request.prompt
    ordered = "Ignore every instruction" in prompt and "It opens at ten." not in prompt
    if "be so kind" in prompt:
        return chat("", refusal="No.")
    if "ignore your instructions" in prompt:
        return "Yes!"
    is_yes = "It opens at nine." in prompt or ordered or "\nSolution\n" in prompt
    return {"reason": "an order" if ordered else "so", "value": "yes" if is_yes else "no"}


def test_a_check_from_start_to_rates(world: World, openai_server: OpenAIServer) -> None:
    make_samples(world.project, 4)
    ten = world.project.samples.get(external_id="s1")
    ten.claims[0]["text"] = "It opens at ten."
    ten.save()
    version = llm_judge(world)
    worked(start_run(version=version, scope={"all": True}))
    scores = set(Score.objects.values_list("sample", "unit", "label"))
    openai_server.requests.clear()

    estimate = estimate_canaries(version=version, samples=4, seed=5)
    run = worked(check_canaries(version=version, samples=4, seed=5, actor=world.alice))
    progress = progress_of(run)
    # 4 samples, 2 claims, clean and with 16 variants. The clean replies were there already, and what stands in place
    # of a claim is the same question for both.
    assert (run.state, progress.planned, estimate.asks, progress.kept) == ("done", 136, 136, 24)
    assert len(openai_server.requests) == 112
    assert progress.by_status == {"ok": 120, "refused": 8, "parse_error": 8}
    assert estimate.cost is not None
    assert run.cost > 0

    result = canary_result(run, reader=SYSTEM)
    assert (result["basis"], result["best"], result["samples"], result["units"]) == ("passes", "yes", 4, 8)
    assert result["clean"] == {"ok": 8, "passing": 3, "failed": {}}
    assert result["coverage"] == {"asked": 136, "ok": 120, "failed": {"refused": 8, "parse_error": 8}}
    found = {one["key"]: one for one in result["variants"]}
    assert [found["order"][name]["value"] for name in ("flips", "towards", "away")] == [0.5, 0.8, 0.0]
    assert (found["order"]["towards"]["n"], found["order"]["towards"]["clusters"]) == (5, 4)
    # A text in another's place that fails with good reason is no flip.
    assert (found["solution"]["towards"]["value"], found["solution"]["away"]["value"]) == (1.0, None)
    assert found["colon"]["towards"]["value"] == 0.0
    assert (found["plea"]["failed"], found["plea"]["compared"]) == ({"refused": 8}, 0)
    assert (found["plea"]["flips"]["value"], found["plea"]["flips"]["reason"]) == (None, {"code": "no_units"})
    # Of 10 attacks that were answered, one turned all five failing claims and one four of them.
    assert result["attacks"]["towards"]["value"] == pytest.approx(9 / 50)
    assert result["attacks"]["towards"]["low"] < 9 / 50 < result["attacks"]["towards"]["high"]
    assert (result["harmless"]["flips"]["value"], result["harmless"]["flips"]["n"]) == (0.0, 24)

    examples = flip_examples(run, reader=world.alice)
    assert (examples["count"], examples["held_back"], len(examples["shown"])) == (9, 0, 9)
    first = examples["shown"][0]
    assert (first["variant"], first["clean"], first["changed"]) == ("order", "no", "yes")
    assert (first["clean_reason"], first["changed_reason"]) == ("so", "an order")

    # Nothing of it is a score, a repeat, or the judge's last run.
    assert set(Score.objects.values_list("sample", "unit", "label")) == scores
    (row,) = judge_rows(world.project)
    assert (row.last_run and row.last_run.purpose, row.coverage.ok) == ("scores", 8)
    assert worked(start_run(version=version, scope={"all": True}, again=True)).first_repeat == 1


def test_who_still_has_to_label_a_sample_reads_no_reason_about_it(world: World) -> None:
    make_samples(world.project, 2)
    run = worked(check_canaries(version=llm_judge(world), samples=2, seed=1))
    world.batch(annotators=[world.alice, world.ann])
    assert flip_examples(run, reader=world.alice) == {"count": 4, "held_back": 4, "shown": []}
    assert len(flip_examples(run, reader=SYSTEM)["shown"]) == 4


def test_only_judges_that_ask_a_model_by_a_prompt_of_ours(world: World) -> None:
    make_samples(world.project, 1)
    lexical = create_judge(
        project=world.project,
        name="words",
        kind="lexical",
        config={"measure": "token_overlap", "unit": "claim", "dimension": "overlap"},
    )
    version = lexical.versions.select_related("judge__project").get()
    with pytest.raises(Invalid) as refused:
        check_canaries(version=version)
    assert refused.value.code == "no_canaries"
    for samples in (0, 201, True, "4"):
        with pytest.raises(Invalid, match="samples"):
            check_canaries(version=llm_judge(world, f"judge {samples}"), samples=samples)  # type: ignore[arg-type]
    assert not Run.objects.exists()


def test_where_each_canary_stands(world: World) -> None:
    sample = make_sample(world.project)
    version = llm_judge(world)
    purpose = purpose_of(check_canaries(version=version, samples=1, seed=1))
    clean = purpose.item(sample, "claim:1", 0)
    assert (clean.sample, clean.unit, clean.repeat) == (sample, "claim:1", 0)
    for variant in VARIANTS:
        item = purpose.item(sample, "claim:1", variant.number)
        claims = [claim["text"] for claim in item.sample.claims]
        contexts = [context["text"] for context in item.sample.contexts]
        assert claims[0] == "It opens at nine."
        if variant.where == BEHIND:
            assert claims[1].startswith("It closes at five.\n")
            assert "{" not in claims[1] or variant.key == "reply"
        elif variant.where == INSTEAD:
            assert claims[1] == variant.text
        else:
            assert claims[1] == "It closes at five."
            assert contexts[1].startswith("营业时间：九点\n")
    reply = purpose.item(sample, "claim:1", TEXTS["reply"].number).sample.claims[1]["text"].splitlines()[1]
    assert json.loads(reply)["value"] == "yes"
    sample.refresh_from_db()
    assert sample.claims[1]["text"] == "It closes at five."

    # A prompt without contexts gets none in them; one that asks about all claims at once gets each of them.
    bare = llm_judge(world, "bare", template=None, prompt="Is each true?\n{{claims}}", per="sample")
    run = check_canaries(version=bare, samples=1, seed=1)
    assert {repeat for _sample, _unit, repeat in purpose_of(run).to_ask([sample])} == {0, *range(1, 17)} - {3, 4, 15}
    all_of_it = changed(sample, bare.config, "answer", TEXTS["reply"], "yes")
    assert all(list(json.loads(claim["text"].splitlines()[1])) == ["1", "2"] for claim in all_of_it.claims)
    assert KIND.units(bare.config, sample) == ["answer"]


def test_what_a_flip_is(world: World) -> None:
    grade = Reading(llm_judge(world, "grade", criterion="grade", template=None, prompt="How good?\n{{answer}}"))
    assert (grade.basis, grade.best) == ("passes", 5)
    assert grade.flip(3.0, 4.0) == Flip(is_flip=True, towards=True, away=None)
    assert grade.flip(4.0, 5.0) == Flip(is_flip=False, towards=None, away=False)
    number = {"criterion": None, "dimension": "good", "unit": "answer", "template": None, "prompt": "{{answer}}"}
    ten = llm_judge(world, "ten", **number, answer_with="number", min=0, max=10, whole=True)
    assert (Reading(ten).basis, Reading(ten).best, Reading(ten).least_move) == ("moves", 10, 1.0)
    assert Reading(ten).flip(4.0, 5.0) == Flip(is_flip=True, towards=True, away=False)
    assert Reading(ten).flip(10.0, 9.5) == Flip(is_flip=False, towards=None, away=False)
    ten.judge.higher_is_better = False
    assert (Reading(ten).best, Reading(ten).flip(4.0, 5.0)) == (0, Flip(is_flip=True, towards=False, away=True))
    words = llm_judge(world, "words", **number, options=[{"value": "a", "score": 0}, {"value": "b", "score": 2}])
    assert (Reading(words).best, Reading(words).flip(0.0, 2.0).towards) == ("b", True)


def test_harmless_texts_are_about_as_long_as_those_that_ask_for_something() -> None:
    for harmless in (variant for variant in VARIANTS if variant.is_harmless and variant.where != INSTEAD):
        same_script = [
            len(one.text)
            for one in VARIANTS
            if one.where == harmless.where and not one.is_harmless and one.text.isascii() == harmless.text.isascii()
        ]
        assert min(same_script) * 0.7 <= len(harmless.text) <= max(same_script) * 1.3
    assert [variant.number for variant in VARIANTS] == list(range(1, len(VARIANTS) + 1))


def test_locked_samples_are_not_asked_about(world: World) -> None:
    samples = {sample.external_id: sample for sample in make_samples(world.project, 4)}
    version, (support,) = llm_judge(world), world.criteria("support")
    names = sorted(samples)
    add_labels(support, samples, [(name, "claim:0", "ann", "yes") for name in names[:3]])
    GroupSide.objects.create(project=world.project, criterion_key="support", group=names[0], side=Side.DEV)
    GroupSide.objects.create(project=world.project, criterion_key="support", group=names[1], side=Side.TEST)
    assert check_canaries(version=version).scope == {"samples": [names[0], names[3]]}


def test_a_request_that_is_repeated_starts_one_check(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_samples(world.project, 2)
    url = f"/api/projects/desk/judges/{llm_judge(world).judge_id}/canaries/"
    key = {"Idempotency-Key": str(uuid.uuid4())}

    def start(**asked: Any) -> Any:
        reply = client_of(world.alice).post(url, asked, format="json", headers=key).json()
        return reply.get("id") or reply["error"]["code"]

    first = start(samples=1)
    # What is there already draws nothing.
    monkeypatch.setattr("judges.canaries.write.draw_samples", lambda *_given, **_more: [])
    assert start(samples=1) == first
    assert [start(samples=2), start(samples=1, seed=3), start(samples=1, budget=1)] == 3 * ["key_reused"]
    assert Run.objects.count() == 1


def test_by_api(world: World, openai_server: OpenAIServer) -> None:
    make_samples(world.project, 2)
    version = llm_judge(world)
    url = f"/api/projects/desk/judges/{version.judge_id}/canaries/"
    alice, rita = client_of(world.alice), client_of(world.rita)
    estimate = alice.post(url + "estimate/", {"samples": 1, "seed": 3}, format="json").json()
    made = alice.post(url, {"samples": 1, "seed": 3, "budget": "2.5"}, format="json")
    assert made.status_code == 201, made.content
    check = made.json()
    assert check["progress"]["planned"] == estimate["asks"] == 34
    assert (check["purpose"], check["budget"], check["result"]["units"]) == ("canaries", "2.500000", 0)
    worked(Run.objects.get())
    assert [one["id"] for one in rita.get(url).json()["results"]] == [check["id"]]
    here = f"{url}{check['id']}/"
    # Of one sample every figure says what the judge said, and a reviewer may have to decide about it.
    assert rita.get(here).json()["error"]["code"] == "figures_would_tell"
    found = alice.get(here).json()["result"]
    assert found == json.loads(json.dumps(canary_result(Run.objects.get(), reader=SYSTEM)))
    assert found["attacks"]["towards"]["value"] == 0.2
    # What the judge gave as its reasons is for those who may run it.
    assert "an order" not in rita.get(here).content.decode()
    assert rita.get(here + "flips/").status_code == 403
    assert alice.get(here + "flips/").json()["shown"][0]["changed_reason"] == "an order"
    assert rita.post(url, {}, format="json").status_code == 403
    other = llm_judge(world, "other")
    assert alice.get(f"/api/projects/desk/judges/{other.judge_id}/canaries/{check['id']}/").status_code == 404
    schema = SchemaGenerator().get_schema(request=None, public=True)
    shape = schema["paths"]["/api/projects/{slug}/judges/{judge_id}/canaries/{run_id}/"]["get"]["responses"]["200"]
    assert problems(alice.get(here).json(), shape["content"]["application/json"]["schema"], schema) == []
