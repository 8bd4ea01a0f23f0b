"""What a version has of people's labels, and every door through which that could be read by who still labels them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotate.projects.write import set_member
from judges.aligning.candidates import WHOLE
from judges.models import Alignment, JudgeVersion
from judges.versions.learned_read import learned_by, learned_if_aligned
from judges.versions.read import learned_for
from judges.versions.specs import judge_from_spec
from judges.versions.write import add_version
from tests.annotate.factories import World, make_batch, make_samples, make_world
from tests.clients import as_user, client_of
from tests.judges.runs.building import endpoint_at, llm_judge
from tests.openai_server import OpenAIServer

PROMPT = "Is it so?\n{{rules}}\n{{options}}\n{{claim}}"
SECRET = "A zebra crossing is no support."


@pytest.fixture
def world(db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main")
    make_samples(world.project, 4)
    return world


def judge(world: World, *rules: str) -> JudgeVersion:
    return llm_judge(world, template=None, prompt=PROMPT, rules=list(rules))


def aligned(base: JudgeVersion, **rules: str) -> Alignment:
    """rules: by the samples that they come from, what a model found there."""
    of = Alignment.objects.create(
        base=base, criterion=base.judge.project.criteria.get(key="support"), dimension="support", seed=1, units=[],
        step="done", result={},
    )  # fmt: skip
    for sample, text in rules.items():
        of.rules.create(proposed=text, text=text, sources=[[sample, "claim:0"]], groups=1)
    return of


def following(version: JudgeVersion, *rules: str) -> JudgeVersion:
    config = {**version.config, "rules": list(rules)}
    return add_version(judge=version.judge, config=config, endpoint="main", based_on=version)


def sources(version: JudgeVersion) -> dict[str, set[str]]:
    return {text: set(samples) for text, samples in learned_by(version).rules.items()}


def test_where_rules_come_from(world: World) -> None:
    base = judge(world, "Names agree.")
    assert sources(base) == {}
    of = aligned(base, s0="Dates agree.", s1="Prices agree.")
    tried = following(base, "Names agree.", "Dates agree.", "Prices agree.")
    # The judge's own rule was there before.
    assert sources(base) == {}
    assert sources(tried) == {"Dates agree.": {"s0"}, "Prices agree.": {"s1"}}
    # In other words, by the form or in the alignment, it may be any of those that are there no more.
    reworded = following(tried, "Names agree.", "Dates must agree.", "Prices agree.")
    assert sources(reworded) == {"Dates must agree.": {"s0"}, "Prices agree.": {"s1"}}
    of.rules.filter(text="Dates agree.").update(text="All dates agree.")
    of.rules.filter(text="Prices agree.").update(text="All prices agree.", proposed="No price.")
    assert sources(tried) == {"Dates agree.": {"s0"}, "Prices agree.": {"s1"}}
    # As another judge of the project, made from a file.
    copy = judge_from_spec(
        project=world.project,
        spec={"name": "copy", "kind": "llm", "endpoint": "main", "config": {**base.config, "rules": ["No price."]}},
    )
    assert sources(copy.version) == {"No price.": {"s1"}}


def test_figures_on_dev_of_what_an_alignment_made(world: World) -> None:
    base = judge(world, "Names agree.")
    of = aligned(base, s1="Dates agree.", s2="Dates agree.")
    assert learned_if_aligned(base) == {}
    assert learned_if_aligned(following(base, "Dates agree.")) == {"rules": 1, "examples": 0, "samples": 2}
    drawn = [{"sample": f"s{n}", "unit": "claim:0", "value": "yes", "shows": {"claim": "So."}} for n in (3, 4)]
    examples = {"count": 2, "seed": 1, "drawn": drawn, "drawn_with": {"count": 2, "seed": 1}}
    base.config = {**base.config, "examples": examples}
    # Drawn alone they are asked about by nobody.
    assert learned_if_aligned(base) == {}
    of.candidates = [
        {"name": "hard", "parts": {str(WHOLE): {"examples": [[f"s{n}", "claim:0", "yes", ""] for n in (3, 4)]}}}
    ]
    of.save()
    assert learned_if_aligned(base) == {"rules": 0, "examples": 2, "samples": 2}


def page_of(client: Client, address: str) -> str:
    reply = client.get(address)
    assert reply.status_code == 200
    return reply.content.decode()


def test_who_still_labels_what_a_rule_comes_from_reads_it_nowhere(world: World) -> None:
    base = judge(world, "Names agree.")
    aligned(base, s1=SECRET, s2="Prices agree.")
    version = following(base, SECRET, "Prices agree.")
    make_batch(world.project, [world.rita, world.alice], samples=["s1"], criteria=world.criteria("support"))
    place = f"judges/{version.judge_id}"
    pages = [
        f"{place}/", f"{place}/?version=2", f"{place}/diff/?from=1&to=2", f"{place}/edit/", f"{place}/lab/",
    ]  # fmt: skip
    set_member(project=world.project, user=world.chen, role="admin")
    for person, may in ((world.alice, False), (world.chen, True)):
        for address in pages:
            assert (SECRET in page_of(as_user(person), f"/p/desk/{address}")) is may, address
        told = client_of(person).get(f"/api/projects/desk/{place}/versions/2/").json()
        assert told["config"]["rules"] == ([SECRET, "Prices agree."] if may else None)
        changes = client_of(person).get(f"/api/projects/desk/{place}/versions/diff/?older=1&newer=2").json()
        assert (SECRET in json.dumps(changes)) is may
        for to in ("json", "ragas"):
            status = 200 if may else 403
            for client, where in ((client_of(person), "/api/projects/desk"), (as_user(person), "/p/desk")):
                assert client.get(f"{where}/{place}/versions/2/export/?to={to}").status_code == status
        shown = learned_for(version, reader=person)
        assert shown is not None
        assert shown.rules == 2
        assert (shown.sources is not None) is may
    assert "2, hidden until" in page_of(as_user(world.rita), f"/p/desk/{place}/")


def test_hidden_rules_stay_when_the_judge_is_edited(world: World) -> None:
    base = judge(world, "Names agree.")
    aligned(base, s1=SECRET)
    version = following(base, SECRET)
    make_batch(world.project, [world.alice], samples=["s1"], criteria=world.criteria("support"))
    address = f"/p/desk/judges/{version.judge_id}/edit/"
    form = as_user(world.alice).get(address).context["config"]
    given: dict[str, Any] = {field.html_name: field.value() for field in form}
    given = {name: value for name, value in given.items() if value is not None and value is not False}
    given |= {"config-temperature": "0.5", "config-rules": "Another rule.", "state": "kept"}
    reply = as_user(world.alice).post(address, given)
    assert reply.status_code == 302, reply.context["config"].errors
    saved = version.judge.versions.order_by("-number")[0]
    assert (saved.number, saved.config["rules"], saved.config["temperature"]) == (3, [SECRET], 0.5)
