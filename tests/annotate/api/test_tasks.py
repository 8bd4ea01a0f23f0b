"""Taking back, flags and preferences by API: what the replies say."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Flag, Task, User
from tests.annotate.api.test_access import ask
from tests.annotate.factories import World, finish, make_sample, say
from tests.clients import client_of


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def code_of(reply: Any) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


def test_a_submission_is_taken_back_with_its_answers(world: World, task: Task) -> None:
    say(world.ann, task, "claim:0", "support", None, cant_tell="Broken.")
    say(world.ann, task, "claim:1", "support", "yes")
    say(world.ann, task, "answer", "grade", 2)
    client, url = client_of(world.ann), f"/api/tasks/{task.pk}/"
    done = ask(client, "POST", url + "submit/").json()
    assert (done["status"], done["feedback"]) == ("submitted", [])
    for _ in range(2):
        reply = ask(client, "POST", url + "reopen/")
        assert reply.status_code == 200
        shown = reply.json()["task"]
        assert shown["status"] == "in_progress"
        assert [(label["value"], label["cant_tell"]) for label in shown["labels"]] == [
            (None, "Broken."), ("yes", ""), (2, ""),
        ]  # fmt: skip
    assert ask(client, "POST", url + "submit/").status_code == 200


def test_a_late_label_does_not_take_it_back(world: World, task: Task) -> None:
    finish(task)
    headers = {"If-Match": "1", "Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}
    late = {"unit": "answer", "criterion": "grade", "value": None, "cant_tell": "Late."}
    reply = ask(client_of(world.ann), "PUT", f"/api/tasks/{task.pk}/labels/", late, **headers)
    assert code_of(reply) == (409, "task_submitted")
    task.refresh_from_db()
    assert task.status == "submitted"


def test_asking_for_work(world: World, task: Task) -> None:
    client = client_of(world.ann)
    reply = ask(client, "POST", "/api/projects/desk/work/", {"batch": task.batch.number, "exclude": []})
    assert reply.json()["task"]["id"] == task.pk
    assert ask(client, "POST", "/api/projects/desk/work/", {"exclude": [task.pk]}).json()["task"] is None
    for wrong in ({"exclude": "1"}, {"exclude": [True]}, {"batch": 0}, {"batch": "x"}, {"user": "ben"}):
        assert ask(client, "POST", "/api/projects/desk/work/", wrong).status_code == 422


def test_flags_from_raising_to_resolving(world: World, task: Task) -> None:
    annotator, reviewer, admin = (client_of(user) for user in (world.ann, world.rita, world.alice))
    url = f"/api/tasks/{task.pk}/flag/"
    first = ask(annotator, "POST", url, {"reason": "The answer is cut off."})
    assert first.status_code == 200
    assert ask(annotator, "POST", url, {"reason": "The answer is cut off."}).json() == first.json()
    assert code_of(ask(annotator, "POST", url, {"reason": " "})) == (422, "no_reason")
    assert annotator.get("/api/projects/desk/flags/").status_code == 403
    listed = reviewer.get("/api/projects/desk/flags/").json()
    assert [(row["sample_id"], row["reason"], row["raised_by"]) for row in listed["results"]] == [
        ("s1", "The answer is cut off.", None)
    ]
    assert admin.get("/api/projects/desk/flags/").json()["results"][0]["raised_by"] == "ann"
    resolve = f"/api/projects/desk/flags/{first.json()['id']}/resolve/"
    assert ask(reviewer, "POST", resolve, {"resolution": "Seen."}).status_code == 403
    assert ask(admin, "POST", resolve, {"resolution": "Seen."}).json()["resolved_by"] == "alice"
    assert code_of(ask(admin, "POST", resolve, {"resolution": "No."})) == (409, "resolved")
    assert admin.get("/api/projects/desk/flags/").json()["count"] == 0
    assert admin.get("/api/projects/desk/flags/?state=resolved").json()["count"] == 1
    assert code_of(admin.get("/api/projects/desk/flags/?state=open")) == (400, "bad_state")


def test_the_list_of_flags_takes_the_same_queries_however_long(
    world: World, task: Task, django_assert_num_queries: Any
) -> None:
    client = client_of(world.alice)
    client.get("/api/projects/desk/flags/")
    for count in (1, 30):
        Flag.objects.bulk_create(
            Flag(project=world.project, sample=task.sample, reason=f"{n}", raised_by=world.ann) for n in range(count)
        )
        # Account, project, role, count, rows, what is still to be labelled, role for names.
        with django_assert_num_queries(7):
            client.get("/api/projects/desk/flags/")


@pytest.mark.parametrize("body", [{"role": "admin"}, {"is_superuser": True}, {"preferences": {}, "is_staff": True}])
def test_preferences_give_no_rights(world: World, body: dict[str, Any]) -> None:
    assert code_of(ask(client_of(world.ann), "PATCH", "/api/me/", body)) == (422, "unknown_field")
    user = User.objects.get(pk=world.ann.pk)
    assert (user.is_superuser, user.is_staff, user.preferences) == (False, False, {})


def test_preferences_are_ones_own(world: World) -> None:
    ann, ben = client_of(world.ann), client_of(world.ben)
    changed = ask(ann, "PATCH", "/api/me/", {"preferences": {"hotkeys": {"skip": "w"}, "view": "all"}}).json()
    assert changed == ann.get("/api/me/").json()
    assert (changed["username"], changed["preferences"]["hotkeys"]) == ("ann", {"skip": "w"})
    assert ben.get("/api/me/").json()["preferences"]["hotkeys"] == {}
    assert code_of(ask(ann, "PATCH", "/api/me/", {"preferences": {"hotkeys": {"skip": "3"}}})) == (
        422,
        "hotkey_of_option",
    )
