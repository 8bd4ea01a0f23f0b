"""Another project like this one; and the archive, in which everything is read and nothing is changed."""

import pytest
from django.urls import reverse

from annotate.core.permissions import ROLES_FOR, Archived, project_for
from annotate.models import AuditEntry, Batch, Project, Sample, User
from annotate.projects.deletion import delete_waiting
from judges.core.requirement import require
from judges.endpoints.write import create_endpoint
from tests.clients import as_user, client_of
from tests.frontend.building import ADMINS_READ, WhoMay

MANAGE = "/p/help/manage/"


def test_a_duplicate_is_set_up_alike_and_empty(alice: User, batch: Batch, project: Project) -> None:
    Project.objects.update(show_names=True, teach=False)
    create_endpoint(
        project=project, actor=alice, name="model", base_url="http://127.0.0.1:1/v1", key="secret-key-1234",
        price_in=3, concurrency=4,
    )  # fmt: skip
    criterion = project.criteria.get(key="support", is_current=True)
    require(actor=alice, criterion=criterion, measure="kappa", bar=0.6, risk=0.05, coverage=0.8)
    reply = as_user(alice).post(MANAGE, {"name": "Help desk 2", "slug": "help-2"}, follow=True)
    assert "“Help desk 2” created" in reply.content.decode()
    made = Project.objects.get(slug="help-2")
    project.refresh_from_db()
    for field in ("guidelines", "show_names", "show_judges", "teach"):
        assert getattr(made, field) == getattr(project, field)
    content = ("key", "name", "unit", "scale", "prompt", "help", "options", "passes", "required", "cant_tell")
    assert list(made.criteria.values(*content)) == list(project.criteria.values(*content))
    required = ("criterion_key", "measure", "bar", "risk", "coverage")
    assert list(made.requirements.values_list(*required)) == [("support", "kappa", 0.6, 0.05, 0.8)]
    endpoint = made.endpoints.get()
    assert (endpoint.name, endpoint.base_url, endpoint.concurrency) == ("model", "http://127.0.0.1:1/v1", 4)
    assert (endpoint.key_source, endpoint.key_encrypted, endpoint.key_last4, endpoint.key_variable) == (
        "none", None, "", "",
    )  # fmt: skip
    assert list(made.memberships.values_list("user__username", "role")) == [("alice", "admin")]
    assert not made.samples.exists()
    assert not made.batches.exists()


def test_a_taken_short_name_makes_nothing(alice: User, project: Project) -> None:
    reply = as_user(alice).post(MANAGE, {"name": "Again", "slug": "help"})
    assert reply.status_code == 409
    assert "A project “help” already exists." in reply.content.decode()
    assert Project.objects.count() == 1


def test_only_those_who_create_projects_duplicate_one(alice: User, project: Project) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=False)
    assert "Duplicate project" not in as_user(alice).get(MANAGE).content.decode()
    as_user(alice).post(MANAGE, {"name": "Again", "slug": "again"})
    assert Project.objects.count() == 1


@pytest.fixture
def archived(alice: User, batch: Batch, project: Project) -> Project:
    reply = as_user(alice).post(f"{MANAGE}archive/", follow=True)
    assert "The project is archived. 1 open batch is paused." in reply.content.decode()
    project.refresh_from_db()
    return project


def test_every_action_but_reading_is_refused(archived: Project, alice: User) -> None:
    for action in ROLES_FOR:
        if action.endswith(".read") or action == "project.manage":
            assert project_for(alice, "help", action)[0] == archived
        else:
            with pytest.raises(Archived):
                project_for(alice, "help", action)


def test_nobody_labels_and_nothing_is_started(
    archived: Project, alice: User, ben: User, batch: Batch, samples: list[Sample]
) -> None:
    assert as_user(ben).get("/p/help/label/").status_code == 403
    task = batch.tasks.filter(annotator=ben).first()
    assert task is not None
    said = {"unit": "claim:0", "criterion": "support", "value": "supported"}
    headers = {"HTTP_IF_MATCH": "0", "HTTP_IDEMPOTENCY_KEY": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}
    url = f"/api/tasks/{task.pk}/labels/"
    assert client_of(ben).put(url, said, **headers).status_code == 409
    assert not task.labels.exists()
    for url in ("/p/help/batches/1/resume/", "/p/help/settings/", "/p/help/members/", "/p/help/judges/new/"):
        assert as_user(alice).post(url).status_code == 403
    refused = client_of(alice).post("/api/projects/help/batches/", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "archived")
    assert "This project is archived" in as_user(alice).get("/p/help/settings/").content.decode()


def test_it_can_be_read_and_stands_apart(archived: Project, alice: User, ben: User) -> None:
    for url in ("/p/help/", "/p/help/samples/", "/p/help/batches/1/", "/p/help/reports/", "/p/help/audit/"):
        assert as_user(alice).get(url).status_code == 200
    page = as_user(alice).get("/p/help/").content.decode()
    assert "can be read, but not changed" in page
    assert reverse("label", args=["help"]) not in page
    home = as_user(ben).get("/")
    assert (home.context["cards"], home.context["archived"]) == ([], [archived])
    assert "Archived projects" in home.content.decode()


def test_it_comes_back(archived: Project, alice: User, ben: User, batch: Batch) -> None:
    as_user(alice).post(f"{MANAGE}archive/")
    reply = as_user(alice).post(f"{MANAGE}restore/", follow=True)
    said = 'The project is active again. <a href="/p/help/batches/">Resume 1 paused batch</a>'
    assert said in reply.content.decode()
    as_user(alice).post("/p/help/batches/1/resume/")
    assert as_user(ben).get("/p/help/label/").status_code == 200
    assert as_user(ben).get("/").context["archived"] == []
    as_user(alice).post("/p/help/batches/1/close/")
    as_user(alice).post(f"{MANAGE}archive/")
    assert "paused batch" not in as_user(alice).post(f"{MANAGE}restore/", follow=True).content.decode()
    noted = AuditEntry.objects.filter(action__in=["project.archived", "project.restored"]).order_by("id")
    assert [(entry.action, entry.actor) for entry in noted] == [
        ("project.archived", alice), ("project.restored", alice),
        ("project.archived", alice), ("project.restored", alice),
    ]  # fmt: skip


def test_who_may(who_may: WhoMay) -> None:
    assert who_may(MANAGE) == ADMINS_READ
    posted = {"anonymous": 302, "admin": 302, "reviewer": 403, "annotator": 403, "stranger": 404}
    assert who_may(f"{MANAGE}archive/", "post") == posted
    assert who_may(f"{MANAGE}restore/", "post") == posted
    assert who_may(f"{MANAGE}delete/", "post") == {**posted, "admin": 422}


def test_a_project_is_deleted_after_its_name_was_typed(alice: User, ben: User, batch: Batch, project: Project) -> None:
    """First with another name, which deletes nothing and says so at the field."""
    User.objects.filter(pk=alice.pk).update(is_superuser=False)
    page = as_user(alice).post(f"{MANAGE}delete/", {"confirm": "help"})
    assert page.status_code == 422
    assert "This is not the project’s name. Nothing was deleted." in page.content.decode()
    page = as_user(alice).post(f"{MANAGE}delete/", {"confirm": project.name}, follow=True)
    assert f"“{project.name}” is being deleted." in page.content.decode()
    assert "Being deleted" in page.content.decode()
    told = as_user(ben).get("/p/help/label/")
    assert told.status_code == 403
    assert "being deleted" in told.content.decode()
    refused = client_of(ben).get("/api/projects/help/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "being_deleted")
    delete_waiting(project.pk)
    assert as_user(ben).get("/p/help/").status_code == 404
    assert "/deleted/" in as_user(alice).get("/").content.decode()
    assert "/deleted/" not in as_user(ben).get("/").content.decode()
    assert project.name in as_user(alice).get("/deleted/").content.decode()
    assert "No deleted projects" in as_user(ben).get("/deleted/").content.decode()


def test_an_archived_project_is_deleted_alike(archived: Project, alice: User) -> None:
    as_user(alice).post(f"{MANAGE}delete/", {"confirm": f" {archived.name} "})
    assert delete_waiting(archived.pk)
    assert not Project.objects.exists()
