"""Signing in with a real OpenID Connect provider, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyotp
import pytest

from annotate.members.write import deactivate_account
from annotate.models import SecondFactor, User
from tests.browser.accessibility import NARROW, bring_axe, problems, sticking_out, unseen_focus
from tests.browser.conftest import Desk
from tests.oidc_provider import Provider
from tests.pages import pages_of
from tests.processes import LiveApp, environment, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NewPage = Callable[..., "Page"]


@pytest.fixture(scope="module")
def app(
    _provider: Provider, django_db_setup: None, collected_static: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveApp]:
    port = free_port()
    given = _provider.environment(JOIN_BY_EMAIL="true", ADMIN_GROUPS="ops", ROLES="leads=desk:reviewer")
    surroundings = {**environment(), **given, "PORT": str(port), "WEB_WORKERS": "1"}
    command = ["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"]
    process = LiveApp(command, surroundings, tmp_path_factory.mktemp("web") / "log", port=port)
    process.start()
    yield process
    process.stop()


@pytest.fixture
def open_page(browser: Browser, app: LiveApp, provider: Provider, desk: Desk) -> Iterator[NewPage]:
    User.objects.filter(username="ana").update(email="ana@example.org")
    with pages_of(browser, app) as make:
        yield make


def sign_in(page: Page, subject: str) -> None:
    page.goto("/login/")
    page.get_by_role("link", name="Sign in with Example ID").click()
    page.get_by_placeholder("sub").fill(subject)
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_selector(".site-header")


def ana_is_in(provider: Provider, *groups: str, **claims: Any) -> None:
    provider.know("a-1", email="ana@example.org", email_verified=True, groups=list(groups), **claims)


def test_groups_come_with_the_person_and_go(open_page: NewPage, provider: Provider) -> None:
    page = open_page()
    ana_is_in(provider, "ops", "leads")
    sign_in(page, "a-1")
    page.get_by_role("link", name="New project").wait_for()
    page.goto("/p/desk/members/")
    assert page.get_by_label("Role of ana").input_value() == "reviewer"
    page.context.clear_cookies()
    ana_is_in(provider)
    sign_in(page, "a-1")
    page.get_by_role("link", name="Desk").first.wait_for()
    assert page.get_by_role("link", name="New project").count() == 0
    ana = User.objects.get(username="ana")
    assert (ana.is_superuser, ana.memberships.get().role) == (False, "annotator")


@pytest.mark.parametrize("why", ["unknown", "deactivated"])
def test_who_is_refused_is_told_so(open_page: NewPage, provider: Provider, desk: Desk, why: str) -> None:
    page = open_page()
    ana_is_in(provider, "ops")
    provider.know("b-1", email="ben@elsewhere.example.org", email_verified=True, groups=["ops"])
    if why == "deactivated":
        deactivate_account(user=desk.ana)
    sign_in(page, "b-1" if why == "unknown" else "a-1")
    said = {"unknown": "You have no account here", "deactivated": "Your account was deactivated"}[why]
    page.get_by_text(said).wait_for()
    assert page.goto("/account/").url.endswith("/login/?next=/account/")
    assert not User.objects.filter(is_superuser=True).exists()


def test_the_page_with_both_ways_in(open_page: NewPage) -> None:
    page = open_page()
    bring_axe(page.context)
    page.goto("/login/")
    assert not problems(page, "login", left=NARROW)
    assert sticking_out(page) == []
    assert unseen_focus(page) == []
    page.get_by_role("link", name="Sign in with Example ID").focus()
    page.keyboard.press("Enter")
    page.get_by_placeholder("sub").wait_for()


def code_of(key: str) -> str:
    return pyotp.TOTP(key).now()


def a_half_minute_later() -> None:
    SecondFactor.objects.update(last_step=0)


def log_in(page: Page) -> None:
    page.context.clear_cookies()
    page.goto("/login/?next=/account/")
    page.get_by_label("Username").fill("ana")
    page.get_by_label("Password").fill("ana-long-password")
    page.get_by_role("button", name="Log in").click()


def give(page: Page, code: str) -> None:
    page.get_by_label("Code", exact=True).fill(code)
    page.keyboard.press("Enter")


def test_a_second_factor(open_page: NewPage) -> None:
    page = open_page()
    bring_axe(page.context)
    log_in(page)
    page.get_by_role("link", name="Set up or change").click()
    page.get_by_label("Password").fill("ana-long-password")
    page.get_by_role("button", name="Set up").click()
    page.wait_for_selector(".qr-code")
    assert not problems(page, "the app's key", left=NARROW)
    assert sticking_out(page) == []
    key = page.locator("form code").inner_text().replace(" ", "")
    give(page, "12345x")
    page.get_by_text("This code is wrong").wait_for()
    give(page, code_of(key))
    page.wait_for_selector(".recovery-codes")
    assert not problems(page, "recovery codes", left=NARROW)
    assert sticking_out(page) == []
    recovery = page.locator(".recovery-codes code").all_inner_texts()

    # Asked for, as it is typed and as it is wrong.
    a_half_minute_later()
    log_in(page)
    page.get_by_role("heading", name="Enter a code").wait_for()
    assert not problems(page, "code", left=NARROW)
    assert sticking_out(page) == []
    give(page, "12345x")
    page.get_by_text("This code is wrong").wait_for()
    give(page, code_of(key))
    page.get_by_role("heading", name="Account", exact=True).wait_for()

    # A recovery code, once.
    for wanted in ("Account", "Enter a code"):
        log_in(page)
        give(page, recovery[0])
        page.get_by_role("heading", name=wanted, exact=True).wait_for()
