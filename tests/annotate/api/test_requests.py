"""What requests may look like: JSON, known fields, known parameters; and every reply is JSON."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.bodies import limit_of
from annotate.models import Project, User
from tests.annotate.api.conftest import Both
from tests.annotate.api.routes import API, Route
from tests.annotate.api.test_access import GUARDED, PROJECT_ROUTES, PUBLIC, ask, user_of
from tests.annotate.factories import stored
from tests.clients import client_of

LISTS = ["/api/projects/", "/api/tokens/", *(f"/api/projects/desk/{name}/" for name in (
    "criteria", "members", "samples", "batches", "disputes", "imports", "releases", "reports", "runs"))]  # fmt: skip


@pytest.mark.parametrize("route", [route for route in GUARDED if "GET" in route.methods], ids=str)
def test_an_unknown_parameter_is_refused(both: Both, route: Route) -> None:
    client = client_of(user_of(both, route))
    for query in (
        "created_by__password__startswith=p", "_connector=OR+1=1", "ordering=created_by__password", "project__slug=x",
        "%00=1", "search__regex=.", "user=1",
    ):  # fmt: skip
        reply = client.get(f"{route.url(both.own)}?{query}")
        assert reply.status_code == 400, reply.content
        assert reply.json()["error"]["code"] == "unknown_parameter"


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("text/html, application/*;q=0.9", 200),
        ("text/html", 406),
        ("application/xml, text/csv", 406),
    ],
)
def test_replies_are_json_for_clients_that_accept_it(both: Both, accept: str, status: int) -> None:
    reply = client_of(both.world.alice).get("/api/projects/", HTTP_ACCEPT=accept)
    assert (reply.status_code, reply["Content-Type"]) == (status, "application/json")


@pytest.mark.parametrize("url", LISTS)
@pytest.mark.parametrize(
    "query", ["limit=99999999999999999999", "limit=-1", "limit=", "offset=y", "offset=" + "9" * 30, "limit=1&limit=2"]
)
def test_pages_have_bounds(both: Both, url: str, query: str) -> None:
    reply = client_of(both.world.alice).get(f"{url}?{query}")
    assert reply.status_code in (400, 422), reply.content


@pytest.mark.parametrize(
    "query",
    ["samples/?search=%00", "disputes/?criterion=%00", "reports/?criterion=%00", "work/?batch=x", "work/?batch=0",
     "work/?batch=" + "9" * 30, "work/?exclude=a", "work/?exclude=-1", "work/?exclude=" + ",".join(["1"] * 51),
     "work/?exclude=" + "9" * 30],
)  # fmt: skip
def test_a_bad_parameter_is_422(both: Both, query: str) -> None:
    reply = client_of(both.world.alice).get(f"/api/projects/desk/{query}")
    assert reply.status_code == 422, reply.content


# Bodies

BODIES = [
    (route, method)
    for route in GUARDED
    for method in route.methods
    if method in ("POST", "PUT", "PATCH")
    and not route.path.endswith(("/imports/", "/start/", "/images/", "uploads/<uuid:job_id>/"))
]
per_body = pytest.mark.parametrize(("route", "method"), BODIES, ids=str)
HEADERS = {"If-Match": "0", "Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}


def sender(both: Both, route: Route) -> Any:
    User.objects.update(is_staff=True)
    return client_of(user_of(both, route))


TAKE_LISTS = {"CriteriaView": "not_a_list", "GoldView": "bad_gold"}


@per_body
def test_an_unknown_field_is_refused(both: Both, route: Route, method: str) -> None:
    before = (stored(), list(User.objects.values()), Project.objects.count())
    client = sender(both, route)
    before = (before[0], list(User.objects.values()), before[2])
    for field in ("is_superuser", "role__in", "__proto__", "project_id", "id"):
        reply = ask(client, method, route.url(both.own), {field: True}, **HEADERS)
        assert reply.status_code == 422, reply.content
        assert reply.json()["error"]["code"] == TAKE_LISTS.get(route.view.__name__, "unknown_field")
    assert (stored(), list(User.objects.values()), Project.objects.count()) == before


NOTHING_REQUIRED = {
    ("ThreadCloseView", "POST"),
    ("ThreadReopenView", "POST"),
    ("AuditScheduleView", "PATCH"), ("BatchView", "PATCH"), ("SavedViewView", "PATCH"),
    ("BatchExtendView", "POST"), ("BatchStepView", "POST"), ("DisputeApproveView", "POST"), ("HandOnView", "POST"),
    ("EndpointTrialView", "POST"), ("EndpointView", "PATCH"), ("ImportPreviewView", "POST"),
    ("JudgeVersionDropView", "POST"), ("JudgeVersionKeepView", "POST"), ("RequirementView", "PATCH"),
    ("MemberView", "PATCH"), ("ProjectDetailView", "PATCH"), ("ReleaseView", "POST"), ("RequirementView", "PATCH"),
    ("RunCancelView", "POST"), ("TargetRunCancelView", "POST"), ("TargetRunPauseView", "POST"),
    ("TargetRunResumeView", "POST"),
    ("RunPauseView", "POST"), ("RunResumeView", "POST"), ("TakeOverView", "POST"), ("TaskHeartbeatView", "POST"),
    ("TaskReopenView", "POST"), ("TaskSubmitView", "POST"), ("TokensView", "POST"), ("TrialDropView", "POST"),
    ("TrialKeepView", "POST"), ("WorkView", "POST"),
    ("AlignmentPauseView", "POST"), ("AlignmentResumeView", "POST"), ("AlignmentCancelView", "POST"),
    ("AlignmentTryView", "POST"), ("JudgeMistakesView", "POST"),
    ("ArchiveView", "POST"), ("RestoreView", "POST"), ("MemberResetView", "POST"),
    ("OwnTestView", "POST"), ("FreezeView", "POST"), ("VersionView", "PATCH"), ("ExperimentFiguresView", "POST"),
     ("QualificationTryView", "POST"),
}  # fmt: skip
NO_BODIES = [
    (b"", 422), (b"{", 400), (b"nonsense", 400), (b'{"a": NaN}', 422), (b"\xff\xfe{\x00}\x00", 400), (b'"text"', 422),
    (b"null", 422), (b"17", 422), (b'{"name": 1e400}', 422), (b'{"name": "\\u0000"}', 422), (b'{"\\u0000": 1}', 422),
    (b'{"name": "\\ud800"}', 422), (b'{"name": ' + b"[" * 50 + b"]" * 50 + b"}", 422),
    (b"[" * 200_000 + b"]" * 200_000, 422), (b'{"a": ' + b"9" * 5000 + b"}", 422),
]  # fmt: skip


@per_body
def test_a_body_that_is_none_is_refused(both: Both, route: Route, method: str) -> None:
    before = stored()
    client, url = sender(both, route), route.url(both.own)
    for sent, status in NO_BODIES:
        if sent == b"" and (route.view.__name__, method) in NOTHING_REQUIRED:
            continue
        reply = client.generic(method, url, sent, content_type="application/json", headers=HEADERS)
        expected = status if len(sent) <= limit_of(route.view) else 413
        assert reply.status_code == expected, (sent[:30], reply.content)
        assert reply.json()["error"]["message"]
    assert stored() == before


# Replies


@pytest.mark.parametrize("route", [route for route in API if route.path not in PUBLIC], ids=str)
def test_replies_are_json_whatever_is_asked_for(both: Both, route: Route) -> None:
    nobody, stranger, admin = client_of(None), client_of(both.world.charlie), client_of(both.world.alice)
    for client, accept in (
        (nobody, "text/html,application/xhtml+xml"), (stranger, "text/html"), (admin, "text/html"),
        (admin, "image/svg+xml"),
    ):  # fmt: skip
        for method in route.methods:
            reply = ask(client, method, route.url(both.own), Accept=accept)
            if route.path.endswith((".html", ".csv", "/file/")) and reply.status_code < 300:
                assert "attachment" in reply["Content-Disposition"]
            elif route.path.endswith(".html") and "html" in reply["Content-Type"]:
                assert accept.startswith("text/html"), "a file for browsers; what it answers them is a page"
            elif reply.status_code != 204:
                assert reply["Content-Type"].startswith("application/json"), reply.content
                assert reply.status_code >= 400


def test_methods_that_are_not_there(both: Both) -> None:
    clients = [client_of(both.world.alice), client_of(both.world.charlie)]
    for route in PROJECT_ROUTES:
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - set(route.methods):
            for client in clients:
                assert ask(client, method, route.url(both.own)).status_code == 405, (route, method)
