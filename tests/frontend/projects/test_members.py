from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, User
from annotate.projects.write import set_member
from tests.clients import as_user
from tests.frontend.building import make_user


def role(project: Project, name: str) -> str | None:
    return project.memberships.filter(user__username=name).values_list("role", flat=True).first()


def test_adds_a_user_who_has_an_account(alice: User, charlie: User, project: Project) -> None:
    reply = as_user(alice).post("/p/help/members/", {"username": "charlie", "role": "reviewer"}, follow=True)
    assert "Charlie is now reviewer." in reply.content.decode()
    assert role(project, "charlie") == "reviewer"


def test_an_unknown_name_is_refused(alice: User, project: Project) -> None:
    reply = as_user(alice).post("/p/help/members/", {"username": "nobody", "role": "annotator"})
    assert reply.status_code == 422
    assert "No active account “nobody” found" in reply.content.decode()


def test_a_new_account_can_log_in_with_the_password_shown(alice: User, project: Project) -> None:
    sent = {"account-username": "dora", "account-display_name": "Dora D", "account-role": "annotator"}
    reply = as_user(alice).post("/p/help/members/new-account/", sent)
    assert reply.status_code == 201
    assert "no-store" in reply["Cache-Control"]
    password = reply.context["made"]["password"]
    assert password in reply.content.decode()
    assert Client().login(username="dora", password=password)
    assert role(project, "dora") == "annotator"
    assert password not in as_user(alice).get("/p/help/members/").content.decode()


def test_a_taken_user_name_makes_nothing(alice: User, ben: User, project: Project) -> None:
    before = User.objects.count()
    reply = as_user(alice).post("/p/help/members/new-account/", {"account-username": "ben", "account-role": "admin"})
    assert reply.status_code == 422
    assert User.objects.count() == before
    assert role(project, "ben") == "annotator"


def test_a_name_that_labels_of_others_use_makes_no_account(alice: User, project: Project) -> None:
    project.raters.create(name="dora", user=make_user("Other"))
    reply = as_user(alice).post(
        "/p/help/members/new-account/", {"account-username": "dora", "account-role": "annotator"}
    )
    assert reply.status_code == 409
    assert not User.objects.filter(username="dora").exists()


def test_changes_role_and_expertise(alice: User, ben: User, project: Project) -> None:
    client = as_user(alice)
    client.post("/p/help/members/ben/change/", {"role": "reviewer", "tags": "law,  tax , law,"})
    assert role(project, "ben") == "reviewer"
    assert project.memberships.get(user=ben).tags == ["law", "tax"]
    assert 'value="law, tax"' in client.get("/p/help/members/").content.decode()


def test_a_bad_row_changes_nothing(alice: User, ben: User, project: Project) -> None:
    for sent, said in (
        ({"role": "king"}, "Select a valid choice"),
        ({"role": "admin", "tags": "x" * 81}, "up to 30"),
    ):
        reply = as_user(alice).post("/p/help/members/ben/change/", sent, follow=True)
        assert said in reply.content.decode()
        assert (role(project, "ben"), project.memberships.get(user=ben).tags) == ("annotator", [])


def test_deactivating_asks_first_and_hands_the_tasks_on(
    alice: User, ben: User, rita: User, batch: Batch, project: Project
) -> None:
    client, bens = as_user(alice), as_user(ben)
    asked = client.get("/p/help/members/ben/deactivate/")
    assert [(row.name, row.tasks) for row in asked.context["rows"]] == [("Batch one", 4)]
    assert bens.get("/p/help/").status_code == 200
    reply = client.post("/p/help/members/ben/deactivate/", {"to": [rita.pk]}, follow=True)
    assert "4 open tasks reassigned" in reply.content.decode()
    assert batch.tasks.filter(annotator=rita, status="pending").count() == 4
    assert not batch.tasks.filter(annotator=ben, status__in=["pending", "in_progress", "returned"]).exists()
    assert bens.get("/p/help/").status_code == 403
    client.post("/p/help/members/ben/reactivate/")
    assert bens.get("/p/help/").status_code == 200


def test_people_who_can_not_take_the_tasks_keep_the_member(
    alice: User, ben: User, bea: User, batch: Batch, project: Project
) -> None:
    """Bea has the same samples already."""
    reply = as_user(alice).post("/p/help/members/ben/deactivate/", {"to": [bea.pk]})
    assert reply.status_code == 409
    assert "can’t be reassigned" in reply.content.decode()
    assert project.memberships.get(user=ben).is_active
    assert batch.tasks.filter(annotator=ben, status="pending").count() == 4


def test_the_last_admin_can_not_be_deactivated(alice: User, project: Project) -> None:
    reply = as_user(alice).post("/p/help/members/alice/deactivate/")
    assert reply.status_code == 409
    assert "needs at least one admin" in reply.content.decode()
    assert project.memberships.get(user=alice).is_active


def test_an_invitation_is_shown_once_and_can_be_taken_back(alice: User, charlie: User, project: Project) -> None:
    client = as_user(alice)
    sent = {"invite-role": "reviewer", "invite-max_uses": 2, "invite-days": 3, "invite-tags": "law, tax"}
    reply = client.post("/p/help/members/invite/", sent)
    assert reply.status_code == 201
    assert "no-store" in reply["Cache-Control"]
    link = reply.context["invited"]["link"]
    assert link in reply.content.decode()
    shown = client.get("/p/help/members/").content.decode()
    assert link not in shown
    assert "0 / 2" in shown
    assert as_user(charlie).get(link).status_code == 200
    made = project.invites.get()
    client.post(f"/p/help/members/invites/{made.pk}/revoke/")
    assert as_user(charlie).get(link).status_code == 404
    assert "Open invitations" not in client.get("/p/help/members/").content.decode()


def test_an_invitation_is_mailed(alice: User, project: Project) -> None:
    sent = {"invite-role": "annotator", "invite-max_uses": 1, "invite-days": 3, "invite-email": "new@example.org"}
    reply = as_user(alice).post("/p/help/members/invite/", sent)
    assert "was sent to new@example.org" in reply.content.decode()
    assert mail.outbox[0].to == ["new@example.org"]


def test_a_bad_invitation_says_why(alice: User, project: Project) -> None:
    reply = as_user(alice).post("/p/help/members/invite/", {"invite-role": "annotator", "invite-days": 91})
    assert reply.status_code == 422
    assert "less than or equal to 90" in reply.content.decode()
    assert not project.invites.exists()


def test_keeps_an_admin(alice: User, project: Project) -> None:
    reply = as_user(alice).post("/p/help/members/alice/remove/", follow=True)
    assert "needs at least one admin" in reply.content.decode()
    assert role(project, "alice") == "admin"


def test_a_member_with_open_tasks_stays(alice: User, ben: User, batch: Batch, project: Project) -> None:
    reply = as_user(alice).post("/p/help/members/ben/remove/", follow=True)
    assert "Ben still has 4 unfinished tasks" in reply.content.decode()
    assert role(project, "ben") == "annotator"


def test_removes_a_member(alice: User, project: Project) -> None:
    as_user(alice).post("/p/help/members/rita/remove/")
    assert role(project, "rita") is None
    assert as_user(alice).post("/p/help/members/nobody/remove/").status_code == 404


def test_the_number_of_queries_does_not_grow(alice: User, project: Project) -> None:
    client = as_user(alice)
    client.get("/p/help/members/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/members/")
    for n in range(10):
        set_member(project=project, user=make_user(f"More{n}"), role="annotator")
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/members/")
    assert len(many) == len(few)


def test_the_last_admin_who_tries_to_step_down_reads_why_where_it_was_tried(alice: User, project: Project) -> None:
    client = as_user(alice)
    reply = client.post("/p/help/members/alice/change/", {"role": "annotator", "tags": ""}, follow=True)
    assert reply.redirect_chain == [("/p/help/members/", 302)]
    assert "needs at least one admin" in reply.content.decode()
    # With another admin it works, and the list isn't theirs to see any more.
    set_member(project=project, user=User.objects.create_user("alma"), role="admin")
    reply = client.post("/p/help/members/alice/change/", {"role": "annotator", "tags": ""}, follow=True)
    assert reply.redirect_chain == [("/", 302)]
