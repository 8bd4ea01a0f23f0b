"""The pages of a user's own account: logging in, password and address, tokens, and keys of one's own."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from knox.models import get_token_model

from annotate.celery_tasks import mail_address_changed
from annotate.models import ApiToken, AuditEntry, Sample, User, Verdict
from annotate.projects.accounts import change_preferences
from config.celery import app as celery_app
from tests.clients import as_user

TOKEN = {"scopes": "read", "days": "90"}


def test_needs_a_login(db: None) -> None:
    for path in ("/account/", "/account/password/"):
        assert Client().get(path).status_code == 302
    for path in ("/account/tokens/", "/account/tokens/x/revoke/", "/account/email/"):
        assert Client().post(path).status_code == 302
        assert Client().get(path).status_code == 405


def test_a_token_is_shown_once_and_works(ben: User) -> None:
    client = as_user(ben)
    reply = client.post("/account/tokens/", TOKEN)
    assert reply.status_code == 201
    assert "no-store" in reply["Cache-Control"]
    token = reply.context["token"]
    assert Client().get("/api/projects/", headers={"Authorization": f"Token {token}"}).status_code == 200
    assert token not in client.get("/account/").content.decode()


def test_a_revoked_token_is_refused_and_others_cannot_revoke_it(ben: User, bea: User) -> None:
    token = as_user(ben).post("/account/tokens/", TOKEN).context["token"]
    key = get_token_model().objects.get().token_key
    as_user(bea).post(f"/account/tokens/{key}/revoke/")
    assert get_token_model().objects.exists()
    as_user(ben).post(f"/account/tokens/{key}/revoke/")
    assert Client().get("/api/projects/", headers={"Authorization": f"Token {token}"}).status_code == 401


def test_a_token_may_what_is_ticked_for_as_long_as_is_said(ben: User) -> None:
    client = as_user(ben)
    page = client.get("/account/").content.decode()
    assert re.findall(r'name="scopes" value="(\w+)"[^>]* checked', page) == ["read"]
    assert client.post("/account/tokens/", {"scopes": ["push", "label"], "days": "7"}).status_code == 201
    token = ApiToken.objects.get()
    assert token.scopes == ["label", "push"]
    assert token.expiry is not None
    assert (token.expiry - token.created).days in (6, 7)


@pytest.mark.parametrize("wrong", [{"scopes": []}, {"scopes": "write"}, {"days": ""}, {"days": "0"}, {"days": "91"}])
def test_a_token_without_scopes_or_for_too_long_is_refused(ben: User, wrong: dict[str, Any]) -> None:
    reply = as_user(ben).post("/account/tokens/", {**TOKEN, **wrong})
    assert reply.status_code == 422
    assert list(reply.context["token_form"].errors) == list(wrong)
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(("days", "said"), [(-1, "Expired"), (13, "Expires soon"), (15, None)])
def test_the_list_marks_tokens_that_run_out(ben: User, days: int, said: str | None) -> None:
    ApiToken.objects.create(ben, expiry=timedelta(days=days))
    page = as_user(ben).get("/account/").content.decode()
    assert re.findall("Expire[sd][^<]*", page) == ([said] if said else [])


def test_changes_the_password(ben: User) -> None:
    client = as_user(ben)
    sent = {"old_password": "a long password", "new_password1": "another one 7!", "new_password2": "another one 7!"}
    assert client.post("/account/password/", {**sent, "old_password": "wrong"}).status_code == 200
    assert client.post("/account/password/", sent).url == "/account/"
    assert Client().login(username="ben", password="another one 7!")
    assert client.get("/account/").status_code == 200


def test_changes_the_address_for_mail(ben: User) -> None:
    client = as_user(ben)
    reply = client.post("/account/email/", {"email": "nobody"})
    assert reply.status_code == 422
    assert "valid email" in reply.content.decode()
    right = {"password": "a long password"}
    client.post("/account/email/", {"email": "ben@example.org", "is_superuser": "1", "username": "root", **right})
    ben.refresh_from_db()
    assert (ben.email, ben.username, ben.is_superuser) == ("ben@example.org", "ben", False)
    client.post("/account/email/", {"email": "", **right})
    ben.refresh_from_db()
    assert ben.email == ""
    assert [(entry.subject, entry.details) for entry in AuditEntry.objects.filter(action="account.email_changed")] == [
        ("ben", {}), ("ben", {}),
    ]  # fmt: skip


def test_an_open_screen_is_not_enough_to_change_the_address(ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(email="ben@example.org", confirmed_email="ben@example.org")
    thief = as_user(ben)
    for wrong in ({}, {"password": ""}, {"password": "wrong"}):
        reply = thief.post("/account/email/", {"email": "thief@example.org", **wrong})
        assert reply.status_code == 422
        assert "thief@example.org" in str(reply.context["email_form"])
    for _guess in range(8):
        reply = thief.post("/account/email/", {"email": "thief@example.org", "password": "wrong"})
    assert reply.status_code == 429
    ben.refresh_from_db()
    assert ben.email == "ben@example.org"
    assert not AuditEntry.objects.filter(action="account.email_changed").exists()


def test_an_account_without_a_password_is_asked_for_none(ben: User) -> None:
    ben.set_unusable_password()
    ben.save()
    client = as_user(ben)
    assert client.get("/account/").context["email_password_form"] is None
    assert client.post("/account/email/", {"email": "ben@example.org"}).status_code == 302
    ben.refresh_from_db()
    assert ben.email == "ben@example.org"


@pytest.mark.parametrize(("confirmed", "told"), [("ben@example.org", ["ben@example.org"]), ("", [])])
def test_the_confirmed_address_of_before_is_told(
    ben: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    confirmed: str,
    told: list[str],
) -> None:
    monkeypatch.setattr(celery_app, "send_task", lambda name, args=(), **_: mail_address_changed(*args))
    User.objects.filter(pk=ben.pk).update(email="ben@example.org", confirmed_email=confirmed)
    client = as_user(ben)
    for address in ("new@example.org", "new@example.org"):
        with django_capture_on_commit_callbacks(execute=True):
            client.post("/account/email/", {"email": address, "password": "a long password"})
    assert [one for sent in mail.outbox for one in sent.to] == told
    assert not any("new@example.org" in sent.body for sent in mail.outbox)


def test_logs_in_and_goes_where_one_wanted_to_go(alice: User) -> None:
    sent = {"username": "alice", "password": "a long password", "next": "/account/"}
    assert Client().post("/login/", sent).url == "/account/"


def test_who_is_logged_in_is_not_sent_round_in_circles(alice: User) -> None:
    assert as_user(alice).get("/login/", {"next": "/login/?next=/login/"}).url == "/"


def test_does_not_go_to_another_site(alice: User) -> None:
    sent = {"username": "alice", "password": "a long password"}
    for there in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"):
        assert Client().post("/login/", {**sent, "next": there}).url == "/"


def test_a_wrong_password_keeps_the_name_and_says_so(alice: User) -> None:
    reply = Client().post("/login/", {"username": "alice", "password": "wrong"})
    assert reply.status_code == 200
    assert 'value="alice"' in reply.content.decode()
    assert "correct username and password" in reply.content.decode()


def test_an_unknown_name_gets_the_same_words(alice: User) -> None:
    replies = [Client().post("/login/", {"username": name, "password": "wrong"}) for name in ("alice", "nobody")]
    said = [reply.context["form"].non_field_errors() for reply in replies]
    assert said[0] == said[1]


def test_logging_out_takes_a_post(alice: User) -> None:
    client = as_user(alice)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").url == "/login/"
    assert client.get("/").status_code == 302


def test_forms_need_their_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    reply = client.post("/login/", {"username": "alice", "password": "a long password"})
    assert reply.status_code == 403
    assert "This form has expired" in reply.content.decode()


QUEUE = "/p/help/adjudicate/"


def keys_of(page: str) -> set[str]:
    return set(re.findall(r'aria-keyshortcuts="(\S)"', page))


def shown(page: str) -> set[str]:
    """In controls and in the help; of the digits the help says that they choose options."""
    return set(re.findall(r"<kbd[^>]*>(\S)</kbd>", page)) - set("19↓↑↵")


def test_the_keys_in_force_stand_on_each_page(rita: User, disputes: list[Verdict], samples: list[Sample]) -> None:
    client = as_user(rita)
    pages = (QUEUE, f"{QUEUE}{disputes[0].pk}/", f"/p/help/samples/{samples[0].pk}/claims/")
    usual = ("s", "njpkcebo?", "njpkawzyrsmebd?")
    for address, keys in zip(pages, usual, strict=True):
        page = client.get(address).content.decode()
        assert shown(page) == set(keys), address
        assert keys_of(page), address
        assert keys_of(page) <= shown(page), address
    own = {"start": "q", "next_unit": "t", "send_back": "i", "split": "q", "undo": "l", "keys": "!"}
    change_preferences(user=rita, changes={"hotkeys": own})
    for address, mine, not_mine in zip(pages, ("q", "ti!", "tql!"), ("s", "njb?", "njsz?"), strict=True):
        page = client.get(address).content.decode()
        assert shown(page) >= set(mine), address
        assert not (shown(page) | keys_of(page)) & set(not_mine), address
    assert '"send_back": ["i"]' in client.get(pages[1]).content.decode()


def test_without_single_keys_no_page_promises_one(rita: User, disputes: list[Verdict], samples: list[Sample]) -> None:
    change_preferences(user=rita, changes={"single_keys": False})
    client = as_user(rita)
    for address in (QUEUE, f"{QUEUE}{disputes[0].pk}/", f"/p/help/samples/{samples[0].pk}/claims/"):
        page = client.get(address).content.decode()
        assert (keys_of(page), shown(page)) == (set(), set()), address
    assert "Single-key shortcuts are off." in page


def test_keys_are_grouped_by_page(rita: User) -> None:
    groups = dict(as_user(rita).get("/account/keys/").context["form"].key_groups)
    assert list(groups) == ["On several pages", "Labelling", "Adjudicating", "Editing claims"]
    names = {name: [field.name for field in fields] for name, fields in groups.items()}
    assert names["Adjudicating"] == ["key_start", "key_approve", "key_send_back", "key_rest"]
    assert names["On several pages"] == [
        "key_next_unit", "key_previous_unit", "key_comment", "key_undo", "key_redo", "key_evidence", "key_keys",
    ]  # fmt: skip
