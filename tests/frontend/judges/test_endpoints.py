"""Endpoints on their pages: described, tried, changed, deleted; and never a key in what a browser gets."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.models import Project
from judges.endpoints.write import create_endpoint
from judges.models import Endpoint, Judge, JudgeVersion
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.conftest import Staff, make_help_desk, make_staff
from tests.openai_server import OpenAIServer, Reply, chat, error

KEY = "sk-planted-0123456789abcdef"
AT = "/p/help/judges/endpoints/"
NOWHERE = "http://127.0.0.1:1/v1"


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[Staff, Project]:
    staff = make_staff()
    return staff, make_help_desk(staff)


staff = copied_from_world(0)
project = copied_from_world(1)


@pytest.fixture
def admin(staff: Staff, project: Project) -> Client:
    return as_user(staff.alice)


def form(**fields: Any) -> dict[str, Any]:
    return {
        "base_url": NOWHERE,
        "key_source": "none",
        "concurrency": 8,
        "timeout_seconds": 60,
        "currency": "USD",
        **fields,
    }


def text(reply: Any) -> str:
    return reply.content.decode()


def test_none_yet_then_one(admin: Client, project: Project) -> None:
    assert "No endpoints yet" in text(admin.get(AT))
    made = admin.post(AT + "new/", form(name="local", key_source="stored", key=KEY, price_in="0.150"))
    assert (made.status_code, made["Location"]) == (302, AT + "edit/local/")
    page = text(admin.get(AT + "edit/local/"))
    assert "key ends in cdef" in page
    assert 'value="0.15"' in page
    assert "127.0.0.1:1" in text(admin.get(AT))
    endpoint = Endpoint.objects.get()
    assert (endpoint.created_by, endpoint.key_source) == (project.memberships.get(role="admin").user, "stored")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"base_url": "http://10.0.0.1/v1"}, "The server administrator can allow it"),
        ({"base_url": "http://169.254.169.254/"}, "is not allowed"),
        ({"name": "Ours!"}, "at most 60 lowercase letters"),
        ({"name": "taken"}, "Endpoint “taken” already exists"),
        ({"key": KEY}, "Choose to store it"),
        ({"key_source": "stored"}, "Key: required"),
        ({"key_variable": "JUDGE_KEY_A"}, "Choose the environment"),
        ({"key_source": "environment", "key_variable": "DATABASE_URL"}, "must be JUDGE_KEY_"),
        ({"concurrency": 0}, "greater than or equal to 1"),
        ({"currency": "12€"}, "three letters"),
    ],
)
def test_what_can_not_be_taken_is_said_beside_its_field(
    admin: Client, project: Project, fields: dict[str, Any], words: str
) -> None:
    create_endpoint(project=project, name="taken", base_url=NOWHERE)
    reply = admin.post(AT + "new/", form(**{"name": "local", **fields}))
    assert reply.status_code in (409, 422)
    assert words in text(reply)
    assert KEY not in text(reply)
    assert Endpoint.objects.count() == 1


def test_a_change(admin: Client, project: Project) -> None:
    endpoint = create_endpoint(project=project, name="local", base_url=NOWHERE, key=KEY)
    at = AT + "edit/local/"
    assert admin.post(at, form(revision=1, key_source="stored", concurrency=3)).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.concurrency, endpoint.key_source, endpoint.revision) == (3, "stored", 2)
    stale = admin.post(at, form(revision=1, concurrency=4), follow=True)
    assert "changed in the meantime" in text(stale)
    moved = admin.post(at, form(revision=2, base_url="http://127.0.0.1:2/v1", key_source="stored"))
    assert moved.status_code == 422
    assert "The key belongs to another host" in text(moved)
    endpoint.refresh_from_db()
    assert (endpoint.concurrency, endpoint.base_url) == (3, NOWHERE)


def test_a_variable_that_stood_in_the_form_is_confirmed_for_another_host(admin: Client, project: Project) -> None:
    create_endpoint(project=project, name="local", base_url=NOWHERE, key_variable="JUDGE_KEY_A")
    at, fields = AT + "edit/local/", {"key_source": "environment", "key_variable": "JUDGE_KEY_A", "revision": 1}
    assert "confirms_key" not in text(admin.get(at))
    moved = form(base_url="http://127.0.0.1:2/v1", **fields)
    asked = admin.post(at, moved)
    assert (asked.status_code, "confirms_key" in text(asked)) == (422, True)
    assert admin.post(at, {**moved, "confirms_key": "on"}).status_code == 302
    assert Endpoint.objects.get().base_url == "http://127.0.0.1:2/v1"


def test_trying_it(admin: Client, project: Project, openai_server: OpenAIServer) -> None:
    create_endpoint(project=project, name="local", base_url=openai_server.url, price_in=1, price_out=1)
    at = AT + "edit/local/try/"
    assert "The endpoint responds. It has 3 models." in text(admin.post(at))
    worked = text(admin.post(at, {"model": "overlap-small"}))
    assert "in the requested format" in worked
    assert "Cost: 0.0000" in worked
    openai_server.script(error(401, "planted-by-the-server"), Reply(b"<script>planted-by-the-server"))
    refused, strange = text(admin.post(at, {"model": "m"})), text(admin.post(at, {"model": "m"}))
    assert "The endpoint rejected the key (401)." in refused
    assert "is not OpenAI-compatible" in strange
    assert "planted-by-the-server" not in refused + strange


def test_deleting_it(admin: Client, project: Project) -> None:
    endpoint = create_endpoint(project=project, name="local", base_url=NOWHERE)
    assert "Delete “local”?" in text(admin.get(AT + "edit/local/delete/"))
    judge = Judge.objects.create(project=project, name="J", kind="llm")
    version = JudgeVersion.objects.create(judge=judge, number=1, label="1", content_hash="h", endpoint=endpoint)
    assert "judge versions use it (1)" in text(admin.post(AT + "edit/local/delete/", follow=True))
    version.delete()
    assert "deleted" in text(admin.post(AT + "edit/local/delete/", follow=True))
    assert not Endpoint.objects.exists()


def test_the_list_takes_as_many_queries_as_ever(
    admin: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        create_endpoint(project=project, name=f"e{number}", base_url=NOWHERE)
    with django_assert_max_num_queries(7):
        assert admin.get(AT).status_code == 200


def test_no_key_in_any_page_or_log(
    admin: Client,
    project: Project,
    openai_server: OpenAIServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("JUDGE_KEY_A", KEY)
    openai_server.key = KEY
    stored = {"key_source": "stored", "key": KEY}
    from_environment = {"key_source": "environment", "key_variable": "JUDGE_KEY_A"}
    shown = []
    for name, key in (("stored", stored), ("environment", from_environment)):
        at = f"{AT}edit/{name}/"
        shown += [
            admin.post(AT + "new/", form(name=name, base_url=openai_server.url, **key), follow=True),
            admin.post(AT + "new/", form(name=name, base_url="http://10.0.0.1", **key)),
            admin.get(AT),
            admin.get(at),
            admin.post(at, form(revision=9, base_url=openai_server.url, **key), follow=True),
            admin.post(at, form(revision=1, base_url=NOWHERE, **{**key, "key": ""})),
            admin.post(at + "try/", {"model": "m"}),
        ]
        # A server that repeats what it was sent.
        for echoed in (chat(KEY), Reply(f"<p>{KEY}".encode()), error(400, KEY), error(302, headers={"Location": KEY})):
            openai_server.script(echoed)
            shown.append(admin.post(at + "try/", {"model": "m"}))
        openai_server.key = KEY
    shown += [admin.get("/p/help/audit/"), admin.get("/p/help/audit/trail.csv")]
    assert all(reply.status_code < 500 for reply in shown)
    bodies = [b"".join(reply) if reply.streaming else reply.content for reply in shown]
    assert not [body for body in bodies if KEY.encode() in body]
    assert not [message for message in caplog.messages if KEY in message]
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in openai_server.requests)
    assert len(openai_server.requests) >= 10
