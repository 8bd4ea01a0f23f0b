from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, User
from annotate.services.projects import set_member
from tests.frontend.building import make_user

AsUser = Callable[[User], Client]


def role(project: Project, name: str) -> str | None:
    return project.memberships.filter(user__username=name).values_list("role", flat=True).first()


def test_adds_somebody_who_has_an_account(alice: User, charlie: User, project: Project, as_user: AsUser) -> None:
    reply = as_user(alice).post("/p/help/members/", {"username": "charlie", "role": "reviewer"}, follow=True)
    assert "Charlie is now reviewer." in reply.content.decode()
    assert role(project, "charlie") == "reviewer"


def test_an_unknown_name_is_refused(alice: User, project: Project, as_user: AsUser) -> None:
    reply = as_user(alice).post("/p/help/members/", {"username": "nobody", "role": "annotator"})
    assert reply.status_code == 422
    assert "no active account “nobody”" in reply.content.decode()


def test_a_new_account_can_log_in_with_the_password_shown(alice: User, project: Project, as_user: AsUser) -> None:
    sent = {"account-username": "dora", "account-display_name": "Dora D", "account-role": "annotator"}
    reply = as_user(alice).post("/p/help/members/new-account/", sent)
    assert reply.status_code == 201
    assert "no-store" in reply["Cache-Control"]
    password = reply.context["made"]["password"]
    assert password in reply.content.decode()
    assert Client().login(username="dora", password=password)
    assert role(project, "dora") == "annotator"
    assert password not in as_user(alice).get("/p/help/members/").content.decode()


def test_a_taken_user_name_makes_nothing(alice: User, ben: User, project: Project, as_user: AsUser) -> None:
    before = User.objects.count()
    reply = as_user(alice).post("/p/help/members/new-account/", {"account-username": "ben", "account-role": "admin"})
    assert reply.status_code == 422
    assert User.objects.count() == before
    assert role(project, "ben") == "annotator"


def test_a_name_that_labels_of_others_use_makes_no_account(alice: User, project: Project, as_user: AsUser) -> None:
    project.raters.create(name="dora", user=make_user("Other"))
    reply = as_user(alice).post(
        "/p/help/members/new-account/", {"account-username": "dora", "account-role": "annotator"}
    )
    assert reply.status_code == 409
    assert not User.objects.filter(username="dora").exists()


def test_changes_a_role(alice: User, ben: User, project: Project, as_user: AsUser) -> None:
    as_user(alice).post("/p/help/members/ben/role/", {"role": "reviewer"})
    assert role(project, "ben") == "reviewer"
    reply = as_user(alice).post("/p/help/members/ben/role/", {"role": "king"}, follow=True)
    assert "is not a role" in reply.content.decode()


def test_keeps_an_admin(alice: User, project: Project, as_user: AsUser) -> None:
    reply = as_user(alice).post("/p/help/members/alice/remove/", follow=True)
    assert "needs at least one admin" in reply.content.decode()
    assert role(project, "alice") == "admin"


def test_somebody_with_open_tasks_stays(
    alice: User, ben: User, batch: Batch, project: Project, as_user: AsUser
) -> None:
    reply = as_user(alice).post("/p/help/members/ben/remove/", follow=True)
    assert "Ben still has 4 open tasks" in reply.content.decode()
    assert role(project, "ben") == "annotator"


def test_removes_a_member(alice: User, project: Project, as_user: AsUser) -> None:
    as_user(alice).post("/p/help/members/rita/remove/")
    assert role(project, "rita") is None
    assert as_user(alice).post("/p/help/members/nobody/remove/").status_code == 404


def test_the_number_of_queries_does_not_grow(alice: User, project: Project, as_user: AsUser) -> None:
    client = as_user(alice)
    client.get("/p/help/members/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/members/")
    for n in range(10):
        set_member(project=project, user=make_user(f"More{n}"), role="annotator")
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/members/")
    assert len(many) == len(few)
