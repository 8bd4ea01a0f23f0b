from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Task, User
from annotate.tasks.threads import ask, write
from judges.models import Judge, JudgeVersion, Run
from tests.annotate.factories import World, make_sample, make_world
from tests.clients import as_user


@pytest.fixture
def world(db: None) -> World:
    world = make_world()
    make_sample(world.project)
    task: Task = world.batch(annotators=[world.ann], overlap=1, name="First <b>").tasks.get()
    thread = ask(actor=world.ann, task_id=task.pk, text="Of what?", idempotency_key=uuid.uuid4())
    given = {"project": world.project, "thread_id": thread.pk, "idempotency_key": uuid.uuid4()}
    write(actor=world.rita, text="Of that.", **given)
    return world


def test_the_header_counts_and_the_page_lists(world: World) -> None:
    client = as_user(world.ann)
    assert "Notices: 2 new" in client.get("/account/").content.decode()
    page = client.get("/notices/").content.decode()
    assert "Your question was answered" in page
    assert "New tasks in “First &lt;b&gt;”" in page
    for row in client.get("/notices/").context["rows"]:
        assert client.get(row.url).status_code == 200, row.url


def test_marking_is_a_post_and_looking_changes_nothing(world: World) -> None:
    client = as_user(world.ann)
    until = client.get("/notices/").context["until"]
    assert User.objects.get(pk=world.ann.pk).notices_seen_at is None
    assert client.post("/notices/", {"until": until}).status_code == 302
    assert User.objects.get(pk=world.ann.pk).notices_seen_at.isoformat() == until  # type: ignore[union-attr]
    reply = client.get("/notices/")
    assert (reply.context["until"], len(reply.context["rows"])) == ("", 2)
    assert "Notices: " not in reply.content.decode()


@pytest.mark.parametrize("until", ["", "yesterday", "\x00", "9" * 40])
def test_what_is_no_time_marks_nothing(world: World, until: str) -> None:
    assert as_user(world.ann).post("/notices/", {"until": until}, follow=True).status_code == 200
    assert User.objects.get(pk=world.ann.pk).notices_seen_at is None


def test_a_time_to_come_hides_nothing_to_come(world: World) -> None:
    as_user(world.ann).post("/notices/", {"until": "2999-01-01T00:00:00+00:00"})
    assert User.objects.get(pk=world.ann.pk).notices_seen_at <= timezone.now()  # type: ignore[operator]


def test_a_run_that_one_started(world: World) -> None:
    judge = Judge.objects.create(project=world.project, name="lenient")
    version = JudgeVersion.objects.create(judge=judge, number=1, label="1", content_hash="1", config={})
    own = {"version": version, "purpose": "scores", "created_by": world.alice}
    run = Run.objects.create(**own, state="done", finished_at=timezone.now())
    Run.objects.create(**own, state="running")
    client = as_user(world.alice)
    rows = client.get("/notices/").context["rows"]
    assert [(row.text, row.url) for row in rows if row.notice.kind.startswith("run")] == [
        ("Your run of “lenient” is done", f"/p/desk/runs/{run.pk}/")
    ]
    assert "Your run" not in as_user(world.rita).get("/notices/").content.decode()


def test_the_api_asks_for_none(world: World) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        as_user(world.ann).get(f"/api/tasks/{Task.objects.get().pk}/")
    assert not [query for query in queries if "annotate_auditentry" in query["sql"]]


def test_nobody_is_counted_for_without_an_account(db: None, client: object) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/login/").status_code == 200  # type: ignore[attr-defined]
    assert not [query for query in queries if "annotate_auditentry" in query["sql"]]
