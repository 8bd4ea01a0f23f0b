"""That a certificate has ended is noted once, and its project's admins are told."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotate.batches.archiving import archive_project, restore_project
from annotate.models import AuditEntry, Project, User
from annotate.projects.criteria import add_criteria
from annotate.projects.notices_read import new_notices, notices
from annotate.projects.write import set_member
from judges.celery_tasks import look_for_ends as task
from judges.certificates.decision_read import ended_of
from judges.certificates.watch import look_for_ends
from judges.models import PROMISE, Certificate, JudgeVersion, Look
from tests.annotate.factories import GRADE
from tests.clients import as_user, client_of
from tests.database import copied_from_world
from tests.judges.building import add_judge, graded_project, scores_like
from tests.judges.certificates.decided import certified

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> JudgeVersion:
    project, samples = graded_project(count=32)
    for name, role in (("alma", "admin"), ("remy", "reviewer")):
        set_member(project=project, user=User.objects.create_user(name), role=role)
    return add_judge(project, "good", samples, scores_like(samples), dimension="grade")


version = copied_from_world()


@pytest.fixture
def project(version: JudgeVersion) -> Project:
    return version.judge.project


@pytest.fixture
def certificate(version: JudgeVersion) -> Certificate:
    return certified(version, "alone_in_region")


def noted(project: Project) -> list[tuple[str, str | None]]:
    entries = AuditEntry.objects.filter(project=project, action__startswith="certificate.").order_by("pk")
    return [(entry.action, entry.details.get("code")) for entry in entries]


def end(project: Project) -> None:
    add_criteria(project=project, specs=[{**GRADE, "prompt": "How good is it, all in all?"}])


def told(name: str) -> list[tuple[str, str, str]]:
    return [(one.kind, one.name, one.key) for one in notices(User.objects.get(username=name))]


def test_the_worker_knows_the_look(certificate: Certificate, project: Project) -> None:
    end(project)
    assert task.name == "judges.tasks.look_for_ends"
    task()
    assert noted(project) == [("certificate.ended", "criterion_changed")]


def test_an_end_is_noted_once_and_admins_are_told(certificate: Certificate, project: Project) -> None:
    look_for_ends()
    assert noted(project) == []
    end(project)
    look_for_ends()
    look_for_ends()
    assert noted(project) == [("certificate.ended", "criterion_changed")]
    assert told("alma") == [("certificate_ended", "good", "grade")]
    assert new_notices(User.objects.get(username="alma")) == 1
    assert told("remy") == []


def test_what_holds_again_is_noted_and_ends_anew(certificate: Certificate, project: Project) -> None:
    Look.objects.update(promise=PROMISE - 1)
    look_for_ends()
    Look.objects.update(promise=PROMISE)
    look_for_ends()
    end(project)
    look_for_ends()
    assert noted(project) == [
        ("certificate.ended", "out_of_date"), ("certificate.resumed", None), ("certificate.ended", "criterion_changed"),
    ]  # fmt: skip


def test_no_archived_project_is_written_in(certificate: Certificate, project: Project) -> None:
    end(project)
    alma = User.objects.get(username="alma")
    archive_project(actor=alma, project=project)
    look_for_ends()
    assert noted(project) == []
    restore_project(actor=alma, project=project)
    look_for_ends()
    assert noted(project) == [("certificate.ended", "criterion_changed")]


def test_a_project_that_is_being_deleted_is_left_alone(certificate: Certificate, project: Project) -> None:
    end(project)
    Project.objects.filter(pk=project.pk).update(deleting_at=timezone.now())
    look_for_ends()
    assert noted(project) == []
    assert told("alma") == []


def test_its_pages(certificate: Certificate, project: Project) -> None:
    end(project)
    look_for_ends()
    client = as_user(User.objects.get(username="alma"))
    (row,) = client.get("/notices/").context["rows"]
    assert row.text == "The certificate of “good” no longer holds"
    assert row.url == f"/p/{project.slug}/reports/grade/judge/?judge=good"
    assert client.get(row.url).status_code == 200
    page = client.get(f"/p/{project.slug}/audit/").content.decode()
    assert "Certificate check" in page
    assert "no longer holds (criterion_changed)" in page


def test_the_api_says_why_each_has_ended(version: JudgeVersion, project: Project, certificate: Certificate) -> None:
    client, url = client_of(User.objects.get(username="remy")), f"/api/projects/{project.slug}/certificates/"
    (said,) = client.get(url).json()["results"]
    assert said["ended"] is None
    later = certified(version, "alone_in_region")
    new, old = client.get(url).json()["results"]
    assert new["ended"] is None
    assert old["ended"] == {"code": "replaced", "reason": "Certificate 2 took the place of certificate 1."}
    end(project)
    new, old = client.get(url).json()["results"]
    code, reason = ended_of(later) or ("", "")
    assert new["ended"] == {"code": code, "reason": reason}
    assert (code, old["ended"]["code"]) == ("criterion_changed", "replaced")
