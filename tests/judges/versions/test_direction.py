"""Whether higher scores of a judge mean better: said by an admin, and followed by every figure."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, User
from annotate.projects.write import set_member
from judges.certificates.write import look_at_test
from judges.models import AlignmentReport, Judge
from judges.reports.evidence import align
from judges.reports.read import report_state
from judges.reports.write import freeze_report
from tests.clients import client_of
from tests.judges.building import add_judge, graded_project, scores_like

pytestmark = pytest.mark.django_db

URL = "/api/projects/desk/judges/"


@pytest.fixture
def people() -> dict[str, User]:
    return {role: User.objects.create_user(role) for role in ("admin", "reviewer", "annotator")}


@pytest.fixture
def grade(people: dict[str, User]) -> Criterion:
    """With two judges whose scores go the other way: the better the answer, the lower."""
    project, samples = graded_project(count=80)
    for role, user in people.items():
        set_member(project=project, user=user, role=role)
    for name in ("distance", "other"):
        turned = [(sample, unit, -number) for sample, unit, number in scores_like(samples)]
        add_judge(project, name, samples, turned, dimension="grade")
    return project.criteria.get(key="grade")


def patch(user: User, said: Any, judge: str = "distance") -> Any:
    found = Judge.objects.get(name=judge)
    return client_of(user).patch(f"{URL}{found.pk}/", said, format="json")


def test_the_judges_are_listed(grade: Criterion, people: dict[str, User]) -> None:
    listed = client_of(people["reviewer"]).get(URL).json()
    assert [judge["name"] for judge in listed] == ["distance", "other"]
    assert client_of(people["reviewer"]).get(f"{URL}{listed[0]['id']}/").json() == listed[0]
    assert (listed[0]["higher_is_better"], listed[0]["versions"]) == (True, ["1"])


def test_figures_follow_and_earlier_reports_are_out_of_date(grade: Criterion, people: dict[str, User]) -> None:
    first = freeze_report(criterion=grade)
    before = align(grade, "distance")["judges"][0]
    assert not report_state(grade, reader=SYSTEM).is_out_of_date

    reply = patch(people["admin"], {"higher_is_better": False})
    assert (reply.status_code, reply.json()["higher_is_better"]) == (200, False)

    after = align(grade, "distance")["judges"][0]
    assert after["higher_is_better"] is False
    assert after["roc_auc"]["value"] == pytest.approx(1 - before["roc_auc"]["value"])
    assert after["roc_auc"]["value"] > 0.5 > before["roc_auc"]["value"]
    assert align(grade, "other")["judges"][0]["higher_is_better"] is True
    assert report_state(grade, reader=SYSTEM).is_out_of_date
    second = freeze_report(criterion=grade)
    assert second.fingerprint != first.fingerprint
    assert not report_state(grade, reader=SYSTEM).is_out_of_date

    patch(people["admin"], {"higher_is_better": True})
    assert freeze_report(criterion=grade) == first
    assert AlignmentReport.objects.count() == 2


def test_once_it_was_measured_on_test_it_stays(grade: Criterion, people: dict[str, User]) -> None:
    look_at_test(criterion=grade, judge_name="distance")
    reply = patch(people["admin"], {"higher_is_better": False})
    assert (reply.status_code, reply.json()["error"]["code"], reply.json()["looks"]) == (409, "has_looks", 1)
    assert Judge.objects.get(name="distance").higher_is_better
    assert patch(people["admin"], {"higher_is_better": True}).status_code == 200
    assert patch(people["admin"], {"higher_is_better": False}, "other").status_code == 200


@pytest.mark.parametrize("said", [{"higher_is_better": 1}, {"higher_is_better": None}, {}, {"name": "x"}, []])
def test_a_bad_request(said: Any, grade: Criterion, people: dict[str, User]) -> None:
    assert patch(people["admin"], said).status_code == 422
    assert Judge.objects.get(name="distance").higher_is_better


def test_only_admins_change_it(grade: Criterion, people: dict[str, User]) -> None:
    for role, statuses in (("reviewer", (200, 403)), ("annotator", (403, 403))):
        client = client_of(people[role])
        assert (client.get(URL).status_code, patch(people[role], {"higher_is_better": False}).status_code) == statuses
    assert patch(User.objects.create_user("stranger"), {"higher_is_better": False}).status_code == 404
    assert Judge.objects.get(name="distance").higher_is_better
