"""A member who forgot the password gets a one-time link from an admin."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import get_token_model

from annotate.members.write import deactivate_member
from annotate.models import AuditEntry, PasswordReset, Project, User
from annotate.projects.write import create_project, set_member
from tests.clients import as_user
from tests.frontend.building import make_user

NEW = {"new_password1": "blue lamp 77 river", "new_password2": "blue lamp 77 river"}


def link_to(user: User, by: User) -> str:
    reply = as_user(by).post(f"/p/help/members/{user.username}/reset/")
    assert reply.status_code == 201, reply.content
    assert "no-store" in reply["Cache-Control"]
    link: str = reply.context["reset"]["link"]
    assert link in reply.content.decode()
    return link


def may_reset(by: User, user: User) -> bool:
    """Offered on the page exactly when the address does it."""
    client = as_user(by)
    is_offered = f"/members/{user.username}/reset/" in client.get("/p/help/members/").content.decode()
    reply = client.post(f"/p/help/members/{user.username}/reset/")
    assert (reply.status_code == 201) == is_offered
    assert PasswordReset.objects.filter(user=user).exists() == is_offered
    return is_offered


def test_the_member_chooses_a_new_password_and_is_logged_in(alice: User, ben: User, project: Project) -> None:
    before = as_user(ben)
    get_token_model().objects.create(ben)
    link = link_to(ben, alice)
    browser = Client()
    shown = browser.get(link)
    assert "no-store" in shown["Cache-Control"]
    assert "<bdi>ben</bdi>" in shown.content.decode()
    assert "Help desk" not in shown.content.decode()
    assert before.get("/p/help/").status_code == 200
    reply = browser.post(link, NEW)
    assert reply.url == "/"
    assert "Your new password is set" in browser.get("/").content.decode()
    assert Client().login(username="ben", password=NEW["new_password1"])
    # Whoever else was logged in is out, and so are programs.
    assert before.get("/p/help/").status_code == 302
    assert not ben.auth_token_set.exists()


def test_the_link_is_shown_and_used_once(alice: User, ben: User, project: Project) -> None:
    link = link_to(ben, alice)
    assert link not in as_user(alice).get("/p/help/members/").content.decode()
    token = link.rstrip("/").rpartition("/")[2]
    assert PasswordReset.objects.get().token_digest == hashlib.sha256(token.encode()).hexdigest()
    assert Client().post(link, NEW).status_code == 302
    for ask in (Client().get, Client().post):
        reply = ask(link, NEW)
        assert reply.status_code == 404
        assert "can’t be used any more" in reply.content.decode()
    assert not PasswordReset.objects.exists()


def test_it_works_for_a_day(alice: User, ben: User, project: Project) -> None:
    link = link_to(ben, alice)
    left = PasswordReset.objects.get().expires_at - timezone.now()
    assert timedelta(hours=23, minutes=59) < left <= timedelta(hours=24)
    PasswordReset.objects.update(expires_at=timezone.now())
    assert Client().post(link, NEW).status_code == 404


def test_a_new_link_takes_the_place_of_the_one_before(alice: User, ben: User, project: Project) -> None:
    first, second = link_to(ben, alice), link_to(ben, alice)
    assert Client().get(first).status_code == 404
    assert Client().get(second).status_code == 200


@pytest.mark.parametrize("why", ["password", "member", "superuser", "maker", "closed"])
def test_it_ends_with_what_it_rests_on(alice: User, rita: User, ben: User, project: Project, why: str) -> None:
    """The owner finds the password, joins another project, or the admin leaves, meanwhile."""
    link = link_to(ben, alice)
    if why == "password":
        ben.set_password("found it again 7")
        ben.save()
    elif why == "member":
        other = create_project(slug="other", spec={"name": "Other"}, created_by=make_user("Dora"))
        set_member(project=other, user=ben, role="annotator")
    elif why == "superuser":
        User.objects.filter(pk=ben.pk).update(is_superuser=True)
    elif why == "maker":
        set_member(project=project, user=rita, role="admin")
        deactivate_member(actor=rita, project=project, user=alice)
    else:
        User.objects.filter(pk=ben.pk).update(is_active=False)
    for ask in (Client().get, Client().post):
        assert ask(link, NEW).status_code == 404


def test_a_weak_password_uses_nothing_up(alice: User, ben: User, project: Project) -> None:
    link = link_to(ben, alice)
    for wrong, said in (
        ({"new_password1": "12345678", "new_password2": "12345678"}, "too common"),
        ({**NEW, "new_password2": "another"}, "match"),
        ({"new_password1": "ben12345", "new_password2": "ben12345"}, "your name"),
    ):
        reply = Client().post(link, wrong)
        assert reply.status_code == 422
        assert said in reply.content.decode()
    assert Client().post(link, NEW).status_code == 302


def test_asks_for_the_csrf_token(alice: User, ben: User, project: Project) -> None:
    assert Client(enforce_csrf_checks=True).post(link_to(ben, alice), NEW).status_code == 403


def test_the_audit_log_tells_of_it_and_of_no_secret(alice: User, ben: User, project: Project) -> None:
    link = link_to(ben, alice)
    Client().post(link, NEW)
    entries = AuditEntry.objects.filter(project=project, action__startswith="member.reset").order_by("id")
    assert [(entry.action, entry.actor, entry.subject) for entry in entries] == [
        ("member.reset_created", alice, "ben"),
        ("member.reset_used", ben, "ben"),
    ]
    assert link.rstrip("/").rpartition("/")[2] not in json.dumps([entry.details for entry in entries])
    said = as_user(alice).get("/p/help/audit/").content.decode()
    assert "created a password reset link for ben." in said
    assert "set a new password by a reset link." in said


def test_only_for_accounts_that_open_nothing_more(alice: User, rita: User, ben: User, project: Project) -> None:
    assert may_reset(alice, ben)
    # Another admin of this project only.
    set_member(project=project, user=rita, role="admin")
    assert may_reset(alice, rita)
    # One's own password is changed on the page of the account, which asks for the old one.
    assert not may_reset(alice, alice)
    # A member of a project that is closed to the admin, whatever the role.
    dora = make_user("Dora")
    other = create_project(slug="other", spec={"name": "Other"}, created_by=dora)
    PasswordReset.objects.all().delete()
    set_member(project=other, user=ben, role="annotator")
    assert not may_reset(alice, ben)
    # As admin of both projects one may.
    set_member(project=other, user=alice, role="admin")
    assert may_reset(alice, ben)
    # Alice creates projects; Rita doesn't.
    assert not may_reset(rita, alice)
    # A superuser's never; a superuser may reset all others.
    root = make_user("Root", is_superuser=True)
    set_member(project=project, user=root, role="annotator")
    assert not may_reset(alice, root)
    assert may_reset(root, alice)


def test_no_link_for_who_is_out(alice: User, ben: User, project: Project) -> None:
    deactivate_member(actor=alice, project=project, user=ben)
    assert not may_reset(alice, ben)


def test_who_may_make_one(who_may: object, alice: User) -> None:
    assert who_may("/p/help/members/bea/reset/", "post") == {  # type: ignore[operator]
        "anonymous": 302, "admin": 201, "reviewer": 403, "annotator": 403, "stranger": 404,
    }  # fmt: skip
