"""Trials by API: started, listed, read, kept and dropped; by admins alone, with test closed."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotate.core.blindness import SYSTEM
from annotate.models import User
from annotate.projects.write import set_member
from judges.lab.read import trial_figures
from judges.models import JudgeVersion, Run, RunState, Trial
from judges.versions.write import create_judge
from tests.annotate.factories import make_batch
from tests.clients import client_of
from tests.database import copied_from_world
from tests.frontend.building import make_user
from tests.judges.lab.building import CLOSED, World, make_trial, trial_world

pytestmark = pytest.mark.django_db

CONFIG = {"measure": "token_overlap", "criterion": "support"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[World, User]:
    world, alice = trial_world("desk"), make_user("Alice")
    set_member(project=world.project, user=alice, role="admin")
    return world, alice


world = copied_from_world(0)


@pytest.fixture
def admin(_world: tuple[World, User], world: World) -> User:
    return _world[1]


@pytest.fixture
def alice(admin: User) -> APIClient:
    return client_of(admin)


def url_of(world: World, *more: Any, judge: int | None = None) -> str:
    parts = [f"/api/projects/desk/judges/{judge or world.judge.pk}/trials", *map(str, more)]
    return "/".join(parts) + "/"


def post(client: APIClient, url: str, data: Any = None) -> Any:
    return client.post(url, data or {}, format="json")


def test_start_list_keep_and_drop(world: World, alice: APIClient) -> None:
    world.project.samples.update(contexts=[{"id": "a", "text": "claim 1 stands here"}])
    judge = create_judge(project=world.project, name="overlap", kind="lexical", config=CONFIG)
    url = url_of(world, judge=judge.pk)
    asked = {"config": {**CONFIG, "share": "recall"}, "criterion": "support", "samples": 4, "seed": 7}
    made = post(alice, url, asked)
    assert made.status_code == 201, made.content
    trial = made.json()
    assert (trial["version"], trial["base"], trial["state"], trial["samples"]) == ("2", "1", "trial", 4)
    assert trial["is_under_way"] is True
    assert len(trial["runs"]) == 2
    assert alice.get(url).json()["results"] == [trial]
    here = url_of(world, trial["id"], judge=judge.pk)
    assert alice.get(here).json()["result"] is None
    under_way = post(alice, here + "keep/")
    assert (under_way.status_code, under_way.json()["error"]["code"]) == (409, "trial_under_way")
    Run.objects.update(state=RunState.DONE)
    assert post(alice, here + "keep/").json()["state"] == "kept"
    # Against what is in use now nothing is changed.
    assert post(alice, url, asked).json()["error"]["code"] == "nothing_changed"
    assert post(alice, here + "drop/").json()["state"] == "dropped"


def test_a_request_that_is_repeated_starts_one_trial(world: World, alice: APIClient) -> None:
    world.project.samples.update(contexts=[{"id": "a", "text": "claim 1 stands here"}])
    judge = create_judge(project=world.project, name="overlap", kind="lexical", config=CONFIG)
    asked = {"config": {**CONFIG, "share": "recall"}, "criterion": "support", "samples": 4}
    key = {"Idempotency-Key": str(uuid.uuid4())}

    def start(**more: Any) -> Any:
        reply = alice.post(url_of(world, judge=judge.pk), {**asked, **more}, format="json", headers=key).json()
        return reply.get("id") or reply["error"]["code"]

    first = start()
    assert start() == first
    assert [start(samples=5), start(seed=1), start(config=CONFIG), start(budget=1)] == 4 * ["key_reused"]
    assert alice.get(url_of(world, judge=judge.pk)).json()["count"] == 1


def test_what_it_shows(world: World, alice: APIClient) -> None:
    trial = make_trial(world)
    found = alice.get(url_of(world, trial.pk)).json()
    figures = trial_figures(trial, reader=SYSTEM).figures
    result = found["result"]
    assert found["tried"] == 1
    assert result["own"] == figures["own"]
    assert result["difference"] == figures["difference"]
    assert (result["outcome"]["code"], result["outcome"]["first"]) == ("second_agrees_more", "Version 1")
    assert result["counts"]["mended"] == figures["flips"]["only_second_right"]
    unit = result["flipped"][0]
    assert (unit["group"], unit["second_rationale"]) == ("mended", f"Version 2 on {unit['unit']} of {unit['sample']}.")
    assert unit["votes"][0]["evidence"] == [{"context": 1, "quote": "Paris"}]
    # The project doesn't show who said what.
    assert {vote["who"] for vote in unit["votes"]} == {"Annotator A", "Annotator B", "Annotator C"}
    assert set(found) - {"tried", "result"} == set(alice.get(url_of(world)).json()["results"][0])


def test_the_closed_half_is_in_no_reply(world: World, alice: APIClient) -> None:
    trial = make_trial(world, samples=[*world.samples])
    for url in (url_of(world), url_of(world, trial.pk), f"{url_of(world)}?limit=1"):
        text = alice.get(url).content.decode()
        assert CLOSED not in text
        assert not any(f'"{name}"' in text for name in world.test)


def test_who_still_has_to_label_is_not_told(world: World, alice: APIClient, admin: User) -> None:
    trial = make_trial(world)
    before = alice.get(url_of(world, trial.pk)).json()["result"]
    name = before["flipped"][0]["sample"]
    make_batch(world.project, [admin], samples=[name])
    after = alice.get(url_of(world, trial.pk)).json()["result"]
    assert name not in {unit["sample"] for unit in after["flipped"]}
    assert after["held_back"] >= 1
    assert after["own"] == before["own"]


def test_a_trial_of_another_judge_is_not_there(world: World, alice: APIClient) -> None:
    trial = make_trial(world)
    other = create_judge(project=world.project, name="other", kind="lexical", config=CONFIG)
    for more in ((), ("keep",), ("drop",)):
        url = url_of(world, trial.pk, *more, judge=other.pk)
        reply = post(alice, url) if more else alice.get(url)
        assert reply.status_code == 404
    assert JudgeVersion.objects.get(pk=world.version.pk).state == "trial"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"config": []}, "bad_judge"),
        ({"criterion": "none"}, "unknown_criterion"),
        ({"samples": 0}, "bad_number"),
        ({"samples": 10**6}, "bad_samples"),
        ({"seed": -1}, "bad_number"),
        ({"budget": "much"}, "bad_budget"),
        ({"budget": "NaN"}, "bad_budget"),
        ({"budget": True}, "bad_budget"),
        ({"version": 1}, "unknown_field"),
    ],
)
def test_what_is_refused(world: World, alice: APIClient, change: dict[str, Any], code: str) -> None:
    world.project.samples.update(contexts=[{"id": "a", "text": "claim 1 stands here"}])
    judge = create_judge(project=world.project, name="overlap", kind="lexical", config=CONFIG)
    asked = {"config": {**CONFIG, "share": "recall"}, "criterion": "support", **change}
    reply = post(alice, url_of(world, judge=judge.pk), asked)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, code)
    assert not Trial.objects.filter(version__judge=judge).exists()


def test_imported_judges_are_not_tried(world: World, alice: APIClient) -> None:
    reply = post(alice, url_of(world), {"config": {}, "criterion": "support"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "imported_judge")


@pytest.mark.parametrize("role", ["reviewer", "annotator"])
def test_admins_alone(world: World, role: str) -> None:
    trial, other = make_trial(world), make_user("Other")
    set_member(project=world.project, user=other, role=role)
    client = client_of(other)
    replies = [
        client.get(url_of(world)),
        post(client, url_of(world), {"config": {}, "criterion": "support"}),
        client.get(url_of(world, trial.pk)),
        post(client, url_of(world, trial.pk, "keep")),
        post(client, url_of(world, trial.pk, "drop")),
    ]
    assert [reply.status_code for reply in replies] == [403] * 5
