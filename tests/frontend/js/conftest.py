from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

MODULES = Path(__file__).parents[3] / "frontend" / "static" / "js"
HOME = "http://modules.test/"


@pytest.fixture(scope="module")
def _page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(HOME)
        if name:
            route.fulfill(path=MODULES / name, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{HOME}**", answer)
    yield page
    context.close()


@pytest.fixture
def modules(_page: Page) -> Page:
    """An empty page that may import our modules by name; nothing is stored in it."""
    _page.goto(HOME)
    _page.evaluate("localStorage.clear()")
    return _page
