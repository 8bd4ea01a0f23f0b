"""The tasks of a batch: looked through, given to another annotator, sent back."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.batches.steps import extend_batch
from annotate.models import Batch, Project, Task, User
from annotate.models.batch import Purpose
from tests.clients import as_user
from tests.frontend.building import label_task, make_samples

URL = "/p/help/batches/1/tasks/"
ALL = {"support": "supported", "relevance": 3}


def shown(client: Client, query: str = "") -> list[Task]:
    return [row["task"] for row in client.get(URL + query).context["listed"]]


@pytest.fixture
def done(batch: Batch, ben: User) -> Task:
    task = batch.tasks.filter(annotator=ben).order_by("position").first()
    assert task is not None
    label_task(task, ALL)
    return task


def test_lists_and_filters(alice: User, batch: Batch, done: Task) -> None:
    client = as_user(alice)
    assert len(shown(client)) == 8
    assert {task.annotator.username for task in shown(client, "?person=ben") if task.annotator} == {"ben"}
    assert shown(client, "?person=ben&status=submitted") == [done]
    assert len(shown(client, "?status=pending")) == 7
    assert shown(client, "?person=-") == []
    # What makes no sense is no filter.
    assert len(shown(client, "?person=nobody&status=eaten&page=x")) == 8


def test_never_says_which_task_measures_whom(rita: User, batch: Batch, ben: User) -> None:
    gold = batch.tasks.filter(annotator=ben).first()
    assert gold is not None
    Task.objects.filter(pk=gold.pk).update(purpose=Purpose.GOLD)
    assert gold not in shown(as_user(rita))


def test_gives_ticked_tasks_to_another_annotator(alice: User, rita: User, ben: User, batch: Batch) -> None:
    client = as_user(alice)
    ticked = [task.pk for task in shown(client, "?person=ben")[:2]]
    reply = client.post(URL + "?person=ben", {"task": ticked, "to": rita.pk})
    assert reply.url == URL + "?person=ben"
    assert batch.tasks.filter(annotator=rita, status="pending").count() == 2
    assert batch.tasks.filter(annotator=ben, status="pending").count() == 2


def test_all_or_none(alice: User, bea: User, rita: User, batch: Batch, ben: User, done: Task) -> None:
    pending = batch.tasks.filter(annotator=ben, status="pending").first()
    assert pending is not None
    for sent, status, said in (
        ({"task": [pending.pk, done.pk], "to": rita.pk}, 409, "Only unfinished tasks"),
        ({"task": [pending.pk], "to": bea.pk}, 409, "already has or had this sample"),
        ({"task": [pending.pk]}, 422, "Select an annotator."),
        ({"to": rita.pk}, 422, "Select tasks to reassign"),
        ({"task": ["x"], "to": rita.pk}, 422, "Select a valid choice"),
    ):
        reply = as_user(alice).post(URL, sent)
        assert reply.status_code == status, sent
        assert said in reply.content.decode()
    assert not batch.tasks.filter(annotator=rita).exists()


def test_what_was_ticked_stays_ticked_after_a_refusal(alice: User, bea: User, batch: Batch, ben: User) -> None:
    task = batch.tasks.filter(annotator=ben).first()
    assert task is not None
    text = as_user(alice).post(URL, {"task": [task.pk], "to": bea.pk}).content.decode()
    assert f'value="{task.pk}" checked' in text


def test_a_task_of_another_batch_is_not_there(alice: User, rita: User, batch: Batch) -> None:
    assert as_user(alice).post(URL, {"task": [10**15], "to": rita.pk}).status_code == 404


def test_a_reviewer_looks_and_returns_but_moves_nothing(rita: User, alice: User, done: Task) -> None:
    text = as_user(rita).get(URL).content.decode()
    assert ">Reassign<" not in text
    assert f"{URL}{done.pk}/return/" in text
    assert as_user(rita).post(URL, {"task": [done.pk], "to": alice.pk}).status_code == 403


def test_returns_a_task_with_a_message(alice: User, rita: User, ben: User, done: Task) -> None:
    client = as_user(rita)
    url = f"{URL}{done.pk}/return/"
    assert "Send this task back to <bdi>Ben</bdi>?" in client.get(url).content.decode()
    assert client.post(url, {"message": " "}).status_code == 422
    reply = client.post(url, {"message": "Look at the second claim again."}, follow=True)
    assert "Task sent back to Ben." in reply.content.decode()
    done.refresh_from_db()
    assert (done.status, done.return_message, done.returned_by) == ("returned", "Look at the second claim again.", rita)
    # It says whose label it is about, which the project hides from reviewers.
    assert "Look at the second claim again." not in reply.content.decode()
    assert "Look at the second claim again." in as_user(alice).get(URL).content.decode()


def test_an_open_task_can_not_be_returned(rita: User, batch: Batch) -> None:
    task = batch.tasks.filter(status="pending").first()
    assert task is not None
    reply = as_user(rita).post(f"{URL}{task.pk}/return/", {"message": "Again."})
    assert reply.status_code == 409
    assert "submitted or skipped" in reply.content.decode()


def test_a_closed_batch_offers_nothing(alice: User, batch: Batch, done: Task) -> None:
    client = as_user(alice)
    client.post("/p/help/batches/1/close/")
    text = client.get(URL).content.decode()
    assert ">Reassign<" not in text
    assert "/return/" not in text


def test_the_number_of_queries_does_not_grow(alice: User, batch: Batch, project: Project) -> None:
    client = as_user(alice)
    client.get(URL)
    with CaptureQueriesContext(connection) as few:
        client.get(URL)
    make_samples(project, 15)
    extend_batch(actor=alice, batch=batch, selection={"method": "all"})
    with CaptureQueriesContext(connection) as many:
        client.get(URL)
    assert len(many) == len(few)
