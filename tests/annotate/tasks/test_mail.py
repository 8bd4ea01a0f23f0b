"""Who gets which mail, through a real worker where one sends it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotate.batches.steps import open_batch
from annotate.members.write import change_tags, deactivate_member
from annotate.models import Batch, Project, Sample, User
from annotate.tasks.mail import send_batch_opened, send_reminders, send_task_returned
from annotate.tasks.write import return_task
from config.celery import app as celery_app
from tests.annotate.factories import World, finish, make_samples, make_world, must_take

if TYPE_CHECKING:
    from tests.processes import Worker


def give_addresses(*people: User) -> None:
    for user in people:
        user.email = f"{user.username}@example.org"
        user.save(update_fields=["email"])


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def batch(world: World) -> Batch:
    make_samples(world.project, 3)
    give_addresses(world.ann, world.ben)
    return world.batch(overlap=3)


def test_a_batch_that_opens_is_told_to_those_with_tasks_and_an_address(world: World, batch: Batch) -> None:
    Batch.objects.update(due_date=timezone.localdate() + timedelta(days=3))
    give_addresses(world.rita)
    assert send_batch_opened(batch.pk)
    assert [sent.to for sent in mail.outbox] == [["ann@example.org"], ["ben@example.org"]]
    text = mail.outbox[0].body
    assert "You have 3 new tasks in “A batch” (Support desk)" in text
    assert "Due on" in text
    assert "/p/desk/label/" in text


def test_a_message_that_comes_twice_is_one_mail(batch: Batch) -> None:
    for _ in range(3):
        send_batch_opened(batch.pk)
    assert len(mail.outbox) == 2


def test_a_mail_that_failed_is_tried_again(batch: Batch, settings: Any) -> None:
    working = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    assert not send_batch_opened(batch.pk)
    settings.EMAIL_BACKEND = working
    assert send_batch_opened(batch.pk)
    assert len(mail.outbox) == 2


def test_a_batch_that_is_gone_or_closed_is_no_news(batch: Batch) -> None:
    Batch.objects.update(status="closed")
    assert send_batch_opened(batch.pk)
    assert send_batch_opened(10**9)
    assert send_task_returned(10**9)
    assert mail.outbox == []


def test_what_waits_in_a_queue_waits_for_all_its_annotators(world: World, batch: Batch) -> None:
    batch.tasks.exclude(annotator=world.ann).delete()
    batch.tasks.update(annotator=None)
    send_batch_opened(batch.pk)
    assert {sent.to[0]: "3 new tasks" in sent.body for sent in mail.outbox} == {
        "ann@example.org": True,
        "ben@example.org": True,
    }


def test_of_a_queue_one_is_told_what_one_could_take(world: World) -> None:
    """Each sample waits in as many copies as people are to label it; one takes one of them, if one knows enough."""
    for sample in make_samples(world.project, 4):
        Sample.objects.filter(pk=sample.pk).update(metadata={"topic": "law"} if sample.external_id == "s1" else {})
    give_addresses(world.ann, world.ben)
    change_tags(actor=world.alice, project=world.project, user=world.ann, tags=["law"])
    change_tags(actor=world.alice, project=world.project, user=world.chen, tags=["law"])
    batch = world.batch(strategy="pull", overlap=2, tag_key="topic")
    finish(must_take(world.ann, batch))
    must_take(world.ben, batch)
    send_batch_opened(batch.pk)
    told = {sent.to[0]: re.search(r"You have \d+ new tasks?", sent.body) for sent in mail.outbox}
    assert {address: found and found[0] for address, found in told.items()} == {
        "ann@example.org": "You have 3 new tasks",  # four, one of them done
        "ben@example.org": "You have 3 new tasks",  # three without expertise, one of them in hand
    }


@pytest.mark.parametrize(("shown", "who"), [(False, "A reviewer"), (True, "rita")])
def test_who_sent_a_task_back_is_named_where_the_project_shows_names(
    world: World, batch: Batch, shown: bool, who: str
) -> None:
    Project.objects.filter(pk=world.project.pk).update(show_names=shown)
    task = batch.tasks.filter(annotator=world.ann)[0]
    finish(task)
    return_task(actor=world.rita, project=world.project, task_id=task.pk, message="Look again.")
    assert send_task_returned(task.pk)
    assert mail.outbox[-1].body.startswith(f"{who} asks you to revise a task")
    assert ("rita" in mail.outbox[-1].body) is shown


def test_who_left_gets_none(world: World, batch: Batch) -> None:
    deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    User.objects.filter(pk=world.ben.pk).update(is_active=False)
    send_batch_opened(batch.pk)
    assert mail.outbox == []


def test_each_in_their_own_language(world: World, batch: Batch) -> None:
    """Dates are Django's own translation, so this holds whatever of ours is translated."""
    Batch.objects.update(due_date="2999-01-31")
    User.objects.filter(pk=world.ann.pk).update(language="zh-hans")
    send_batch_opened(batch.pk)
    assert "2999年1月31日" in mail.outbox[0].body
    assert "31 Jan 2999" in mail.outbox[1].body


def test_reminds_on_the_day_before(world: World, batch: Batch, capsys: pytest.CaptureFixture[str]) -> None:
    today = timezone.localdate()
    Batch.objects.update(due_date=today + timedelta(days=1))
    for task in batch.tasks.filter(annotator=world.ben):
        finish(task)
    assert send_reminders(today - timedelta(days=1)) == 0
    call_command("remind")
    assert capsys.readouterr().out == "1 email sent.\n"
    assert mail.outbox[0].to == ["ann@example.org"]
    assert "You have 3 tasks left" in mail.outbox[0].body
    call_command("remind")
    assert len(mail.outbox) == 1


@pytest.mark.django_db(transaction=True)
def test_the_worker_sends_what_services_ask_for(worker: Worker) -> None:
    """The whole way: committed, handed over, sent; here into files."""
    from tests.processes import mails

    world = make_world()
    make_samples(world.project, 1)
    give_addresses(world.ann)
    draft = world.batch(annotators=[world.ann], overlap=1, opened=False)
    assert mails() == []
    open_batch(batch=draft)
    worker.wait_for(lambda: any("You have 1 new task" in text for text in mails()))
    assert ["ann@example.org" in text for text in mails()] == [True]
    task = draft.tasks.get()
    finish(task)
    return_task(actor=world.rita, project=world.project, task_id=task.pk, message="Look at claim two.")
    worker.wait_for(lambda: any("Look at claim two." in text for text in mails()))


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_the_batch_opens_all_the_same(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object, **__: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(celery_app, "send_task", down)
    world = make_world()
    make_samples(world.project, 1)
    give_addresses(world.ann)
    draft = world.batch(annotators=[world.ann], overlap=1, opened=False)
    assert open_batch(batch=draft).status == "open"
    assert draft.tasks.count() == 1
