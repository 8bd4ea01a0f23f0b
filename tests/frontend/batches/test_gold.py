import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.batches.criterion_change_read import content_of
from annotate.models import Criterion, GoldAnswer, Project, Sample, User, Verdict
from annotate.projects.criteria import add_criteria
from tests.clients import as_user
from tests.frontend.building import WhoMay

URL = "/p/help/gold/"


@pytest.fixture
def relevance(project: Project) -> Criterion:
    return project.criteria.get(key="relevance")


@pytest.mark.usefixtures("disputes")
def test_draws_from_what_all_agreed_on(alice: User, relevance: Criterion) -> None:
    client = as_user(alice)
    assert "No known answers yet" in client.get(URL).content.decode()
    assert Verdict.objects.filter(criterion=relevance, state="settled").count() == 1
    reply = client.post(URL, {"criterion": relevance.pk, "n": 1, "seed": 3}, follow=True)
    assert "1 known answer drawn." in reply.content.decode()
    known = GoldAnswer.objects.get()
    assert (known.unit, known.value, known.created_by) == ("context:0", 3, alice)
    more = client.post(URL, {"criterion": relevance.pk, "n": 1})
    assert more.status_code == 422
    assert "Only 0 units" in more.content.decode()


def test_takes_one_back(alice: User, relevance: Criterion, samples: list[Sample]) -> None:
    known = GoldAnswer.objects.create(sample=samples[0], unit="context:0", criterion=relevance, value=2)
    client = as_user(alice)
    assert "Paris, context 0." in client.get(URL).content.decode()
    client.post(f"{URL}{known.pk}/remove/")
    assert not GoldAnswer.objects.exists()
    assert client.post(f"{URL}{known.pk}/remove/").status_code == 404


def test_what_a_change_touched_is_shown_as_to_set_again(
    alice: User, project: Project, relevance: Criterion, samples: list[Sample]
) -> None:
    known = GoldAnswer.objects.create(sample=samples[0], unit="context:0", criterion=relevance, value=2)
    client = as_user(alice)
    assert "Needs a new answer" not in client.get(URL).content.decode()
    add_criteria(project=project, specs=[{**content_of(relevance), "key": "relevance", "prompt": "How near?"}])
    text = client.get(URL).content.decode()
    assert "Needs a new answer" in text
    assert "version 1" in text
    assert "No known answers yet" in text
    listed = client.get("/api/projects/help/gold/?to_set_again=true").json()["results"]
    assert [(row["id"], row["version"]) for row in listed] == [(known.pk, 1)]
    assert client.get("/api/projects/help/gold/").json()["count"] == 0
    assert client.get("/api/projects/help/gold/?to_set_again=1").status_code == 422
    client.post(f"{URL}{known.pk}/remove/")
    assert "Needs a new answer" not in client.get(URL).content.decode()


def test_only_admins_know(project: Project, who_may: WhoMay) -> None:
    only = {"anonymous": 302, "stranger": 404, "annotator": 403, "reviewer": 403}
    assert who_may(URL) == {**only, "admin": 200}
    assert who_may(URL, "post") == {**only, "admin": 422}
    assert who_may(f"{URL}1/remove/", "post") == {**only, "admin": 404}


def test_the_number_of_queries_does_not_grow(alice: User, relevance: Criterion, samples: list[Sample]) -> None:
    client = as_user(alice)
    GoldAnswer.objects.create(sample=samples[0], unit="context:0", criterion=relevance, value=2)
    client.get(URL)
    with CaptureQueriesContext(connection) as few:
        client.get(URL)
    for sample in samples[1:]:
        GoldAnswer.objects.create(sample=sample, unit="context:0", criterion=relevance, value=2)
    with CaptureQueriesContext(connection) as many:
        client.get(URL)
    assert len(many) == len(few)
