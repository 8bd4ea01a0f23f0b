"""What ends with a password: sessions and tokens, whoever changes it; and which passwords are taken."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.core.management import CommandError, call_command
from django.forms import BaseForm
from django.test import Client
from django.utils import timezone

from annotate.core.errors import Conflict
from annotate.members.write import create_invite, deactivate_account
from annotate.models import ApiToken, Project, User
from annotate.projects.accounts import change_password, make_token
from frontend.account.views import ChangePasswordForm, EmailForm, TokenForm
from tests.annotate.factories import concurrently
from tests.clients import as_user

NEW = {"old_password": "a long password", "new_password1": "another one 7!", "new_password2": "another one 7!"}


def status_of(token: str) -> int:
    return Client().get("/api/me/", headers={"Authorization": f"Token {token}"}).status_code


def test_sessions_and_tokens_end_with_the_password(ben: User, bea: User) -> None:
    here, elsewhere = as_user(ben), as_user(ben)
    mine, hers = make_token(actor=ben)[1], make_token(actor=bea)[1]
    assert here.post("/account/password/", NEW).url == "/account/"
    assert status_of(mine) == 401
    assert status_of(hers) == 200
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert elsewhere.get("/api/me/").status_code == 401


def test_tokens_that_are_ticked_stay(ben: User) -> None:
    kept, kept_token = make_token(actor=ben, name="nightly import")
    _, other_token = make_token(actor=ben, name="laptop")
    client = as_user(ben)
    page = client.get("/account/password/").content.decode()
    assert "nightly import" in page
    assert "laptop" in page
    client.post("/account/password/", {**NEW, "keep": [kept.pk]})
    assert (status_of(kept_token), status_of(other_token)) == (200, 401)


def test_nobody_keeps_the_token_of_another(ben: User, bea: User) -> None:
    hers, token = make_token(actor=bea)
    make_token(actor=ben)
    reply = as_user(ben).post("/account/password/", {**NEW, "keep": [hers.pk]})
    assert reply.status_code == 200  # not one of the choices
    assert "not one of the available choices" in reply.content.decode()
    assert status_of(token) == 200


def test_a_refused_change_ends_nothing(ben: User) -> None:
    _, token = make_token(actor=ben)
    elsewhere = as_user(ben)
    as_user(ben).post("/account/password/", {**NEW, "old_password": "wrong"})
    assert status_of(token) == 200
    assert elsewhere.get("/account/").status_code == 200


def test_they_end_when_an_operator_sets_the_password(ben: User, monkeypatch: pytest.MonkeyPatch) -> None:
    _, token = make_token(actor=ben)
    session = as_user(ben)
    monkeypatch.setattr("getpass.getpass", lambda **_: "another one 7!")
    call_command("changepassword", "ben", stdout=StringIO())
    assert status_of(token) == 401
    assert session.get("/account/").status_code == 302


def test_they_end_when_a_hash_is_put_in_place(ben: User) -> None:
    _, token = make_token(actor=ben)
    ben.password = make_password("another one 7!")
    ben.save()
    assert status_of(token) == 401


def amid(monkeypatch: pytest.MonkeyPatch, form: type[BaseForm], act: Callable[[], object]) -> None:
    """Does it once, between the check of a form like this and its saving."""
    check, acts = form.full_clean, [act]

    def full_clean(self: BaseForm) -> None:
        check(self)
        if acts:
            acts.pop()()

    monkeypatch.setattr(form, "full_clean", full_clean)


UNDER_WAY: list[tuple[type[BaseForm], str, dict[str, str]]] = [
    (EmailForm, "/account/email/", {"email": "thief@example.org", "password": "a long password"}),
    (TokenForm, "/account/tokens/", {"name": "nightly import", "scopes": "read", "days": "90"}),
    (ChangePasswordForm, "/account/password/", {**NEW, "new_password1": "of a thief", "new_password2": "of a thief"}),
]


@pytest.mark.parametrize(("form", "path", "sent"), UNDER_WAY)
def test_what_was_under_way_does_not_outlive_the_change(
    ben: User, monkeypatch: pytest.MonkeyPatch, form: type[BaseForm], path: str, sent: dict[str, str]
) -> None:
    thief, owner = as_user(ben), as_user(ben)
    amid(monkeypatch, form, lambda: owner.post("/account/password/", NEW))
    assert thief.post(path, sent).status_code == 302
    assert owner.get("/account/").status_code == 200
    assert thief.get("/account/").status_code == 302
    assert Client().login(username="ben", password="another one 7!")
    assert not ApiToken.objects.exists()
    assert not User.objects.get(pk=ben.pk).email


@pytest.mark.parametrize(("form", "path", "sent"), UNDER_WAY)
def test_what_was_under_way_does_not_open_a_closed_account(
    ben: User, monkeypatch: pytest.MonkeyPatch, form: type[BaseForm], path: str, sent: dict[str, str]
) -> None:
    session = as_user(ben)
    amid(monkeypatch, form, lambda: deactivate_account(user=ben))
    session.post(path, sent)
    assert session.get("/account/").status_code == 302
    ben.refresh_from_db()
    assert not ben.is_active
    assert not ben.has_usable_password()
    assert not ApiToken.objects.exists()


def test_a_token_asked_for_over_the_api_by_who_is_being_thrown_out(ben: User) -> None:
    read = User.objects.get(pk=ben.pk)
    as_user(ben).post("/account/password/", NEW)
    with pytest.raises(Conflict):
        make_token(actor=read)


@pytest.mark.django_db(transaction=True)
def test_of_changes_and_tokens_at_once_one_change_stands_and_no_token() -> None:
    def taken(act: Callable[[], object]) -> bool:
        try:
            act()
        except Conflict:
            return False
        return True

    for name in ("ben", "bea", "rita"):
        User.objects.create_user(name, password="a long password")
        read = [User.objects.get(username=name) for _ in range(6)]
        changes = [partial(change_password, user=user, password="another one 7!") for user in read[:2]]
        makes = [partial(make_token, actor=user) for user in read[2:]]
        said = concurrently(*[partial(taken, act) for act in [*changes, *makes]])
        assert said[:2].count(True) == 1
        assert not ApiToken.objects.exists()


def test_a_hash_that_is_brought_up_to_date_undoes_no_change(ben: User, settings: Any) -> None:
    read = User.objects.get(pk=ben.pk)
    ben.set_password("another one 7!")
    ben.save()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", *settings.PASSWORD_HASHERS]
    assert read.check_password("a long password")
    assert Client().login(username="ben", password="another one 7!")


def test_a_hash_that_is_brought_up_to_date_ends_no_token(ben: User, settings: Any) -> None:
    _, token = make_token(actor=ben)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", *settings.PASSWORD_HASHERS]
    assert Client().post("/login/", {"username": "ben", "password": "a long password"}).status_code == 302
    ben.refresh_from_db()
    assert ben.password.startswith("pbkdf2")
    assert status_of(token) == 200


def test_everything_ends_with_the_account_and_stays_ended(ben: User, alice: User, project: Project) -> None:
    _, token = make_token(actor=ben)
    session = as_user(ben)
    deactivate_account(user=ben)
    assert status_of(token) == 401
    assert session.get("/account/").status_code == 302
    assert not ApiToken.objects.filter(user=ben).exists()
    User.objects.filter(username="ben").update(is_active=True)
    assert status_of(token) == 401
    assert session.get("/account/").status_code == 302
    assert Client().post("/login/", {"username": "ben", "password": "a long password"}).status_code == 200


def test_the_account_page_says_which_tokens_there_are(ben: User) -> None:
    client = as_user(ben)
    sent = {"name": "nightly import", "scopes": "read", "days": "90"}
    token = client.post("/account/tokens/", sent).context["token"]
    assert "never used" in client.get("/account/").content.decode()
    assert status_of(token) == 200
    made = ApiToken.objects.get()
    assert made.last_used is not None
    assert (timezone.now() - made.last_used).total_seconds() < 3600
    page = client.get("/account/").content.decode()
    assert "nightly import" in page
    assert "never used" not in page
    assert "last used" in page
    assert client.get("/api/tokens/").json()[0]["name"] == "nightly import"


@pytest.mark.parametrize("name", ["x" * 81, "a\x00b"])
def test_a_name_that_can_not_be_kept(ben: User, name: str) -> None:
    client = as_user(ben)
    assert client.post("/account/tokens/", {"name": name, "scopes": "read", "days": "90"}).status_code == 422
    assert client.post("/api/tokens/", {"name": name}, content_type="application/json").status_code == 422
    assert not ApiToken.objects.exists()


def test_the_admins_invitations_end_with_the_admin(alice: User, rita: User, project: Project) -> None:
    """Or who was thrown out comes back by a link of their own."""
    project.memberships.filter(user=rita).update(role="admin")
    token = create_invite(actor=alice, project=project, role="admin", max_uses=9)[1]
    assert Client().get(f"/invite/{token}/").status_code == 200
    project.memberships.filter(user=alice).update(is_active=False)
    assert Client().get(f"/invite/{token}/").status_code == 404


SIGN_UP = {"username": "noor", "display_name": "Noor Nassar", "email": "n.nassar@example.org"}


@pytest.mark.parametrize("password", ["noor2026", "NOOR-1234", "n00r1234noor", "noornoornoor", "nassar99", "1234roon"])
def test_a_password_like_the_name_is_refused(alice: User, project: Project, ben: User, password: str) -> None:
    token = create_invite(actor=alice, project=project, role="annotator")[1]
    reply = Client().post(f"/invite/{token}/", {**SIGN_UP, "password1": password, "password2": password})
    assert reply.status_code == 422, password
    assert not User.objects.filter(username="noor").exists()
    User.objects.filter(pk=ben.pk).update(username="noor", display_name="Noor Nassar")
    ben.refresh_from_db()
    as_user(ben).post("/account/password/", {**NEW, "new_password1": password, "new_password2": password})
    assert Client().login(username="noor", password="a long password")
    assert not Client().login(username="noor", password=password)


def test_an_operator_is_told_the_same(ben: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda **_: "ben12345")
    with pytest.raises(CommandError, match="3 attempts"):
        call_command("changepassword", "ben", stdout=StringIO(), stderr=(said := StringIO()))
    assert "can’t be your name" in said.getvalue()


@pytest.mark.parametrize("password", ["noorish lamp 77 river", "blue lamp 77 river"])
def test_a_name_within_a_long_password_is_fine(alice: User, project: Project, password: str) -> None:
    token = create_invite(actor=alice, project=project, role="annotator")[1]
    assert (
        Client().post(f"/invite/{token}/", {**SIGN_UP, "password1": password, "password2": password}).status_code == 302
    )
