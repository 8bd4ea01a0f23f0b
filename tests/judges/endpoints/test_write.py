"""Endpoints are described, changed and deleted; a key goes nowhere but to the host that it was given for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django import DjangoAssertNumQueries

from annotate.core.errors import Conflict, Invalid, Stale
from annotate.models import AuditEntry, Project
from judges.api import judges_serializers as shapes
from judges.endpoints.calls import ChatRequest, StopRun
from judges.endpoints.client import cost_of, open_client
from judges.endpoints.read import endpoints_of, one_endpoint
from judges.endpoints.write import change_endpoint, create_endpoint, delete_endpoint, rotate_stored_keys, try_endpoint
from judges.models import Endpoint, Judge, JudgeVersion
from tests.clients import client_of
from tests.judges.building import make_project, unsaved_endpoint
from tests.openai_server import OpenAIServer, Reply, chat, error

KEY = "sk-planted-0123456789abcdef"
NOWHERE = "http://127.0.0.1:1/v1"
ASK = ChatRequest(model="m", messages=[{"role": "user", "content": "?"}])


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


@pytest.fixture
def other_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


def make(project: Project, **fields: Any) -> Endpoint:
    return create_endpoint(project=project, **{"name": "local", "base_url": NOWHERE, **fields})


def change(endpoint: Endpoint, **fields: Any) -> Endpoint:
    endpoint.refresh_from_db()
    return change_endpoint(endpoint=endpoint, expected_revision=endpoint.revision, **fields)


def test_an_endpoint_is_kept_in_one_spelling(project: Project) -> None:
    endpoint = make(
        project, base_url=" HTTP://127.0.0.1:80/v1/ ", price_in="2.50", price_out=0.1, currency="eur", concurrency=4
    )
    endpoint.refresh_from_db()
    assert shapes.Endpoint.show(endpoint) == {
        "name": "local",
        "base_url": "http://127.0.0.1/v1",
        "key_source": "none",
        "key_variable": "",
        "key_last4": "",
        "concurrency": 4,
        "requests_per_minute": None,
        "timeout_seconds": 60,
        "price_in": 2.5,
        "price_out": 0.1,
        "currency": "EUR",
        "revision": 1,
        "created_at": endpoint.created_at.isoformat(),
    }
    assert cost_of(endpoint, 1_000_000, 10) == Decimal("2.500001")
    with pytest.raises(Conflict) as caught:
        make(project)
    assert (caught.value.code, caught.value.details) == ("name_taken", {"field": "name"})


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "Mine"}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"base_url": "api.openai.com"}, "base_url"),
        ({"base_url": 5}, "base_url"),
        ({"base_url": None}, "base_url"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 129}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"requests_per_minute": -1}, "requests_per_minute"),
        ({"timeout_seconds": 121}, "timeout_seconds"),
        ({"timeout_seconds": "10"}, "timeout_seconds"),
        ({"price_in": -1}, "price_in"),
        ({"price_in": "NaN"}, "price_in"),
        ({"price_out": 10**12}, "price_out"),
        ({"price_out": 1e-9}, "price_out"),
        ({"price_out": [1]}, "price_out"),
        ({"currency": "$"}, "currency"),
        ({"currency": 5}, "currency"),
        ({"key_source": "elsewhere"}, "key_source"),
        ({"key_source": "stored"}, "key"),
        ({"key": 5}, "key"),
        ({"key": "two words"}, "key"),
        ({"key": "line\r\nbreak"}, "key"),
        ({"key": "x" * 501}, "key"),
        ({"key": "schlüssel"}, "key"),
        ({"key": "sk-1234"}, "key"),
        ({"key": "relevant"}, "key"),
        ({"key": "12-34-56-78"}, "key"),
        ({"key": "a1" + "-" * 40}, "key"),
        ({"key": "internal--------"}, "key"),
        ({"key_source": "environment"}, "key_variable"),
        ({"key_variable": "SECRET_KEY"}, "key_variable"),
        ({"key_variable": "judge_key_a"}, "key_variable"),
        ({"key_variable": "JUDGE_KEY_A_HOSTS"}, "key_variable"),
        ({"key_variable": "JUDGE_KEY_A", "key": KEY}, "key_source"),
        ({"key_encrypted": "x"}, "key_encrypted"),
    ],
)
def test_a_refusal_names_the_field_and_repeats_no_key(project: Project, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        make(project, **fields)
    assert caught.value.details["field"] == field
    assert str(fields.get("key", KEY)) not in str(caught.value)
    assert not Endpoint.objects.exists()


def test_a_key_is_stored_encrypted_and_sent(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.key = KEY
    endpoint = make(project, base_url=openai_server.url, key=KEY)
    endpoint.refresh_from_db()
    assert (endpoint.key_source, endpoint.key_last4) == ("stored", "cdef")
    assert KEY.encode() not in bytes(endpoint.key_encrypted or b"")
    with open_client(endpoint) as client:
        assert client.chat(ASK).text
    assert change(endpoint, key="short-key-1").key_last4 == "", "four characters of few give it away"
    assert change(endpoint, key="", concurrency=2).key_source == "stored", "an empty field changes nothing"
    assert change(endpoint, key_source="none").key_encrypted is None


def test_a_key_from_the_environment(project: Project, openai_server: OpenAIServer, monkeypatch: Any) -> None:
    monkeypatch.setenv("JUDGE_KEY_A", KEY)
    openai_server.key = KEY
    endpoint = make(project, base_url=openai_server.url, key_variable="JUDGE_KEY_A")
    assert (endpoint.key_source, endpoint.key_last4) == ("environment", "")
    assert try_endpoint(endpoint=endpoint, model="m").works
    monkeypatch.setenv("JUDGE_KEY_A_HOSTS", "api.openai.com, llm.internal:8000")
    openai_server.forget()
    with pytest.raises(StopRun) as stop, open_client(endpoint):
        pass
    assert stop.value.code == "key_not_for_host"
    with pytest.raises(Invalid) as caught:
        make(project, name="other", key_variable="JUDGE_KEY_A")
    assert caught.value.code == "key_not_for_host"
    monkeypatch.setenv("JUDGE_KEY_A_HOSTS", f"127.0.0.1:{openai_server.port}")
    assert try_endpoint(endpoint=endpoint, model="m").works


@pytest.mark.parametrize("given", [{"key": KEY}, {"key_variable": "JUDGE_KEY_A"}])
def test_a_key_stays_with_its_host(
    project: Project,
    openai_server: OpenAIServer,
    other_server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
) -> None:
    monkeypatch.setenv("JUDGE_KEY_A", KEY)
    endpoint = make(project, base_url=openai_server.url, **given)
    assert change(endpoint, base_url=openai_server.url + "/other/path").key_source != "none"
    source = endpoint.key_source
    for url in (other_server.url, openai_server.url.replace("http:", "https:"), "http://127.0.0.1/v1"):
        for more in ({}, {"key": ""}, {"key_source": source}, {"key": None, "concurrency": 2}):
            with pytest.raises(Invalid) as caught:
                change(endpoint, base_url=url, **more)
            assert (caught.value.code, caught.value.details) == ("key_needed", {"field": "key"})
    assert other_server.requests == []
    moved = change(endpoint, base_url=other_server.url, key_source="none")
    assert (moved.key_source, moved.key_encrypted, moved.key_variable, moved.key_last4) == ("none", None, "", "")
    assert try_endpoint(endpoint=moved, model="m").works
    assert "authorization" not in other_server.requests[0].headers
    change(endpoint, base_url=openai_server.url, key="another-key-of-sixteen")
    assert shapes.Endpoint.show(one_endpoint(project, "local"))["key_last4"] == "teen"


def test_an_unseen_change_is_not_overwritten(project: Project) -> None:
    endpoint = make(project, key=KEY)
    assert change(endpoint, concurrency=3).revision == 2
    assert change(endpoint, concurrency=3).revision == 2, "nothing changed"
    with pytest.raises(Stale) as caught:
        change_endpoint(endpoint=endpoint, expected_revision=1, concurrency=5, key=KEY)
    assert caught.value.details["current"].concurrency == 3
    assert caught.value.details["yours"] == {"concurrency": "5"}


def test_an_endpoint_that_versions_name_stays(project: Project) -> None:
    endpoint = make(project)
    judge = Judge.objects.create(project=project, name="J", kind="llm")
    version = JudgeVersion.objects.create(judge=judge, number=1, label="1", content_hash="h", endpoint=endpoint)
    with pytest.raises(Conflict) as caught:
        delete_endpoint(endpoint=endpoint)
    assert caught.value.details == {"versions": 1}
    version.delete()
    delete_endpoint(endpoint=endpoint)
    assert not Endpoint.objects.exists()
    notes = AuditEntry.objects.filter(project=project, action__startswith="endpoint.").order_by("id")
    assert [entry.action for entry in notes] == ["endpoint.added", "endpoint.deleted"]


def test_one_query_for_the_list(project: Project, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for name in ("b", "a", "c"):
        make(project, name=name, key=KEY)
    with django_assert_num_queries(1):
        assert [shapes.Endpoint.show(endpoint)["name"] for endpoint in endpoints_of(project)] == ["a", "b", "c"]


def test_keys_are_rotated(project: Project, settings: Any) -> None:
    first, second = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    endpoint = make(project, key=KEY)
    settings.JUDGE_SECRET_KEYS = [first]
    assert rotate_stored_keys() == (1, [])
    settings.SECRET_KEY = "another one"
    settings.JUDGE_SECRET_KEYS = [second, first]
    out = StringIO()
    call_command("rotate_endpoint_keys", stdout=out)
    assert out.getvalue() == "Re-encrypted stored keys: 1.\n"
    settings.JUDGE_SECRET_KEYS = [second]
    endpoint.refresh_from_db()
    with open_client(endpoint):
        pass
    settings.JUDGE_SECRET_KEYS = [first]
    with pytest.raises(CommandError, match=r"Enter them again: local of p\.$"):
        call_command("rotate_endpoint_keys", stdout=StringIO())
    trial = try_endpoint(endpoint=endpoint)
    assert (trial.works, trial.status) == (False, "unreadable_key")


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (chat('{"answer": "yes"}'), "ok"),
        (chat("Yes."), "parse_error"),
        (chat('{"answer": "maybe"}'), "parse_error"),
        (chat(None, refusal="No."), "refused"),
        (chat('{"ans', finish_reason="length"), "truncated"),
        (Reply(b"<html>"), "parse_error"),
        (error(400), "error"),
        (error(408), "timeout"),
        (error(429), "error"),
        (error(401), "refused_key"),
        (error(302), "redirect"),
    ],
)
def test_a_trial_says_what_happened(openai_server: OpenAIServer, reply: Reply, status: str) -> None:
    openai_server.script(reply)
    trial = try_endpoint(endpoint=unsaved_endpoint(openai_server), model="m")
    assert (trial.status, trial.works) == (status, status == "ok")
    assert trial.message
    assert len(openai_server.requests) == 1


def test_a_trial_without_a_model_lists_them(openai_server: OpenAIServer) -> None:
    trial = try_endpoint(endpoint=unsaved_endpoint(openai_server))
    assert (trial.works, trial.models[0]) == (True, "overlap-small")
    assert trial.message == "The endpoint responds. It has 3 models."
    assert openai_server.requests[0].method == "GET"


def test_by_api(project: Project, openai_server: OpenAIServer, admin_user: Any) -> None:
    client = client_of(admin_user)
    made = client.post("/api/projects/p/endpoints/", {"name": "local", "base_url": openai_server.url, "key": KEY})
    assert (made.status_code, made.json()["key_last4"]) == (201, "cdef")
    at = "/api/projects/p/endpoints/local/"
    assert client.get(at).json() == made.json() == client.get("/api/projects/p/endpoints/").json()[0]
    assert client.patch(at, {"concurrency": 2}).status_code == 428
    changed = client.patch(at, {"concurrency": 2}, headers={"If-Match": "1"})
    assert (changed.status_code, changed.json()["revision"]) == (200, 2)
    stale = client.patch(at, {"concurrency": 3}, headers={"If-Match": "1"})
    assert (stale.status_code, stale.json()["current"]["concurrency"]) == (412, 2)
    moved = client.patch(at, {"base_url": NOWHERE}, headers={"If-Match": "2"})
    assert (moved.status_code, moved.json()["error"]["code"], moved.json()["field"]) == (422, "key_needed", "key")
    tried = client.post(at + "try/", {"model": "m"})
    assert (tried.status_code, tried.json()["works"]) == (200, True)
    assert client.post(at + "try/", {"model": 5}).json()["field"] == "model"
    everything = [made, changed, stale, moved, tried, client.get("/api/projects/p/endpoints/")]
    assert not [reply for reply in everything if KEY in reply.content.decode()]
    assert KEY not in json.dumps(list(AuditEntry.objects.values("action", "subject", "details")))
    assert client.delete(at).status_code == 204
    assert client.get(at).status_code == 404
