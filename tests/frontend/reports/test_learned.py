"""What reports and certificates say of a version that was made from people's labels."""

from __future__ import annotations

import json

import pytest
from django.test import Client

import alignment
from annotate.models import Criterion, User
from annotate.projects.write import set_member
from judges.certificates.write import issue_certificate, look_at_test
from judges.models import Alignment, Judge
from judges.reports.evidence import full_evidence
from judges.reports.write import freeze_report
from tests.annotate.factories import make_batch
from tests.clients import as_user, client_of
from tests.frontend.building import make_user
from tests.judges.building import add_judge, graded_project, scores_like

pytestmark = pytest.mark.django_db

RULE = "A zebra crossing is no support."
URL = "/p/desk/reports/grade/judge/?judge=good&measures=grade"


@pytest.fixture
def admin() -> User:
    return make_user("Admin")


@pytest.fixture
def grade(admin: User) -> Criterion:
    """A judge with a rule that comes from the first sample's labels."""
    project, samples = graded_project(count=100)
    set_member(project=project, user=admin, role="admin")
    version = add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    Judge.objects.update(kind="llm")
    version.config = {"rules": [RULE]}
    version.save()
    grade = project.criteria.get(key="grade")
    of = Alignment.objects.create(
        base=version, criterion=grade, dimension="grade", seed=1, units=[], step="done", result={}
    )
    of.rules.create(proposed=RULE, text=RULE, sources=[[next(iter(samples)), "answer"]], groups=1)
    # The judge has had it since the alignment, not before.
    Alignment.objects.update(created_at=version.created_at)
    return grade


def page(client: Client) -> str:
    return client.get(URL).content.decode()


def test_a_report_says_that_its_figures_on_dev_are_of_such_labels(grade: Criterion, admin: User) -> None:
    evidence = full_evidence(grade)
    assert evidence.judges[0].learned == {"rules": 1, "examples": 0, "samples": 1}
    again = alignment.report.evidence_from_dict(json.loads(json.dumps(alignment.report.evidence_as_dict(evidence))))
    assert again.judges[0].learned == evidence.judges[0].learned
    report = freeze_report(criterion=grade)
    assert report.result["judges"][0]["learned"] == {
        "code": "learned_from_labels", "rules": 1, "examples": 0, "samples": 1,
    }  # fmt: skip
    said = "made from human labels of the dev set (rules: 1, examples: 0, samples: 1)"
    assert said in page(as_user(admin))


def test_a_certificate_names_its_rules_to_who_may_know_them(grade: Criterion, admin: User) -> None:
    freeze_report(criterion=grade)
    issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    assert "rules: 1, examples: 0, samples: 1" in page(as_user(admin))
    assert RULE in page(as_user(admin))
    (told,) = client_of(admin).get("/api/projects/desk/certificates/").json()["results"]
    source = Alignment.objects.get().rules.get().sources[0][0]
    assert told["learned"] == {
        "rules": 1, "examples": 0, "samples": 1, "sources": [{"text": RULE, "samples": [source]}],
    }  # fmt: skip
    make_batch(grade.project, [admin], samples=[source], criteria=[grade])
    text = page(as_user(admin))
    assert "rules: 1, examples: 0, samples: 1" in text
    assert RULE not in text
    (told,) = client_of(admin).get("/api/projects/desk/certificates/").json()["results"]
    assert (told["learned"]["rules"], told["learned"]["sources"]) == (1, None)
