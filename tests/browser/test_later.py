"""Figures that come after their page, and don't come: the page says so, and another try brings them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection, transaction

from frontend.base.pages import MANY
from tests.browser.accessibility import bring_axe, problems
from tests.browser.conftest import Desk
from tests.frontend.building import make_samples

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

FIGURES = "**/export/?figures=1"
FAILED = "The figures could not be loaded. If this happens again, tell the server administrator."


def test_figures_that_do_not_come(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    make_samples(desk.project, MANY)
    page = new_page(desk.alma)
    bring_axe(page.context)
    with transaction.atomic():
        # Whoever reads verdicts waits, and is soon answered 503 (config/waits.py).
        connection.cursor().execute("LOCK TABLE annotate_verdict IN ACCESS EXCLUSIVE MODE")
        with page.expect_response(FIGURES) as reply:
            page.goto("/p/desk/export/")
        assert reply.value.status == 503
        assert _said(page) == FAILED
        assert problems(page, "figures that failed") == []
        with page.expect_response(FIGURES) as reply:
            page.get_by_role("button", name="Try again").press("Enter")
            page.get_by_text("Counting.").wait_for()
            assert _has_focus(page, "truth-counts")
        assert reply.value.status == 503
        assert _said(page) == FAILED
        assert page.evaluate("document.activeElement.textContent") == "Try again"

    live_app.kill()
    with page.expect_event("requestfailed"):
        page.keyboard.press("Enter")
    assert _said(page) == FAILED

    live_app.start()
    Session.objects.all().delete()
    cache.clear()
    with page.expect_response("**/login/**"):
        page.keyboard.press("Enter")
    assert _said(page) == "You’re logged out. Log in in another tab, then try again."

    live_app.sign_in(page.context, desk.alma)
    page.keyboard.press("Enter")
    page.locator("#truth-counts table").wait_for()
    assert _has_focus(page, "truth-counts")
    assert page.get_by_text("Try again").count() == 0


def _said(page: Page) -> str:
    page.get_by_role("button", name="Try again").wait_for()
    return str(page.locator("#truth-counts [role=status]").inner_text())


def _has_focus(page: Page, name: str) -> bool:
    return bool(page.evaluate("name => document.activeElement.id === name", name))
