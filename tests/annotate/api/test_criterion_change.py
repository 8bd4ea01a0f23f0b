"""Criteria evolve over the API, and what is done over it names who did it."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Batch, Label
from tests.annotate.factories import TRISTATE, World, finish, make_sample
from tests.clients import client_of

CRITERION = {name: value for name, value in TRISTATE.items() if name != "key"}
WITHOUT_NO = {**CRITERION, "options": [{"value": "yes"}, {"value": "unsure"}]}


@pytest.fixture
def labelled(world: World) -> World:
    make_sample(world.project)
    batch = world.batch(criteria=["support"], annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann), support="yes")
    finish(batch.tasks.get(annotator=world.ben), support="no")
    return world


def post(world: World, path: str, body: Any) -> Any:
    return client_of(world.alice).post(f"/api/projects/desk/criteria/support/{path}/", body, format="json")


def test_what_was_done_over_the_api_names_who_did_it(world: World) -> None:
    client = client_of(world.alice)
    client.put("/api/projects/desk/members/charlie/", {"role": "annotator"}, format="json")
    client.patch("/api/projects/desk/", {"name": "Desk"}, format="json")
    rows = client.get("/api/projects/desk/audit/", {"person": "alice", "limit": 2}).json()["results"]
    assert [(row["action"], row["subject"]) for row in rows] == [
        ("project.changed", "Desk"),
        ("member.added", "charlie"),
    ]


def test_the_impact_is_a_dry_run(labelled: World) -> None:
    reply = post(labelled, "impact", {"criterion": WITHOUT_NO})
    assert reply.status_code == 200, reply.content
    found = reply.json()
    assert (found["labels"], found["touched"], found["untouched"]) == (4, 2, 2)
    assert {row["value"]: row["touched"] for row in found["values"]} == {"yes": False, "no": True, "unsure": False}
    assert [(option["value"], option["kind"]) for option in found["change"]["options"]] == [("no", "removed")]
    assert found["people"] == [{"rater": "ben", "touched": 2, "samples": 1, "can_redo": True}]
    assert labelled.project.criteria.filter(key="support").count() == 1


def test_a_version_is_made_and_then_relabelled(labelled: World) -> None:
    client = client_of(labelled.alice)
    client.post("/api/projects/desk/criteria/", [{"key": "support", **WITHOUT_NO}], format="json")
    reply = post(labelled, "relabel", {"from_version": 1, "due_date": "2099-01-01"})
    assert reply.status_code == 200, reply.content
    batch = Batch.objects.get(relabels__isnull=False)
    assert reply.json() == {
        "criterion": "support", "version": 2, "carried": 2, "verdicts": 0, "asked": 2, "left": 0,
        "waiting": 0, "known_answers": 0, "batch": batch.number,
    }  # fmt: skip
    again = post(labelled, "relabel", {"from_version": 1}).json()
    assert (again["batch"], again["carried"]) == (batch.number, 0)
    versions = client.get("/api/projects/desk/criteria/support/versions/").json()
    assert [(row["version"], row["labels"], row["carried"], row["relabelled_in"]) for row in versions] == [
        (2, 2, 2, None),
        (1, 4, 0, batch.number),
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"from_version": 2}, "other_criterion"),
        ({"from_version": 9}, "unknown_version"),
        ({"from_version": 1, "maybe_new": "yes"}, "bad_maybe_new"),
        ({"from_version": 1, "same_meaning": 1}, "bad_same_meaning"),
        ({"from_version": 1, "same_meaning": True}, "no_reason"),
        ({"from_version": 1, "hand_to": []}, "bad_hand_to"),
        ({"from_version": 1, "hand_to": {"zebra": "ann"}}, "unknown_rater"),
        ({"from_version": 1, "hand_to": {"ann": "zebra"}}, "unknown_user"),
        ({"from_version": 1, "hand_to": {"ann": "charlie"}}, "unknown_user"),  # an account elsewhere
        ({"from_version": 1, "due_date": "soon"}, "bad_date"),
        ({"from_version": 1, "due_date": "2000-01-01"}, "past_due_date"),
    ],
)
def test_a_relabelling_that_makes_no_sense_is_refused(labelled: World, body: dict[str, Any], code: str) -> None:
    client = client_of(labelled.alice)
    client.post("/api/projects/desk/criteria/", [{"key": "support", **WITHOUT_NO}], format="json")
    before = Label.objects.count()
    reply = post(labelled, "relabel", body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, code)
    assert Label.objects.count() == before
