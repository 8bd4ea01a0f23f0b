"""Looks at test and certificates on the judge page: what they cost is said before, and who may is asked."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from annotate.batches.audits_write import create_schedule
from annotate.models import Criterion, Label, User
from annotate.projects.write import set_member
from frontend.reports.in_words import decision_in_words
from judges.certificates.write import issue_certificate, look_at_test
from judges.models import PROMISE, AlignmentReport, Certificate, Look, Run
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import make_user
from tests.judges.building import add_judge, graded_project, scores_like

pytestmark = pytest.mark.django_db

URL = "/p/desk/reports/grade/judge/"
LOOK, CERTIFY = f"{URL}look/", f"{URL}certify/"
NAMED = {"judge": "a & b", "measures": "grade"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[dict[str, User], Criterion]:
    """With a report, in which a judge has a name that an address has to escape."""
    roles = {name: make_user(name.capitalize()) for name in ("admin", "reviewer", "annotator", "stranger")}
    project, samples = graded_project(count=160)
    for name in ("admin", "reviewer", "annotator"):
        set_member(project=project, user=roles[name], role=name)
    add_judge(project, NAMED["judge"], samples, scores_like(samples), dimension="grade")
    criterion: Criterion = project.criteria.get(key="grade")
    freeze_report(criterion=criterion)
    return roles, criterion


roles = copied_from_world(0)
grade = copied_from_world(1)


@pytest.fixture
def page_of(roles: dict[str, User]) -> Callable[[str], Client]:
    def log_in(name: str) -> Client:
        return as_user(roles[name])

    return log_in


PageOf = Callable[[str], Client]


def text_of(client: Client, **more: str) -> str:
    return client.get(f"{URL}?{urlencode({**NAMED, **more})}").content.decode()


def test_before_any_look(grade: Criterion, page_of: PageOf) -> None:
    text = text_of(page_of("reviewer"))
    assert "Not evaluated on the test set yet." in text
    assert "The next is test evaluation 1 on this criterion, over all judges: it decides at 96.96%" in text
    assert "an interval 1.1 times as wide as a plain 95% one." in text
    assert f'href="{LOOK}?judge=a+%26+b&amp;measures=grade"' in text
    assert "Certify test evaluation" not in text
    assert not Look.objects.exists()


def test_the_cost_is_said_before(grade: Criterion, page_of: PageOf) -> None:
    client = page_of("reviewer")
    text = client.get(f"{LOOK}?{urlencode(NAMED)}").content.decode()
    assert "Evaluate “<bdi>a &amp; b</bdi>” on the test set?" in text
    assert "this is test evaluation 1 on this criterion, counted over its versions and all judges" in text
    assert "It decides at 96.96%, by an interval 1.1 times as wide as a plain 95% one" in text
    assert "declared for the criterion" in text
    assert not Look.objects.exists()


def test_a_look_is_taken_and_shown(grade: Criterion, page_of: PageOf) -> None:
    client = page_of("reviewer")
    reply = client.post(LOOK, {**NAMED, "number": "1"})
    assert (reply.status_code, reply["Location"]) == (302, f"{URL}?judge=a+%26+b&measures=grade")
    look = Look.objects.get()
    assert look.created_by is not None
    assert (look.number, look.created_by.username) == (1, "reviewer")
    text = text_of(client)
    assert "This was test evaluation 1. Its result is below." in text
    kappa = look.result["figure"]
    assert f"<b>{kappa['value']:.2f}</b>" in text
    assert f"{kappa['low']:.2f} to {kappa['high']:.2f}" in text
    decision = decision_in_words(look.result["decision"])
    for words in (
        decision["chip"],
        escape(decision["reason"]),
        decision["meaning"],
        *map(escape, decision["supports"]),
        "Kappa with annotators at least 0.4, with 90% of the units scored",
        "all samples, declared by an admin, on the command line",
        "Test evaluation 1</span>",
        "version “<bdi>1</bdi>”",
        "From test evaluation 1 of",
        "Not certified yet, so nothing is decided by it.",
        "On the dev set each label counts once, however it was drawn",
    ):
        assert words in text
    assert "The next is test evaluation 2 on this criterion, over all judges: it decides at 99.24%" in text
    assert "Provisional" not in text
    assert text.count('<tr><th scope="row">') > 10  # figures and reliability points, as tables
    # Not for reviewers.
    assert "Ask an admin to certify test evaluation 1" in text
    assert 'name="look"' not in text
    assert ">Certify test evaluation 1</button>" in text_of(page_of("admin"))


def test_looking_again_at_the_same_spends_nothing(grade: Criterion, page_of: PageOf) -> None:
    client = page_of("reviewer")
    client.post(LOOK, {**NAMED, "number": "1"})
    client.post(LOOK, {**NAMED, "number": "2"})
    assert "Nothing has changed since test evaluation 1: it is shown again, and nothing was spent." in text_of(client)
    assert Look.objects.count() == 1


def test_another_look_in_between(grade: Criterion, page_of: PageOf) -> None:
    client = page_of("reviewer")
    client.post(LOOK, {**NAMED, "number": "1"})
    label = Label.objects.filter(criterion=grade, rater__name="ben", value=4).order_by("sample__external_id")[0]
    Label.objects.filter(pk=label.pk).update(value=5)
    client.post(LOOK, {**NAMED, "number": "1"})
    assert "Another test evaluation was run in the meantime. Yours would now be number 2." in text_of(client)
    assert Look.objects.count() == 1
    client.post(LOOK, {**NAMED, "number": "2"})
    text = text_of(client)
    assert "2 of this judge" in text
    assert "From test evaluation 2 of" in text
    assert text.count("<bdi>Reviewer</bdi>") >= 2


@pytest.mark.parametrize("data", [{}, {"judge": "a & b"}, {"judge": "nobody", "measures": "grade"}])
def test_a_judge_that_is_not_there(grade: Criterion, page_of: PageOf, data: dict[str, str]) -> None:
    client = page_of("admin")
    assert client.get(f"{LOOK}?{urlencode(data)}").status_code == 404
    assert client.post(LOOK, {**data, "number": "1"}).status_code == 404


@pytest.mark.parametrize("number", ["", "x", "0"])
def test_a_look_needs_its_number(grade: Criterion, page_of: PageOf, number: str) -> None:
    client = page_of("admin")
    assert client.post(LOOK, {**NAMED, "number": number}).status_code == 302
    assert "number: a whole number" in text_of(client)
    assert not Look.objects.exists()


def test_a_certificate_is_issued_and_shown(grade: Criterion, page_of: PageOf) -> None:
    look = look_at_test(criterion=grade, judge_name=NAMED["judge"])
    client = page_of("admin")
    assert client.post(CERTIFY, {"look": str(look.pk)}).status_code == 302
    certificate = Certificate.objects.get()
    text = text_of(client)
    for words in (
        "The certificate is issued.", "Certificate 1", "holds", certificate.judge_hash, look.fingerprint,
        "No audits to go by yet, so no drift can show", "Certificate 1 holds.",
        "What its decision rests on", "<bdi>ann</bdi>, <bdi>ben</bdi>",
        "Issued", "Admin", "**Passed:** May decide together with a person.", "&#x27;a &amp; b&#x27; --format markdown",
    ):  # fmt: skip
        assert words in text, words
    assert "Certify test evaluation" not in text
    assert client.post(CERTIFY, {"look": str(look.pk)}).status_code == 302
    assert Certificate.objects.count() == 1


def test_a_certificate_that_is_watched_leads_to_audits_until_they_are_scheduled(
    roles: dict[str, User], grade: Criterion, page_of: PageOf
) -> None:
    link = "/p/desk/batches/audits/new/?criterion=grade"
    assert link not in text_of(page_of("admin"))
    issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    assert link in text_of(page_of("admin"))
    assert link not in text_of(page_of("reviewer")), "who can't set one up"
    create_schedule(
        project=grade.project, actor=roles["admin"], today=timezone.localdate(), name="Audits", criteria=[grade],
        annotators=[roles["annotator"]], overlap=1, samples=5,
    )  # fmt: skip
    assert link not in text_of(page_of("admin"))


def test_another_bar(grade: Criterion, page_of: PageOf) -> None:
    issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    client = page_of("reviewer")
    for low in ("", " ", "0.1"):
        assert "**Passed:** May decide together with a person." in text_of(client, bar=low)
    text = text_of(client, bar=" 0.99 ")
    assert "under the bar of 0.99 (certificate 1)" in text
    assert "--min-kappa 0.99 --format markdown" in text
    for wrong in ("high", "2", "nan"):
        text = text_of(client, bar=wrong)
        assert "number from -1 to 1." in text, wrong
        assert "**Failed:**" not in text


def test_a_certificate_that_no_longer_holds_says_why(grade: Criterion, page_of: PageOf) -> None:
    issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    samples = {sample.external_id: sample for sample in grade.project.samples.all()}
    client = page_of("reviewer")
    assert "<dt>Automatic decisions</dt>" in text_of(client)
    add_judge(grade.project, NAMED["judge"], samples, [("s00", "answer", 0.5)], dimension="grade", label="2")
    text = text_of(client)
    assert "no longer holds" in text
    assert "Certificate 1 holds" not in text
    assert "<dt>Automatic decisions</dt>" not in text, "it permits nothing any more"
    assert "Certificate 1 is for version “1” of “a &amp; b”, which is now “2”." in text


def test_an_older_look_is_not_certified(grade: Criterion, page_of: PageOf) -> None:
    first = look_at_test(criterion=grade, judge_name=NAMED["judge"])
    label = Label.objects.filter(criterion=grade, rater__name="ben", value=4).order_by("sample__external_id")[0]
    Label.objects.filter(pk=label.pk).update(value=5)
    look_at_test(criterion=grade, judge_name=NAMED["judge"])
    client = page_of("admin")
    client.post(CERTIFY, {"look": str(first.pk)})
    assert "Test evaluation 1 is not this judge’s latest. Use test evaluation 2." in text_of(client)
    assert not Certificate.objects.exists()
    assert client.post(CERTIFY, {"look": str(10**8)}).status_code == 404
    assert client.post(CERTIFY, {"look": "first"}).status_code == 302


def test_who_may(grade: Criterion, page_of: PageOf) -> None:
    look = look_at_test(criterion=grade, judge_name=NAMED["judge"])
    expected = {"admin": (200, 302, 302), "reviewer": (200, 302, 403), "annotator": (403,) * 3, "stranger": (404,) * 3}
    for name, statuses in expected.items():
        client = page_of(name)
        found = (
            client.get(f"{LOOK}?{urlencode(NAMED)}").status_code,
            client.post(LOOK, {**NAMED, "number": "2"}).status_code,
            client.post(CERTIFY, {"look": str(look.pk)}).status_code,
        )
        assert found == statuses, name
    assert page_of("admin").get(CERTIFY).status_code == 405
    for url in (LOOK, CERTIFY):
        assert Client().post(url, NAMED)["Location"].startswith("/login/")


def test_a_look_of_another_project_is_not_there(grade: Criterion, page_of: PageOf, roles: dict[str, User]) -> None:
    other, samples = graded_project("elsewhere", count=80)
    add_judge(other, "good", samples, scores_like(samples), dimension="grade")
    look = look_at_test(criterion=other.criteria.get(key="grade"), judge_name="good")
    assert page_of("admin").post(CERTIFY, {"look": str(look.pk)}).status_code == 404
    assert not Certificate.objects.exists()


def test_looks_cost_a_page_no_more_queries(grade: Criterion, page_of: PageOf) -> None:
    client = page_of("reviewer")
    issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    text_of(client)
    with CaptureQueriesContext(connection) as few:
        text_of(client)
    labels = Label.objects.filter(criterion=grade, rater__name="ben", value=4).order_by("sample__external_id")
    for label in labels[:3]:
        Label.objects.filter(pk=label.pk).update(value=5)
        look_at_test(criterion=grade, judge_name=NAMED["judge"])
    text_of(client)
    with CaptureQueriesContext(connection) as many:
        text_of(client)
    assert len(many) == len(few)


def test_the_file_speaks_from_the_test_set(grade: Criterion, page_of: PageOf) -> None:
    issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    text = page_of("reviewer").get("/p/desk/reports/grade/1.html").content.decode()
    assert "Certificate 1" in text
    assert "Provisional" not in text


def test_a_look_that_is_out_of_date_says_so(grade: Criterion, page_of: PageOf) -> None:
    """It stays, with its figures and its certificate."""
    issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    Look.objects.update(promise=PROMISE - 1)
    client = page_of("admin")
    text = text_of(client)
    assert "This test evaluation is out of date: what an evaluation promises has changed since" in text
    assert '<span class="badge">out of date</span>' in text
    assert "which was made before the promise of test evaluations changed" in text
    assert "Certify test evaluation" not in text
    (said,) = client.get(f"/api/projects/{grade.project.slug}/looks/").json()["results"]
    assert said["out_of_date"] is True
    client.post(LOOK, {**NAMED, "number": "2"})
    text = text_of(client)
    assert "This test evaluation is out of date" not in text
    assert "Certify test evaluation 2" in text


def test_once_there_is_a_look_its_plan_is_the_only_one(grade: Criterion, page_of: PageOf) -> None:
    """Two numbers of missing labels on one page leave open which to go by."""
    report = grade.reports.get()
    row = report.result["judges"][0]
    row["decision"] |= {"verdict": "cannot_tell", "more": 12, "hours": None}
    AlignmentReport.objects.update(result=report.result)
    client, pages = page_of("reviewer"), ("/p/desk/reports/", "/p/desk/reports/grade/", f"{URL}?{urlencode(NAMED)}")
    for page in pages:
        assert "about 12 more" in client.get(page).content.decode(), page
    assert "/p/desk/reports/grade/planner/" in text_of(client)
    look = look_at_test(criterion=grade, judge_name=NAMED["judge"])
    decision = {**look.result["decision"], "verdict": "cannot_tell", "more": 600}
    Look.objects.update(result={**look.result, "decision": decision})
    for page in pages:
        text = client.get(page).content.decode()
        assert "about 12 more" not in text, page
        assert "about 600 more" in text, page
    assert "Label about 600 more samples" in text_of(client)
    # A plan for what was certified says nothing of another version.
    look.version.__class__.objects.update(label="2")
    assert "about 12 more" in client.get(pages[1]).content.decode()


def test_a_test_for_bias_stands_beside_the_certificate(grade: Criterion, page_of: PageOf) -> None:
    certificate = issue_certificate(look=look_at_test(criterion=grade, judge_name=NAMED["judge"]))
    assert "Bias test" not in text_of(page_of("reviewer"))
    version = certificate.look.version
    version.config = {**version.config, "criterion": "grade", "unit": "answer", "answer_with": "number"}
    version.config |= {"min": 0, "max": 1, "whole": False}
    version.save()
    Run.objects.create(version=version, purpose="probes", state="done", terms={"set": 1, "seed": 1}, scope={})
    assert "<strong>Bias test</strong> Nothing to compare yet. <a" in text_of(page_of("reviewer"))
