"""My work, flags, and keys of one's own, as pages."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.batches.steps import close_batch
from annotate.models import Batch, Flag, Project, Sample, Task, User
from annotate.projects.accounts import preferences_of
from annotate.tasks.labelling import skip_task
from tests.clients import as_user
from tests.frontend.building import label_task, make_samples

DONE = "/p/help/label/done/"


@pytest.fixture
def own(batch: Batch, ben: User) -> list[Task]:
    """Ben submitted one and skipped one of his four."""
    tasks = list(batch.tasks.filter(annotator=ben).order_by("position"))
    label_task(tasks[0], {"support": "supported", "relevance": 3})
    skip_task(actor=ben, task_id=tasks[1].pk, reason="No <b>idea</b>.")
    return tasks


def test_lists_what_one_finished_and_nothing_of_others(own: list[Task], ben: User, bea: User) -> None:
    reply = as_user(ben).get(DONE)
    assert {row["task"].pk for row in reply.context["listed"]} == {own[0].pk, own[1].pk}
    assert "No &lt;b&gt;idea&lt;/b&gt;." in reply.content.decode()
    assert "No finished samples yet" in as_user(bea).get(DONE).content.decode()


def test_searches_the_text(own: list[Task], ben: User) -> None:
    client = as_user(ben)
    question = own[0].sample.question
    assert len(client.get(DONE, {"q": question}).context["listed"]) == 1
    assert len(client.get(DONE, {"q": "Paris is old"}).context["listed"]) == 2
    assert "No matches" in client.get(DONE, {"q": "<nothing>"}).content.decode()
    for odd in ("?q=%00", "?page=x", "?page=99", "?q=" + "x" * 300):
        assert client.get(DONE + odd).status_code == 200


def test_change_takes_it_back_and_opens_it(own: list[Task], ben: User) -> None:
    client = as_user(ben)
    for task in own[:2]:
        reply = client.post(f"{DONE}{task.pk}/change/")
        assert reply.url == f"/p/help/label/?task={task.pk}"
        assert client.get(reply.url).context["workspace"]["task"]["id"] == task.pk
        task.refresh_from_db()
        assert task.status == "in_progress"


def test_a_task_that_is_not_open_leads_to_the_list(own: list[Task], ben: User) -> None:
    assert as_user(ben).get(f"/p/help/label/?task={own[0].pk}").url == DONE


def test_nothing_is_changed_in_a_closed_batch_or_by_others(own: list[Task], ben: User, bea: User, batch: Batch) -> None:
    assert as_user(bea).post(f"{DONE}{own[0].pk}/change/").status_code == 404
    assert as_user(bea).get(f"/p/help/label/?task={own[0].pk}").status_code == 404
    for wrong in ("?task=x", "?task=" + "9" * 30, "?batch=-1"):
        assert as_user(ben).get(f"/p/help/label/{wrong}").status_code == 404
    close_batch(batch=batch)
    client = as_user(ben)
    assert not any(row["may_change"] for row in client.get(DONE).context["listed"])
    reply = client.post(f"{DONE}{own[0].pk}/change/", follow=True)
    assert "is closed. Nothing was changed" in reply.content.decode()
    own[0].refresh_from_db()
    assert own[0].status == "submitted"


def test_the_list_takes_the_same_queries_however_long(
    own: list[Task], ben: User, project: Project, batch: Batch
) -> None:
    client = as_user(ben)
    client.get(DONE)
    with CaptureQueriesContext(connection) as few:
        client.get(DONE)
    now = timezone.now()
    Task.objects.bulk_create(
        Task(batch=batch, sample=sample, annotator=ben, position=10, status="submitted", submitted_at=now)
        for sample in make_samples(project, 60)
    )
    with CaptureQueriesContext(connection) as many:
        assert len(client.get(DONE).context["listed"]) == 50
    assert len(many) == len(few)


# Flags


@pytest.fixture
def flag(own: list[Task], ben: User, project: Project, samples: list[Sample]) -> Flag:
    return Flag.objects.create(
        project=project, sample=own[0].sample, task=own[0], reason="Cut <i>off</i>.", raised_by=ben
    )


def test_flags_wait_until_an_admin_resolves_them(flag: Flag, alice: User, rita: User) -> None:
    admin, reviewer = as_user(alice), as_user(rita)
    assert "Cut &lt;i&gt;off&lt;/i&gt;." in reviewer.get("/p/help/flags/").content.decode()
    assert "Resolution" not in reviewer.get("/p/help/flags/").content.decode()
    assert "1 open flag</a>" in admin.get("/p/help/").content.decode()
    url = f"/p/help/flags/{flag.pk}/resolve/"
    assert reviewer.post(url, {"resolution": "So."}).status_code == 403
    assert "explain what was done" in admin.post(url, {"resolution": " "}, follow=True).content.decode()
    assert "Flag resolved." in admin.post(url, {"resolution": "Imported anew."}, follow=True).content.decode()
    assert "No open flags" in admin.get("/p/help/flags/").content.decode()
    assert "Imported anew." in admin.get("/p/help/flags/?state=resolved").content.decode()
    assert "flag</a> waits" not in admin.get("/p/help/").content.decode()


def test_the_flags_take_the_same_queries_however_many(flag: Flag, ben: User, alice: User) -> None:
    client = as_user(alice)
    client.get("/p/help/flags/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/flags/")
    Flag.objects.bulk_create(
        Flag(project=flag.project, sample=flag.sample, task=flag.task, reason=f"{n}", raised_by=ben) for n in range(40)
    )
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/flags/")
    assert len(many) == len(few)


# Keys


def sent(**more: str) -> dict[str, str]:
    return {"single_keys": "on", "view": "one", **more}


def test_keys_are_kept_and_reset(ben: User) -> None:
    client = as_user(ben)
    assert client.post("/account/keys/", sent(key_skip="W", key_undo="i", view="all")).status_code == 302
    ben.refresh_from_db()
    assert preferences_of(ben).hotkeys == {"skip": "w", "undo": "i"}
    assert 'value="w"' in client.get("/account/keys/").content.decode()
    assert "data-single-keys" not in client.get("/account/keys/").content.decode()
    client.post("/account/keys/", {"view": "all"})
    assert 'data-single-keys="off"' in client.get("/").content.decode()
    client.post("/account/keys/", {"reset": "1"})
    ben.refresh_from_db()
    assert ben.preferences == {}


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"key_skip": "n"}, "key_skip"), ({"key_skip": "w", "key_flag": "w"}, "key_flag"),
        ({"key_skip": "3"}, "key_skip"), ({"key_skip": " "}, None),
    ],
)  # fmt: skip
def test_a_collision_is_said_at_its_field(keys: dict[str, str], field: str | None, ben: User) -> None:
    reply = as_user(ben).post("/account/keys/", sent(**keys))
    assert reply.status_code == 422
    errors = reply.context["form"].errors
    assert (field or "__all__") in errors
    ben.refresh_from_db()
    assert ben.preferences == {}


def test_keys_are_for_people_who_are_logged_in(db: None) -> None:
    assert Client().get("/account/keys/").status_code == 302
    assert Client().post("/account/keys/", {"reset": "1"}).status_code == 302
