"""`make run` with its PostgreSQL or its Redis killed: labels chosen meanwhile arrive, and nobody has to do anything."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from config import embedded
from tests.config.conftest import bare, data
from tests.config.test_supervisor import READY_SECONDS, Running
from tests.config.test_supervisor_restarts import server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["bare", "data"]
SAVED, WAITING = ('#save-state[data-state="saved"]', '#save-state[data-state="waiting"]')


@pytest.fixture
def running(bare: dict[str, str], data: Path) -> Iterator[Running]:
    running = Running(bare, data)
    yield running
    running.end()


@pytest.fixture
def page(browser: Browser, running: Running) -> Iterator[Page]:
    """Ana's workspace in the demo."""
    with browser.new_context(base_url=f"http://localhost:{running.port}") as context:
        page = context.new_page()
        page.goto("/login/?next=/p/demo/label/")
        page.fill("input[name=username]", "ana")
        page.fill("input[name=password]", "ana-demo")
        page.keyboard.press("Enter")
        page.wait_for_selector("#work:not([hidden])")
        yield page


def labels(data: Path) -> int:
    with psycopg.connect(embedded.database_url(data)) as connection:
        row = connection.execute("SELECT count(*) FROM annotate_labelevent").fetchone()
    assert row is not None
    return int(row[0])


def test_labels_arrive_by_themselves(page: Page, running: Running, data: Path) -> None:
    before = labels(data)
    page.keyboard.press("1")
    page.wait_for_selector(SAVED)
    with embedded.lock_within(data / "run" / "start.lock", fcntl.LOCK_EX, READY_SECONDS):  # so nothing starts it yet
        server(data, "postgres").kill()
        page.keyboard.press("2")
        page.wait_for_selector(WAITING)
        # Another page says what is going on, and how to go on.
        other = page.context.new_page()
        reply = other.goto("/p/demo/")
        assert reply is not None
        assert reply.status == 503
        assert other.get_by_role("link", name="Try again").get_attribute("href") == "/p/demo/"
    page.wait_for_selector(SAVED, timeout=READY_SECONDS * 1000)
    assert labels(data) == before + 2
    other.get_by_role("link", name="Try again").click()
    other.get_by_role("heading", name="Ottra support desk").wait_for()

    with embedded.lock_within(data / "run" / "start.lock", fcntl.LOCK_EX, READY_SECONDS):
        server(data, "redis-server").kill()
        running.wait_until(lambda: "Redis ended by itself" in running.output())
        page.keyboard.press("1")
        page.wait_for_selector(SAVED)
        running.wait_until(lambda: labels(data) == before + 3)
