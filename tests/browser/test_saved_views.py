"""A reviewer saves what the list of samples shows as a view, and opens, changes and deletes it: by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import SavedView
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

FOCUSED = "(document.activeElement.innerText || document.activeElement.name || '').trim()"


def tab_to(page: Page, words: str) -> None:
    """Goes on with the Tab key until it stands on what is called so."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if str(page.evaluate(FOCUSED)).startswith(words):
            return
    raise AssertionError(f"The Tab key never comes to “{words}”.")


def test_a_view_is_saved_opened_updated_and_deleted_by_keyboard(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.remy)
    page.goto(f"{live_app.url}/p/desk/samples/?status=labelling")
    tab_to(page, "Save as view")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("In work")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    view = SavedView.objects.get()
    assert (view.name, view.conditions, view.is_shared, view.owner) == (
        "In work", {"status": "labelling"}, True, desk.remy,
    )  # fmt: skip
    assert page.locator(".switcher [aria-current=page]").inner_text().startswith("In work")

    page.goto(f"{live_app.url}/p/desk/samples/")
    assert page.locator(".switcher [aria-current=page]").inner_text() == "All samples"
    tab_to(page, "In work")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert f"view={view.pk}" in page.url
    assert page.locator("tbody tr").count() == 3
    tab_to(page, "Lowest agreement")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    tab_to(page, "Update “In work”")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    view.refresh_from_db()
    assert view.conditions == {"status": "labelling", "sort": "agreement"}

    tab_to(page, "Edit view")
    page.keyboard.press("Enter")
    tab_to(page, "Delete view")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert not SavedView.objects.exists()
    assert page.locator("tbody tr").count() == 3
