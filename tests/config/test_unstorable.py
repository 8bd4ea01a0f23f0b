"""NUL and broken characters, wherever an address, a query, a cookie, a header or a form can carry them: nothing answers
500."""

from __future__ import annotations

import copy
import inspect
import re
import sys
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from annotate.models import User
from judges.kinds.lexical import KIND
from judges.models import JudgeVersion
from tests.annotate.api.conftest import Both, _both
from tests.annotate.api.routes import API, PAGES, Route
from tests.clients import as_user

TEXTS = ("a%00b", "%ED%A0%80")
WITH_TEXT = re.compile(r"<(?:str|path):(\w+)>")
COOKIES = (
    settings.SESSION_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME, settings.CSRF_COOKIE_NAME,
    settings.BROWSER_COOKIE_NAME,
)  # fmt: skip
# What forms and queries of all pages have: of each, whatever reads it.
FIELDS = re.compile(r'(?:POST|GET|data|asked|given|sent)(?:\.get\(|\[|\.getlist\()"([\w-]+)"')


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Both:
    both = _both()
    for version in JudgeVersion.objects.all():
        version.config = KIND.complete(version.config, both.world.project)
        version.save()
    return both


@pytest.fixture
def both(_world: Both, db: None) -> Both:
    return copy.deepcopy(_world)


@pytest.fixture
def alice(both: Both) -> Client:
    return as_user(User.objects.get(username="alice"))


def fields_of(route: Route) -> list[str]:
    """What the view's own file reads by name."""
    return sorted(set(FIELDS.findall(inspect.getsource(sys.modules[route.view.__module__]))) | {"first", "second"})


def values(both: Both) -> dict[str, Any]:
    more = {
        "key": "grade",
        "token": "none",
        "start": "lexical",
        "step": "open",
        "path": "statistics",
        "version": 1,
        "of": "units",
        "what": "waive",
    }
    more |= {
        "form": "json",
        "name": "statistics",
        "token_id": "t",
        "username": "ben",
        "run_id": 1,
        "trial_id": 1,
        "alignment_id": 1,
        "look_id": 1,
        "rule_id": 1,
    }
    return {**more, **both.own}


@pytest.mark.parametrize("route", [route for route in (*API, *PAGES) if WITH_TEXT.search(route.path)], ids=str)
def test_no_address_ends_in_an_error(both: Both, alice: Client, route: Route) -> None:
    for parameter in WITH_TEXT.findall(route.path):
        for text in TEXTS:
            url = route.url({**values(both), parameter: text})
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
                reply = alice.generic(method, url, "{}", content_type="application/json")
                assert reply.status_code < 500, (method, url)
                if "%00" in text and route in API:
                    assert reply.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("route", PAGES, ids=str)
def test_no_query_and_no_form_ends_in_an_error(both: Both, alice: Client, route: Route) -> None:
    url, fields = route.url(values(both)), fields_of(route)
    for name in fields:
        assert alice.post(url, {name: "a\x00b"}).status_code < 500, name
    assert alice.post(url, dict.fromkeys(fields, "\x00")).status_code < 500
    for text in TEXTS:
        assert alice.get(f"{url}?{'&'.join(f'{name}={text}' for name in fields)}").status_code < 500, text


def test_fields_are_found() -> None:
    """Or the test above would hold for none."""
    found = {name for route in PAGES for name in fields_of(route)}
    assert {"revision", "reason", "resolution", "criterion", "judge", "look"} <= found


@pytest.mark.parametrize("name", [*COOKIES, "messages"])
@pytest.mark.parametrize("value", ['"\\000' + "a" * 40 + '"', '"\\355\\240\\200' + "a" * 40 + '"'])
def test_no_cookie_ends_in_an_error(db: None, name: str, value: str) -> None:
    """A cookie may spell characters as octal numbers."""
    for path in ("/", "/login/", "/api/me/"):
        assert Client().get(path, headers={"Cookie": f"{name}={value}"}).status_code < 500


@pytest.mark.parametrize("token", ["\x00", "a\x00b", "\xff" * 70])
def test_no_token_ends_in_an_error(db: None, token: str) -> None:
    reply = Client().get("/api/me/", HTTP_AUTHORIZATION=f"Token {token}")
    assert reply.status_code == 401
