"""A project as a whole by API: archived and taken out again, duplicated, deleted; and a link to a new password."""

from __future__ import annotations

import pytest

from annotate.members.resets import find_reset
from annotate.models import Project, User
from annotate.projects.deletion import delete_waiting
from judges.core.requirement import require
from tests.annotate.factories import World, make_batch, make_sample, make_world
from tests.clients import client_of


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def test_a_project_is_archived_and_taken_out_again(world: World) -> None:
    make_sample(world.project)
    batch = make_batch(world.project, [world.ann])
    url = f"/api/projects/{world.project.slug}/"
    client = client_of(world.alice)
    for _again in range(2):
        reply = client.post(f"{url}archive/", {})
        assert (reply.status_code, reply.json()["slug"]) == (200, world.project.slug)
        assert reply.json()["archived_at"]
    batch.refresh_from_db()
    assert batch.status == "paused"
    assert client.patch(url, {"name": "Other"}).json()["error"]["code"] == "archived"
    assert client.post(f"{url}restore/", {}).json() == {"slug": world.project.slug, "archived_at": None}
    assert client.patch(url, {"name": "Other"}).status_code == 200


def test_a_duplicate_has_what_is_required_of_judges(world: World) -> None:
    grade = world.criteria("grade")[0]
    require(actor=world.alice, criterion=grade, measure="kappa", bar=0.6, risk=0.05, coverage=0.8)
    url = f"/api/projects/{world.project.slug}/duplicate/"
    User.objects.filter(pk=world.alice.pk).update(is_staff=False)
    assert client_of(User.objects.get(pk=world.alice.pk)).post(url, {"slug": "b", "name": "B"}).status_code == 403
    User.objects.filter(pk=world.alice.pk).update(is_staff=True)
    client = client_of(User.objects.get(pk=world.alice.pk))
    reply = client.post(url, {"slug": "b", "name": "B"})
    assert reply.status_code == 201
    assert (reply.json()["slug"], reply.json()["role"]) == ("b", "admin")
    assert Project.objects.get(slug="b").requirements.get().bar == 0.6
    assert client.post(url, {"slug": "b", "name": "B"}).status_code == 409
    assert client.post(url, {"slug": "c"}).status_code == 422


def test_a_project_is_deleted_by_its_name(world: World) -> None:
    url = f"/api/projects/{world.project.slug}/"
    client = client_of(world.alice)
    assert client.post(f"{url}deletion/", {"name": "Another"}).status_code == 422
    assert client.post(f"{url}deletion/", {"name": 7}).status_code == 422
    reply = client.post(f"{url}deletion/", {"name": world.project.name})
    assert reply.status_code == 202
    assert reply.json() == {"slug": world.project.slug, "name": world.project.name, "state": "being_deleted"}
    gone = client.get(url)
    assert (gone.status_code, gone.json()["error"]["code"]) == (403, "being_deleted")
    assert delete_waiting(world.project.pk)
    assert client.get(url).status_code == 404


def test_an_admin_makes_a_link_to_a_new_password(world: World) -> None:
    url = f"/api/projects/{world.project.slug}/members/{{}}/reset/"
    reply = client_of(world.alice).post(url.format(world.ann.username), {})
    assert reply.status_code == 201
    assert reply.json()["username"] == world.ann.username
    assert find_reset(reply.json()["link"].rstrip("/").rpartition("/")[2]).user == world.ann
    assert client_of(world.alice).post(url.format(world.alice.username), {}).status_code == 409
    assert client_of(world.alice).post(url.format("no-such-person"), {}).status_code == 404
    assert client_of(world.rita).post(url.format(world.ann.username), {}).status_code == 403
