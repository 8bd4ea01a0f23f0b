from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, Sample, User
from annotate.services.projects import set_member
from frontend.views.samples_read import answer_pieces, units
from judges.models import Judge, JudgeVersion, Run, Score
from tests.frontend.building import make_samples

AsUser = Callable[[User], Client]


@pytest.fixture
def score(samples: list[Sample], project: Project) -> Score:
    version = JudgeVersion.objects.create(
        judge=Judge.objects.create(project=project, name="strict-judge"), number=1, label="1", content_hash="x"
    )
    return Score.objects.create(
        version=version,
        run=Run.objects.create(version=version),
        sample=samples[0],
        unit="claim:0",
        dimension="support",
        number=0.25,
        rationale="Because <b>so</b>.",
    )


def test_lists_and_searches(rita: User, samples: list[Sample], as_user: AsUser) -> None:
    client = as_user(rita)
    assert "Question 3?" in client.get("/p/help/samples/").content.decode()
    text = client.get("/p/help/samples/?q=Question 2").content.decode()
    assert "Question 2?" in text
    assert "Question 3?" not in text
    assert "No sample matches" in client.get("/p/help/samples/?q=<nothing>").content.decode()


@pytest.mark.parametrize("query", ["q=%00", "page=0", "page=99", "page=x", "q=" + "x" * 300])
def test_an_odd_query_is_no_error(query: str, rita: User, samples: list[Sample], as_user: AsUser) -> None:
    assert as_user(rita).get(f"/p/help/samples/?{query}").status_code == 200


def test_has_pages_of_fifty(rita: User, project: Project, as_user: AsUser) -> None:
    make_samples(project, 51)
    client = as_user(rita)
    assert len(client.get("/p/help/samples/").context["rows"]) == 50
    assert len(client.get("/p/help/samples/?page=2").context["rows"]) == 1
    assert "?q=Paris&amp;page=2" in client.get("/p/help/samples/?q=Paris").content.decode()


def test_the_number_of_queries_does_not_grow(rita: User, project: Project, as_user: AsUser) -> None:
    client = as_user(rita)
    make_samples(project, 1)
    client.get("/p/help/samples/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/samples/")
    make_samples(project, 49)
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/samples/")
    assert len(many) == len(few)


@pytest.mark.usefixtures("disputes")
def test_a_sample_shows_what_people_and_judges_said(
    rita: User, samples: list[Sample], score: Score, as_user: AsUser
) -> None:
    text = as_user(rita).get(f"/p/help/samples/{samples[0].pk}/").content.decode()
    assert 'id="claim-1"' in text
    assert "Said by Ben." in text
    assert "contradicted" in text
    assert "strict-judge" in text
    assert "0.25" in text
    assert "Because &lt;b&gt;so&lt;/b&gt;." in text


def test_a_sample_stays_silent_to_those_who_still_label_it(
    rita: User, batch: Batch, samples: list[Sample], score: Score, project: Project, as_user: AsUser
) -> None:
    batch.tasks.filter(annotator__username="ben", sample=samples[0]).update(annotator=rita)
    text = as_user(rita).get(f"/p/help/samples/{samples[0].pk}/").content.decode()
    assert "You still have this sample to label" in text
    assert "strict-judge" not in text


@pytest.mark.usefixtures("disputes")
def test_a_sample_takes_the_same_queries_however_much_was_said(
    alice: User, samples: list[Sample], score: Score, project: Project, as_user: AsUser
) -> None:
    client = as_user(alice)
    client.get(f"/p/help/samples/{samples[1].pk}/")
    with CaptureQueriesContext(connection) as silent:
        client.get(f"/p/help/samples/{samples[1].pk}/")
    with CaptureQueriesContext(connection) as full:
        client.get(f"/p/help/samples/{samples[0].pk}/")
    assert len(full) == len(silent)


def test_a_stranger_with_a_role_elsewhere_finds_nothing(
    charlie: User, alice: User, samples: list[Sample], as_user: AsUser
) -> None:
    from annotate.services.projects import create_project

    set_member(project=create_project(slug="other", spec={}, created_by=alice), user=charlie, role="admin")
    for slug in ("help", "other"):
        assert as_user(charlie).get(f"/p/{slug}/samples/{samples[0].pk}/").status_code == 404


def test_the_answer_is_cut_at_its_claims_by_code_points() -> None:
    answer = "😀 中文。 Tail"
    claims = [
        {"text": "中文。", "start": 2, "end": 5},
        {"text": "no place", "start": None, "end": None},
        {"text": "overlapping", "start": 3, "end": 6},
    ]
    sample = Sample(answer=answer, claims=claims)
    pieces = answer_pieces(answer, claims, units(sample, with_said=False)["claim"])
    assert [(piece.text, piece.number) for piece in pieces] == [("😀 ", 0), ("中文。", 1), (" Tail", 0)]
    assert "".join(piece.text for piece in pieces) == answer
