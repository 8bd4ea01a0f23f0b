"""Single endpoints: what no table over all routes can say."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from knox.models import get_token_model
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from annotate.core.bodies import USUAL
from annotate.members.write import deactivate_member
from annotate.models import Project, User
from annotate.projects.write import create_project
from tests.annotate.api.test_access import ask, token_client
from tests.annotate.factories import World, make_sample, make_samples, stored
from tests.clients import client_of


def test_tokens_that_are_none(world: World) -> None:
    _, token = get_token_model().objects.create(world.ann)
    old, expired = get_token_model().objects.create(world.ann)
    get_token_model().objects.filter(pk=old.pk).update(expiry=timezone.now())
    for given in (
        f"Token {token[:-1]}", f"Token {token}x", "Token ", "Token x y", "Token", f"Token {expired}",
        f"Token {old.digest}", f"Token {token[:15]}", "Basic YWxpY2U6YWxpY2Utc2VjcmV0LXdvcmRz", f"Bearer {token}",
    ):  # fmt: skip
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=given)
        assert client.get("/api/projects/").status_code == 401, given
    assert token_client(world.ann)[0].get("/api/projects/").status_code == 200


def test_the_csrf_token_opens(world: World) -> None:
    client = client_of(world.alice, enforce_csrf_checks=True)
    client.cookies["touchstone-csrf"] = "a" * 32
    reply = ask(client, "PATCH", "/api/projects/desk/", {"name": "New"}, **{"X-CSRFToken": "a" * 32})
    assert reply.status_code == 200, reply.content
    by_token = APIClient(enforce_csrf_checks=True)
    by_token.credentials(HTTP_AUTHORIZATION=f"Token {get_token_model().objects.create(world.alice)[1]}")
    assert ask(by_token, "PATCH", "/api/projects/desk/", {"name": "Newer"}).status_code == 200


def test_only_staff_may_create_projects(world: World) -> None:
    body = {"slug": "mine", "name": "Mine"}
    assert ask(client_of(world.alice), "POST", "/api/projects/", body).status_code == 403
    User.objects.filter(pk=world.alice.pk).update(is_staff=True)
    reply = ask(client_of(world.alice), "POST", "/api/projects/", {**body, "criteria": ["support"]})
    assert reply.status_code == 201
    assert reply.json()["role"] == "admin"
    assert ask(client_of(world.alice), "POST", "/api/projects/", body).status_code == 409
    assert Project.objects.filter(slug="mine").count() == 1


@pytest.mark.parametrize("words", ["%", "_", "'", "\\", "😀", "Question 1"])
def test_search_is_for_words(world: World, words: str) -> None:
    make_samples(world.project, 3)
    reply = client_of(world.rita).get("/api/projects/desk/samples/", {"search": words}).json()
    assert reply["count"] == (1 if words == "Question 1" else 0)


@pytest.mark.parametrize("name", ["%00", "%EF%BF%BD", "a" * 5000, "..%2F..", "%F0%9F%98%80"])
def test_names_in_paths(world: World, name: str) -> None:
    client = client_of(world.alice)
    for url, method in ((f"/api/projects/desk/members/{name}/", "PUT"), (f"/api/tokens/{name}/", "DELETE")):
        assert ask(client, method, url, {"role": "annotator"}).status_code == 404


@pytest.mark.parametrize("number", ["9" * 9, "9" * 19, "9" * 40, "9" * 5000])
def test_numbers_in_paths(world: World, number: str) -> None:
    client = client_of(world.alice)
    for path in ("samples", "batches", "disputes", "reports", "releases"):
        assert client.get(f"/api/projects/desk/{path}/{number}/").status_code == 404
    assert client.get(f"/api/tasks/{number}/").status_code == 404


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
def test_other_content_types(world: World, content_type: str) -> None:
    reply = client_of(world.alice).generic("PATCH", "/api/projects/desk/", b"name=x", content_type=content_type)
    assert reply.status_code == 415, reply.content


def test_a_form_is_no_json(world: World) -> None:
    reply = client_of(world.alice).patch("/api/projects/desk/", {"name": "x"}, format="multipart")
    assert (reply.status_code, reply.json()["error"]["code"]) == (415, "unsupported_media_type")


def test_a_huge_body_is_not_even_read(world: World) -> None:
    sent = b'{"guidelines": "' + b"x" * USUAL + b'"}'
    reply = client_of(world.alice).generic("PATCH", "/api/projects/desk/", sent, content_type="application/json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")


def test_members_cannot_promote_themselves(world: World) -> None:
    client = client_of(world.ann)
    for url in ("/api/projects/desk/", "/api/projects/desk/members/ann/"):
        for method in ("PATCH", "PUT"):
            assert ask(client, method, url, {"role": "admin"}).status_code in (403, 405)
    assert world.project.memberships.get(user=world.ann).role == "annotator"


def test_markup_comes_back_as_text_in_json(world: World) -> None:
    evil = "<script>alert(1)</script>"
    client = client_of(world.alice)
    assert ask(client, "PATCH", "/api/projects/desk/", {"guidelines": evil}).json()["guidelines"] == evil
    for reply in (
        client.get("/api/projects/desk/"),
        ask(client, "PATCH", "/api/projects/desk/", {evil: 1}),
        client.get("/api/projects/desk/?" + evil),
    ):
        assert reply["Content-Type"].startswith("application/json")
        assert reply["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("count", [1, 6])
def test_queries(world: World, count: int, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    make_samples(world.project, count)
    for number in range(count):
        world.batch(opened=False)
        create_project(slug=f"p{number}", spec={}, created_by=world.alice)
    client = client_of(world.alice)
    client.get("/api/projects/")
    for url, most in (
        ("/api/projects/", 4),
        ("/api/projects/desk/", 5),
        ("/api/projects/desk/members/", 5),
        ("/api/projects/desk/samples/", 6),
        ("/api/projects/desk/batches/", 7),
        ("/api/projects/desk/work/", 6),
    ):
        with django_assert_max_num_queries(most):
            assert client.get(url).status_code == 200


def test_a_token_is_shown_once_and_only_to_its_owner(world: World) -> None:
    ann, ben = client_of(world.ann), client_of(world.ben)
    token = ann.post("/api/tokens/").json()["token"]
    listed = ann.get("/api/tokens/").json()
    assert len(listed) == 1
    assert token not in str(list(get_token_model().objects.values()))
    assert token.startswith(listed[0]["id"])
    assert len(listed[0]["id"]) < len(token) / 3
    assert ben.get("/api/tokens/").json() == []
    assert ask(ben, "DELETE", f"/api/tokens/{listed[0]['id']}/").status_code == 404
    assert get_token_model().objects.count() == 1
    assert ask(ann, "DELETE", f"/api/tokens/{listed[0]['id']}/").status_code == 204
    assert not get_token_model().objects.exists()


def put_label(client: Any, task_id: int, value: Any, **headers: str) -> Any:
    given = {"If-Match": "0", "Idempotency-Key": str(uuid.uuid4()), **headers}
    given = {name: text for name, text in given.items() if text is not ...}
    return ask(
        client,
        "PUT",
        f"/api/tasks/{task_id}/labels/",
        {"unit": "answer", "criterion": "grade", "value": value},
        **given,
    )


def test_the_loop(world: World) -> None:
    make_sample(world.project, 1)
    make_sample(world.project, 2)
    world.batch(criteria=["grade"], annotators=[world.ann], overlap=1)
    client = client_of(world.ann)
    work = client.get("/api/projects/desk/work/").json()
    first, second = work["task"]["id"], work["task"]["id"] + 1
    assert work["progress"] == {"total": 2, "done": 0, "skipped": 0, "left": 2}
    assert client.get(f"/api/projects/desk/work/?exclude={first}").json()["task"]["id"] == second
    assert client.get(f"/api/projects/desk/work/?exclude={first},{second}&batch=1").json()["task"] is None

    assert ask(client, "POST", f"/api/tasks/{first}/submit/").json()["missing"] == [
        {"unit": "answer", "criterion": "grade"}
    ]
    saved = put_label(client, first, 4)
    assert (saved.status_code, saved["ETag"], saved.json()["revision"]) == (200, '"1"', 1)
    assert put_label(client, first, 5, **{"If-Match": '"1"'}).json()["revision"] == 2
    done = ask(client, "POST", f"/api/tasks/{first}/submit/", {"exclude": [], "active_seconds": 7}).json()
    assert (done["status"], done["next"]["id"]) == ("submitted", second)
    assert ask(client, "POST", f"/api/tasks/{first}/submit/", {"exclude": [second]}).json()["next"] is None
    skipped = ask(client, "POST", f"/api/tasks/{second}/skip/", {"reason": "No."}).json()
    assert (skipped["status"], skipped["next"]) == ("skipped", None)
    assert client.get("/api/projects/desk/work/").json()["progress"] == {"total": 2, "done": 1, "skipped": 1, "left": 0}


def test_the_loops_preconditions(world: World) -> None:
    make_sample(world.project)
    task = world.batch(criteria=["grade"], annotators=[world.ann], overlap=1).tasks.get()
    client = client_of(world.ann)
    before = stored()
    assert put_label(client, task.pk, 4, **{"If-Match": ...}).status_code == 428  # type: ignore[dict-item]
    for revision in ("x", "-1", "1.0", "", "*", "1, 2", "9" * 30):
        assert put_label(client, task.pk, 4, **{"If-Match": revision}).json()["error"]["code"] == "bad_if_match"
    keyless = put_label(client, task.pk, 4, **{"Idempotency-Key": ...})  # type: ignore[dict-item]
    assert keyless.json()["error"]["code"] == "key_missing"
    assert put_label(client, task.pk, 4, **{"Idempotency-Key": "mine"}).json()["error"]["code"] == "bad_key"
    stale = put_label(client, task.pk, 4, **{"If-Match": "3"})
    assert (stale.status_code, stale.json()["current"], stale.json()["yours"]["value"]) == (412, None, 4)
    assert stored() == before


@pytest.mark.parametrize("exclude", ["5", [True], ["5"], [1.5], list(range(51)), {"a": 1}, None])
def test_a_bad_list_of_held_tasks_submits_nothing(world: World, exclude: Any) -> None:
    make_sample(world.project)
    task = world.batch(criteria=["grade"], annotators=[world.ann], overlap=1).tasks.get()
    client = client_of(world.ann)
    put_label(client, task.pk, 4)
    before = stored()
    for step, body in (("submit", {}), ("skip", {"reason": "No."})):
        reply = ask(client, "POST", f"/api/tasks/{task.pk}/{step}/", {**body, "exclude": exclude})
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "bad_exclude")
    assert stored() == before
    assert ask(client, "POST", f"/api/tasks/{task.pk}/submit/", {"exclude": [2**62, 5]}).status_code == 200


def test_a_disabled_member_can_be_taken_out_but_not_put_in(world: World) -> None:
    User.objects.filter(pk=world.ben.pk).update(is_active=False)
    client = client_of(world.alice)
    assert ask(client, "PUT", "/api/projects/desk/members/ben/", {"role": "reviewer"}).status_code == 404
    assert ask(client, "DELETE", "/api/projects/desk/members/ben/").status_code == 204
    assert not world.project.memberships.filter(user=world.ben).exists()


def test_a_batch_over_http(world: World) -> None:
    make_sample(world.project, metadata={"lang": "zh"})
    client = client_of(world.alice)
    body = {
        "name": "B",
        "criteria": ["grade"],
        "annotators": ["ann", "ben"],
        "overlap": 2,
        "selection": {"method": "filter", "filter": {"lang": "zh"}},
        "due_date": "2999-12-31",
    }
    rule = {"consensus": "threshold", "settle_share": 0.66, "settle_votes": 2}
    made = ask(client, "POST", "/api/projects/desk/batches/", body | rule)
    assert (made.status_code, made.json()["status"], made.json()["samples"]) == (201, "draft", 1)
    assert made.json().items() >= rule.items()
    for bad in (
        {"seed": "x"}, {"seed": 2**80}, {"due_date": "tomorrow"}, {"due_date": 5},
        {"due_date": "2026-01-31"}, {"criteria": ["none"]}, {"criteria": "grade"},
        {"annotators": ["nobody"]}, {"annotators": [5]}, {"overlap": "2"}, {"selection": []}, {"name": 5},
        {"selection": {"method": "all", "_connector": "OR"}}, {"annotators": ["charlie", "ann"]},
        {"settle_share": 0.8}, {"consensus": "threshold"},
        {"consensus": "threshold", "settle_share": 0.5, "settle_votes": 2},
        {"consensus": "threshold", "settle_share": 80, "settle_votes": 2},
        {"consensus": "threshold", "settle_share": 0.8, "settle_votes": 0},
    ):  # fmt: skip
        reply = ask(client, "POST", "/api/projects/desk/batches/", {**body, **bad})
        assert reply.status_code == 422, (bad, reply.content)
    assert world.project.batches.count() == 1
    assert ask(client, "POST", "/api/projects/desk/batches/1/open/").json()["status"] == "open"
    assert ask(client, "POST", "/api/projects/desk/batches/1/open/").status_code == 409
    progress = client.get("/api/projects/desk/batches/1/").json()["progress"]
    assert [row["left"] for row in progress["annotators"]] == [1, 1]
    assert json.dumps(progress["criteria"][0]["expected"]) == "2"


def test_a_page_that_another_user_opened_gets_nothing(world: World) -> None:
    """Ben logs in while Ann's tab is open; the tab goes on asking as Ann."""
    client = client_of(world.ben)
    assert client.get("/api/projects/", headers={"X-Expected-User": str(world.ben.pk)}).status_code == 200
    for expected in (str(world.ann.pk), "", "x", "0"):
        reply = client.get("/api/projects/", headers={"X-Expected-User": expected})
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("sent", [b"[" * 200_000, b"{", b"\xff", b'{"a": NaN}'])
def test_without_the_csrf_token_nothing_is_read(world: World, sent: bytes) -> None:
    client = client_of(world.alice, enforce_csrf_checks=True)
    for content_type in ("application/json", "text/plain", "multipart/form-data; boundary=b"):
        reply = client.generic("POST", "/api/projects/", sent, content_type=content_type)
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "csrf")


def _file(text: str) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("criteria.json", text.encode())}


def test_criteria_come_as_a_list_as_in_project_json_or_as_a_file(world: World) -> None:
    client, url = client_of(world.alice), "/api/projects/desk/criteria/"
    for number, (sent, form) in enumerate(
        [
            (["failure"], "json"),
            ({"criteria": ["relevancy"]}, "json"),
            (_file('["completeness"]'), "multipart"),
            (_file('{"criteria": ["correctness"]}'), "multipart"),
        ],
        start=4,
    ):
        reply = client.post(url, sent, format=form)
        assert reply.status_code == 201, reply.content
        assert world.project.criteria.count() == number
    for sent, form, code in (
        ({"criteria": ["preference"], "name": "x"}, "json", "not_a_list"),
        ({"criteria": []}, "json", "not_a_list"),
        (_file('[{"key": "a", "key": "b"}]'), "multipart", "not_json"),
        (_file("{"), "multipart", "not_json"),
        ({**_file('["preference"]'), "other": "1"}, "multipart", "not_json"),
        ({"file": '["preference"]'}, "multipart", "not_json"),
    ):
        reply = client.post(url, sent, format=form)
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, code), reply.content
    assert world.project.criteria.count() == 7


def test_the_seed_of_a_batch_draws_its_samples(world: World) -> None:
    make_samples(world.project, 30)
    sent = {"name": "B", "criteria": ["grade"], "annotators": ["ann"], "overlap": 1, "seed": 5}
    client = client_of(world.alice)
    drawn = []
    for selection in ({"method": "random", "n": 9}, {"method": "random", "n": 9, "seed": 5}):
        number = client.post("/api/projects/desk/batches/", {**sent, "selection": selection}).json()["number"]
        batch = world.project.batches.get(number=number)
        assert (batch.seed, batch.selection) == (5, {"method": "random", "came": "drawn", "n": 9, "seed": 5})
        drawn.append(list(batch.batch_samples.values_list("sample_id", flat=True)))
    assert drawn[0] == drawn[1]
    own = client.post(
        "/api/projects/desk/batches/", {**sent, "selection": {"method": "random", "n": 9, "seed": 6}}
    ).json()
    assert world.project.batches.get(number=own["number"]).selection["seed"] == 6


def test_without_a_login_a_token_is_asked_for(world: World) -> None:
    assert client_of(None).get("/api/projects/")["WWW-Authenticate"] == "Token"


def test_a_former_member_is_told_so_and_a_stranger_is_not(world: World) -> None:
    """So that the workspace can tell an end from another annotator's task, or from a session that ran out."""
    make_sample(world.project)
    task = world.batch(criteria=["grade"], annotators=[world.ann], overlap=1).tasks.get()
    client, stranger = client_of(world.ann), client_of(world.charlie)

    def answers(who: Any) -> set[tuple[int, str, str]]:
        replies = [
            ask(who, "POST", "/api/projects/desk/work/", {}),
            ask(who, "GET", f"/api/tasks/{task.pk}/"),
            put_label(who, task.pk, 4),
            ask(who, "POST", f"/api/tasks/{task.pk}/submit/", {}),
            ask(who, "POST", f"/api/tasks/{task.pk}/heartbeat/", {}),
            ask(who, "POST", f"/api/tasks/{task.pk}/flag/", {"reason": "Odd."}),
        ]
        return {(one.status_code, *one.json()["error"].values()) for one in replies}

    deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    before = stored()
    assert answers(client) == {(403, "not_a_member", "You are no longer a member of this project.")}
    assert {(status, code) for status, code, _message in answers(stranger)} == {(404, "not_found")}
    User.objects.filter(pk=world.ann.pk).update(is_active=False)
    assert answers(client) == {(401, "account_deactivated", "Your account was deactivated.")}
    assert {code for _status, code, _message in answers(client_of(None))} == {"not_authenticated"}
    assert stored() == before
