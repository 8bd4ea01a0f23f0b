"""Free text, typed by keyboard in the workspace: kept like every other label, and no shortcut while typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.core.scales import MAX_TEXT
from annotate.models import Label, LabelEvent
from tests.browser.conftest import SUPPORT, Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDS = {
    "key": "missing",
    "unit": "answer",
    "scale": "text",
    "prompt": "What is missing?",
    "help": "Leave it empty if nothing is.",
    "required": False,
}
# Each of them is a shortcut outside the field, the digits are options.
TYPED = "skip 1 x f c 2 z? a\nSundays too"
FIELD = "#text"


def set_text_table(set_table: Callable[..., Table]) -> Table:
    return set_table(criteria=(SUPPORT, WORDS))


def to_the_field(page: Page) -> None:
    for key in ("1", "1"):
        page.keyboard.press(key)
    page.wait_for_selector("#text-block:not([hidden])")
    # As to the first option of a question that has some.
    page.keyboard.press("1")


def test_words_are_typed_saved_and_submitted_by_keyboard(set_table: Callable[..., Table]) -> None:
    table = set_text_table(set_table)
    to_the_field(table.page)
    assert table.page.evaluate("document.activeElement.id") == "text"
    first, second = TYPED.split("\n")
    table.page.keyboard.type(first)
    table.page.keyboard.press("Enter")
    table.page.keyboard.type(second)
    # While the typing pauses, as with comments.
    table.page.wait_for_selector("#steps [data-unit=answer][data-done=true]")
    assert table.labels()["answer"].value == TYPED
    table.page.keyboard.press("Control+Enter")
    assert table.page.evaluate("document.activeElement.tagName") == "BODY"
    assert table.page.locator("#steps [data-unit=answer] .step-value").inner_text().startswith("skip 1")
    table.page.keyboard.press("Enter")
    table.page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    table.task.refresh_from_db()
    assert (table.task.status, table.labels()["answer"].value) == ("submitted", TYPED)
    assert not Label.objects.filter(task=table.task).exclude(comment="").exists()


def test_words_typed_offline_are_there_after_a_reload_and_sent_later(set_table: Callable[..., Table]) -> None:
    table = set_text_table(set_table)
    to_the_field(table.page)
    table.page.route("**/api/**", lambda route: route.abort())
    table.page.keyboard.type("Prices")
    table.page.wait_for_selector('#save-state[data-state="waiting"]')
    table.page.unroute_all()
    table.page.reload()
    table.page.wait_for_selector("#work:not([hidden])")
    assert table.labels()["answer"].value == "Prices"


def test_words_that_are_too_long_are_neither_cut_nor_lost(set_table: Callable[..., Table]) -> None:
    table = set_text_table(set_table)
    page = table.page
    to_the_field(page)
    # As pasting does: all of it at once.
    long = "w" * (MAX_TEXT + 512)
    page.keyboard.insert_text(long)
    note = page.locator("#text-block .too-long")
    assert note.inner_text() == "Not saved: 512 characters too many. Shorten it to 20,000."
    assert page.locator("#announce").inner_text() == note.inner_text()
    # Elsewhere and back, in either view.
    page.keyboard.press("Control+Enter")
    page.keyboard.press("p")
    assert note.is_hidden()
    page.keyboard.press("a")
    assert page.input_value(".form-text") == long
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    assert page.locator("#complete").inner_text() == "Shorten this text first."
    assert page.locator('[data-unit="answer"][aria-current]').count() == 1
    assert page.input_value(FIELD) == long
    assert "answer" not in table.labels()
    page.locator(FIELD).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("w" * MAX_TEXT)
    assert note.is_hidden()
    page.keyboard.press("Control+Enter")
    assert table.labels()["answer"].value == "w" * MAX_TEXT
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')


def test_clearing_takes_the_words_back_and_undo_brings_them(set_table: Callable[..., Table]) -> None:
    table = set_text_table(set_table)
    to_the_field(table.page)
    table.page.keyboard.type("Prices")
    table.page.keyboard.press("Escape")
    assert table.labels()["answer"].value == "Prices"
    table.page.click("#clear")
    assert (table.labels()["answer"].value, table.page.input_value(FIELD)) == (None, "")
    table.page.keyboard.press("Control+z")
    assert (table.labels()["answer"].value, table.page.input_value(FIELD)) == ("Prices", "Prices")


def test_with_all_questions_at_once(set_table: Callable[..., Table]) -> None:
    table = set_text_table(set_table)
    table.page.keyboard.press("a")
    for key in ("1", "1", "1"):
        table.page.keyboard.press(key)
    assert table.page.evaluate("document.activeElement.className") == "form-text"
    table.page.keyboard.type(TYPED)
    table.page.keyboard.press("Control+Enter")
    assert table.labels()["answer"].value == TYPED
    # Nothing was said of it but this.
    assert LabelEvent.objects.filter(label__unit="answer").last().value == TYPED
