"""The second factor: turned on, asked after the password, guessed, lost and turned off."""

from __future__ import annotations

import time
from typing import Any

import pyotp
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from knox.models import get_token_model

from annotate.core.attempts import KNOWN_BROWSER, SECOND_FACTOR
from annotate.members.write import create_invite, deactivate_account
from annotate.models import AuditEntry, Project, SecondFactor, User
from tests.annotate.factories import concurrently
from tests.clients import as_user
from tests.frontend.account.test_attempts import later

RIGHT = "a long password"
PAGE = "/account/second-factor/"


def app_of(secret: str, steps: int = 0) -> str:
    """What the app shows now, or so many half minutes later."""
    return pyotp.TOTP(secret).at(int(time.time()), counter_offset=steps)


def turn_on(browser: Client) -> tuple[str, list[str]]:
    """The app's key and the recovery codes, as the page shows them."""
    secret = browser.post(f"{PAGE}new/", {"password": RIGHT}).context["secret"].replace(" ", "")
    reply = browser.post(f"{PAGE}new/", {"code": app_of(secret)})
    assert reply.status_code == 201, reply.content
    assert "no-store" in reply["Cache-Control"]
    return secret, reply.context["codes"]


@pytest.fixture
def key(ben: User) -> tuple[str, list[str]]:
    found = turn_on(as_user(ben))
    SecondFactor.objects.update(last_step=0)  # a half minute later
    return found


def give_password(browser: Client, name: str = "ben", to: str = "") -> Any:
    return browser.post("/login/", {"username": name, "password": RIGHT, "next": to})


def who(browser: Client) -> str:
    reply = browser.get("/api/me/")
    return reply.json()["username"] if reply.status_code == 200 else ""


def give_code(browser: Client, code: str) -> Any:
    return browser.post("/login/code/", {"code": code})


def test_without_one_nothing_is_asked(ben: User, django_assert_num_queries: Any) -> None:
    browser = Client()
    assert give_password(browser, to="/account/").url == "/account/"
    assert browser.get("/login/code/").url == "/login/"


def test_it_is_asked_after_the_password(key: tuple[str, list[str]]) -> None:
    browser = Client()
    assert give_password(browser, to="/account/").url == "/login/code/"
    assert who(browser) == ""
    assert "touchstone-browser" not in browser.cookies
    assert browser.get("/login/code/").status_code == 200
    wrong = give_code(browser, "000000" if app_of(key[0]) != "000000" else "111111")
    assert wrong.status_code == 422
    assert "wrong or was used" in wrong.content.decode()
    assert who(browser) == ""
    assert give_code(browser, app_of(key[0])).url == "/account/"
    assert who(browser) == "ben"
    assert "touchstone-browser" in browser.cookies


def test_it_is_read_as_people_type_it(key: tuple[str, list[str]]) -> None:
    for typed in (app_of(key[0])[:3] + " " + app_of(key[0])[3:], key[1][0].upper().replace("-", " ")):
        browser = Client()
        give_password(browser)
        assert give_code(browser, f" {typed} ").status_code == 302, typed


@pytest.mark.parametrize(("steps", "status"), [(-2, 422), (-1, 302), (0, 302), (1, 302), (2, 422)])
def test_clocks_may_differ_a_little(key: tuple[str, list[str]], monkeypatch: Any, steps: int, status: int) -> None:
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)  # no half minute ends in between
    browser = Client()
    give_password(browser)
    assert give_code(browser, app_of(key[0], steps)).status_code == status


def test_a_code_serves_once(key: tuple[str, list[str]], monkeypatch: Any) -> None:
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)
    statuses = []
    for code in (app_of(key[0]), app_of(key[0]), app_of(key[0], -1), app_of(key[0], 1)):
        browser = Client()
        give_password(browser)
        statuses.append(give_code(browser, code).status_code)
    assert statuses == [302, 422, 422, 302]


def test_a_recovery_code_serves_once(key: tuple[str, list[str]]) -> None:
    assert len(set(key[1])) == 10
    statuses = []
    for code in (key[1][3], key[1][3], key[1][4]):
        browser = Client()
        give_password(browser)
        statuses.append(give_code(browser, code).status_code)
    assert statuses == [302, 422, 302]
    assert len(SecondFactor.objects.get().recovery) == 8
    assert AuditEntry.objects.filter(action="account.recovery_code_used").count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_of_several_at_once_a_code_lets_one_in(kind: str) -> None:
    key, recovery = turn_on(as_user(User.objects.create_user("ben", password=RIGHT)))
    SecondFactor.objects.update(last_step=0)
    browsers = [Client() for _ in range(6)]
    for browser in browsers:
        give_password(browser)
    code = app_of(key) if kind == "app" else recovery[0]
    replies = concurrently(*[lambda browser=browser: give_code(browser, code).status_code for browser in browsers])
    assert sorted(replies) == [302, 422, 422, 422, 422, 422]


def test_nothing_is_stored_that_lets_in(key: tuple[str, list[str]], settings: Any) -> None:
    kept = str(SecondFactor.objects.values().get()) + str(list(AuditEntry.objects.values()))
    for secret in (key[0], *key[1], *(code.replace("-", "") for code in key[1])):
        assert secret not in kept
    settings.SECRET_KEY = "another one, of another installation"
    browser = Client()
    give_password(browser)
    assert give_code(browser, app_of(key[0])).status_code == 422
    assert give_code(browser, key[1][0]).status_code == 302


@pytest.mark.parametrize("code", ["", " ", "12345", "1234567", "x" * 16, "x" * 5000, "\x00", "١٢٣٤٥٦", "12345６"])
def test_no_code(key: tuple[str, list[str]], code: str) -> None:
    browser = Client()
    give_password(browser)
    assert give_code(browser, code).status_code in (400, 422)
    assert who(browser) == ""


# Guessing


def guess(browser: Client, times: int) -> list[int]:
    return [give_code(browser, f"{number:05}x").status_code for number in range(times)]


def test_codes_are_not_guessed(key: tuple[str, list[str]]) -> None:
    browsers = [Client(), Client()]
    for browser in browsers:
        give_password(browser)
    assert set(guess(browsers[0], SECOND_FACTOR.at_once)) == {422}
    for browser in browsers:
        reply = give_code(browser, app_of(key[0]))
        assert (reply.status_code, who(browser)) == (429, "")
    later(SECOND_FACTOR.seconds)
    assert give_code(browsers[1], app_of(key[0])).status_code == 302


def test_who_knows_the_password_does_not_keep_the_owner_out(key: tuple[str, list[str]]) -> None:
    own, thief = Client(), Client()
    give_password(own)
    give_code(own, key[1][0])
    own.post("/logout/")
    give_password(thief)
    guess(thief, 3 * SECOND_FACTOR.at_once)
    give_password(own)
    assert give_code(own, app_of(key[0])).status_code == 302
    own.post("/logout/")
    give_password(own)
    assert guess(own, KNOWN_BROWSER.at_once + 1)[-1] == 429


def test_codes_are_not_guessed_where_somebody_is_logged_in(ben: User, key: tuple[str, list[str]]) -> None:
    thief = as_user(ben)
    replies = [thief.post(f"{PAGE}off/", {"off-code": f"{number:05}x"}).status_code for number in range(11)]
    assert (set(replies[:-1]), replies[-1]) == ({422}, 429)
    assert thief.post(f"{PAGE}codes/", {"codes-code": app_of(key[0])}).status_code == 429


def test_the_password_is_not_guessed_there(ben: User) -> None:
    thief = as_user(ben)
    replies = [thief.post(f"{PAGE}new/", {"password": f"wrong {number}"}).status_code for number in range(11)]
    assert (set(replies[:-1]), replies[-1]) == ({422}, 429)


# Ways round it


@pytest.mark.parametrize("why", ["password", "deactivated", "time"])
def test_what_the_password_opened_ends(key: tuple[str, list[str]], ben: User, monkeypatch: Any, why: str) -> None:
    browser = Client()
    give_password(browser)
    code = app_of(key[0])
    if why == "password":
        ben.set_password("another one 7!")
        ben.save()
    elif why == "deactivated":
        deactivate_account(user=ben)
    else:
        now = time.time()
        monkeypatch.setattr("time.time", lambda: now + 601)
    assert give_code(browser, code).url == "/login/"
    assert who(browser) == ""


def test_the_password_alone_opens_nothing(key: tuple[str, list[str]]) -> None:
    browser = Client()
    give_password(browser)
    for path in ("/", PAGE, "/account/", "/account/password/"):
        assert browser.get(path).url.startswith("/login/"), path
    for path in (f"{PAGE}new/", f"{PAGE}codes/", f"{PAGE}off/", "/account/tokens/", "/api/tokens/"):
        assert browser.post(path, {"password": RIGHT, "code": "x"}).status_code in (302, 401), path
    assert SecondFactor.objects.exists()


def test_a_reset_link_is_no_way_round(alice: User, ben: User, project: Project, key: tuple[str, list[str]]) -> None:
    link = as_user(alice).post("/p/help/members/ben/reset/").context["reset"]["link"]
    browser = Client()
    sent = {"new_password1": "blue lamp 77 river", "new_password2": "blue lamp 77 river"}
    assert browser.post(link, sent).url == "/login/code/"
    assert who(browser) == ""
    assert give_code(browser, key[1][0]).url == "/"
    assert who(browser) == "ben"


def test_tokens_work_as_before(ben: User, key: tuple[str, list[str]]) -> None:
    _, token = get_token_model().objects.create(ben)
    assert Client().get("/api/me/", headers={"Authorization": f"Token {token}"}).status_code == 200


def test_no_request_of_who_is_logged_in_asks_for_it(
    ben: User, bea: User, key: tuple[str, list[str]], django_assert_num_queries: Any
) -> None:
    for user in (ben, bea):
        browser = as_user(user)
        with django_assert_num_queries(1):
            browser.get("/api/me/")


# On and off


def test_it_is_turned_on_with_the_password_and_a_code(ben: User) -> None:
    browser = as_user(ben)
    assert "Off" in browser.get(PAGE).content.decode()
    assert browser.post(f"{PAGE}new/", {"password": "wrong"}).status_code == 422
    assert browser.post(f"{PAGE}new/", {"code": "123456"}).status_code == 422  # no app was told a key
    shown = browser.post(f"{PAGE}new/", {"password": RIGHT})
    assert shown.status_code == 200
    assert '<path d="M4,4h1v1h-1z' in shown.content.decode()
    assert browser.post(f"{PAGE}new/", {"code": "00000x"}).context["secret"] == shown.context["secret"]
    assert not SecondFactor.objects.exists()
    reply = browser.post(f"{PAGE}new/", {"code": app_of(shown.context["secret"].replace(" ", ""))})
    assert reply.status_code == 201
    page = browser.get(PAGE).content.decode()
    assert "10 recovery codes left" in page
    assert not any(code in page for code in reply.context["codes"])
    # No second time over it.
    assert browser.post(f"{PAGE}new/", {"password": RIGHT}).url == PAGE


def test_recovery_codes_are_made_anew(ben: User, key: tuple[str, list[str]]) -> None:
    browser = as_user(ben)
    reply = browser.post(f"{PAGE}codes/", {"codes-code": key[1][0]})
    assert reply.status_code == 201
    assert browser.post(f"{PAGE}off/", {"off-code": key[1][1]}).status_code == 422
    assert browser.post(f"{PAGE}off/", {"off-code": reply.context["codes"][1]}).url == "/account/"
    assert not SecondFactor.objects.exists()
    other = Client()
    assert give_password(other).url == "/"


def test_the_operator_turns_it_off(key: tuple[str, list[str]], capsys: Any) -> None:
    call_command("turn_off_second_factor", "ben")
    assert capsys.readouterr().out == "Two-factor authentication of ben is off.\n"
    assert give_password(Client()).url == "/"
    for name in ("ben", "nobody"):
        with pytest.raises(CommandError, match=r"is not on|not found"):
            call_command("turn_off_second_factor", name)


def test_an_account_without_a_password_has_none(ben: User) -> None:
    browser = as_user(ben)
    ben.set_unusable_password()
    ben.save()
    browser.force_login(ben)
    assert PAGE not in browser.get("/account/").content.decode()
    assert browser.get(PAGE).status_code == 404


# Required of admins


@pytest.fixture
def for_admins(settings: Any) -> None:
    settings.SECOND_FACTOR_FOR_ADMINS = True


def test_an_admin_sets_it_up_before_the_session_begins(
    for_admins: None, alice: User, ben: User, project: Project
) -> None:
    assert give_password(Client(), "ben").url == "/"
    browser = Client()
    assert give_password(browser, "alice", to="/p/help/").url == "/login/code/"
    page = browser.get("/login/code/")
    assert "admins must have two-factor" in page.content.decode()
    assert give_code(browser, "00000x").status_code == 422
    assert who(browser) == ""
    reply = give_code(browser, app_of(page.context["secret"].replace(" ", "")))
    assert reply.status_code == 201
    assert len(reply.context["codes"]) == 10
    assert 'href="/p/help/"' in reply.content.decode()
    assert who(browser) == "alice"
    assert browser.post(f"{PAGE}off/", {"off-code": reply.context["codes"][0]}).status_code == 404
    assert "Turn off" not in browser.get(PAGE).content.decode()
    other = Client()
    give_password(other, "alice")
    assert give_code(other, reply.context["codes"][1]).status_code == 302


def test_a_superuser_is_an_admin(for_admins: None, ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(is_superuser=True)
    assert give_password(Client()).url == "/login/code/"


def test_who_signs_up_as_an_admin_sets_it_up(for_admins: None, alice: User, project: Project) -> None:
    _, token = create_invite(actor=alice, project=project, role="admin")
    browser = Client()
    sent = {"username": "new", "password1": "blue lamp 77 river", "password2": "blue lamp 77 river"}
    assert browser.post(f"/invite/{token}/", sent).url == "/login/code/"
    secret = browser.get("/login/code/").context["secret"].replace(" ", "")
    assert give_code(browser, app_of(secret)).context["to"] == "/p/help/"
    assert who(browser) == "new"


def test_a_code_that_is_sent_before_the_page_was_seen_shows_the_page(
    for_admins: None, alice: User, project: Project
) -> None:
    browser = Client()
    give_password(browser, "alice")
    reply = give_code(browser, "123456")
    assert (reply.status_code, who(browser)) == (200, "")
    assert browser.get("/login/code/").context["secret"] == reply.context["secret"]
    assert give_code(browser, app_of(reply.context["secret"].replace(" ", ""))).status_code == 201


@pytest.mark.parametrize("method", ["get", "post"])
def test_turned_off_while_somebody_is_asked_for_a_code(key: tuple[str, list[str]], method: str) -> None:
    browser = Client()
    give_password(browser)
    call_command("turn_off_second_factor", "ben")
    assert getattr(browser, method)("/login/code/", {"code": app_of(key[0])}).url == "/login/"
    assert who(browser) == ""
    assert give_password(browser).url == "/"


def test_turned_off_while_an_admin_is_asked_for_a_code(for_admins: None, ben: User, key: tuple[str, list[str]]) -> None:
    User.objects.filter(pk=ben.pk).update(is_superuser=True)
    browser = Client()
    give_password(browser)
    call_command("turn_off_second_factor", "ben")
    reply = give_code(browser, app_of(key[0]))
    assert (reply.status_code, who(browser)) == (200, "")
    assert "admins must have two-factor" in reply.content.decode()


def test_nobody_is_given_the_key_that_another_person_saw(
    for_admins: None, alice: User, ben: User, project: Project
) -> None:
    User.objects.filter(pk=ben.pk).update(is_superuser=True)
    browser = Client()
    seen = []
    for name in ("ben", "alice"):
        give_password(browser, name)
        seen.append(browser.get("/login/code/").context["secret"])
    assert seen[0] != seen[1]
