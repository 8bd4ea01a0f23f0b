"""The policy is built once, and an exception that a view makes still counts."""

from __future__ import annotations

from typing import Any

import pytest
from csp.decorators import csp_exempt, csp_update
from csp.middleware import CSPMiddleware as TheirMiddleware
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from config.csp import CSPMiddleware


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


VIEWS = [plain, csp_exempt()(plain), csp_update({"img-src": ["https://example.org"]})(plain)]


def policy_of(middleware: Any, view: Any) -> set[str] | None:
    header = middleware(view)(RequestFactory().get("/")).headers.get("Content-Security-Policy")
    return None if header is None else set(header.split("; "))


@pytest.mark.parametrize("view", VIEWS, ids=["plain", "exempt", "updated"])
def test_it_is_what_django_csp_says(view: Any) -> None:
    assert policy_of(CSPMiddleware, view) == policy_of(TheirMiddleware, view)


def test_the_views_differ() -> None:
    plainly, exempt, updated = (policy_of(CSPMiddleware, view) for view in VIEWS)
    assert exempt is None
    assert plainly is not None
    assert updated is not None
    assert plainly != updated


def test_a_header_that_is_there_stays() -> None:
    def own(request: HttpRequest) -> HttpResponse:
        return HttpResponse("ok", headers={"Content-Security-Policy": "default-src 'none'"})

    assert policy_of(CSPMiddleware, own) == {"default-src 'none'"}


def test_error_pages_of_debug_have_none(settings: Any) -> None:
    settings.DEBUG = True
    assert policy_of(CSPMiddleware, lambda request: HttpResponse("styled", status=404)) is None
