"""Bias probes, run for real against a server on loopback whose model has a bias that is known."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from annotate.models import Sample
from annotate.projects.criteria import add_criteria
from judges.canaries.probes import NUMBERED, PROBES, probed, probes_for
from judges.canaries.read import flip_examples, latest_bias_check, probe_result
from judges.canaries.write import check_canaries, estimate_canaries
from judges.models import JudgeVersion, Run, Score
from tests.annotate.factories import World, make_sample, make_samples, make_world
from tests.clients import client_of
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer, Request

KEYED = {probe.key: probe for probe in PROBES}
_BETWEEN = re.compile(r"<(claim|answer|answer_b)-[0-9a-f]+>\n(.*?)\n</", re.DOTALL)
GROUPS = 42


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    """With a run's threads, which have connections of their own."""
    return asking(openai_server)


@pytest.fixture
def still(db: None, openai_server: OpenAIServer) -> World:
    return asking(openai_server)


def asking(openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    return world


def texts_in(request: Request) -> dict[str, str]:
    return dict(_BETWEEN.findall(request.prompt))


def chance_of(text: str, more: str = "") -> float:
    return int.from_bytes(hashlib.sha256(f"{text}{more}".encode()).digest()[:4]) / 2**32


def fair(request: Request) -> Any:
    """By the claim's own words, whatever stands around them."""
    name = re.search(r"Fact \d+", texts_in(request)["claim"])
    assert name is not None
    return {"reason": "so", "value": "yes" if chance_of(name[0]) < 0.4 else "no"}


def fond_of_length(request: Request) -> Any:
    """Passes whatever is long."""
    return {"reason": "long", "value": "yes"} if len(texts_in(request)["claim"]) > 60 else fair(request)


def claims(world: World, count: int = GROUPS) -> None:
    make_samples(world.project, count)
    for place, sample in enumerate(world.project.samples.order_by("pk")):
        sample.claims = [{"text": f"Fact {place} is in the leaflet."}]
        sample.save()


def biased_run(version: JudgeVersion, server: OpenAIServer, model: Callable[[Request], Any]) -> Run:
    server.answers(model)
    return worked(check_canaries(version=version, test="bias", samples=GROUPS, seed=1))


def test_a_judge_that_prefers_long_answers_is_found_and_one_that_does_not_is_not(
    world: World, openai_server: OpenAIServer
) -> None:
    claims(world)
    version = llm_judge(world)
    estimate = estimate_canaries(version=version, test="bias", samples=GROUPS, seed=1)
    run = biased_run(version, openai_server, fond_of_length)
    result = probe_result(run, reader=SYSTEM)
    found = {row["key"]: row for row in result["probes"]}
    # Each unit as it is, once more, and with six changes: no second answer to change places with.
    assert (run.purpose, run.state, run.planned, estimate.asks) == ("probes", "done", 8 * GROUPS, 8 * GROUPS)
    assert found.keys() == KEYED.keys() - {"again", "answers_swapped"}
    assert {key for key, row in found.items() if row["verdict"] == "more"} == {"filler"}
    effect, failing = found["filler"]["effect"], 1 - result["clean"]["passing"] / GROUPS
    assert effect["value"] == pytest.approx(failing)
    assert effect["low"] > 0.05
    assert result["level"] == pytest.approx(1 - 0.05 / 12)
    assert {row["again"]["value"] for row in result["probes"]} == {0.0}
    examples = flip_examples(run, reader=SYSTEM)
    assert {one["variant"] for one in examples["shown"]} == {"filler"}
    assert examples["shown"][0]["changed_reason"] == "long"
    # Nothing of it is a score.
    assert not Score.objects.exists()
    assert latest_bias_check(version) == run

    other = llm_judge(world, "fair", model="another")
    result = probe_result(biased_run(other, openai_server, fair), reader=SYSTEM)
    assert {row["effect"]["value"] for row in result["probes"]} == {0.0}
    assert {row["verdict"] for row in result["probes"]} == {"cannot_tell"}


def test_what_a_judge_says_otherwise_by_itself_is_no_bias(world: World, openai_server: OpenAIServer) -> None:
    claims(world)
    drawn = iter(range(10**6))

    def noisy(request: Request) -> Any:
        return {"reason": "so", "value": "yes" if chance_of("noise", str(next(drawn))) < 0.5 else "no"}

    result = probe_result(biased_run(llm_judge(world), openai_server, noisy), reader=SYSTEM)
    (again,) = {row["again"]["value"] for row in result["probes"]}
    assert 0.3 < again < 0.7
    assert all(row["flips"]["value"] > 0.3 for row in result["probes"])
    assert {row["verdict"] for row in result["probes"]} == {"cannot_tell"}


def test_the_first_of_two_answers(world: World, openai_server: OpenAIServer) -> None:
    """A judge of pairs that takes the first where both are alike, in a third of the pairs."""
    add_criteria(project=world.project, specs=["preference"])
    for place in range(GROUPS):
        make_sample(world.project, f"p{place}", answer=f"Fact {place}.", answer_b=f"Thing {place}.", claims=[])

    def takes_the_first(request: Request) -> Any:
        texts = texts_in(request)
        number = re.search(r"\d+", texts["answer"])
        assert number is not None
        if int(number[0]) % 3 == 0:
            return {"reason": "first", "value": "A"}
        if int(number[0]) % 3 == 1:
            return {"reason": "alike", "value": "tie"}
        return {"reason": "it is a fact", "value": "A" if texts["answer"].startswith("Fact") else "B"}

    prompt = "Which is better?\n{{answer}}\n{{answer_b}}\n{{options}}"
    version = llm_judge(world, "pairs", criterion="preference", template=None, prompt=prompt)
    result = probe_result(biased_run(version, openai_server, takes_the_first), reader=SYSTEM)
    swapped = next(row for row in result["probes"] if row["key"] == "answers_swapped")
    assert (swapped["effect"]["value"], swapped["flips"]["value"]) == pytest.approx((1 / 3, 1 / 3))
    assert swapped["verdict"] == "more"


def of(sample: Sample, version: JudgeVersion, key: str, unit: str = "claim:0") -> str:
    return str(probed(sample, version.config, unit, KEYED[key]).claims[0]["text"])


def test_each_change_in_the_language_of_the_text(still: World) -> None:
    version = llm_judge(still)
    sample = make_sample(still.project)
    claim = sample.claims[0]["text"]
    assert of(sample, version, "again") == claim
    assert of(sample, version, "filler").startswith(f"{claim} This is worth keeping in mind. ")
    assert of(sample, version, "repetition") == f"{claim}\n{claim}"
    assert of(sample, version, "markdown") == f"## Answer\n\n- **{claim}**"
    assert of(sample, version, "numbers") == f"{claim[:-1]} [{len(sample.contexts) + 1}]."
    assert of(sample, version, "names") == f"{claim[:-1]} (Smith, 2019)."
    reverse = probed(sample, version.config, "claim:0", KEYED["contexts_reversed"])
    assert reverse.contexts == sample.contexts[::-1]
    # Only the unit that is asked about; and the sample itself stays what it is.
    assert reverse.claims == sample.claims
    sample.refresh_from_db()
    assert sample.claims[0]["text"] == claim

    sample.question, sample.answer = "几点开门？", "九点开门。五点关门。"
    sample.claims[0]["text"] = "九点开门。五点关门。"
    assert of(sample, version, "filler").startswith("九点开门。五点关门。这一点值得留意。")
    assert of(sample, version, "markdown") == "## 回答\n\n- **九点开门。**\n- 五点关门。"
    assert of(sample, version, "names") == "九点开门（王伟，2019）。五点关门（李娜等，2021）。"

    sample.question, sample.answer = "Wann ist auf?", "Es ist um neun auf und wird um fünf geschlossen."
    sample.claims[0]["text"] = "Es ist um neun auf."
    asked = {probe.key for probe in probes_for(version.config, sample, "claim:0")}
    # Nothing that is empty is known in German; a heading neither.
    assert "filler" not in asked
    assert of(sample, version, "markdown") == "- **Es ist um neun auf.**"


def test_what_could_matter_is_not_changed(still: World) -> None:
    version = llm_judge(still)
    sample = make_sample(still.project)

    def asked() -> set[str]:
        return {probe.key for probe in probes_for(version.config, sample, "claim:0")}

    everything = KEYED.keys() - {"answers_swapped"}
    assert asked() == everything
    sample.answer = "It opens at nine [1]."
    assert asked() == everything - {"contexts_reversed"}
    sample.answer, sample.claims[0]["text"] = "It opens at nine.", "It opens at **nine** (Doe, 2011)."
    assert asked() == everything - {"markdown", "numbers", "names"}
    sample.contexts = sample.contexts[:1]
    assert "contexts_reversed" not in asked()
    # Key facts are looked for in the answer, and are no text that a system wrote.
    scores = [{"value": "y", "score": 1}, {"value": "n", "score": 0}]
    own = {"criterion": None, "dimension": "found", "unit": "fact", "template": None, "options": scores}
    facts = llm_judge(still, "facts", **own, prompt="{{key_fact}} in {{answer}}")
    sample.key_facts = ["It opens at nine."]
    changed = probed(sample, facts.config, "fact:0", KEYED["repetition"])
    assert (changed.answer, changed.key_facts) == (f"{sample.answer}\n{sample.answer}", sample.key_facts)
    assert [probe.number for probe in PROBES] == list(range(1, len(PROBES) + 1)) == list(NUMBERED)


def test_by_api(world: World, openai_server: OpenAIServer) -> None:
    openai_server.answers(fair)
    claims(world, 12)
    version = llm_judge(world)
    url = f"/api/projects/desk/judges/{version.judge_id}/canaries/"
    alice = client_of(world.alice)
    refused = alice.post(url, {"test": "length"}, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_test")
    made = alice.post(url, {"test": "bias", "samples": 12, "seed": 3}, format="json")
    assert made.status_code == 201, made.content
    assert (made.json()["purpose"], made.json()["result"]) == ("probes", None)
    worked(Run.objects.get())
    found = alice.get(f"{url}{made.json()['id']}/").json()
    assert found["bias"] == json.loads(json.dumps(probe_result(Run.objects.get(), reader=SYSTEM)))
    with pytest.raises(Invalid, match="samples"):
        check_canaries(version=version, test="bias", samples=1001)
