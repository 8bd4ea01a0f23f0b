from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, Sample, User
from annotate.models.batch import BatchStatus
from annotate.selectors.projects import current_criteria
from annotate.services.batches import create_batch
from tests.frontend.building import make_samples

AsUser = Callable[[User], Client]


@pytest.fixture
def sent(project: Project, samples: list[Sample], ben: User, bea: User) -> dict[str, Any]:
    criteria = [criterion.pk for criterion in current_criteria(project)]
    return {"name": "First", "method": "all", "criteria": criteria, "annotators": [ben.pk, bea.pk], "overlap": 2}


def test_makes_a_draft_of_all_samples(alice: User, sent: dict[str, Any], as_user: AsUser) -> None:
    assert as_user(alice).post("/p/help/batches/new/", {**sent, "due_date": "2999-01-31"}).url == "/p/help/batches/1/"
    batch = Batch.objects.get()
    assert (batch.status, batch.batch_samples.count(), str(batch.due_date)) == ("draft", 4, "2999-01-31")
    assert [asked.criterion.key for asked in batch.batch_criteria.order_by("position")] == ["support", "relevance"]


def test_draws_at_random_with_a_seed(alice: User, sent: dict[str, Any], as_user: AsUser) -> None:
    for _ in range(2):
        as_user(alice).post("/p/help/batches/new/", {**sent, "method": "random", "n": 2, "seed": 7})
    one, two = (list(batch.batch_samples.values_list("sample_id", flat=True)) for batch in Batch.objects.all())
    assert one == two
    assert len(one) == 2


def test_filters_by_metadata_that_the_form_knows(alice: User, sent: dict[str, Any], as_user: AsUser) -> None:
    client = as_user(alice)
    form = client.get("/p/help/batches/new/").context["form"]
    # Every sample has another `row`, which is nothing to filter by.
    assert [known.key for known in form.known] == ["tier"]
    client.post("/p/help/batches/new/", {**sent, "method": "filter", "meta_0": '"gold"'})
    chosen = Batch.objects.get().batch_samples.values_list("sample__metadata__tier", flat=True)
    assert list(chosen) == ["gold", "gold"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": "filter"}, "Name at least one metadata key"),
        ({"method": "random"}, "how many samples to draw"),
        ({"method": "random", "n": 99}, "Only 4 samples match"),
        ({"overlap": 3}, "needs at least 3 people"),
        ({"criteria": []}, "Choose at least one criterion"),
        ({"annotators": []}, "Choose who labels"),
        ({"meta_0": '"lead"'}, "Select a valid choice"),
        ({"due_date": "soon"}, "Enter a valid date"),
        ({"due_date": "2026-01-31"}, "The due date 2026-01-31 has passed"),
    ],
)
def test_a_bad_form_says_why_and_keeps_what_was_typed(
    change: dict[str, Any], said: str, alice: User, sent: dict[str, Any], as_user: AsUser
) -> None:
    reply = as_user(alice).post("/p/help/batches/new/", {**sent, **change})
    assert reply.status_code == 422
    assert said in reply.content.decode()
    assert 'value="First"' in reply.content.decode()
    assert not Batch.objects.exists()


def test_a_stranger_cannot_be_chosen(alice: User, charlie: User, sent: dict[str, Any], as_user: AsUser) -> None:
    assert as_user(alice).post("/p/help/batches/new/", {**sent, "annotators": [charlie.pk]}).status_code == 422
    assert not Batch.objects.exists()


def test_goes_from_draft_to_closed_and_back(alice: User, sent: dict[str, Any], as_user: AsUser) -> None:
    client = as_user(alice)
    client.post("/p/help/batches/new/", sent)
    for step, status in (("open", "open"), ("adjudicate", "adjudicating"), ("close", "closed"), ("reopen", "open")):
        assert client.post(f"/p/help/batches/1/{step}/").url == "/p/help/batches/1/"
        assert Batch.objects.get().status == status
    assert client.post("/p/help/batches/1/explode/").status_code == 404
    assert client.get("/p/help/batches/1/open/").status_code == 405
    again = client.post("/p/help/batches/1/open/", follow=True)
    assert "only one that is draft can be opened" in again.content.decode()


def test_a_draft_is_deleted_after_a_question(alice: User, sent: dict[str, Any], as_user: AsUser) -> None:
    client = as_user(alice)
    client.post("/p/help/batches/new/", sent)
    assert "Delete “<bdi>First</bdi>”?" in client.get("/p/help/batches/1/delete/").content.decode()
    assert Batch.objects.exists()
    assert client.post("/p/help/batches/1/delete/").url == "/p/help/batches/"
    assert not Batch.objects.exists()


@pytest.mark.usefixtures("disputes")
def test_one_with_labels_stays(alice: User, as_user: AsUser) -> None:
    reply = as_user(alice).post("/p/help/batches/1/delete/", follow=True)
    assert "carries 6 labels" in reply.content.decode()
    assert Batch.objects.exists()


@pytest.mark.usefixtures("disputes")
def test_shows_progress_and_asks_again_only_while_open(rita: User, batch: Batch, as_user: AsUser) -> None:
    client = as_user(rita)
    text = client.get("/p/help/batches/1/").content.decode()
    assert "25 %" in text
    assert "4 / 16" in text
    assert "hx-get" in text
    assert "/p/help/batches/1/close/" not in text
    batch.status = BatchStatus.CLOSED
    batch.save()
    assert "hx-get" not in client.get("/p/help/batches/1/").content.decode()
    assert "hx-get" not in client.get("/p/help/batches/1/progress/").content.decode()


def test_the_number_of_queries_does_not_grow(
    alice: User, ben: User, batch: Batch, project: Project, as_user: AsUser
) -> None:
    client = as_user(alice)
    client.get("/p/help/batches/")
    counts = {}
    for size in ("few", "many"):
        for path in ("", "1/", "new/"):
            with CaptureQueriesContext(connection) as queries:
                client.get(f"/p/help/batches/{path}")
            counts[size, path] = len(queries)
        make_samples(project, 5)
        for _ in range(3):
            create_batch(
                project=project,
                name="More",
                criteria=list(current_criteria(project)),
                annotators=[ben],
                overlap=1,
                selection={"method": "all"},
            )
    for path in ("", "1/", "new/"):
        assert counts["few", path] == counts["many", path], path
