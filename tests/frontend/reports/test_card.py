"""The card on a judge's page: the one decision that rules it, from the dev set, a test evaluation, or a certificate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alignment.base.estimate import Estimate, remark
from alignment.judging.decision import Verdict
from annotate.models import Criterion, User
from annotate.projects.write import set_member
from frontend.reports.judge import judge_context
from judges.certificates.decision_read import looked_decisions
from judges.certificates.drift_read import Drift
from judges.models import JudgeVersion
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import make_user
from tests.frontend.reports.test_beside import Words
from tests.judges.building import add_judge, graded_project, scores_like
from tests.judges.certificates.decided import certified, decided

pytestmark = pytest.mark.django_db

URL = "/p/desk/reports/grade/judge/?judge=good&measures=grade"
SAYS: dict[Verdict, str] = {
    "alone_in_region": "It may decide alone in its certified score range.",
    "with_a_person": "A person may decide with its verdict beside them. It may decide nothing alone.",
    "not_for_use": "Don’t use it on this criterion",
    "cannot_tell": "Don’t use it yet",
}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[User, Criterion]:
    admin = make_user("Admin")
    project, samples = graded_project(count=160)
    set_member(project=project, user=admin, role="admin")
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    criterion: Criterion = project.criteria.get(key="grade")
    freeze_report(criterion=criterion)
    return admin, criterion


admin = copied_from_world(0)
grade = copied_from_world(1)


def version() -> JudgeVersion:
    return JudgeVersion.objects.get(judge__name="good")


def page(admin: User) -> str:
    return Words(as_user(admin).get(URL).content.decode()).text


def only(text: str, verdict: Verdict) -> bool:
    return [one for one, said in SAYS.items() if said in text] == [verdict]


def test_before_a_test_evaluation_it_is_provisional(grade: Criterion, admin: User) -> None:
    text = page(admin)
    assert only(text, "with_a_person")
    assert "Provisional (dev set)" in text
    assert "Evaluate on the test set" in text
    assert "May decide alone Nothing" in text
    assert "Declared minimum 0.40" in text


@pytest.mark.parametrize("verdict", SAYS)
def test_after_a_test_evaluation_it_speaks_from_the_test_set(grade: Criterion, admin: User, verdict: Verdict) -> None:
    decided(version(), verdict)
    text = page(admin)
    assert only(text, verdict)
    assert "Provisional" not in text
    assert "From test evaluation 1 of" in text
    assert "Kappa with annotators 0.70 on test 0.60 to 0.80 at 97% confidence (reports: 95%)" in text
    assert "Certify test evaluation 1" in text
    assert ("May decide alone Nothing yet 60.0% of units, once certified" in text) is (verdict == "alone_in_region")


def test_a_certificate_that_holds_lets_it_decide(grade: Criterion, admin: User) -> None:
    certified(version(), "alone_in_region")
    text = page(admin)
    assert "Certificate 1 holds." in text
    assert "May decide alone 60.0% of units Scores up to 0.2 or from 0.8. The limits on errors hold" in text
    assert "See what is left for human review" in text


def test_a_certificate_that_has_ended_lets_it_decide_nothing(grade: Criterion, admin: User) -> None:
    """On every page, and in what a file takes."""
    looked = {"drawn_by": [{"how": "declared_random", "samples": 9, "by": "", "day": "2026-11-20", "batch": None}]}
    certified(version(), "alone_in_region", **looked)
    text = page(admin)
    assert "Don’t use it now: its certificate has ended." in text
    assert "has been withdrawn" in text
    assert "May decide alone Nothing its certificate has ended" in text
    report = grade.reports.get()
    card = judge_context(report, 0, looked=looked_decisions(grade.project))["card"]
    assert card["decision"]["code"] == "ended"
    assert "Certificate ended" in as_user(admin).get("/p/desk/reports/grade/").content.decode()


def test_a_certificate_that_drift_has_ended_shows_the_errors(grade: Criterion) -> None:
    """Not the kappa of the test set, which spoke for the judge."""
    certified(version(), "alone_in_region")
    error = Estimate(0.27, 0.15, 0.42, n=346, clusters=125).as_dict()
    drift = Drift(certified=0.104, error=error, alarm=None, streaks=False, chosen=0, audits=346, scored=346)
    held = looked_decisions(grade.project)
    ((key, ruling),) = held.items()
    looked = {key: replace(ruling, ended="It errs.", ended_code="drift", drift=drift)}
    judge = judge_context(grade.reports.get(), 0, looked=looked)
    card = judge["card"]
    assert (card["measure"], card["stands"].text, card["stands"].interval) == (
        "Errors in audits",
        "27.0%",
        "15.0% to 42.0%",
    )
    assert (card["bound"]["title"], card["bound"]["value"]) == ("Certified at most", "10.4%")
    assert card["picture"] is None
    assert judge["decision"]["short"] == "errs more often than certified"


def test_a_certificate_that_permits_nothing_does_not_hold_as_if_it_did(grade: Criterion, admin: User) -> None:
    certified(version(), "not_for_use")
    text = page(admin)
    assert "Certificate 1 says the same." in text
    assert "permits nothing" in text
    assert "Certificate 1 holds" not in text


def test_no_figure_beside_it_is_a_second_decision(grade: Criterion, admin: User) -> None:
    against = [remark("region_missing", why=remark("region_after_endpoint"))]
    look = decided(version(), "not_for_use")
    look.result["decision"]["against"] = against
    look.save()
    text = page(admin)
    for second in ("human ceiling:", "May take this place", "may take the place", "passes the alternative"):
        assert second not in text
    assert "By the decision above, use only the share by labels alone." in text
