"""What visitors get of one thing of a project, and which methods its pages take; all pages are in
test_every_page.py."""

import pytest
from django.urls import get_resolver

from annotate.members.write import create_invite
from annotate.models import ImportJob, Project, User, Verdict
from frontend.urls import project_patterns
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import REVIEWERS_READ, WhoMay, make_samples
from tests.frontend.conftest import Staff, make_batch, make_disputes, make_help_desk, make_staff

World = tuple[Staff, Project, list[Verdict]]

ADMIN = {**REVIEWERS_READ, "reviewer": 403}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    staff = make_staff()
    project = make_help_desk(staff)
    samples = make_samples(project, 4)
    return staff, project, make_disputes(make_batch(project, staff), samples[0])


staff = copied_from_world(0)
project = copied_from_world(1)
disputes = copied_from_world(2)


def test_who_may_see_one_sample_and_one_dispute(disputes: list[Verdict], who_may: WhoMay) -> None:
    assert who_may(f"/p/help/samples/{disputes[0].sample_id}/") == REVIEWERS_READ
    assert who_may(f"/p/help/adjudicate/{disputes[0].pk}/") == REVIEWERS_READ
    assert who_may(f"/p/help/adjudicate/{disputes[0].pk}/", "post") == {**REVIEWERS_READ, "reviewer": 422, "admin": 422}


def test_who_may_approve(disputes: list[Verdict], who_may: WhoMay) -> None:
    sent = who_may(f"/p/help/adjudicate/{disputes[0].pk}/approve/", "post", {"revision": "1"})
    assert sent == {**REVIEWERS_READ, "reviewer": 302, "admin": 302}


def test_who_may_return_a_task(disputes: list[Verdict], who_may: WhoMay) -> None:
    task = disputes[0].sample.tasks.first()
    assert task is not None
    assert who_may(f"/p/help/batches/1/tasks/{task.pk}/return/") == REVIEWERS_READ
    sent = who_may(f"/p/help/batches/1/tasks/{task.pk}/return/", "post")
    assert sent == {**REVIEWERS_READ, "reviewer": 422, "admin": 422}
    foreign = who_may("/p/help/batches/1/tasks/999999999/return/")
    assert foreign == {**REVIEWERS_READ, "reviewer": 404, "admin": 404}


def test_who_may_take_an_invitation_back(project: Project, alice: User, who_may: WhoMay) -> None:
    invite, _ = create_invite(actor=alice, project=project, role="annotator")
    assert who_may(f"/p/help/members/invites/{invite.pk}/revoke/", "post") == {**ADMIN, "admin": 302}


def test_who_may_ask_what_a_batch_would_be(project: Project, who_may: WhoMay) -> None:
    assert who_may("/p/help/batches/new/preview/", "post") == ADMIN


def test_who_may_see_an_import(project: Project, alice: User, who_may: WhoMay) -> None:
    job = ImportJob.objects.create(
        project=project, kind="samples", status="failed", file_name="a.csv", created_by=alice
    )
    for path in ("", "progress/", "errors.csv"):
        assert who_may(f"/p/help/import/{job.pk}/{path}") == ADMIN


@pytest.mark.parametrize(
    "path", ["members/new-account/", "members/bea/change/", "members/bea/remove/", "members/invite/", "export/settle/"]
)
def test_what_changes_things_takes_a_post(path: str, alice: User, project: Project) -> None:
    client = as_user(alice)
    assert client.get(f"/p/help/{path}").status_code == 405


@pytest.mark.parametrize("path", ["", "samples/", "batches/", "adjudicate/", "criteria/", "judges/", "runs/"])
def test_what_only_shows_takes_no_post(path: str, alice: User, project: Project) -> None:
    client = as_user(alice)
    assert client.post(f"/p/help/{path}").status_code == 405


def test_things_of_another_project_are_not_found(alice: User, disputes: list[Verdict]) -> None:
    from annotate.projects.write import create_project

    create_project(slug="other", spec={}, created_by=alice)
    client, verdict = as_user(alice), disputes[0]
    for path in (f"samples/{verdict.sample_id}/", f"adjudicate/{verdict.pk}/", "batches/1/", "criteria/edit/support/"):
        assert client.get(f"/p/other/{path}").status_code == 404, path


def test_the_navigation_has_what_the_role_may_open(people: dict[str, User], project: Project) -> None:
    for name in ("admin", "reviewer", "annotator"):
        client = as_user(people[name])
        reply = client.get("/p/help/")
        # The workspace is another view's business, and asking for reports starts making them.
        nav = [*reply.context["nav"], *reply.context["nav_more"]]
        urls = [item["url"] for item in nav if "label" not in item["url"]]
        assert {client.get(url).status_code for url in urls} == {200}
        assert len(nav) == {"admin": 17, "reviewer": 12, "annotator": 3}[name]


def test_every_page_is_named() -> None:
    names = [pattern.name for pattern in project_patterns]
    assert len(names) == len(set(names))
    assert set(names) <= set(get_resolver().reverse_dict)
