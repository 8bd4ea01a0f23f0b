"""Signing in by a real OpenID Connect provider: whose account it is, who stays out, and without passwords."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from knox.models import get_token_model

from annotate.core.permissions import resettable
from annotate.members.write import create_invite, deactivate_account
from annotate.models import AuditEntry, Identity, Membership, Project, SecondFactor, User
from tests.clients import as_user
from tests.oidc_provider import Provider

NOOR = {"email": "noor@example.org", "email_verified": True, "preferred_username": "noor", "name": "Noor Ali"}


def sign_in(provider: Provider, subject: str, browser: Client | None = None, to: str = "") -> Any:
    """The reply to what comes back from the provider."""
    browser = browser or Client()
    asked = browser.get("/login/provider/", {"next": to})
    return browser.get(provider.agree(asked.url, subject))


def who(browser: Client) -> str:
    reply = browser.get("/api/me/")
    return reply.json()["username"] if reply.status_code == 200 else ""


def refused(reply: Any, browser: Client) -> str:
    """What the person reads, who is not let in."""
    assert reply.url.startswith("/login/?next=")
    page = browser.get(reply.url)
    assert who(browser) == ""
    [said] = [str(message) for message in page.context["messages"]]
    return said


def try_in(provider: Provider, subject: str) -> str:
    browser = Client()
    return refused(sign_in(provider, subject, browser), browser)


def test_off_there_is_nothing(db: None) -> None:
    assert Client().get("/login/provider/").status_code == 404
    assert Client().get("/login/provider/back/").status_code == 404
    assert "/login/provider/" not in Client().get("/login/").content.decode()


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"])
def test_does_not_go_to_another_site(provider: Provider, settings: Any, to: str) -> None:
    provider.know("n-1", **NOOR)
    settings.OIDC_CREATE_ACCOUNTS = True
    browser = Client()
    assert sign_in(provider, "n-1", browser, to=to).url == "/"
    assert who(browser) == "noor"
    assert browser.get("/login/provider/", {"next": to}).url == "/"


def test_a_first_sign_in_makes_an_account_where_the_operator_says_so(
    provider: Provider, settings: Any, project: Project
) -> None:
    provider.know("n-1", **NOOR)
    settings.OIDC_CREATE_ACCOUNTS = True
    browser = Client()
    assert sign_in(provider, "n-1", browser, to="/account/").url == "/account/"
    user = User.objects.get(username="noor")
    assert (user.display_name, user.email, user.is_superuser, user.is_staff) == (
        "Noor Ali", "noor@example.org", False, False,
    )  # fmt: skip
    assert who(browser) == "noor"
    assert not user.has_usable_password()
    assert "Change password" not in browser.get("/account/").content.decode()
    assert not user.memberships.exists()
    # Again, with other words about the same person: the same account, as it is.
    provider.know("n-1", **{**NOOR, "email": "n.ali@example.org", "preferred_username": "nali"})
    settings.OIDC_CREATE_ACCOUNTS = False
    other = Client()
    sign_in(provider, "n-1", other)
    assert who(other) == "noor"
    assert [entry.action for entry in AuditEntry.objects.filter(subject="noor")] == ["account.created"]


def test_what_is_asked_of_the_provider(provider: Provider) -> None:
    asked = urlsplit(Client().get("/login/provider/").url)
    query = {name: one[0] for name, one in parse_qs(asked.query).items()}
    assert f"{asked.scheme}://{asked.netloc}" == provider.url
    assert query["redirect_uri"] == "http://testserver/login/provider/back/"
    assert (query["response_type"], query["scope"]) == ("code", "openid profile email")
    assert query["code_challenge_method"] == "S256"
    assert len(query["code_challenge"]) == 43
    assert min(len(query["state"]), len(query["nonce"])) >= 20


def test_who_has_no_account_is_refused(provider: Provider) -> None:
    provider.know("n-2", **NOOR)
    assert try_in(provider, "n-2") == "You have no account here. Ask a project admin for an invitation."
    assert not User.objects.filter(username="noor").exists()


def test_an_invitation_lets_in_who_has_no_account(provider: Provider, alice: User, project: Project) -> None:
    _invite, token = create_invite(actor=alice, project=project, role="annotator")
    provider.know("n-3", **NOOR)
    browser = Client()
    link = f"/invite/{token}/"
    assert f'href="/login/provider/?next={link}"' in browser.get(link).content.decode()
    assert sign_in(provider, "n-3", browser, to=link).url == link
    assert browser.post(link).url == "/p/help/"
    assert Membership.objects.get(user__username="noor").role == "annotator"
    # Used up, it lets nobody else in.
    provider.know("n-4", email="other@example.org")
    other = Client()
    assert "no account" in refused(sign_in(provider, "n-4", other, to=link), other)


@pytest.mark.parametrize("to", ["https://elsewhere.example.org/", "//elsewhere.example.org", "javascript:1", "\\\\x"])
def test_it_leads_nowhere_else(provider: Provider, settings: Any, to: str) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    assert sign_in(provider, "n-5", to=to).url == "/"


# Accounts that are there already


def test_an_account_is_never_taken_over_by_its_name(provider: Provider, settings: Any, ben: User) -> None:
    settings.OIDC_CREATE_ACCOUNTS = settings.OIDC_JOIN_BY_EMAIL = True
    provider.know("b-1", email="somebody@example.org", email_verified=True, preferred_username="ben")
    browser = Client()
    sign_in(provider, "b-1", browser)
    assert who(browser) == "ben-2"


@pytest.mark.parametrize(
    ("joins", "is_verified", "joined"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_an_account_is_joined_by_a_verified_address_if_the_operator_says_so(
    provider: Provider, settings: Any, ben: User, joins: bool, is_verified: bool, joined: bool
) -> None:
    settings.OIDC_CREATE_ACCOUNTS, settings.OIDC_JOIN_BY_EMAIL = True, joins
    User.objects.filter(pk=ben.pk).update(email="Ben@example.org")
    before = as_user(ben)
    get_token_model().objects.create(ben)
    provider.know("b-2", email="ben@Example.org", email_verified=is_verified)
    browser = Client()
    reply = sign_in(provider, "b-2", browser)
    ben.refresh_from_db()
    if joined:
        assert who(browser) == "ben"
        # Who wrote another's address into an account of their own is out.
        assert (ben.has_usable_password(), ben.auth_token_set.exists(), who(before)) == (False, False, "")
        assert AuditEntry.objects.get(action="account.joined").subject == "ben"
    else:
        assert "Another account here has your email address" in refused(reply, browser)
        assert (ben.has_usable_password(), who(before)) == (True, "ben")
    assert User.objects.filter(email__iexact="ben@example.org").count() == 1


def test_an_account_is_joined_once(provider: Provider, settings: Any, ben: User) -> None:
    """An address that passed to another person doesn't bring the account along."""
    settings.OIDC_JOIN_BY_EMAIL = True
    User.objects.filter(pk=ben.pk).update(email="ben@example.org")
    for subject in ("b-3", "b-4"):
        provider.know(subject, email="ben@example.org", email_verified=True)
    assert sign_in(provider, "b-3").url == "/"
    assert "Another account" in try_in(provider, "b-4")
    # The operator's next provider: the one before is gone.
    Identity.objects.update(issuer="https://before.example.org")
    assert sign_in(provider, "b-4").url == "/"
    assert Identity.objects.get().subject == "b-4"


def test_of_two_accounts_with_the_address_none_is_joined(
    provider: Provider, settings: Any, ben: User, bea: User
) -> None:
    settings.OIDC_JOIN_BY_EMAIL = True
    User.objects.filter(pk__in=(ben.pk, bea.pk)).update(email="both@example.org")
    provider.know("b-5", email="both@example.org", email_verified=True)
    assert "Another account" in try_in(provider, "b-5")


def test_of_two_accounts_the_one_that_confirmed_the_address_is_joined(
    provider: Provider, settings: Any, ben: User, bea: User
) -> None:
    settings.OIDC_JOIN_BY_EMAIL = True
    User.objects.filter(pk__in=(ben.pk, bea.pk)).update(email="bea@example.org")
    User.objects.filter(pk=bea.pk).update(confirmed_email="bea@example.org")
    provider.know("b-5", email="bea@example.org", email_verified=True)
    browser = Client()
    sign_in(provider, "b-5", browser)
    assert who(browser) == "bea"


@pytest.mark.parametrize("kind", ["superuser", "second factor"])
def test_an_address_is_no_way_past_more_than_a_password(
    provider: Provider, settings: Any, ben: User, kind: str
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = settings.OIDC_JOIN_BY_EMAIL = True
    address = "ben@example.org"
    User.objects.filter(pk=ben.pk).update(email=address, confirmed_email=address, is_superuser=kind == "superuser")
    if kind == "second factor":
        SecondFactor.objects.create(user=ben, secret="x", last_step=0, recovery=[])
    provider.know("b-7", email=address, email_verified=True)
    assert "Another account" in try_in(provider, "b-7")
    assert User.objects.get(pk=ben.pk).has_usable_password()


def test_an_address_that_was_written_without_a_password_opens_nothing(
    provider: Provider, settings: Any, ben: User
) -> None:
    """Accounts of an earlier provider: their open screen is enough to change the address, and not to take them over."""
    settings.OIDC_JOIN_BY_EMAIL = True
    ben.set_unusable_password()
    ben.email = "thief@example.org"
    ben.save()
    Identity.objects.create(user=ben, issuer="https://before.example.org", subject="b-8")
    provider.know("b-9", email="thief@example.org", email_verified=True)
    assert "Another account" in try_in(provider, "b-9")
    # One that the provider verified at a sign-in is the owner's.
    Identity.objects.update(issuer=settings.OIDC_ISSUER, subject="b-9")
    assert sign_in(provider, "b-9").url == "/"
    assert AuditEntry.objects.get(action="account.email_confirmed").subject == "ben"
    Identity.objects.update(issuer="https://before.example.org", subject="b-8")
    browser = Client()
    sign_in(provider, "b-9", browser)
    assert who(browser) == "ben"


@pytest.mark.parametrize("is_known", [True, False])
def test_a_deactivated_account_stays_out(provider: Provider, settings: Any, ben: User, is_known: bool) -> None:
    """Also with an address that is not verified: a second account would be a way back in."""
    settings.OIDC_CREATE_ACCOUNTS = settings.OIDC_JOIN_BY_EMAIL = True
    User.objects.filter(pk=ben.pk).update(email="ben@example.org")
    provider.know("b-6", email="ben@example.org", email_verified=is_known)
    if is_known:
        sign_in(provider, "b-6")
    deactivate_account(user=ben)
    before = User.objects.count()
    assert try_in(provider, "b-6") == "Your account was deactivated."
    assert User.objects.count() == before


CLAIMS: list[dict[str, Any]] = [
    {}, {"preferred_username": "a b/c\u202e"}, {"preferred_username": "x" * 5000}, {"name": "n" * 5000},
    {"name": {"first": "N"}}, {"email": 7}, {"email": "no address"}, {"email": ["a@example.org"]},
    {"preferred_username": "\u0000"}, {"name": "a\u0000b"}, {"email_verified": "true", "email": "v@example.org"},
]  # fmt: skip


@pytest.mark.parametrize("claims", CLAIMS, ids=range(len(CLAIMS)))
def test_odd_claims_make_a_plain_account(provider: Provider, settings: Any, claims: dict[str, Any]) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    provider.know("odd", **claims)
    browser = Client()
    assert sign_in(provider, "odd", browser).url == "/"
    user = User.objects.get(username=who(browser))
    user.full_clean(exclude=["password"])
    assert user.email == ""


# Without passwords


def test_passwords_can_be_turned_off(
    provider: Provider, settings: Any, alice: User, ben: User, project: Project
) -> None:
    settings.PASSWORD_LOGIN = False
    page = Client().get("/login/").content.decode()
    assert "Sign in with Example ID" in page
    assert 'type="password"' not in page
    browser = Client()
    assert browser.post("/login/", {"username": "ben", "password": "a long password"}).status_code == 200
    assert who(browser) == ""
    assert resettable(alice, [ben]) == set()
    members = as_user(alice).get("/p/help/members/").content.decode()
    assert "/members/new-account/" not in members
    account = {"account-username": "new", "account-role": "annotator"}
    assert as_user(alice).post("/p/help/members/new-account/", account).status_code == 404
    _, token = create_invite(actor=alice, project=project, role="annotator")
    assert 'type="password"' not in Client().get(f"/invite/{token}/").content.decode()
    sent = {"username": "new", "password1": "blue lamp 77 river", "password2": "blue lamp 77 river"}
    assert Client().post(f"/invite/{token}/", sent).status_code == 200
    assert not User.objects.filter(username="new").exists()
