import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, User, Verdict
from annotate.projects.write import create_project, set_member
from tests.clients import as_user
from tests.frontend.building import label_task, make_samples


def test_needs_a_login(db: None) -> None:
    assert Client().get("/").url == "/login/?next=/"


def test_a_post_is_not_allowed(alice: User) -> None:
    assert as_user(alice).post("/").status_code == 405


def test_an_annotator_sees_how_much_waits(ben: User, batch: Batch) -> None:
    text = as_user(ben).get("/").content.decode()
    assert "Start labelling" in text
    assert "<strong>4 tasks</strong> to do in “<bdi>Batch one</bdi>”" in text
    assert "/p/help/label/" in text
    assert "New project" not in text
    assert "/p/help/adjudicate/" not in text


def test_an_annotator_sees_what_they_have_done_and_how_long_the_rest_takes(ben: User, bea: User, batch: Batch) -> None:
    for task in batch.tasks.filter(annotator=ben).order_by("position")[:3]:
        label_task(task, {"support": "supported", "relevance": 3})
    batch.tasks.filter(status="submitted").update(active_seconds=120)
    for url in ("/", "/p/help/"):
        text = as_user(ben).get(url).content.decode()
        assert "3 done, about 2 minutes left" in text
        assert "Continue labelling" in text
        assert "Start labelling" not in text
    # Nothing of hers is his.
    assert "done" not in as_user(bea).get("/").content.decode()


def test_a_queue_waits_for_its_annotators(ben: User, rita: User, batch: Batch) -> None:
    Batch.objects.update(strategy="pull")
    batch.tasks.filter(annotator__username="bea").delete()
    batch.tasks.update(annotator=None)
    for url in ("/", "/p/help/"):
        assert "<strong>4 tasks</strong> to do in “<bdi>Batch one</bdi>”" in as_user(ben).get(url).content.decode()
        assert "to do in" not in as_user(rita).get(url).content.decode()


def test_a_reviewer_sees_what_is_to_settle(rita: User, disputes: list[Verdict]) -> None:
    text = as_user(rita).get("/").content.decode()
    assert "<strong>2 disagreements</strong> to adjudicate" in text
    assert "/p/help/adjudicate/" in text


def test_an_admin_is_led_through_the_campaign(alice: User, project: Project) -> None:
    client = as_user(alice)
    assert "Next: Import samples" in client.get("/").content.decode()
    make_samples(project, 1)
    text = client.get("/").content.decode()
    assert "Next: Create a batch" in text
    assert "1 sample · 0 open batches · 0 tasks left · 0 verdicts" in text


def test_a_stranger_sees_no_project(charlie: User, project: Project) -> None:
    text = as_user(charlie).get("/").content.decode()
    assert "You’re not in any projects yet" in text
    assert "Help desk" not in text


def test_the_number_of_queries_does_not_grow(alice: User, batch: Batch) -> None:
    client = as_user(alice)
    client.get("/")
    with CaptureQueriesContext(connection) as one:
        client.get("/")
    for n in range(4):
        create_project(slug=f"more-{n}", spec={"criteria": ["support"]}, created_by=alice)
    with CaptureQueriesContext(connection) as many:
        client.get("/")
    assert len(many) == len(one)


@pytest.mark.usefixtures("project")
def test_a_superuser_is_admin_everywhere(db: None) -> None:
    root = User.objects.create_superuser("root", password="a long password")
    assert "Help desk" in as_user(root).get("/").content.decode()


def test_one_button_leads(ben: User, alice: User, batch: Batch) -> None:
    """That of the first project in which something waits, wherever it stands in the list."""
    empty = create_project(slug="aaa", spec={"name": "A first one"}, created_by=alice)
    set_member(project=empty, user=ben, role="annotator")
    text = as_user(ben).get("/").content.decode()
    assert text.count("button-primary") == 1
    assert 'button-primary" href="/p/help/label/"' in text
