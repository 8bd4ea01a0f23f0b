"""Free text has no figures, and so no page of them."""

from __future__ import annotations

import pytest

from annotate.models import Project
from annotate.projects.criteria import add_criteria
from judges.models import Requirement
from tests.clients import as_user
from tests.frontend.conftest import Staff

WORDS = {"key": "missing", "unit": "answer", "scale": "text", "prompt": "What is missing?"}


@pytest.fixture
def asked(project: Project) -> Project:
    add_criteria(project=project, specs=[WORDS])
    return project


@pytest.mark.parametrize("path", ["", "planner/", "looks/", "came/"])
def test_its_page_says_why_there_is_none(asked: Project, staff: Staff, path: str) -> None:
    reply = as_user(staff.alice).get(f"/p/help/reports/missing/{path}")
    assert reply.status_code == 404


@pytest.mark.parametrize(
    "path", ["reports/", "gold/", "export/", "adjudicate/accept/", "judges/new/lexical-token-overlap/"]
)
def test_lists_of_criteria_leave_it_out(asked: Project, staff: Staff, path: str) -> None:
    reply = as_user(staff.alice).get(f"/p/help/{path}")
    assert reply.status_code == 200
    assert 'value="missing"' not in reply.content.decode()
    assert "/reports/missing/" not in reply.content.decode()


def test_the_list_of_criteria_says_what_it_is(asked: Project, staff: Staff) -> None:
    page = as_user(staff.alice).get("/p/help/criteria/").content.decode()
    assert "Free text: shown and exported" in page
    assert "What is missing?" in page


def test_nothing_is_required_of_judges_on_it(asked: Project, staff: Staff) -> None:
    body = {"measure": "kappa", "bar": "0.4", "risk": "0.1", "coverage": "0.9"}
    assert as_user(staff.alice).post("/p/help/criteria/versions/missing/", body).status_code == 200
    assert not Requirement.objects.exists()


def test_the_form_makes_one(project: Project, staff: Staff) -> None:
    form = {"key": "missing", "name": "", "unit": "answer", "scale": "text", "prompt": "What?", "cant_tell": "on",
            "option-TOTAL_FORMS": "0", "option-INITIAL_FORMS": "0"}  # fmt: skip
    reply = as_user(staff.alice).post("/p/help/criteria/new/", form)
    assert reply.status_code == 302, reply.content.decode()[:3000]
    made = project.criteria.get(key="missing")
    assert (made.scale, made.options, made.cant_tell) == ("text", [], False)
