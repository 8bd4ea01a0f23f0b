"""A reviewer at the keyboard: the queue, a decision and an approval, with usual keys and with keys of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import Task, Verdict
from annotate.projects.accounts import change_preferences
from tests.annotate.factories import finish
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def labelled(desk: Desk) -> None:
    """On the first claims all agree, on the second ones they differ."""
    for task in Task.objects.filter(batch=desk.batch).select_related("annotator", "sample", "batch"):
        differ = "supported" if task.annotator == desk.ana else "contradicted"
        finish(task, support=lambda unit, differ=differ: "supported" if unit == "claim:0" else differ)


def test_approving_and_deciding_with_usual_and_own_keys(desk: Desk, new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    labelled(desk)
    page = new_page(desk.remy)

    # Agreed units: s opens the first, a approves it and goes on.
    page.goto("/p/desk/adjudicate/?state=agreed")
    expect(page.locator("a[data-start] kbd")).to_be_visible()
    page.keyboard.press("s")
    approve = page.locator("button[form=approve] kbd")
    expect(approve).to_have_text("a")
    page.wait_for_load_state()  # the scripts that hear the keys
    first = page.url
    page.keyboard.press("a")
    page.wait_for_url(lambda url: url != first)
    page.locator(".callout-success", has_text="Approved.").wait_for()
    assert Verdict.objects.get(approved_by=desk.remy).method == "unanimous"

    # Another key for it, and for the next unit: the usual ones do nothing any more.
    change_preferences(user=desk.remy, changes={"hotkeys": {"approve": "w", "next_unit": "i", "comment": "m"}})
    page.reload()
    expect(approve).to_have_text("w")
    second = page.url
    for key in ("a", "n", "j"):
        page.keyboard.press(key)
    page.keyboard.press("?")
    helped = page.locator("#keys dt:has(kbd:text-is('i')) + dd")
    expect(helped).to_have_text("skip to the next unit")
    page.keyboard.press("Escape")
    assert (page.url, Verdict.objects.filter(approved_by=desk.remy).count()) == (second, 1)
    page.keyboard.press("i")
    page.wait_for_url(lambda url: url != second)
    expect(approve).to_be_visible()
    page.keyboard.press("w")
    page.locator(".callout-success", has_text="Approved.").wait_for()
    assert Verdict.objects.filter(approved_by=desk.remy).count() == 2

    # A decision: the option's key, the reason, Ctrl+Enter.
    page.goto("/p/desk/adjudicate/")
    page.keyboard.press("s")
    expect(page.locator("label.option kbd").first).to_have_text("1")
    page.keyboard.press("m")
    expect(page.locator("textarea[name=reason]")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.type("No context says when.")
    page.keyboard.press("Control+Enter")
    page.locator(".callout-success", has_text="Decided.").wait_for()
    assert Verdict.objects.get(method="adjudicated").value == "contradicted"
