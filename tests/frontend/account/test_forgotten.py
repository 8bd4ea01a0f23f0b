"""A forgotten password by mail: confirmed addresses, links that serve once, and nothing that tells who has an account.
Mails are collected, and what the worker is asked for is done here."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import mail
from django.test import Client

from annotate.members.mail_resets import TO_ADDRESS, mail_resets
from annotate.models import ApiToken, AuditEntry, Identity, User
from annotate.projects.accounts import make_token
from config.celery import app as celery_app
from tests.annotate.factories import concurrently
from tests.clients import as_user

pytestmark = pytest.mark.django_db
RIGHT, NEW = "a long password", "another long phrase"
ASK, CONFIRM = "/login/forgotten/", "/account/email/confirm/"


@pytest.fixture(autouse=True)
def _mail_is_sent(settings: Any) -> None:
    settings.PASSWORD_RESET_BY_MAIL = True
    settings.PUBLIC_URL = "https://touchstone.example.org"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What the worker is asked for."""
    found: list[tuple[str, Any]] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, args=(), **_: found.append((name, tuple(args))))
    return found


@pytest.fixture
def ben(ben: User) -> User:
    User.objects.filter(pk=ben.pk).update(email="ben@example.org", confirmed_email="ben@example.org")
    ben.refresh_from_db()
    return ben


def link() -> str:
    """The path of the last mail's link."""
    found = re.search(r"^https://touchstone\.example\.org(/\S+)$", mail.outbox[-1].body, re.MULTILINE)
    assert found, mail.outbox[-1].body
    return found[1]


def link_for(user: User) -> str:
    before = len(mail.outbox)
    assert mail_resets(user.email)
    assert len(mail.outbox) == before + 1
    return link()


def choose(path: str, browser: Client | None = None, password: str = NEW) -> Any:
    return (browser or Client()).post(path, {"new_password1": password, "new_password2": password})


def test_a_link_sets_the_password_once_and_ends_everything_else(ben: User) -> None:
    elsewhere = as_user(ben)
    make_token(actor=ben)
    path = link_for(ben)
    assert b"Choose a new password" in Client().get(path).content
    browser = Client()
    assert choose(path, browser).status_code == 302
    assert browser.get("/api/me/").json()["username"] == "ben"
    assert User.objects.get(pk=ben.pk).check_password(NEW)
    assert elsewhere.get("/account/").status_code == 302
    assert not ApiToken.objects.exists()
    assert AuditEntry.objects.get(action="account.password_reset").subject == "ben"
    for again in (Client().get(path), choose(path, password="one more long phrase")):
        assert again.status_code == 404
    assert User.objects.get(pk=ben.pk).check_password(NEW)


def test_the_second_factor_is_still_asked(ben: User) -> None:
    from tests.frontend.account.test_second_factor import turn_on

    turn_on(as_user(ben))
    ben.refresh_from_db()
    browser = Client()
    assert choose(link_for(ben), browser).url == "/login/code/"
    assert browser.get("/api/me/").status_code == 401


def test_the_reply_tells_nothing(ben: User, bea: User, asked: list[tuple[str, Any]]) -> None:
    User.objects.filter(pk=bea.pk).update(email="bea@example.org")
    replies = {}
    for address in ("ben@example.org", "bea@example.org", "nobody@example.org"):
        reply = Client().post(ASK, {"email": address})
        shown = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", reply.content.decode()).replace(address, "")
        replies[reply.status_code, re.sub(r"nonce-\S+|\b\w{40,}\b", "", shown)] = address
        assert (asked[-1], mail.outbox) == (("annotate.tasks.mail_password_reset", (address,)), [])
    assert len(replies) == 1


def test_mails_are_few(asked: list[tuple[str, Any]], ben: User) -> None:
    """Also to an address that no account has, in whichever letters."""
    for address in ("ben@example.org", "nobody@example.org"):
        asked.clear()
        told = [
            Client(REMOTE_ADDR=f"192.0.2.{n}").post(ASK, {"email": address.upper() if n % 2 else address}).status_code
            for n in range(TO_ADDRESS.at_once + 1)
        ]
        assert told == [200] * TO_ADDRESS.at_once + [429]
        assert len(asked) == TO_ADDRESS.at_once


def test_one_visitor_asks_for_few(asked: list[tuple[str, Any]]) -> None:
    told = [Client(REMOTE_ADDR="192.0.2.7").post(ASK, {"email": f"a{n}@example.org"}).status_code for n in range(21)]
    assert told == [200] * 20 + [429]


def test_the_link_leads_to_the_configured_address(ben: User, asked: list[tuple[str, Any]], settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    Client().post(ASK, {"email": ben.email}, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
    link_for(ben)
    assert "evil" not in mail.outbox[-1].body


@pytest.mark.parametrize(
    "change",
    [
        {"confirmed_email": ""},
        {"email": "other@example.org"},
        {"is_superuser": True},
        {"is_active": False},
        {"password": "!"},
    ],
    ids=str,
)
def test_who_gets_none(ben: User, change: dict[str, Any]) -> None:
    path = link_for(ben)
    User.objects.filter(pk=ben.pk).update(**change)
    mail.outbox.clear()
    assert mail_resets("ben@example.org")
    assert mail.outbox == []
    assert Client().get(path).status_code == 404, "and a link of before ends"


def test_an_account_of_the_provider_gets_none(ben: User, settings: Any) -> None:
    settings.OIDC_ISSUER = "https://id.example"
    path = link_for(ben)
    Identity.objects.create(user=ben, issuer="https://id.example", subject="s")
    mail.outbox.clear()
    assert mail_resets(ben.email)
    assert mail.outbox == []
    assert Client().get(path).status_code == 404


def test_links_that_are_none(ben: User, bea: User, monkeypatch: pytest.MonkeyPatch) -> None:
    path = link_for(ben)
    number, signed = path.split("/")[-2].split("-", 1)
    other = f"{bea.pk:08d}"
    wrong = [f"{other}-{signed}", f"{number}-{signed[:-1]}", f"-{signed}", "x", number, "zzzzzzzzzzzzzz-1-2", "0-0-0"]
    for token in wrong:
        assert Client().get(f"{ASK}{token}/").status_code == 404, token
    # Neither is one for the other, nor one that has run out.
    assert Client().get(f"{CONFIRM}{path.split('/')[-2]}/").status_code == 404
    later = PasswordResetTokenGenerator()._now() + timedelta(seconds=3601)
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda _self: later)
    assert Client().get(path).status_code == 404


def test_links_are_secrets_to_logs(ben: User) -> None:
    from config.logs import _without_secrets

    token = link_for(ben).split("/")[-2]
    assert token not in _without_secrets(f"{ASK}{token}/")


@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_it_at_once_one_finds_it_gone(ben: User) -> None:
    path = link_for(ben)
    told = concurrently(*(lambda word=word: choose(path, password=f"{word} long phrase").status_code for word in "ab"))
    assert sorted(told) == [302, 404]


def test_an_address_is_confirmed_by_its_link(bea: User) -> None:
    User.objects.filter(pk=bea.pk).update(email="bea@example.org")
    browser = as_user(bea)
    assert b"not confirmed" in browser.get("/account/").content
    assert browser.post(CONFIRM, {"password": "wrong"}).status_code == 422
    assert mail.outbox == [], "an unlocked screen is not enough"
    assert browser.post(CONFIRM, {"password": RIGHT}).status_code == 302
    path = link()
    assert path.startswith(CONFIRM)
    assert b"bea@example.org" in Client().get(path).content
    assert not User.objects.get(pk=bea.pk).confirmed_email, "a GET confirms nothing"
    for _twice in range(2):
        assert Client().post(path).status_code == 302
    assert User.objects.get(pk=bea.pk).confirmed_email == "bea@example.org"
    assert AuditEntry.objects.filter(action="account.email_confirmed").count() == 1
    assert b"is confirmed" in browser.get("/account/").content
    # Another address has to be confirmed anew, and the link is of the one before.
    browser.post("/account/email/", {"email": "b@example.org", "password": RIGHT})
    assert b"not confirmed" in browser.get("/account/").content
    assert Client().post(path).status_code == 404


def test_in_the_language_of_the_account(ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(language="zh-hans")
    link_for(ben)
    assert "密码" in mail.outbox[-1].subject


def test_without_mail_there_is_none_of_it(ben: User, settings: Any) -> None:
    path = link_for(ben)
    settings.PASSWORD_RESET_BY_MAIL = False
    assert b"forgotten" not in Client().get("/login/").content
    assert b"email/confirm" not in as_user(ben).get("/account/").content
    for address in (ASK, path, CONFIRM):
        assert as_user(ben).get(address).status_code == 404
    settings.PASSWORD_RESET_BY_MAIL = True
    assert b"/login/forgotten/" in Client().get("/login/").content
