import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, Sample, User, Verdict
from annotate.projects.write import set_member
from frontend.data.samples import answer_pieces, units_by_kind
from judges.models import GroupSide, Score, Side
from tests.annotate.factories import decide_unit
from tests.clients import as_user
from tests.frontend.building import make_samples
from tests.judges.building import add_judge


@pytest.fixture
def score(samples: list[Sample], project: Project) -> Score:
    rows = [("s0", "claim:0", 0.25)]
    return add_judge(project, "strict-judge", {"s0": samples[0]}, rows, rationale="Because <b>so</b>.").scores.get()


def test_lists_and_searches(rita: User, samples: list[Sample]) -> None:
    client = as_user(rita)
    assert "Question 3?" in client.get("/p/help/samples/").content.decode()
    text = client.get("/p/help/samples/?q=Question 2").content.decode()
    assert "Question 2?" in text
    assert "Question 3?" not in text
    assert "No matches" in client.get("/p/help/samples/?q=<nothing>").content.decode()


@pytest.mark.parametrize("query", ["q=%00", "page=0", "page=99", "page=x", "q=" + "x" * 300])
def test_an_odd_query_is_no_error(query: str, rita: User, samples: list[Sample]) -> None:
    assert as_user(rita).get(f"/p/help/samples/?{query}").status_code == 200


def test_has_pages_of_fifty(rita: User, project: Project) -> None:
    make_samples(project, 51)
    client = as_user(rita)
    assert len(client.get("/p/help/samples/").context["rows"]) == 50
    rows = client.get("/p/help/samples/?q=Paris").context["rows"]
    assert f'href="?q=Paris&amp;{rows.next}"' in client.get("/p/help/samples/?q=Paris").content.decode()
    assert len(client.get(f"/p/help/samples/?q=Paris&{rows.next}").context["rows"]) == 1


def test_the_number_of_queries_does_not_grow(rita: User, project: Project) -> None:
    client = as_user(rita)
    make_samples(project, 1)
    client.get("/p/help/samples/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/samples/")
    make_samples(project, 49)
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/samples/")
    assert len(many) == len(few)


def put_on(side: Side, sample: Sample) -> None:
    for key in sample.project.criteria.values_list("key", flat=True):
        given = {"project": sample.project, "criterion_key": key, "group": sample.external_id}
        GroupSide.objects.update_or_create(**given, defaults={"side": side})


@pytest.mark.usefixtures("score", "disputes")
def test_nobody_sees_what_judges_said_on_the_test_half_or_before_the_division(
    alice: User, rita: User, samples: list[Sample]
) -> None:
    for verdict in Verdict.objects.filter(sample=samples[0]).exclude(state="settled"):
        decide_unit(rita, verdict, "supported")
    for user in (alice, rita):
        for side, is_shown in ((None, False), (Side.TEST, False), (Side.DEV, True), (Side.SYSTEMS, True)):
            GroupSide.objects.all().delete()
            if side is not None:
                put_on(side, samples[0])
            text = as_user(user).get(f"/p/help/samples/{samples[0].pk}/").content.decode()
            assert ("strict-judge" in text) is is_shown, (user, side)
            assert ("are locked: it is, or may be, in the test set" in text) is not is_shown


@pytest.mark.usefixtures("disputes")
def test_a_sample_shows_what_people_and_judges_said(alice: User, samples: list[Sample], score: Score) -> None:
    put_on(Side.DEV, samples[0])
    text = as_user(alice).get(f"/p/help/samples/{samples[0].pk}/").content.decode()
    assert 'id="claim-1"' in text
    assert "Said by Ben." in text
    assert "contradicted" in text
    assert "strict-judge" in text
    assert "0.25" in text
    assert "Because &lt;b&gt;so&lt;/b&gt;." in text


@pytest.mark.usefixtures("score")
def test_a_reviewer_sees_letters_and_no_judges_before_a_sample_is_decided(
    rita: User, samples: list[Sample], project: Project, disputes: list[Verdict]
) -> None:
    put_on(Side.DEV, samples[0])
    here, client = f"/p/help/samples/{samples[0].pk}/", as_user(rita)
    text = client.get(here).content.decode()
    assert "Said by Ben." in text
    assert "Annotator A" in text
    assert "Judge results for this sample are shown once all its units are labelled and decided." in text
    assert not [one for one in ("strict-judge", "0.25", "Because", ">ben<", ">Ben<") if one in text]
    for verdict in Verdict.objects.filter(sample=samples[0]).exclude(state="settled"):
        decide_unit(rita, verdict, "supported")
    text = client.get(here).content.decode()
    assert "strict-judge" in text
    assert ">ben<" not in text
    # Where the project shows names, also while it waits.
    Project.objects.filter(pk=project.pk).update(show_names=True)
    Verdict.objects.filter(pk=disputes[0].pk).update(state="reopened")
    text = client.get(here).content.decode()
    assert ">Ben<" in text
    assert "strict-judge" not in text


def test_a_sample_stays_silent_to_those_who_still_label_it(
    rita: User, batch: Batch, samples: list[Sample], score: Score, project: Project
) -> None:
    batch.tasks.filter(annotator__username="ben", sample=samples[0]).update(annotator=rita)
    text = as_user(rita).get(f"/p/help/samples/{samples[0].pk}/").content.decode()
    assert "are hidden until you have submitted this sample" in text
    assert "strict-judge" not in text


@pytest.mark.usefixtures("disputes")
def test_a_sample_takes_the_same_queries_however_much_was_said(
    alice: User, samples: list[Sample], score: Score, project: Project
) -> None:
    client = as_user(alice)
    client.get(f"/p/help/samples/{samples[1].pk}/")
    with CaptureQueriesContext(connection) as silent:
        client.get(f"/p/help/samples/{samples[1].pk}/")
    with CaptureQueriesContext(connection) as full:
        client.get(f"/p/help/samples/{samples[0].pk}/")
    assert len(full) == len(silent)


def test_a_stranger_with_a_role_elsewhere_finds_nothing(charlie: User, alice: User, samples: list[Sample]) -> None:
    from annotate.projects.write import create_project

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
    pieces = answer_pieces(answer, claims, units_by_kind(sample)["claim"], 0)
    assert [(piece.text, piece.number) for piece in pieces] == [("😀 ", 0), ("中文。", 1), (" Tail", 0)]
    assert "".join(piece.text for piece in pieces) == answer


def test_citations_are_links_also_inside_claims() -> None:
    answer = "😀 Nine [1]. Ten [2, 7]."
    claims = [{"text": "Nine [1].", "start": 2, "end": 11}, {"text": "Ten [2", "start": 12, "end": 18}]
    sample = Sample(answer=answer, claims=claims)
    pieces = answer_pieces(answer, claims, units_by_kind(sample)["claim"], 2)
    assert [(p.text, p.claim and p.claim.unit, p.number, p.cites, p.anchor) for p in pieces] == [
        ("😀 ", None, 0, "", ""),
        ("Nine ", "claim:0", 1, "", ""),
        ("[1]", "claim:0", 0, "cites context 1", "context-0"),
        (".", "claim:0", 0, "", ""),
        (" ", None, 0, "", ""),
        ("Ten [", "claim:1", 2, "", ""),
        ("2", "claim:1", 0, "cites context 2", "context-1"),
        (", ", None, 0, "", ""),
        ("7", None, 0, "cites context 7, but there are only 2", ""),
        ("].", None, 0, "", ""),
    ]


@pytest.mark.parametrize(
    ("answer", "contexts", "words"),
    [
        ("[2]", 1, "cites context 2, but there is only 1"),
        ("[1]", 0, "cites context 1, but there are none"),
        ("[1-3]", 2, "cites contexts 1 to 3, but there are only 2"),
        ("[1-3]", 3, "cites contexts 1 to 3"),
    ],
)
def test_a_citation_says_what_it_cites(answer: str, contexts: int, words: str) -> None:
    (piece,) = answer_pieces(answer, [], [], contexts)
    assert piece.cites == words
    assert bool(piece.anchor) == ("there" not in words)


def test_pages_link_citations_and_mark_those_of_no_context(
    rita: User, samples: list[Sample], disputes: list[Verdict]
) -> None:
    Sample.objects.filter(pk=samples[0].pk).update(
        answer="It is so [1], and so [9].", claims=[{"text": "It is so", "start": None, "end": None}] * 2
    )
    for url in (f"/p/help/samples/{samples[0].pk}/", f"/p/help/adjudicate/{disputes[0].pk}/"):
        text = as_user(rita).get(url).content.decode()
        assert 'href="#context-0" aria-label="[1] cites context 1"' in text
        assert 'id="context-0"' in text
        assert 'aria-label="[9] cites context 9, but there' in text
        assert 'href="#context-8"' not in text
