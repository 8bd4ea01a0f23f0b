"""A project that is deleted while a request is inside a view: the request is answered that there is none."""

from __future__ import annotations

import pytest
from django.db import IntegrityError
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import resolve
from django.utils import timezone
from rest_framework.test import APIClient

from annotate.models import Project
from annotate.projects.deletion import delete_waiting
from config.errors import server_error
from tests.annotate.factories import World, make_world, while_holding

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def sent_while_deleted(world: World, client: Client, method: str, url: str, data: dict[str, object]) -> HttpResponse:
    """The view has found the project and waits for its row, which another transaction then deletes."""
    client.raise_request_exception = False

    def delete() -> None:
        Project.objects.filter(pk=world.project.pk).update(deleting_at=timezone.now(), deleting_by=world.alice)
        assert delete_waiting(world.project.pk)

    reply: HttpResponse = while_holding(
        lambda: Project.objects.select_for_update().get(pk=world.project.pk),
        lambda: getattr(client, method)(url, data),
        then=delete,
    )
    assert not Project.objects.filter(pk=world.project.pk).exists()
    return reply


def test_a_page_is_not_found(world: World) -> None:
    client = Client()
    client.force_login(world.alice)
    data = {"name": "Desk", "guidelines": ""}
    reply = sent_while_deleted(world, client, "post", "/p/desk/settings/", data)
    assert reply.status_code == 404
    assert "Page not found" in reply.content.decode()


def test_the_api_says_so(world: World) -> None:
    client = APIClient()
    client.force_login(world.alice)
    reply = sent_while_deleted(world, client, "patch", "/api/projects/desk/", {"name": "Desk"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


def test_a_fault_in_a_project_that_is_there_stays_one(world: World) -> None:
    request = RequestFactory().get("/api/projects/desk/")
    request.resolver_match = resolve(request.path)
    try:
        raise IntegrityError
    except IntegrityError:
        assert server_error(request).status_code == 500
