from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

MODULES = Path(__file__).parents[3] / "frontend" / "static" / "js"
HOME = "http://modules.test/"


@pytest.fixture
def modules(browser: Browser) -> Iterator[Page]:
    """An empty page that may import our modules by name."""
    context = browser.new_context()
    page = context.new_page()

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(HOME)
        if name:
            route.fulfill(path=MODULES / name, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{HOME}**", answer)
    page.goto(HOME)
    yield page
    context.close()
