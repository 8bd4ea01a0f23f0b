"""A corrected answer, edited by keyboard in a field that starts with the answer: only what differs from it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotate.models import Label, LabelEvent
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA
from tests.annotate.factories import say
from tests.browser.conftest import SUPPORT, Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

CORRECTED = {"key": "corrected_answer", **BUILTIN_CRITERIA["corrected_answer"]}
ANSWER = "It opens at nine. It closes at five."
# As a field of the browser doesn't hold it.
LINES = "It opens at nine.\r\nIt closes at five. "
FIELD, STATE, RESTORE = "#text", "#text-block .ws-prefilled span", "#text-block .ws-prefilled button"


def to_the_field(page: Page) -> None:
    for key in ("1", "1"):
        page.keyboard.press(key)
    page.wait_for_selector("#text-block:not([hidden])")
    page.keyboard.press("1")
    assert page.evaluate("document.activeElement.id") == "text"


def submitted(table: Table) -> Label | None:
    """The stored correction, once the task is submitted by keyboard."""
    table.page.keyboard.press("Enter")
    table.page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    table.task.refresh_from_db()
    assert table.task.status == "submitted"
    return table.labels().get("answer")


def test_an_answer_is_corrected_by_keyboard_and_there_after_a_reload(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, CORRECTED))
    page = table.page
    to_the_field(page)
    assert (page.input_value(FIELD), page.inner_text(STATE)) == (ANSWER, "Unchanged: nothing to save")
    assert page.is_hidden(RESTORE)
    page.keyboard.press("Control+End")
    for _ in "five.":
        page.keyboard.press("Backspace")
    page.keyboard.type("six. x f")
    assert page.inner_text(STATE) == "Changed"
    page.wait_for_selector("#steps [data-unit=answer][data-done=true]")
    better = "It opens at nine. It closes at six. x f"
    assert table.labels()["answer"].value == better
    assert page.inner_text("#steps [data-unit=answer] .step-value") == "Corrected"
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    page.click("#steps [data-unit=answer]")
    assert (page.input_value(FIELD), page.is_visible(RESTORE)) == (better, True)
    label = submitted(table)
    assert label is not None
    assert label.value == better


@pytest.mark.parametrize("answer", [ANSWER, LINES])
def test_an_answer_left_as_it_was_is_not_stored(set_table: Callable[..., Table], answer: str) -> None:
    table = set_table(criteria=(SUPPORT, CORRECTED), answer=answer, claims=[{"text": "It", "start": 0, "end": 2}] * 2)
    page = table.page
    to_the_field(page)
    shown = page.input_value(FIELD)
    # Something typed, and taken away again.
    page.keyboard.press("Control+End")
    page.keyboard.type("!")
    page.keyboard.press("Backspace")
    assert (page.input_value(FIELD), page.inner_text(STATE)) == (shown, "Unchanged: nothing to save")
    page.keyboard.press("Control+Enter")
    assert submitted(table) is None
    assert not LabelEvent.objects.filter(label__unit="answer").exists()


def test_the_original_is_restored_by_keyboard_and_undo_brings_the_correction(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, CORRECTED))
    page = table.page
    to_the_field(page)
    page.keyboard.press("Control+A")
    page.keyboard.type("It is shut.")
    page.wait_for_selector("#steps [data-unit=answer][data-done=true]")
    assert table.labels()["answer"].value == "It is shut."
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert (page.input_value(FIELD), page.evaluate("document.activeElement.id")) == (ANSWER, "text")
    assert table.labels()["answer"].value is None
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    assert (table.labels()["answer"].value, page.input_value(FIELD)) == ("It is shut.", "It is shut.")
    # And an emptied field is none.
    page.fill(FIELD, "")
    page.keyboard.press("Control+Enter")
    assert (table.labels()["answer"].value, page.input_value(FIELD)) == (None, ANSWER)


def test_a_correction_made_offline_is_there_after_a_reload_and_sent_later(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, CORRECTED))
    page = table.page
    to_the_field(page)
    page.route("**/api/**", lambda route: route.abort())
    page.keyboard.press("Control+End")
    page.keyboard.type(" Sundays too.")
    page.wait_for_selector('#save-state[data-state="waiting"]')
    page.unroute_all()
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    assert table.labels()["answer"].value == f"{ANSWER} Sundays too."


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 660}, {"width": 390, "height": 844}])
def test_a_long_answer_leaves_all_buttons_in_sight(set_table: Callable[..., Table], viewport: dict[str, int]) -> None:
    answer = "It opens at nine, and on Sundays at ten. " * 60
    claims = [{"text": answer, "start": 0, "end": len(answer)}] * 2
    table = set_table(criteria=(SUPPORT, CORRECTED), answer=answer, claims=claims, browser={"viewport": viewport})
    to_the_field(table.page)
    for button in ("#submit", RESTORE if viewport["width"] > 1000 else "#skip"):
        if button == RESTORE:
            table.page.keyboard.type("x")
        box = table.page.locator(button).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= viewport["height"]


def test_with_all_questions_at_once(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, CORRECTED))
    page = table.page
    page.keyboard.press("a")
    for key in ("1", "1", "1"):
        page.keyboard.press(key)
    card = page.locator("#form .form-step").last
    assert (card.locator("textarea").input_value(), card.locator(".ws-prefilled button").is_hidden()) == (ANSWER, True)
    page.keyboard.press("Control+End")
    page.keyboard.type(" Sundays too.")
    page.keyboard.press("Control+Enter")
    assert table.labels()["answer"].value == f"{ANSWER} Sundays too."
    card.locator(".ws-prefilled button").press("Enter")
    assert (card.locator("textarea").input_value(), table.labels()["answer"].value) == (ANSWER, None)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    assert (card.locator("textarea").input_value(), card.locator(".ws-prefilled span").inner_text()) == (
        f"{ANSWER} Sundays too.",
        "Changed",
    )


def test_a_correction_made_elsewhere_meanwhile_is_a_conflict(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, CORRECTED))
    page = table.page
    say(table.ana, table.task, "answer", "corrected_answer", "It is shut.")
    to_the_field(page)
    page.keyboard.press("Control+End")
    page.keyboard.type(" Sundays too.")
    # Nobody is asked while typing.
    page.keyboard.press("Escape")
    page.wait_for_selector("#conflict-dialog[open]:not([data-unseen])")
    assert page.inner_text("#conflict-mine-value") == f"{ANSWER} Sundays too."
    assert page.inner_text("#conflict-theirs-value") == "It is shut."
    page.click('#conflict-dialog [data-close="theirs"]')
    assert (page.input_value(FIELD), table.labels()["answer"].value) == ("It is shut.", "It is shut.")
    assert page.inner_text(STATE) == "Changed"
