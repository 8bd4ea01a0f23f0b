"""Settling by keyboard alone, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from annotate.models import User, Verdict

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_settles_the_whole_queue_without_a_mouse(
    rita: User, disputes: list[Verdict], new_page: Callable[..., Page]
) -> None:
    from playwright.sync_api import expect

    one, two = (f"/p/help/adjudicate/{verdict.pk}/" for verdict in disputes)
    page = new_page(rita)
    page.goto(one)
    page.keyboard.press("n")
    page.wait_for_url(f"**{two}")
    page.keyboard.press("p")
    page.wait_for_url(f"**{one}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")

    page.keyboard.press("2")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("1 n ? are letters here.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{two}")
    expect(page.get_by_role("status")).to_contain_text("Decided. 1 left.")

    page.keyboard.press("1")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.keyboard.type("No context says it.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing to settle")).to_be_visible()
    found: dict[int, Any] = {
        verdict.pk: (verdict.value, verdict.reason)
        for verdict in Verdict.objects.filter(pk__in=[verdict.pk for verdict in disputes])
    }
    assert found[disputes[0].pk] == ("contradicted", "1 n ? are letters here.")
    assert found[disputes[1].pk] == ("not in context", "No context says it.")


def test_without_a_reason_the_browser_asks_for_one(
    rita: User, disputes: list[Verdict], new_page: Callable[..., Page]
) -> None:
    page = new_page(rita)
    page.goto(f"/p/help/adjudicate/{disputes[0].pk}/")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.keyboard.type("Now there is one.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(f"/adjudicate/{disputes[1].pk}/"))


def test_works_without_javascript(rita: User, disputes: list[Verdict], new_page: Callable[..., Page]) -> None:
    page = new_page(rita, java_script_enabled=False)
    page.goto(f"/p/help/adjudicate/{disputes[0].pk}/")
    page.get_by_role("radio").first.check()
    page.get_by_label("Reason").fill("Plain form.")
    page.get_by_role("button", name="Decide").click()
    page.wait_for_url(re.compile(f"/adjudicate/{disputes[1].pk}/"))
