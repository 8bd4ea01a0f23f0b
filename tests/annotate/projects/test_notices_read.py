from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotate.batches.steps import start_adjudication
from annotate.models import ImportJob, Task, User
from annotate.projects.accounts import mark_notices_read
from annotate.projects.notices_read import KEPT, Notice, new_notices, notices
from annotate.projects.write import change_project, remove_member
from annotate.tasks.threads import ask, write
from annotate.tasks.write import reassign_tasks, return_task
from tests.annotate.factories import World, finish, make_sample, rewriting_history


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann, world.ben], name="First").tasks.get(annotator=world.ann)


def kinds(user: User) -> list[str]:
    user.refresh_from_db()
    return [one.kind for one in notices(user) if one.is_new]


def test_new_tasks_are_told_to_those_who_have_them(world: World, task: Task) -> None:
    (notice,) = notices(world.ann)
    assert (notice.kind, notice.slug, notice.project, notice.name, notice.is_new) == (
        "given", "desk", "Support desk", "First", True,
    )  # fmt: skip
    assert kinds(world.ben) == ["given"]
    assert [kinds(user) for user in (world.chen, world.rita, world.charlie, world.dora)] == [[], [], [], []]
    reassign_tasks(actor=world.alice, project=world.project, task_ids=[task.pk], to=world.chen)
    assert kinds(world.chen) == ["given"]


def test_questions_and_answers(world: World, task: Task) -> None:
    mark_notices_read(user=world.ann, until=timezone.now())
    thread = ask(actor=world.ann, task_id=task.pk, text="Of what?", idempotency_key=uuid.uuid4())
    assert kinds(world.rita) == ["asked"]
    assert kinds(world.ann) == []
    given = {"project": world.project, "thread_id": thread.pk, "idempotency_key": uuid.uuid4()}
    write(actor=world.rita, text="Of that.", **given)
    assert kinds(world.ann) == ["answered"]
    assert kinds(world.ben) == ["given"]
    (notice,) = [one for one in notices(world.ann) if one.kind == "answered"]
    assert notice.number == thread.pk


def test_a_task_that_was_sent_back_and_a_batch_to_adjudicate(world: World, task: Task) -> None:
    finish(task)
    return_task(actor=world.rita, project=world.project, task_id=task.pk, message="Again, please.")
    assert kinds(world.ann) == ["returned", "given"]
    (notice,) = [one for one in notices(world.ann) if one.kind == "returned"]
    assert (notice.number, notice.name) == (task.pk, "First")
    assert kinds(world.rita) == []
    finish_all(task)
    start_adjudication(batch=task.batch, actor=world.alice)
    assert kinds(world.rita) == ["disputes"]
    assert kinds(world.alice) == [], "who did it knows"
    assert kinds(world.ann) == ["returned", "given"]


def finish_all(task: Task) -> None:
    Task.objects.filter(batch=task.batch).update(status="submitted", submitted_at=timezone.now())
    task.batch.refresh_from_db()


@pytest.mark.parametrize(("status", "kind"), [("done", "imported"), ("failed", "import_failed")])
def test_ones_own_imports(world: World, status: str, kind: str) -> None:
    own = {"project": world.project, "kind": "samples", "file_name": "a.csv", "file_format": "csv"}
    ImportJob.objects.create(**own, created_by=world.alice, status=status, finished_at=timezone.now())
    ImportJob.objects.create(**own, created_by=world.alice, status="running")
    (notice,) = notices(world.alice)
    assert (notice.kind, notice.name, notice.number) == (kind, "a.csv", None)
    assert notices(world.rita) == []


def test_read_until_what_was_shown(world: World, task: Task) -> None:
    (first,) = notices(world.ann)
    assert new_notices(world.ann) == 1
    thread = ask(actor=world.ann, task_id=task.pk, text="Of what?", idempotency_key=uuid.uuid4())
    given = {"project": world.project, "thread_id": thread.pk, "idempotency_key": uuid.uuid4()}
    with rewriting_history():
        earlier = timezone.now() - timedelta(hours=1)
        world.project.audit_entries.filter(action="batch.opened").update(created_at=earlier)
    write(actor=world.rita, text="Of that.", **given)
    mark_notices_read(user=world.ann, until=first.at)
    world.ann.refresh_from_db()
    for until in (first.at, earlier):
        mark_notices_read(user=world.ann, until=until)
    assert kinds(world.ann) == ["answered"]
    assert new_notices(world.ann) == 1
    assert shown(world.ann) == ["answered", "given"], "what was read stays on the list"


def shown(user: User) -> list[str]:
    found: list[Notice] = notices(user)
    return [one.kind for one in found]


def test_old_ones_and_those_of_projects_that_one_is_out_of_are_gone(world: World, task: Task) -> None:
    Task.objects.filter(annotator=world.ben).update(status="submitted", submitted_at=timezone.now())
    remove_member(actor=world.alice, project=world.project, user=world.ben)
    assert shown(world.ben) == []
    with rewriting_history():
        world.project.audit_entries.update(created_at=timezone.now() - KEPT - timedelta(minutes=1))
    assert shown(world.ann) == []


def test_what_is_told_says_neither_who_nor_what(world: World, task: Task) -> None:
    change_project(actor=world.alice, project=world.project, name="Desk", guidelines="")
    finish(task)
    return_task(actor=world.rita, project=world.project, task_id=task.pk, message="Secret words.")
    said = repr(notices(world.ann))
    assert "Secret" not in said
    assert "rita" not in said
    assert task.sample.external_id not in said.replace("slug", "")
