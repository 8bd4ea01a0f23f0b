from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from django.contrib.staticfiles import finders

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

HOME = "http://modules.test/"


@contextmanager
def _serving(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(HOME)
        if name:
            path = finders.find(name)
            assert isinstance(path, str), f"there is no {name}"
            route.fulfill(path=path, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{HOME}**", answer)
    yield page
    context.close()


@pytest.fixture(scope="module")
def _page(browser: Browser) -> Iterator[Page]:
    with _serving(browser) as page:
        yield page


@pytest.fixture
def modules(_page: Page) -> Page:
    """An empty page that may import our modules by name; nothing is stored in it."""
    _page.goto(HOME)
    _page.evaluate("localStorage.clear()")
    return _page


@pytest.fixture
def stopped(browser: Browser) -> Iterator[Page]:
    """As `modules`, in a page of its own whose clock stands still: `stopped.clock.run_for(ms)` lets time go by."""
    with _serving(browser) as page:
        page.clock.install(time=0)
        page.clock.pause_at(1_000)
        page.goto(HOME)
        yield page
