"""A real browser. Fixtures: `browser`, and `new_page` and `page` on the `live_app`."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from config.browser import find_chromium
from tests.processes import LiveApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    # Playwright's synchronous interface runs an event loop in this thread, and so Django refuses to use the database
    # in it. Nothing here runs concurrently with it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    path = find_chromium()
    if path is None:
        pytest.fail("No Chromium found. `make test` installs one; or set CHROMIUM to its path.")
    # With that loop this thread has other connections than without it; those left behind would stay open to the end,
    # where they keep the test database from being dropped.
    connections.close_all()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield browser
        browser.close()
        connections.close_all()


@dataclass
class _Faults:
    """What no page may do, whatever a test is about: throw an uncaught exception, or need what our CSP forbids."""

    found: list[str] = field(default_factory=list)

    def watch(self, page: "Page") -> None:
        page.on("pageerror", lambda error: self.found.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: (
                self.found.append(f"{page.url}: {message.text}") if "Content Security Policy" in message.text else None
            ),
        )


@contextmanager
def pages_of(browser: "Browser", app: LiveApp) -> "Iterator[Callable[..., Page]]":
    faults = _Faults()
    contexts: list[BrowserContext] = []

    def make(user: Any = None, **options: Any) -> "Page":
        options = {"base_url": app.url, "viewport": {"width": 1280, "height": 800}, **options}
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(15_000)
        if user is not None:
            app.sign_in(context, user)
        page = context.new_page()
        faults.watch(page)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not faults.found, "\n".join(faults.found)


@pytest.fixture
def new_page(browser: "Browser", live_app: LiveApp) -> "Iterator[Callable[..., Page]]":
    """`new_page(user=None, **context_options)`: a page of a fresh browser context, logged in if a user is given."""
    with pages_of(browser, live_app) as make:
        yield make


@pytest.fixture
def page(new_page: "Callable[..., Page]") -> "Page":
    """A page without a login."""
    return new_page()


@pytest.fixture
def new_standing_page(browser: "Browser", standing_app: LiveApp) -> "Iterator[Callable[..., Page]]":
    """`new_page` on the `standing_app`."""
    with pages_of(browser, standing_app) as make:
        yield make
