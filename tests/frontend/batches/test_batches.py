from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, Sample, User
from annotate.models.batch import BatchStatus
from annotate.projects.read import current_criteria
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.frontend.building import label_task, make_samples


@pytest.fixture
def sent(project: Project, samples: list[Sample], ben: User, bea: User) -> dict[str, Any]:
    criteria = [criterion.pk for criterion in current_criteria(project)]
    chosen = {"name": "First", "method": "all", "criteria": criteria, "annotators": [ben.pk, bea.pk], "overlap": 2}
    # What the page sends for untouched options.
    return chosen | {
        "strategy": "balanced",
        "lease_minutes": 30,
        "overlap_percent": 100,
        "consensus": "majority",
        "settle_percent": 80,
        "settle_votes": 2,
        "gold_percent": 0,
        "repeat_percent": 0,
    }


def test_the_page_itself_sends_what_the_simple_case_needs(
    alice: User, ben: User, bea: User, project: Project, samples: list[Sample]
) -> None:
    """Name and people are all that has to be given."""
    form = as_user(alice).get("/p/help/batches/new/").context["form"]
    given = {field.html_name: field.value() for field in form if field.value() is not None}
    as_user(alice).post("/p/help/batches/new/", {**given, "name": "Simple", "annotators": [ben.pk, bea.pk]})
    batch = Batch.objects.get()
    assert (batch.overlap, batch.overlap_share, batch.strategy) == (2, 1, "balanced")
    assert batch.batch_samples.count() == 4
    assert batch.criteria.count() == 2


def test_all_options_reach_the_batch(alice: User, sent: dict[str, Any]) -> None:
    options = {
        "strategy": "pull", "lease_minutes": 5, "overlap_percent": 50, "consensus": "unanimous", "tag_key": "tier",
        "gold_percent": 5, "gold_feedback": "on", "repeat_percent": 10, "due_date": "2999-01-31",
    }  # fmt: skip
    assert as_user(alice).post("/p/help/batches/new/", sent | options).status_code == 302
    batch = Batch.objects.get()
    assert (batch.strategy, batch.lease_minutes, batch.overlap_share, batch.consensus) == ("pull", 5, 0.5, "unanimous")
    assert (batch.tag_key, batch.gold_share, batch.gold_feedback, batch.repeat_share) == ("tier", 0.05, True, 0.1)
    assert sorted(batch.batch_samples.values_list("overlap", flat=True)) == [1, 1, 2, 2]
    assert set(batch.batch_samples.values_list("tag", flat=True)) == {"gold", "silver"}
    text = as_user(alice).get("/p/help/batches/1/").content.decode()
    for said in (
        "50% labelled by 2 annotators",
        "after 5 minutes",
        "unanimous; otherwise a reviewer decides",
        "5% with known answers",
    ):
        assert said in text


def test_a_threshold_of_ones_own(alice: User, sent: dict[str, Any]) -> None:
    client = as_user(alice)
    rule = {"consensus": "threshold", "settle_percent": 66, "settle_votes": 2}
    for change, field in (
        ({"settle_percent": 50}, "settle_percent"), ({"settle_percent": 101}, "settle_percent"),
        ({"settle_percent": ""}, "settle_percent"), ({"settle_votes": 0}, "settle_votes"),
        ({"settle_votes": ""}, "settle_votes"),
    ):  # fmt: skip
        reply = client.post("/p/help/batches/new/", sent | rule | change)
        assert (reply.status_code, list(reply.context["form"].errors)) == (422, [field])
        assert reply.context["form"].opens_options(), "what is wrong is seen"
    assert client.post("/p/help/batches/new/", sent | rule).status_code == 302
    batch = Batch.objects.get()
    assert (batch.consensus, batch.settle_share, batch.settle_votes) == ("threshold", 0.66, 2)
    assert "at least 66% of at least 2 labels agree" in client.get("/p/help/batches/1/").content.decode()
    client.post("/p/help/batches/1/open/")
    label_task(batch.tasks.all()[0], {"support": "supported", "relevance": 3})
    assert "Units with enough agreement are resolved" in client.get("/p/help/batches/1/close/").content.decode()


def test_the_threshold_is_kept_with_its_own_rule_only(alice: User, sent: dict[str, Any]) -> None:
    reply = as_user(alice).post("/p/help/batches/new/", sent | {"settle_percent": 90, "settle_votes": 3})
    assert reply.status_code == 302
    batch = Batch.objects.get()
    assert (batch.consensus, batch.settle_share, batch.settle_votes) == ("majority", None, None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "8 tasks for 2 annotators, about 4 each"),
        ({"name": ""}, "8 tasks for 2 annotators, about 4 each"),
        ({"overlap_percent": 50}, "6 tasks for 2 annotators, about 3 each"),
        ({"overlap_percent": 50}, "4 samples, 2 with several annotators"),
        ({"strategy": "pull"}, "8 tasks in a queue for 2 annotators"),
        ({"method": "random", "n": 1, "overlap": 1}, "1 task for 2 annotators"),
        ({"method": "filter", "meta_0": '"gold"'}, "4 tasks for 2 annotators"),
        ({"method": "random", "n": 9}, "only 4 match"),
        ({"repeat_percent": 50}, "Plus 2 repeated samples per annotator"),
        ({"gold_percent": 25}, "Plus up to 1 sample with a known answer per annotator"),
        ({"tag_key": "tier"}, "2 annotators needed"),
        ({"overlap": 3}, "3 annotators per sample need at least 3 annotators; 2 selected."),
        ({"annotators": []}, "Select annotators to preview"),
    ],
)
def test_says_what_will_be_made(change: dict[str, Any], said: str, alice: User, sent: dict[str, Any]) -> None:
    reply = as_user(alice).post("/p/help/batches/new/preview/", {**sent, **change})
    assert reply.status_code == 200
    assert said in reply.content.decode()
    assert not Batch.objects.exists()


def test_what_will_be_made_is_made(alice: User, sent: dict[str, Any]) -> None:
    client = as_user(alice)
    plan = client.post("/p/help/batches/new/preview/", {**sent, "overlap_percent": 50}).context["plan"]
    client.post("/p/help/batches/new/", {**sent, "overlap_percent": 50})
    client.post("/p/help/batches/1/open/")
    assert Batch.objects.get().tasks.count() == plan.tasks
    assert plan.doubled == Batch.objects.get().batch_samples.filter(overlap=2).count()


def test_pauses_and_resumes(alice: User, batch: Batch) -> None:
    client = as_user(alice)
    for step, status, shown in (("pause", "paused", "Resume"), ("resume", "open", "Pause")):
        reply = client.post(f"/p/help/batches/1/{step}/", follow=True)
        batch.refresh_from_db()
        assert batch.status == status
        assert f">{shown}<" in reply.content.decode()


def test_extends(alice: User, rita: User, batch: Batch, project: Project) -> None:
    make_samples(project, 3)
    client = as_user(alice)
    asked = client.get("/p/help/batches/1/extend/")
    assert "3 samples of the project are not in this batch" in asked.content.decode()
    offered = {user.username for user in asked.context["form"].fields["annotators"].queryset}
    assert offered == {"alice", "rita"}
    sent = {"due_date": "2999-01-31", "annotators": [rita.pk], "samples": "all"}
    reply = client.post("/p/help/batches/1/extend/", sent, follow=True)
    assert "is extended" in reply.content.decode()
    batch.refresh_from_db()
    assert (str(batch.due_date), batch.batch_samples.count()) == ("2999-01-31", 7)
    assert batch.tasks.filter(annotator=rita).exists()
    early = client.post("/p/help/batches/1/extend/", {"due_date": "2990-01-31", "samples": "none"})
    assert early.status_code == 422
    assert "Choose a later date" in early.content.decode()


def test_makes_a_draft_of_all_samples(alice: User, sent: dict[str, Any]) -> None:
    assert as_user(alice).post("/p/help/batches/new/", {**sent, "due_date": "2999-01-31"}).url == "/p/help/batches/1/"
    batch = Batch.objects.get()
    assert (batch.status, batch.batch_samples.count(), str(batch.due_date)) == ("draft", 4, "2999-01-31")
    assert [asked.criterion.key for asked in batch.batch_criteria.order_by("position")] == ["support", "relevance"]


def test_draws_at_random_with_a_seed(alice: User, sent: dict[str, Any]) -> None:
    for _ in range(2):
        as_user(alice).post("/p/help/batches/new/", {**sent, "method": "random", "n": 2, "seed": 7})
    one, two = (list(batch.batch_samples.values_list("sample_id", flat=True)) for batch in Batch.objects.all())
    assert one == two
    assert len(one) == 2


def test_filters_by_metadata_that_the_form_knows(alice: User, sent: dict[str, Any]) -> None:
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
        ({"method": "filter"}, "Select at least one metadata value"),
        ({"method": "random"}, "Number of samples to draw"),
        ({"method": "random", "n": 99}, "only 4 match"),
        ({"overlap": 3}, "need at least 3 annotators"),
        ({"criteria": []}, "Select at least one criterion"),
        ({"overlap": 3}, "3 annotators per sample need at least 3 annotators; 2 selected."),
        ({"annotators": []}, "Select at least one annotator"),
        ({"meta_0": '"lead"'}, "Select a valid choice"),
        ({"overlap_percent": 101}, "less than or equal to 100"),
        ({"lease_minutes": 0}, "greater than or equal to 1"),
        ({"strategy": "magic"}, "Select a valid choice"),
        ({"tag_key": "nothing"}, "Select a valid choice"),
        ({"due_date": "soon"}, "Enter a valid date"),
        ({"due_date": "2026-01-31"}, "The due date 2026-01-31 has passed"),
    ],
)
def test_a_bad_form_says_why_and_keeps_what_was_typed(
    change: dict[str, Any], said: str, alice: User, sent: dict[str, Any]
) -> None:
    reply = as_user(alice).post("/p/help/batches/new/", {**sent, **change})
    assert reply.status_code == 422
    assert said in reply.content.decode()
    assert 'value="First"' in reply.content.decode()
    assert not Batch.objects.exists()


def test_a_stranger_cannot_be_chosen(alice: User, charlie: User, sent: dict[str, Any]) -> None:
    assert as_user(alice).post("/p/help/batches/new/", {**sent, "annotators": [charlie.pk]}).status_code == 422
    assert not Batch.objects.exists()


def test_goes_from_draft_to_closed_and_back(alice: User, sent: dict[str, Any]) -> None:
    client = as_user(alice)
    client.post("/p/help/batches/new/", sent)
    for step, status in (("open", "open"), ("adjudicate", "adjudicating"), ("close", "closed"), ("reopen", "open")):
        assert client.post(f"/p/help/batches/1/{step}/").url == "/p/help/batches/1/"
        assert Batch.objects.get().status == status
    assert client.post("/p/help/batches/1/explode/").status_code == 404
    assert client.get("/p/help/batches/1/open/").status_code == 405
    again = client.post("/p/help/batches/1/open/", follow=True)
    assert "needs a batch that is draft" in again.content.decode()


def test_a_draft_is_deleted_after_a_question(alice: User, sent: dict[str, Any]) -> None:
    client = as_user(alice)
    client.post("/p/help/batches/new/", sent)
    assert "Delete “<bdi>First</bdi>”?" in client.get("/p/help/batches/1/delete/").content.decode()
    assert Batch.objects.exists()
    assert client.post("/p/help/batches/1/delete/").url == "/p/help/batches/"
    assert not Batch.objects.exists()


@pytest.mark.parametrize(("step", "before"), [("close", "open"), ("adjudicate", "open"), ("close", "adjudicating")])
@pytest.mark.usefixtures("disputes")
def test_ends_after_a_question_that_says_what_stops(step: str, before: str, alice: User, batch: Batch) -> None:
    """8 tasks, 2 of them submitted and 1 begun; 2 units are disputed."""
    client = as_user(alice)
    begun = batch.tasks.filter(status="pending").first()
    assert begun is not None
    begun.status = "in_progress"
    begun.save(update_fields=["status"])
    Batch.objects.update(status=before)
    address = f"/p/help/batches/1/{step}/"
    page = client.get("/p/help/batches/1/").content.decode()
    assert f'href="{address}"' in page
    assert f'action="{address}"' not in page, "never without the question"
    asked = client.get(address).content.decode()
    for said in ("6 unsubmitted tasks will be locked", "1 has been started", "2 units are disputed"):
        assert said in asked
    # Who had it taken from them already needs no warning.
    assert ("2 submitted tasks count" in asked) is (before == "open")
    batch.refresh_from_db()
    assert batch.status == before
    assert client.post(address).url == "/p/help/batches/1/"
    # A user who had the question open still, and comes back to it.
    assert client.get(address).url == "/p/help/batches/1/"


@pytest.mark.usefixtures("disputes")
def test_one_with_labels_stays(alice: User) -> None:
    reply = as_user(alice).post("/p/help/batches/1/delete/", follow=True)
    assert "has 6 labels" in reply.content.decode()
    assert Batch.objects.exists()


@pytest.mark.usefixtures("disputes")
def test_shows_progress_and_asks_again_only_while_open(rita: User, batch: Batch) -> None:
    client = as_user(rita)
    text = client.get("/p/help/batches/1/").content.decode()
    assert "<strong>25%</strong>" in text
    assert "4 / 16" in text
    assert "hx-get" in text
    assert "/p/help/batches/1/close/" not in text
    batch.status = BatchStatus.CLOSED
    batch.save()
    assert "hx-get" not in client.get("/p/help/batches/1/").content.decode()
    assert "hx-get" not in client.get("/p/help/batches/1/progress/").content.decode()


@pytest.mark.usefixtures("disputes")
def test_sends_nothing_when_nothing_has_changed(rita: User, batch: Batch) -> None:
    client = as_user(rita)
    seen = client.get("/p/help/batches/1/").context["seen"]
    assert client.get(f"/p/help/batches/1/progress/?seen={seen}").status_code == 204
    task = batch.tasks.filter(status="pending").first()
    assert task is not None
    label_task(task, {"support": "supported", "relevance": 3})
    changed = client.get(f"/p/help/batches/1/progress/?seen={seen}")
    assert changed.status_code == 200
    assert f"?seen={changed.context['seen']}" in changed.content.decode()
    assert changed.context["seen"] != seen
    # One that is paused meanwhile must stop asking.
    Batch.objects.update(status=BatchStatus.PAUSED)
    last = client.get(f"/p/help/batches/1/progress/?seen={changed.context['seen']}")
    assert last.status_code == 200
    assert "hx-get" not in last.content.decode()


def test_the_number_of_queries_does_not_grow(alice: User, ben: User, batch: Batch, project: Project) -> None:
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
            make_batch(project, [ben], name="More", opened=False)
    for path in ("", "1/", "new/"):
        assert counts["few", path] == counts["many", path], path
