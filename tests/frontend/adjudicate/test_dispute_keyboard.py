"""Settling by keyboard alone, in a real browser: the queue, evidence, deciding, sending back, many at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from annotate.models import Label, Task, User, Verdict

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
    expect(page.get_by_role("heading", name="Nothing to adjudicate")).to_be_visible()
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


if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def waiting(disputes: list[Verdict]) -> list[Verdict]:
    """Evidence on the first unit; and contexts on which both agree, as a batch that wants more labels leaves them."""
    text = disputes[0].sample.contexts[0]["text"]
    for vote, (start, end) in zip(disputes[0].votes, ((0, 5), (3, 9)), strict=True):
        evidence = [{"context": 0, "start": start, "end": end, "quote": text[start:end]}]
        Label.objects.filter(pk=vote["label"]).update(evidence=evidence)
    Verdict.objects.filter(criterion__key="relevance").update(state="disputed", value=None, method="", confidence=None)
    return disputes


def tab_to(page: Page, selector: str) -> None:
    for _ in range(60):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {selector}")


def test_a_day_without_a_mouse(rita: User, waiting: list[Verdict], new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    page.goto("/p/help/adjudicate/")
    expect(page.get_by_role("link", name="Start adjudicating").locator("kbd")).to_be_visible()
    page.keyboard.press("s")
    page.wait_for_url(re.compile(r"/adjudicate/\d+/"))
    page.goto(f"/p/help/adjudicate/{waiting[0].pk}/?criterion=support")

    marks = page.locator("[data-evidence]")
    expect(marks).to_have_count(3)
    page.keyboard.press("e")
    expect(marks.nth(0)).to_be_focused()
    page.keyboard.press("e")
    expect(marks.nth(1)).to_be_focused()
    expect(marks.nth(1)).to_contain_text("[Evidence of A B:]")
    page.keyboard.press("o")
    expect(page.get_by_role("group", name="Other units of this sample")).to_be_focused()

    page.keyboard.press("2")
    page.keyboard.type("The context says the opposite.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(f"/adjudicate/{waiting[1].pk}/"))
    expect(page.get_by_role("status")).to_contain_text("Decided. 1 left.")

    page.keyboard.press("b")
    expect(page.get_by_label("Annotator", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.type("which words say so?")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("Sent back to Annotator B")
    task = Task.objects.get(status="returned")
    assert task.return_message.endswith("which words say so?")

    page.goto("/p/help/adjudicate/")
    expect(page.get_by_role("heading", name="Nothing to adjudicate")).to_be_visible()
    # Everything Annotator B said about the sample waits with it; once it is back, what they agree on goes in one sweep.
    Task.objects.filter(pk=task.pk).update(status="submitted", return_message="", submitted_at=task.batch.opened_at)
    page.reload()
    tab_to(page, "a[href*='accept']")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/accept/"))
    tab_to(page, "#id_agreed_votes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("1 of 2 units would be resolved"))).to_be_visible()
    tab_to(page, "#reason")
    page.keyboard.type("Both agree.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("1 unit resolved.")
    assert Verdict.objects.get(method="accepted").reason == "Both agree."


def test_the_panel_is_the_labelling_panel_and_its_footer_stays(
    rita: User, waiting: list[Verdict], new_page: Callable[..., Page]
) -> None:
    """Question, contexts, options and buttons are in one window, however long the texts are."""
    sample = waiting[0].sample
    sample.question = "A long question? " * 60
    sample.save()
    page = new_page(rita, viewport={"width": 1280, "height": 720})
    page.goto(f"/p/help/adjudicate/{waiting[0].pk}/")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    for name in ("Decide", "Send back"):
        assert page.get_by_role("button", name=name).first.evaluate(
            "button => button.getBoundingClientRect().bottom <= innerHeight"
        )
    # On a phone the panel is below the thumb, wherever the page is scrolled to.
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("scrollTo(0, 0)")
    assert page.get_by_role("button", name="Decide").evaluate(
        "button => button.getBoundingClientRect().bottom <= innerHeight"
    )


def test_sending_back_by_the_footers_button(rita: User, waiting: list[Verdict], new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    for scripts in (True, False):
        page = new_page(rita, java_script_enabled=scripts)
        page.goto(f"/p/help/adjudicate/{waiting[0].pk}/")
        page.get_by_role("button", name="Send back").first.click()
        expect(page.get_by_label("What to revise")).to_be_visible()
        # Keys of the page rest while it is open.
        if scripts:
            page.get_by_role("region", name="Send back").get_by_role("button", name="Send back").focus()
            page.keyboard.press("2")
            assert not page.locator("form[data-adjudicate] :checked").count()
            page.keyboard.press("Escape")
            expect(page.get_by_label("What to revise")).to_be_hidden()
            page.keyboard.press("2")
            assert page.locator("form[data-adjudicate] :checked").count()
