"""What once stood in a labeller's way: keys that did something else than the page says, and parts that lay over others
or were cut off, on a laptop's window and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import RELEVANCE, SUPPORT, Desk, Table, claims_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

SetTable = Callable[..., Table]

LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
# As long as the built-in criterion's.
HELPED = {
    **SUPPORT,
    "help": "Judge only what the contexts say, not what you know to be true.",
    "cant_tell": True,
    "options": [
        {"value": "yes", "label": "Supported", "help": "At least one context says so, and none says otherwise."},
        {"value": "no", "label": "Contradicted", "help": "A context says the opposite."},
        {"value": "open", "label": "Not in context", "help": "No context mentions it."},
    ],
    "pass": ["yes"],
}
CORRECT = {**SUPPORT, "key": "correct", "name": "Correct"}
LONG = "This claim needs more than one line to say what is wrong with it, and then one more line to say why that is so."


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def decide_all(page: Page, key: str = "1") -> None:
    total = page.locator("#steps .step").count()
    for _ in range(total):
        page.keyboard.press(key)
    page.wait_for_selector("#submit.button-primary")


# --- Enter submits, as the button says ---


def test_enter_submits_after_the_guidelines_were_open(set_table: SetTable) -> None:
    page = set_table(criteria=[SUPPORT]).page
    decide_all(page)
    page.keyboard.press("g")
    page.wait_for_selector("#guidelines-panel:not([hidden])")
    page.keyboard.press("Escape")
    page.wait_for_selector("#guidelines-panel", state="hidden")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')


@pytest.mark.parametrize(
    "clicked", ["#steps .step", "#guidelines", "#undo", "#options .option", "#reference-block summary"]
)
def test_enter_submits_after_a_click_on_something_else(set_table: SetTable, clicked: str) -> None:
    page = set_table(criteria=[SUPPORT], reference="At nine.").page
    decide_all(page)
    page.locator(clicked).first.click()
    decide_all(page)
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')


def test_who_walks_by_tab_presses_what_has_the_focus(set_table: SetTable) -> None:
    page = set_table(criteria=[SUPPORT]).page
    decide_all(page)
    page.locator("#steps .step").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#steps .step[aria-current]").inner_text().startswith("Claim 1")
    # And whoever opened the guidelines from their button is back on it.
    page.locator("#guidelines").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert focused(page) == "guidelines"


def test_a_click_into_the_texts_draws_no_ring_around_their_column(set_table: SetTable) -> None:
    page = set_table(criteria=[SUPPORT], contexts=["It opens at nine. " * 40], browser=LAPTOP).page
    page.locator("#contexts .text").first.click()
    page.keyboard.press("1")
    assert page.evaluate("getComputedStyle(document.getElementById('contexts-column')).outlineStyle") == "none"
    # By Tab one still sees where one is.
    page.locator("#contexts-column").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


# --- what the list and the empty page offer ---


def test_each_row_names_its_unit(set_table: SetTable) -> None:
    page = set_table(criteria=[SUPPORT, CORRECT]).page
    rows = page.locator("#steps .step")
    for row in range(rows.count()):
        assert rows.nth(row).locator(".step-unit").bounding_box()["width"] > 10  # type: ignore[index]


def test_when_all_is_done_nothing_is_offered_that_needs_a_sample(set_table: SetTable) -> None:
    page = set_table(criteria=[SUPPORT]).page
    decide_all(page)
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    for tool in ("flag", "undo", "redo", "view"):
        assert not page.locator(f"#{tool}").is_visible(), tool
    assert page.locator("#back").is_visible()


def test_my_work_offers_labelling_only_where_there_is_some(desk: Desk, new_page: Callable[..., Page]) -> None:
    page = new_page(desk.ana)
    page.goto("/p/desk/label/done/")
    assert page.locator('a.button-primary[href="/p/desk/label/"]').count() == 1
    desk.batch.tasks.filter(annotator=desk.ana).update(status="skipped", skip_reason="Not mine.")
    page.reload()
    assert page.locator('a.button-primary[href="/p/desk/label/"]').count() == 0
    assert page.get_by_text("You’re all caught up").count() == 1


# --- nothing is cut off, and nothing lies over something else ---


def cut_off(page: Page, selector: str) -> Any:
    return page.evaluate(
        "(s) => { const e = document.querySelector(s); return e.scrollHeight - e.clientHeight; }", selector
    )


@pytest.mark.parametrize("size", [(1280, 800), (1366, 768), (1280, 720)])
def test_the_question_is_whole_beside_an_open_comment(set_table: SetTable, size: tuple[int, int]) -> None:
    viewport = {"viewport": {"width": size[0], "height": size[1]}}
    page = set_table(criteria=[HELPED, CORRECT], browser=viewport).page
    page.locator("#comment").fill(LONG)
    for part in (".ws-asked", "#options"):
        assert cut_off(page, part) <= 0, part


def test_the_question_is_whole_where_its_claim_takes_two_lines(set_table: SetTable) -> None:
    """Beside a list of more steps than it shows."""
    texts = ("If only the upper part of it is cold, bleed the radiator", "Two turns are enough", "It is safe")
    answer = ". ".join(texts) + "."
    claims = claims_in(answer, *texts)
    page = set_table(criteria=[HELPED, CORRECT, RELEVANCE], answer=answer, claims=claims, browser=LAPTOP).page
    assert page.locator(".unit-text").bounding_box()["height"] > 40  # type: ignore[index]
    assert cut_off(page, ".ws-steps") > 0
    assert cut_off(page, ".ws-asked") <= 0


def test_in_a_window_at_200_percent_options_and_buttons_are_whole(set_table: SetTable) -> None:
    """As 1600 × 1200 pixels leave it."""
    low, answer = {"viewport": {"width": 800, "height": 600}}, f"{LONG} We open at nine."
    page = set_table(criteria=[HELPED, CORRECT], answer=answer, claims=claims_in(answer, LONG), browser=low).page
    assert cut_off(page, "#options") <= 0
    for part in ("#options .option", "#cant-tell", "#skip", "#submit"):
        for one in page.locator(part).all():
            at = one.bounding_box()
            assert at is not None
            assert at["x"] + at["width"] <= 800, part
            assert at["y"] + at["height"] <= 600, part


def test_the_keys_fit_into_a_laptops_window(set_table: SetTable) -> None:
    page = set_table(browser=LAPTOP).page
    page.keyboard.press("?")
    page.wait_for_selector("#help-dialog[open]")
    assert cut_off(page, "#help-dialog") <= 0


def overlap(page: Page, one: str, other: str) -> bool:
    """Both boxes are read in one moment, since what is in hand scrolls into sight. Fractions of a pixel may touch."""
    return bool(
        page.evaluate(
            """([one, other]) => {
                const [a, b] = [one, other].map((s) => document.querySelector(s).getBoundingClientRect());
                return a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
            }""",
            [one, other],
        )
    )


def test_on_a_phone_nothing_lies_over_something_else(set_table: SetTable) -> None:
    page = set_table(criteria=[HELPED], browser=PHONE).page
    page.locator("#options .option").first.tap()
    page.wait_for_selector('#save-state[data-shown="saved"]')
    for tool in ("undo", "redo", "view", "guidelines", "flag"):
        assert not overlap(page, "#save-text", f"#{tool}"), tool
    page.locator("#comment").tap()
    # What doesn't fit scrolls; it is not pushed into one another.
    for one, other in ((".ws-asked", "#options"), ("#options", "#cant-tell"), ("#cant-tell", ".ws-comment")):
        assert not overlap(page, one, other), one
    assert cut_off(page, "#options") <= 0
    page.locator("#comment").fill("It opens at ten.")
    page.wait_for_function(
        """() => document.getElementById("comment").getBoundingClientRect().bottom
            <= document.querySelector(".ws-finish").getBoundingClientRect().top"""
    )


def test_on_a_phone_all_is_large_enough_for_a_thumb(set_table: SetTable) -> None:
    page = set_table(criteria=[HELPED], browser=PHONE).page
    small = page.evaluate(
        """() => [...document.querySelectorAll("#main button, #main textarea, #main summary, #main a.button")]
            .filter((e) => e.checkVisibility() && !e.closest("dialog"))
            .map((e) => [e.id || e.className, e.getBoundingClientRect()])
            .filter(([, box]) => box.width && (box.height < 44 || box.width < 44))
            .map(([name, box]) => `${name} ${box.width} × ${box.height}`)"""
    )
    assert small == []


def test_on_a_phone_the_texts_have_at_least_half_of_the_window(set_table: SetTable) -> None:
    page = set_table(criteria=[HELPED], browser=PHONE).page
    box = page.locator("#decision").bounding_box()
    assert box
    assert box["height"] <= 844 / 2
    # All options are in it without scrolling, and what helps to choose is a tap away.
    assert not overlap(page, "#cant-tell", ".ws-finish")
    page.locator("#help-text").tap()
    page.get_by_text("A context says the opposite.").wait_for()


# --- on paper ---


def test_on_paper_a_page_names_its_project_and_headings_stay_with_their_text(
    desk: Desk, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.alma)
    for url in ("/p/desk/", "/p/desk/samples/", "/p/desk/batches/1/", "/p/desk/criteria/", "/p/desk/reports/"):
        page.goto(url)
        page.emulate_media(media="print")
        assert page.locator(".breadcrumbs, h1").get_by_text("Desk", exact=True).first.is_visible(), url
        # Chromium keeps a heading with what follows only where no flexible box is around it; a card is not broken.
        around = page.evaluate(
            """() => {
                const inText = (h) => h.checkVisibility() && !h.closest(".page-header, .card, td, th, li");
                const found = [];
                for (const h of [...document.querySelectorAll("main :is(h1, h2)")].filter(inText))
                    for (let e = h.parentElement; e; e = e.parentElement)
                        if (["flex", "grid"].includes(getComputedStyle(e).display)) found.push(e.className);
                return found;
            }"""
        )
        assert around == [], url
