"""Who opens an invitation: a new user, a user with an account, a member, and one who is too late."""

import re

import pytest
from django.test import Client

from annotate.members.write import create_invite, revoke_invite
from annotate.models import Project, User
from tests.clients import as_user

# What differs from page to page: the token, and where the choice of a language leads back to, which is the link itself.
OWN = re.compile(rb'name="(?:csrfmiddlewaretoken|next)" value="[^"]*"')
NEW = {
    "username": "noor",
    "display_name": "Noor N",
    "email": "noor@example.org",
    "password1": "blue lamp 77 river",
    "password2": "blue lamp 77 river",
}


@pytest.fixture
def token(alice: User, project: Project) -> str:
    return create_invite(actor=alice, project=project, role="reviewer", tags=["law"], email="noor@example.org")[1]


def test_a_new_user_sees_what_it_is_and_makes_an_account(token: str, project: Project) -> None:
    client = Client()
    shown = client.get(f"/invite/{token}/")
    text = shown.content.decode()
    assert "Help desk" in text
    assert "reviewer" in text
    assert 'value="noor@example.org"' in text
    assert f"/login/?next=/invite/{token}/" in text
    assert "no-store" in shown["Cache-Control"]
    # Nothing of the project but its name.
    assert "Rules" not in text
    reply = client.post(f"/invite/{token}/", NEW)
    assert reply.url == "/p/help/"
    assert "Welcome to “Help desk”" in client.get("/p/help/").content.decode()
    noor = User.objects.get(username="noor")
    member = project.memberships.get(user=noor)
    assert (member.role, member.tags, noor.is_staff, noor.is_superuser) == ("reviewer", ["law"], False, False)
    assert Client().login(username="noor", password="blue lamp 77 river")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"username": "ben"}, "already exists"),
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
        ({"password2": "another"}, "match"),
        ({"email": "nobody"}, "valid email"),
        ({"username": "a\x00b"}, "Null characters"),
    ],
)
def test_a_bad_account_makes_nothing(token: str, project: Project, wrong: dict[str, str], said: str) -> None:
    before = User.objects.count()
    reply = Client().post(f"/invite/{token}/", {**NEW, **wrong})
    assert reply.status_code == 422
    assert said in reply.content.decode()
    assert User.objects.count() == before
    assert project.invites.get().uses == 0


def test_a_form_can_not_say_what_one_becomes(token: str, project: Project) -> None:
    Client().post(f"/invite/{token}/", {**NEW, "is_staff": "on", "is_superuser": "on", "role": "admin"})
    noor = User.objects.get(username="noor")
    assert (noor.is_staff, noor.is_superuser, project.memberships.get(user=noor).role) == (False, False, "reviewer")


def test_a_user_with_an_account_joins_with_one_press(token: str, charlie: User, project: Project) -> None:
    client = as_user(charlie)
    assert "You are logged in as <bdi>Charlie</bdi>" in client.get(f"/invite/{token}/").content.decode()
    assert not project.memberships.filter(user=charlie).exists()
    assert client.post(f"/invite/{token}/").url == "/p/help/"
    assert project.memberships.get(user=charlie).role == "reviewer"


def test_a_member_is_sent_to_the_project(token: str, ben: User, project: Project) -> None:
    for method in ("get", "post"):
        assert getattr(as_user(ben), method)(f"/invite/{token}/").url == "/p/help/"
    assert project.memberships.get(user=ben).role == "annotator"
    assert project.invites.get().uses == 0


def test_one_page_for_every_link_that_can_not_be_used(token: str, alice: User, project: Project, charlie: User) -> None:
    revoke_invite(actor=alice, project=project, invite_id=project.invites.get().pk)
    used = create_invite(actor=alice, project=project, role="annotator")[1]
    assert Client().post(f"/invite/{used}/", NEW).status_code == 302
    for ask in (Client().get, Client().post, as_user(charlie).get, as_user(charlie).post):
        replies = {OWN.sub(b"", ask(f"/invite/{link}/").content) for link in (token, used, "never-made")}
        assert len(replies) == 1
    reply = Client().get(f"/invite/{used}/")
    assert reply.status_code == 404
    assert "Help desk" not in reply.content.decode()


def test_no_account_is_made_without_an_invitation(db: None) -> None:
    assert Client().post("/invite/x/", NEW).status_code == 404
    for path in ("/signup/", "/register/", "/invite/"):
        assert Client().post(path, NEW).status_code == 404
    assert not User.objects.exists()


def test_asks_for_the_csrf_token(token: str) -> None:
    assert Client(enforce_csrf_checks=True).post(f"/invite/{token}/", NEW).status_code == 403
    assert not User.objects.filter(username="noor").exists()
