"""Two judges, or two versions of one, side by side."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from alignment.base.estimate import NO_VARIATION, remark
from annotate.models import Project, Sample, User
from annotate.projects.write import set_member
from frontend.reports.in_words import in_words
from judges.models import Score
from judges.reports.read import outcome
from judges.reports.write import freeze_report
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.conftest import Staff, make_staff
from tests.judges.building import add_judge, graded_project, scores_like, settle_all

URL = "/p/desk/reports/grade/compare/"


staff = copied_from_world(0)
desk = copied_from_world(1)


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[Staff, Project]:
    """80 graded answers; “new” is wrong on every seventh and was on every third, “rough” is on every second."""
    people = make_staff()
    project, samples = graded_project(count=80)
    set_member(project=project, user=people.rita, role="reviewer")
    add_judge(project, "new", samples, scores_like(samples, wrong_every=3), dimension="grade", label="1")
    add_judge(project, "new", samples, scores_like(samples, wrong_every=7), dimension="grade", label="2")
    add_judge(project, "rough <b>", samples, scores_like(samples, wrong_every=2), dimension="grade")
    Score.objects.filter(version__label="2").update(rationale="Because it says so.")
    freeze_report(criterion=project.criteria.get(key="grade"))
    settle_all(project)
    return people, project


def text_of(page: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())


def kappa(page: Any) -> list[float]:
    """Difference and its ends, as the sentence has them."""
    said = page.context["compared"]["pair"]["measures"][0]["difference"]
    return [float(said.text), *map(float, said.interval.split(" to "))]


def test_two_versions_of_one_judge(rita: User, desk: Project) -> None:
    client = as_user(rita)
    page = client.get(URL, {"first": "new/1/grade", "second": "new/2/grade"})
    value, low, high = kappa(page)
    assert 0 < low < value < high
    text = text_of(page)
    assert f"clearly better than new 1: its kappa is {value:.2f} higher ({low:.2f} to {high:.2f})." in text
    assert "Only new 2 is correct" in text
    # Flipped units lead to their samples, with the words of the judge that gave any.
    group = page.context["compared"]["pair"]["groups"][0]
    sample = Sample.objects.get(project=desk, external_id=group["rows"][0]["external_id"])
    assert f'href="/p/desk/samples/{sample.pk}/#answer">' in page.content.decode()
    assert "new 2: Because it says so." in text
    assert client.get(f"/p/desk/samples/{sample.pk}/").status_code == 200


def test_an_address_with_the_two_the_other_way_round_shows_the_same(rita: User, desk: Project) -> None:
    client = as_user(rita)
    one, other = (
        client.get(URL, {"first": f"new/{first}/grade", "second": f"new/{second}/grade"})
        for first, second in ((1, 2), (2, 1))
    )
    assert kappa(one) == kappa(other)
    assert '<h2 id="compare-outcome"><bdi>new 1</bdi> vs. <bdi>new 2</bdi></h2>' in other.content.decode()


def test_without_a_choice_the_first_two_judges(rita: User, desk: Project) -> None:
    page = as_user(rita).get(URL)
    pair = page.context["compared"]["pair"]
    assert (pair["first"], pair["second"]) == ("new 2", "rough <b>")
    html = page.content.decode()
    assert "rough <b>" not in html
    assert "<svg" in html
    # Every pair of the tables opens.
    links = re.findall(r'<a href="(\?first=[^"]+)"', html)
    assert len(links) == 2
    for link in links:
        assert as_user(rita).get(URL + unescape(link)).context["compared"]["pair"] is not None


@pytest.mark.parametrize(
    ("first", "second"), [("new/2/grade", "new/2/grade"), ("new/1/grade", "rough%20%3Cb%3E/1/grade")]
)
def test_what_is_not_compared_is_said(first: str, second: str, rita: User, desk: Project) -> None:
    page = as_user(rita).get(URL, {"first": first, "second": second})
    assert "Judges are compared with the best one, and earlier versions with the latest" in page.content.decode()
    assert page.context["compared"]["pair"] is None


def test_it_says_what_intervals_hold_together(rita: User, desk: Project) -> None:
    """One pair of judges and one of versions: nothing to adjust. With a third judge there are three pairs of judges."""
    text = text_of(as_user(rita).get(URL))
    assert text.count("The only such comparison: its interval is a plain 95% one.") == 3
    samples = {sample.external_id: sample for sample in desk.samples.all()}
    add_judge(desk, "third", samples, scores_like(samples, wrong_every=4), dimension="grade")
    freeze_report(criterion=desk.criteria.get(key="grade"))
    text = text_of(as_user(rita).get(URL))
    assert "intervals of kappa hold for all 3 pairs of judges together" in text
    assert "Figures other than kappa have separate 95% intervals." in text


def test_a_judge_that_is_not_there(rita: User, desk: Project) -> None:
    assert as_user(rita).get(URL, {"first": "new/1/grade", "second": "new/9/grade"}).status_code == 404


def test_nothing_to_compare(rita: User) -> None:
    project, samples = graded_project("one")
    set_member(project=project, user=rita, role="reviewer")
    add_judge(project, "alone", samples, scores_like(samples), dimension="grade")
    freeze_report(criterion=project.criteria.get(key="grade"))
    page = as_user(rita).get(URL.replace("desk", "one"))
    assert "A comparison needs two judges" in page.content.decode()
    assert "<table" not in page.content.decode()


def test_the_number_of_queries_does_not_grow(rita: User, desk: Project) -> None:
    client, counts = as_user(rita), []
    for first, second in (("new/1/grade", "new/2/grade"), ("new/2/grade", "rough%20%3Cb%3E/1/grade")):
        client.get(URL)
        with CaptureQueriesContext(connection) as queries:
            page = client.get(URL, {"first": first, "second": second})
        counts.append((len(page.context["compared"]["pair"]["groups"][0]["rows"]), len(queries)))
    assert counts[0][0] != counts[1][0]
    assert counts[0][1] == counts[1][1]


def test_no_reasons_about_samples_that_the_reader_still_has_to_label(rita: User, desk: Project) -> None:
    versions = {"first": "new/1/grade", "second": "new/2/grade"}
    assert "Because it says so." in text_of(as_user(rita).get(URL, versions))
    make_batch(desk, [rita], criteria=[desk.criteria.get(key="grade")])
    assert "Because it says so." not in text_of(as_user(rita).get(URL, versions))


def pair(value: float | None, low: float | None, high: float | None, **more: Any) -> dict[str, Any]:
    reason = None if low is not None else NO_VARIATION
    kappa = {"value": value, "low": low, "high": high, "reason": reason, "n": 9, "clusters": 9}
    flips = {"only_first_right": 1, "only_second_right": 2, "both_wrong": 0}
    return {"difference": {"kappa": kappa}, "flips": flips, "units": 9, "reason": None, **more}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            pair(0.08, 0.01, 0.15),
            "B agrees with annotators clearly better than A: its kappa is 0.08 higher (0.01 to 0.15).",
        ),
        (
            pair(-0.08, -0.15, -0.01),
            "A agrees with annotators clearly better than B: its kappa is 0.08 higher (0.01 to 0.15).",
        ),
        (
            pair(0.02, -0.05, 0.09),
            "No difference is shown between A and B: kappa +0.02; anything from −0.05 to +0.09 fits these labels.",
        ),
        (
            pair(0.02, None, None),
            "B differs from A by +0.02 in kappa, without an interval: nothing varies between clusters: no interval.",
        ),
        (
            pair(None, None, None),
            "Whether one agrees more with annotators isn’t known: nothing varies between clusters: no interval.",
        ),
        (
            pair(0.0, None, None, flips={"only_first_right": 0, "only_second_right": 0, "both_wrong": 0}),
            "A and B decide all 9 units alike.",
        ),
        (
            pair(None, None, None, reason=remark("not_compared", judge="A", why=remark("no_units"))),
            "They can’t be compared – A: no units.",
        ),
    ],
)
def test_the_outcome_in_words(given: dict[str, Any], said: str) -> None:
    assert in_words(outcome("A", "B", given)) == said
