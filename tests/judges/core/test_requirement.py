"""What a judge must show on a criterion: declared by an admin, over all its versions, and noted."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.models import AuditEntry, Criterion, User
from annotate.projects.criteria import add_criteria
from annotate.projects.write import set_member
from judges.core.requirement import require, requirement_of
from judges.models import Requirement
from tests.annotate.factories import GRADE
from tests.clients import client_of
from tests.judges.building import make_project

pytestmark = pytest.mark.django_db

URL = "/api/projects/p/criteria/grade/requirement/"
DECLARED: dict[str, Any] = {"measure": "kappa_less_people", "bar": -0.05, "risk": 0.05, "coverage": 0.95}


@pytest.fixture
def grade() -> Criterion:
    return make_project(criteria=[GRADE]).criteria.get(key="grade")


def test_it_holds_for_later_versions_and_is_noted_once(grade: Criterion) -> None:
    alma = User.objects.create_user("alma")
    require(criterion=grade, **DECLARED, actor=alma)
    (later,) = add_criteria(project=grade.project, specs=[{**GRADE, "prompt": "How good is it, all in all?"}])
    assert {name: getattr(requirement_of(later), name) for name in DECLARED} == DECLARED
    assert requirement_of(later).updated_by == alma
    require(criterion=later, **DECLARED, actor=alma)
    noted = AuditEntry.objects.get(action="criterion.required")
    assert (noted.subject, noted.actor, noted.details) == ("grade", alma, {**DECLARED, "looks": 0})
    require(criterion=later, **{**DECLARED, "bar": 0}, actor=alma)
    assert Requirement.objects.get().bar == 0
    assert AuditEntry.objects.filter(action="criterion.required").count() == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("measure", "auc"),
        ("measure", None),
        ("bar", -0.51),
        ("bar", 1),
        ("bar", "0.4"),
        ("bar", float("nan")),
        ("bar", True),
        ("risk", 0),
        ("risk", 0.5),
        ("coverage", 0.49),
        ("coverage", 1.01),
    ],
)
def test_what_makes_no_sense_is_refused(grade: Criterion, field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        require(criterion=grade, **{**DECLARED, field: value})
    assert (refused.value.code, refused.value.details["field"]) == ("bad_requirement", field)
    assert not Requirement.objects.exists()
    assert not AuditEntry.objects.filter(action="criterion.required").exists()


def test_a_kappa_below_guessing_is_no_bar(grade: Criterion) -> None:
    with pytest.raises(Invalid, match=r"bar: must be a number, from 0, and below 1\."):
        require(criterion=grade, **{**DECLARED, "measure": "kappa"})


def test_by_api(grade: Criterion) -> None:
    people = {role: User.objects.create_user(role) for role in ("admin", "reviewer", "annotator")}
    for role, user in people.items():
        set_member(project=grade.project, user=user, role=role)
    before = client_of(people["reviewer"]).get(URL).json()
    assert (before["measure"], before["bar"], before["updated_at"], before["updated_by"]) == ("kappa", 0.4, None, None)
    changed = client_of(people["admin"]).patch(URL, {"bar": 0.6}, format="json")
    assert (changed.status_code, changed.json()["bar"], changed.json()["updated_by"]) == (200, 0.6, "admin")
    assert client_of(people["reviewer"]).get(URL).json() == changed.json()
    wrong = client_of(people["admin"]).patch(URL, {"risk": 0.6}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["code"], wrong.json()["field"]) == (422, "bad_requirement", "risk")
    assert client_of(people["reviewer"]).patch(URL, {"bar": 0.2}, format="json").status_code == 403
    assert client_of(people["annotator"]).get(URL).status_code == 403
