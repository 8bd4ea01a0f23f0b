"""What a token may do: of what its account may, that which one of its scopes is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from annotate.core.permissions import ROLES_FOR, SCOPE_OF, scopes_for
from annotate.models import ApiToken, Scope, User
from annotate.projects.accounts import make_token
from tests.annotate.api.conftest import Both
from tests.annotate.api.routes import API, Route
from tests.annotate.api.test_access import GUARDED, SESSION_ONLY, ask, user_of
from tests.annotate.factories import stored
from tests.clients import client_of

BY_TOKEN = [route for route in GUARDED if route.view not in SESSION_ONLY]
DESK = "/api/projects/desk/"


def with_scopes(user: User, *scopes: str) -> APIClient:
    """A program that has used its token before: that is noted once an hour."""
    stored_token, token = make_token(actor=user, scopes=scopes)
    ApiToken.objects.filter(pk=stored_token.pk).update(last_used=timezone.now())
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def out_of_scope(reply: Any) -> bool:
    return reply.status_code == 403 and reply.json()["error"]["code"] == "scope"


def test_every_action_has_one_scope() -> None:
    assert set(SCOPE_OF) == set(ROLES_FOR)


@pytest.mark.parametrize("scope", Scope)
def test_reading_scopes_change_nothing_and_admin_does_all(scope: Scope) -> None:
    assert "read" in scopes_for("GET", scope)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert "read" not in scopes_for(method, scope)
        assert "admin" in scopes_for(method, scope)


@pytest.mark.parametrize("route", BY_TOKEN, ids=str)
def test_each_scope_is_refused_what_it_is_not_for(both: Both, route: Route) -> None:
    user = user_of(both, route)
    clients = {scope: with_scopes(user, scope) for scope in Scope.values}
    before = stored()
    for method in route.methods:
        taken = route.view.scopes(method)
        assert set(taken) <= set(Scope.values)
        for scope in set(Scope.values) - set(taken):
            reply = ask(clients[scope], method, route.url(both.own))
            assert out_of_scope(reply), (method, scope, reply.content)
            named = re.findall("“(.*?)”", reply.json()["error"]["message"])
            assert named == ([one for one in taken if one != "admin"] or ["admin"])
    assert stored() == before
    for method in route.methods:
        for scope in route.view.scopes(method):
            reply = ask(clients[scope], method, route.url(both.own), **{"If-Match": "1"})
            assert reply.status_code != 401
            assert not out_of_scope(reply), (method, scope, reply.content)


# By hand, so that the table is not its own judge.
EXAMPLES = [
    ("GET", "/api/projects/", ["read", "admin"]),
    ("POST", "/api/projects/", ["admin"]),
    ("GET", "/api/me/", ["read", "label", "admin"]),
    ("PATCH", "/api/me/", ["label", "admin"]),
    ("PUT", "/api/tasks/<task_id>/labels/", ["label", "admin"]),
    ("POST", "/api/tasks/<task_id>/threads/", ["label", "admin"]),
    ("POST", "/api/projects/<slug>/work/", ["label", "admin"]),
    ("GET", "/api/projects/<slug>/samples/", ["read", "admin"]),
    ("POST", "/api/projects/<slug>/samples/", ["push", "admin"]),
    ("POST", "/api/projects/<slug>/imports/", ["push", "admin"]),
    ("GET", "/api/projects/<slug>/imports/<job_id>/", ["read", "push", "admin"]),
    ("POST", "/api/projects/<slug>/judges/<judge_id>/runs/", ["push", "admin"]),
    ("GET", "/api/projects/<slug>/gate/", ["read", "push", "admin"]),
    ("POST", "/api/projects/<slug>/apply/", ["push", "admin"]),
    ("POST", "/api/projects/<slug>/experiments/", ["push", "admin"]),
    ("POST", "/api/projects/<slug>/experiments/<experiment_name>/gate/", ["push", "admin"]),
    ("POST", "/api/projects/<slug>/releases/", ["push", "admin"]),
    ("GET", "/api/projects/<slug>/releases/<number>/file/", ["read", "admin"]),
    ("GET", "/api/projects/<slug>/members/", ["read", "admin"]),
    ("PUT", "/api/projects/<slug>/members/<username>/", ["admin"]),
    ("PUT", "/api/projects/<slug>/disputes/<verdict_id>/", ["admin"]),
    ("POST", "/api/projects/<slug>/looks/", ["admin"]),
    ("DELETE", "/api/projects/<slug>/endpoints/<name>/", ["admin"]),
]


@pytest.mark.parametrize(("method", "path", "taken"), EXAMPLES)
def test_what_a_scope_is_for(method: str, path: str, taken: list[str]) -> None:
    (view,) = [route.view for route in API if re.sub(r"<\w+:", "<", route.path) == path]
    assert view.scopes(method) == taken


def test_the_description_says_which_scopes_an_operation_takes() -> None:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    for route in GUARDED:
        path = route.url({name: f"{{{name}}}" for name in route.parameters})
        for method in route.methods:
            said = re.search("^Scope of a token: (.*)\\.$", paths[path][method.lower()]["description"], re.MULTILINE)
            named = re.findall("`(.*?)`", said[1]) if said else []
            assert named == ([] if route.view in SESSION_ONLY else route.view.scopes(method)), (path, method)


def test_several_scopes_are_all_that_each_of_them_is(both: Both) -> None:
    client = with_scopes(both.world.alice, "push", "read")
    assert client.get(f"{DESK}members/").status_code == 200
    assert ask(client, "POST", f"{DESK}samples/", {"version": "v1", "samples": []}).status_code == 422
    assert out_of_scope(ask(client, "DELETE", f"{DESK}members/ann/"))


def test_no_scope_gives_more_than_the_account_has(both: Both) -> None:
    client = with_scopes(both.world.ann, *Scope.values)
    reply = client.get(f"{DESK}members/")
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "forbidden")
    assert with_scopes(both.world.dora, "admin").get(f"{DESK}members/").status_code == 404


def test_a_token_tells_nothing_of_projects_that_its_scope_is_not_for(both: Both) -> None:
    client = with_scopes(both.world.dora, "label")
    there, absent = client.get(f"{DESK}members/"), client.get("/api/projects/nowhere/members/")
    assert out_of_scope(there)
    assert there.content == absent.content


def test_a_method_that_there_is_not_is_said_so(both: Both) -> None:
    assert ask(with_scopes(both.world.alice, "read"), "DELETE", f"{DESK}samples/").status_code == 405


def test_scopes_are_read_with_the_token(both: Both, django_assert_num_queries: Callable[[int], Any]) -> None:
    reads, pushes = with_scopes(both.world.ann, "read"), with_scopes(both.world.ann, "push")
    with django_assert_num_queries(1):
        assert reads.get("/api/me/").status_code == 200
    with django_assert_num_queries(1):
        assert out_of_scope(pushes.get("/api/me/"))


# Making one


@pytest.mark.parametrize(
    ("sent", "scopes", "days"),
    [
        ({}, ["read"], 90),
        ({"scopes": ["push", "read", "push"], "days": 7}, ["read", "push"], 7),
        ({"scopes": ["admin"], "days": 90}, ["admin"], 90),
    ],
)
def test_scopes_and_expiry_are_chosen(both: Both, sent: dict[str, Any], scopes: Sequence[str], days: int) -> None:
    client = client_of(both.world.ann)
    made = client.post("/api/tokens/", sent).json()
    (listed,) = client.get("/api/tokens/").json()
    assert made["scopes"] == listed["scopes"] == scopes
    (token,) = ApiToken.objects.all()
    assert token.expiry is not None
    assert timedelta() <= token.expiry - token.created - timedelta(days=days) + timedelta(minutes=1)
    assert token.expiry - token.created < timedelta(days=days, minutes=1)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"scopes": []}, "bad_scopes"),
        ({"scopes": ["write"]}, "bad_scopes"),
        ({"scopes": "read"}, "bad_scopes"),
        ({"scopes": [1]}, "bad_scopes"),
        ({"days": 0}, "bad_number"),
        ({"days": 91}, "bad_number"),
        ({"days": "soon"}, "bad_number"),
    ],
)
def test_other_scopes_and_a_longer_life_are_refused(both: Both, sent: dict[str, Any], code: str) -> None:
    reply = client_of(both.world.ann).post("/api/tokens/", sent)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, code)
    assert not ApiToken.objects.exists()


def test_a_token_of_an_earlier_version_may_do_what_it_did(both: Both) -> None:
    """As one is that the version before makes while an upgrade is under way."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_apitoken (digest, token_key, created, user_id) VALUES ('d', 'ts_d', now(), %s)",
            [both.world.ann.pk],
        )
    assert ApiToken.objects.get().scopes == ["admin"]
