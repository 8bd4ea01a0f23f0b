"""Who may reach which route: a matrix over the URLconf (RELIABILITY §1: holes recur with each new route)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from knox.models import get_token_model
from rest_framework.test import APIClient

from annotate.api.account import MeView, TokensView, TokenView
from annotate.api.base import ProjectAPIView, StrictAPIView
from annotate.api.projects import ProjectsView
from annotate.api.tasks import (
    TaskFlagView,
    TaskHeartbeatView,
    TaskLabelsView,
    TaskReopenView,
    TaskSkipView,
    TaskSubmitView,
    TaskView,
)
from annotate.api.threads import TaskThreadsView
from annotate.core.permissions import ROLES_FOR
from annotate.models import Batch, Membership, User
from tests.annotate.api.conftest import Both, lexical_config
from tests.annotate.api.routes import API, Route
from tests.annotate.factories import stored
from tests.clients import client_of

# The last one is the answer to a route that does not exist.
PUBLIC = {"/api/schema/", "/api/docs/", "/api/"}
# These show a person nothing but their own: projects they are in, their tasks, their tokens.
SELF_SCOPED = {
    ProjectsView,
    TokensView,
    TokenView,
    TaskView,
    TaskLabelsView,
    TaskSubmitView,
    TaskSkipView,
    TaskReopenView,
    TaskFlagView,
    TaskThreadsView,
    MeView,
    TaskHeartbeatView,
}
PROJECT_ROUTES = [route for route in API if isinstance(route.view, type) and issubclass(route.view, ProjectAPIView)]
SESSION_ONLY = {TokensView, TokenView}

GUARDED = [route for route in API if route.path not in PUBLIC]
per_route = pytest.mark.parametrize("route", GUARDED, ids=str)
per_project_route = pytest.mark.parametrize("route", PROJECT_ROUTES, ids=str)


def ask(client: APIClient, method: str, url: str, body: Any = None, **headers: str) -> Any:
    return client.generic(method, url, json.dumps(body or {}), content_type="application/json", headers=headers)


def user_of(both: Both, route: Route) -> User:
    """A user who may use the route: the admin, and the task's annotator for a task of one's own."""
    return both.world.ann if route.path.startswith("/api/tasks/") else both.world.alice


# What a new route has to declare


def test_there_are_routes() -> None:
    assert len(PROJECT_ROUTES) >= 15


@per_route
def test_a_route_belongs_to_a_project_or_is_listed(route: Route) -> None:
    assert route in PROJECT_ROUTES or route.view in SELF_SCOPED, (
        f"{route} is neither a ProjectAPIView nor in SELF_SCOPED of {__file__}: who may use it?"
    )


@per_route
def test_a_route_refuses_what_it_does_not_know(route: Route) -> None:
    assert issubclass(route.view, StrictAPIView)
    assert isinstance(route.view.params, frozenset)


@per_project_route
def test_every_method_names_an_action_of_the_table(route: Route) -> None:
    assert route.methods
    assert set(route.view.actions) == set(route.methods)
    assert set(route.view.actions.values()) <= set(ROLES_FOR)
    assert "slug" in route.parameters


@per_project_route
def test_nothing_is_decided_beside_the_table(route: Route) -> None:
    assert route.view.authentication_classes == ProjectAPIView.authentication_classes
    assert route.view.permission_classes == ProjectAPIView.permission_classes
    assert route.view.initial is ProjectAPIView.initial


# Who gets what


@per_route
def test_without_an_account_everything_is_refused(both: Both, route: Route) -> None:
    for values in (both.own, {**both.own, "slug": "no-such-project"}):
        for method in route.methods:
            reply = ask(client_of(None), method, route.url(values))
            assert reply.status_code == 401, (method, reply.content)
            assert reply.json()["error"]["code"] == "not_authenticated"
            assert reply["WWW-Authenticate"]


@per_project_route
def test_a_stranger_can_not_tell_a_project_from_none(both: Both, route: Route) -> None:
    before = stored()
    for user in (both.world.charlie, both.world.dora, User.objects.get(username="outsider")):
        client = client_of(user)
        for method in route.methods:
            hidden = ask(client, method, route.url(both.own))
            absent = ask(client, method, route.url({**both.own, "slug": "no-such-project"}))
            assert (hidden.status_code, absent.status_code) == (404, 404), (method, hidden.content)
            assert hidden.content == absent.content
            # It is drawn for each request.
            numbers = {reply.headers.pop("X-Request-ID") for reply in (hidden, absent)}
            assert len(numbers) == 2
            assert dict(hidden.headers) == dict(absent.headers)
    assert stored() == before


@per_project_route
@pytest.mark.parametrize("role", ["admin", "reviewer", "annotator"])
def test_each_role_gets_what_the_table_says(both: Both, route: Route, role: str) -> None:
    client = client_of({"admin": both.world.alice, "reviewer": both.world.rita, "annotator": both.world.ann}[role])
    for method, action in route.view.actions.items():
        reply = ask(client, method, route.url(both.own), **{"If-Match": "1"})
        if role in ROLES_FOR[action]:
            assert reply.status_code not in (401, 403, 405), (method, reply.content)
            assert reply.status_code < 500
        else:
            assert reply.status_code == 403, (method, reply.content)
            assert reply.json()["error"]["code"] == "forbidden"


def test_roles_of_the_other_project_are_worth_nothing_here(both: Both) -> None:
    """Dora is an admin, next door."""
    membership = Membership.objects.get(user=both.world.dora)
    assert (membership.role, membership.project) == ("admin", both.world.other)
    assert client_of(both.world.dora).get("/api/projects/next-door/members/").status_code == 200
    assert client_of(both.world.dora).get("/api/projects/desk/members/").status_code == 404


QUERY = {"JudgeDiffView": "?older=1&newer=2", "JudgeVersionExportView": "?to=json"}
VALID: dict[str, dict[str, Any]] = {
    "AbstentionView": {"abstained": True},
    "ClaimsView": {"op": "drop", "claim": 0},
    "EndpointView": {"concurrency": 2},
    "DisputeReturnView": {"annotator": "A", "message": "Look again."},
    "DisputeView": {"value": 1, "reason": "So."},
    "JudgeView": {"higher_is_better": False},
    "JudgeVersionsView": {"config": lexical_config("grade")},
    "JudgeRunsView": {"scope": {"all": True}},
    "ProposeView": {"scope": {"all": True}},
    "ProposeEstimateView": {"scope": {"all": True}},
    "RunEstimateView": {"scope": {"all": True}},
    "SettleView": {"needed": 2},
    "TaskLabelsView PUT": {"unit": "answer", "criterion": "grade", "value": 1},
    "TaskLabelsView POST": {
        "labels": [
            {
                "unit": "answer",
                "criterion": "grade",
                "value": 1,
                "revision": 0,
                "key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f2",
            }
        ]
    },
    "TaskSkipView": {"reason": "No."},
    "TrialsView": {"config": {}, "criterion": "grade"},
    "JudgeAlignmentsView": {"criterion": "grade"},
    "CascadesView": {"criterion": "grade", "cheap": "a", "dear": "b"},
    "CascadeJudgeView": {"agreement": 0.9, "name": "both"},
    "AlignmentEstimateView": {"criterion": "grade"},
    "AlignmentRuleView": {"state": "accepted"},
    "TaskFlagView": {"reason": "Cut off."},
    "FlagResolveView": {"resolution": "Seen."},
    "TaskThreadsView": {"text": "Of what?"},
    "ThreadMessagesView": {"text": "Of that."},
    "ThreadReadView": {"number": 1},
    "ReturnView": {"message": "Again."},
    "SavedViewView": {"name": "Mine"},
    "QualificationPeopleView": {"annotators": ["ann"]},
    "QualificationWaiveView": {"reason": "So."},
    "QualificationWithdrawView": {"reason": "So."},
    "AuditSchedulesView": {"name": "A", "criteria": ["grade"], "annotators": ["ann"], "samples": 1, "overlap": 1},
}


def valid(route: Route, method: str) -> dict[str, Any] | None:
    """Named with its method where a view takes two kinds."""
    name = route.view.__name__
    return VALID.get(f"{name} {method}", VALID.get(name))


OBJECTS = {
    "sample_id", "number", "verdict_id", "task_id", "gold_id", "job_id", "judge_id", "token_id", "flag_id", "invite_id",
    "run_id", "name", "trial_id", "alignment_id", "rule_id", "look_id", "thread_id", "schedule_id", "view_id",
    "image_name", "qualification_id",
}  # fmt: skip


@pytest.mark.parametrize("route", [route for route in GUARDED if OBJECTS & set(route.parameters)], ids=str)
def test_an_object_of_another_project_is_not_there(both: Both, route: Route) -> None:
    before = (stored(), list(Batch.objects.values_list("id", "status")))
    client = client_of(both.world.alice)
    absent = {
        "sample_id": 10**15,
        "number": 999_999_999,
        "verdict_id": 10**15,
        "task_id": 10**15,
        "gold_id": 10**15,
        "judge_id": 10**15,
        "trial_id": 10**15,
        "alignment_id": 10**15,
        "look_id": 10**15,
        "rule_id": 10**15,
        "name": "nowhere",
        "invite_id": 10**15,
        "run_id": 10**15,
        "flag_id": 10**15,
        "thread_id": 10**15,
        "schedule_id": 10**15,
        "view_id": 10**15,
        "image_name": "f" * 32,
        "qualification_id": 10**15,
        "job_id": "00000000-0000-4000-8000-000000000000",
    }
    _, token = get_token_model().objects.create(both.world.dora)
    foreign = {**both.foreign, "slug": "desk", "token_id": token[:15]}
    headers = {"If-Match": "1", "Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}
    for method in route.methods:
        body, query = valid(route, method), QUERY.get(route.view.__name__, "")
        hidden = ask(client, method, route.url(foreign) + query, body, **headers)
        nothing = ask(client, method, route.url({**foreign, **absent}) + query, body, **headers)
        assert (hidden.status_code, nothing.status_code) == (404, 404), (method, hidden.content, nothing.content)
        # Words may repeat the number that was asked for, and nothing else.
        assert hidden.content.replace(b"77", b"999999999") == nothing.content
    assert (stored(), list(Batch.objects.values_list("id", "status"))) == before
    assert get_token_model().objects.filter(user=both.world.dora).exists()


@pytest.mark.parametrize("who", ["alice", "rita", "ben", "charlie"])
@pytest.mark.parametrize("route", [route for route in GUARDED if route.path.startswith("/api/tasks/")], ids=str)
def test_a_task_is_its_annotators_alone(both: Both, route: Route, who: str) -> None:
    before = stored()
    headers = {"If-Match": "0", "Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}
    client = client_of(getattr(both.world, who))
    for method in route.methods:
        body = valid(route, method)
        reply = ask(client, method, route.url(both.own), body, **headers)
        assert reply.status_code == 404, reply.content
    assert stored() == before


# How one proves who one is


def token_client(user: User) -> tuple[APIClient, str]:
    _, token = get_token_model().objects.create(user)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client, token


@per_route
def test_a_token_is_as_good_as_a_session(both: Both, route: Route) -> None:
    user = user_of(both, route)
    if "GET" not in route.methods:
        return
    by_token = ask(token_client(user)[0], "GET", route.url(both.own))
    by_session = ask(client_of(user), "GET", route.url(both.own))
    if route.view in SESSION_ONLY:
        assert (by_token.status_code, by_session.status_code) == (401, 200)
    else:
        assert by_token.status_code == by_session.status_code
        if "application/json" in by_session.get("Content-Type", ""):
            assert by_token.content == by_session.content


@per_route
def test_a_disabled_account_gets_nothing(both: Both, route: Route) -> None:
    user = both.world.alice
    session, (token, _) = client_of(user), token_client(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    for method in route.methods:
        for client in (session, token):
            assert ask(client, method, route.url(both.own)).status_code == 401


@per_route
def test_a_session_needs_the_csrf_token(both: Both, route: Route) -> None:
    before = stored()
    for method in set(route.methods) - {"GET"}:
        client = client_of(both.world.alice, enforce_csrf_checks=True)
        reply = ask(client, method, route.url(both.own))
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "csrf")
        # Another site can make a browser send the cookie and guess, but not know the token.
        client.cookies["touchstone-csrf"] = "a" * 32
        assert ask(client, method, route.url(both.own), **{"X-CSRFToken": "b" * 32}).json()["error"]["code"] == "csrf"
    assert stored() == before


def test_a_superuser_is_an_admin_everywhere_but_no_annotator(both: Both) -> None:
    boss = User.objects.create_superuser("boss")
    client = client_of(boss)
    assert [p["role"] for p in client.get("/api/projects/").json()] == ["admin", "admin"]
    assert client.get("/api/projects/desk/members/").status_code == 200
    assert client.get(f"/api/tasks/{both.own['task_id']}/").status_code == 404


def test_a_route_that_does_not_exist_says_so_in_json(client: Client) -> None:
    reply = client.get("/api/nothing/here")
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_found"
