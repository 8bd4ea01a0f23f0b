"""What is ticked in a list stays ticked on its other pages, and becomes one batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.browser.conftest import Desk
from tests.frontend.building import make_samples

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp


def test_ticks_survive_paging(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    make_samples(desk.project, 60)
    page = new_page(desk.alma)
    page.goto(f"{live_app.url}/p/desk/samples/?sort=-id")
    bar = page.locator("[data-selected]")
    assert not bar.is_visible()
    page.locator("tbody .tick input").nth(0).check()
    page.locator("tbody .tick input").nth(2).check()
    assert bar.inner_text().split() == ["2", "selected", "Clear"]
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**after=**")
    page.get_by_label("Select all on this page").check()
    on_second = page.locator("tbody tr").count()
    assert bar.inner_text().split()[0] == str(2 + on_second)
    page.locator("tbody .tick input").nth(1).uncheck()
    page.get_by_role("button", name="New batch with selected samples").click()
    assert page.get_by_label(f"The {1 + on_second} samples you selected").is_checked()

    page.go_back()
    assert bar.inner_text().split()[0] == str(1 + on_second)
    page.goto(f"{live_app.url}/p/desk/samples/")
    assert bar.inner_text().split()[0] == str(1 + on_second), "another order shows the same samples"
    page.goto(f"{live_app.url}/p/desk/samples/?status=unlabelled")
    assert not bar.is_visible(), "another filter shows others"
    page.locator("tbody .tick input").nth(0).check()
    bar.get_by_role("button", name="Clear").click()
    assert not bar.is_visible()
    assert not page.locator("tbody .tick input").nth(0).is_checked()
