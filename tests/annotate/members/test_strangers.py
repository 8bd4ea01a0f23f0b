"""An admin of a project learns nothing about accounts that never had a part in it: not even that there are such."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.models import User
from tests.annotate.factories import World, make_batch, make_samples
from tests.clients import client_of

ELSEWHERE, NOWHERE = "dora", "nobody-at-all"


def said(world: World, method: str, path: str, name: str) -> tuple[int, str]:
    """With the name wherever it stands, and taken out of the answer."""
    body = json.loads(json.dumps(BODIES.get((method, path), {})).replace("NAME", name))
    url = f"/api/projects/{world.project.slug}/{path.replace('NAME', name)}"
    reply = client_of(world.alice).generic(method, url, json.dumps(body), content_type="application/json")
    return reply.status_code, reply.content.decode().replace(name, "NAME")


BATCH = {"name": "B", "criteria": ["grade"], "annotators": ["NAME"], "overlap": 1, "selection": {"method": "all"}}
BODIES: dict[tuple[str, str], Any] = {
    ("PATCH", "members/NAME/"): {"role": "reviewer"},
    ("PATCH", "members/ann/"): {"is_active": False, "hand_on_to": ["NAME"]},
    ("POST", "members/ann/hand-on/"): {"to": ["NAME"]},
    ("POST", "batches/"): BATCH,
    ("POST", "batches/1/extend/"): {"annotators": ["NAME"]},
    ("POST", "tasks/reassign/"): {"tasks": [1], "to": "NAME"},
    ("POST", "criteria/grade/relabel/"): {"from_version": 1, "hand_to": {"ann": "NAME"}},
}
ASKED = [*BODIES, ("DELETE", "members/NAME/"), ("POST", "members/NAME/hand-on/"), ("GET", "audit/?person=NAME"),
         ("GET", "batches/1/tasks/?annotator=NAME")]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_an_account_elsewhere_is_answered_like_none(world: World, method: str, path: str) -> None:
    make_samples(world.project, 2)
    make_batch(world.project, [world.ann])
    User.objects.filter(username=ELSEWHERE).update(display_name="Dora of another house")
    elsewhere, nowhere = (said(world, method, path, name) for name in (ELSEWHERE, NOWHERE))
    assert elsewhere == nowhere
    assert elsewhere[0] in (200, 404, 409, 422)
    assert "Dora" not in elsewhere[1]


def test_who_was_a_member_is_still_known(world: World) -> None:
    path = f"/api/projects/{world.project.slug}/members/ben/"
    assert client_of(world.alice).delete(path).status_code == 204
    assert client_of(world.alice).delete(path).status_code == 204
