"""Evidence in the workspace: words of the contexts attached to a claim, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotate.models import Label, Sample
from tests.annotate.factories import say
from tests.browser.conftest import Table, claims_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

SetTable = Callable[..., Table]

FIRST = "The shop 😀 opens at nine. It closes at five on weekdays.\nOn Sundays it stays closed."
SECOND = "营业时间：九点。周日休息。"
NINE = (0, 0, 25, "The shop 😀 opens at nine.")
FIVE = (0, 26, 56, "It closes at five on weekdays.")


@pytest.fixture
def table(set_table: SetTable) -> Table:
    return set_table(contexts=[FIRST, SECOND])


def select(page: Page, context: int, start: int, end: int) -> None:
    """Selects words of a context (UTF-16), as dragging the mouse over them does."""
    page.evaluate(
        """([context, start, end]) => {
          const words = document.querySelectorAll("#contexts .text")[context].querySelector(".piece").firstChild;
          getSelection().setBaseAndExtent(words, start, words, end);
        }""",
        [context, start, end],
    )


def drag(page: Page, context: int, start: int, end: int) -> None:
    """The same by hand."""
    boxes = page.evaluate(
        """([context, start, end]) => {
          const words = document.querySelectorAll("#contexts .text")[context].querySelector(".piece").firstChild;
          return [start, end].map((at) => {
            const range = new Range();
            range.setStart(words, at);
            range.setEnd(words, at);
            const { left, top, height } = range.getBoundingClientRect();
            return [left, top + height / 2];
          });
        }""",
        [context, start, end],
    )
    page.mouse.move(*boxes[0])
    page.mouse.down()
    page.mouse.move(*boxes[1], steps=4)
    page.mouse.up()


def said(page: Page) -> str:
    return page.locator("#announce").inner_text()


def test_words_selected_by_mouse_are_attached_by_a_button_beside_them(table: Table) -> None:
    page = table.page
    drag(page, 0, 9, 26)
    button = page.get_by_role("button", name="Attach to Claim 1")
    assert button.bounding_box()["height"] >= 24  # type: ignore[index]
    button.click()
    # In UTF-16 they are at 9 to 26; the server counts the emoji as one.
    assert table.evidence() == [(0, 9, 25, "😀 opens at nine.")]
    assert table.painted("evidence-0") == ["😀 opens at nine."]
    assert page.locator("#attach").is_hidden()
    assert said(page) == "Attached. Passages: 1"
    assert page.locator("#evidence li").inner_text().split() == ["Context", "1", "😀", "opens", "at", "nine.", "×"]


@pytest.mark.parametrize("key", ["e", "Enter"])
def test_a_key_attaches_what_is_selected(table: Table, key: str) -> None:
    select(table.page, 1, 5, 7)
    table.page.keyboard.press(key)
    assert table.evidence() == [(1, 5, 7, "九点")]
    assert table.page.evaluate("getSelection().isCollapsed")
    assert table.page.evaluate("document.documentElement.dataset.stage") == "task"


def test_a_selection_through_contexts_gives_a_span_in_each_without_its_margins(table: Table) -> None:
    table.page.evaluate(
        """() => {
          const [one, two] = document.querySelectorAll("#contexts .text .piece");
          getSelection().setBaseAndExtent(one.firstChild, 57, two.firstChild, 8);
        }"""
    )
    table.page.keyboard.press("e")
    assert table.evidence() == [(0, 57, 84, "On Sundays it stays closed."), (1, 0, 8, "营业时间：九点。")]


def test_words_outside_the_contexts_are_no_evidence(table: Table) -> None:
    table.page.evaluate("getSelection().selectAllChildren(document.getElementById('question'))")
    table.page.keyboard.press("e")
    # Nothing to attach, so the cursor comes out.
    assert table.page.locator("#evidence-cursor").is_visible()
    assert table.evidence() == []


def test_sentence_by_sentence_with_the_keyboard_alone(table: Table) -> None:
    page = table.page
    page.keyboard.press("e")
    assert page.locator("#evidence-cursor").inner_text().startswith("Evidence for Claim 1")
    assert said(page) == "Context 1 – The shop 😀 opens at nine."
    page.keyboard.press("Enter")
    assert said(page) == "Attached. Passages: 1"
    assert table.evidence() == [NINE]
    page.keyboard.press("ArrowDown")
    assert said(page) == "It closes at five on weekdays."
    page.keyboard.press("Space")
    assert said(page) == "Attached. Passages: 2"
    # On what is attached, the same key takes it away.
    page.keyboard.press("ArrowUp")
    assert said(page) == "The shop 😀 opens at nine. – attached"
    page.keyboard.press("Enter")
    assert said(page) == "Removed. Passages: 1"
    assert table.evidence() == [FIVE]
    # Through the end of a context into the next one, and by context.
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert said(page) == "Context 2 – 营业时间：九点。"
    page.keyboard.press("ArrowLeft")
    assert said(page) == "Context 1 – The shop 😀 opens at nine."
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert table.evidence() == [FIVE, (1, 0, 13, SECOND)]
    assert page.locator("#evidence-cursor").is_hidden()
    assert table.painted("cursor") == []
    # The flow of decisions goes on as ever.
    page.keyboard.press("1")
    assert table.labels()["claim:0"].value == "supported"
    assert table.evidence() == [FIVE, (1, 0, 13, SECOND)]
    assert page.locator("#unit-name").inner_text().startswith("Claim 2")


def test_a_decision_ends_the_evidence_cursor(table: Table) -> None:
    for key in ("e", "Enter", "2"):
        table.page.keyboard.press(key)
    assert table.page.locator("#evidence-cursor").is_hidden()
    labels = table.labels()
    assert (labels["claim:0"].value, len(labels["claim:0"].evidence)) == ("contradicted", 1)


def test_spans_that_overlap_lie_in_lanes_and_are_all_seen(table: Table) -> None:
    for start, end in ((0, 26), (9, 40), (12, 20)):
        select(table.page, 0, start, end)
        table.page.keyboard.press("e")
    assert len(table.evidence()) == 3
    lanes = [table.painted(f"evidence-{lane}") for lane in range(3)]
    assert lanes == [["The shop 😀 opens at nine."], ["😀 opens at nine. It closes at"], ["opens at"]]


def test_evidence_shows_when_its_claim_is_in_hand_and_after_a_reload(table: Table) -> None:
    page = table.page
    for key in ("e", "Enter", "Escape", "n"):
        page.keyboard.press(key)
    assert table.painted("evidence-0") == []
    assert page.locator("#evidence li").count() == 0
    select(page, 1, 0, 8)
    page.keyboard.press("e")
    assert table.evidence("claim:1") == [(1, 0, 8, "营业时间：九点。")]
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    assert table.painted("evidence-0") == ["The shop 😀 opens at nine."]
    page.keyboard.press("n")
    assert table.painted("evidence-0") == ["营业时间：九点。"]
    # A context is evidence; nothing is attached to it.
    page.keyboard.press("n")
    assert page.locator("#evidence-block").is_hidden()
    page.keyboard.press("e")
    assert said(page) == "This question takes no evidence."


def test_taking_away_from_the_list_keeps_the_focus_in_it(table: Table) -> None:
    for key in ("e", "Enter", "ArrowDown", "Enter", "Escape"):
        table.page.keyboard.press(key)
    away = table.page.get_by_role("button", name="Remove: Context 1")
    away.first.focus()
    table.page.keyboard.press("Enter")
    assert table.evidence() == [FIVE]
    table.page.keyboard.press("Enter")
    assert table.evidence() == []
    assert table.page.evaluate("document.activeElement.id") == "evidence-start"


def test_a_span_whose_text_has_shifted_is_found_again_and_one_whose_words_are_gone_is_named(table: Table) -> None:
    for key in ("e", "Enter", "ArrowDown", "Enter", "Escape"):
        table.page.keyboard.press(key)
    assert table.evidence() == [NINE, FIVE]
    contexts = [{"id": None, "text": "New: 😀 The shop 😀 opens at nine. It closes at six.", "score": None}]
    Sample.objects.filter(pk=table.sample.pk).update(contexts=contexts)
    table.page.reload()
    table.page.wait_for_selector("#work:not([hidden])")
    assert table.painted("evidence-0") == ["The shop 😀 opens at nine."]
    assert "no longer found" in table.page.locator(".evidence-gone").inner_text()
    # What is saved from now on stands where it stands now.
    table.page.get_by_role("button", name="Remove: Context 1, It closes").click()
    assert table.evidence() == [(0, 7, 32, "The shop 😀 opens at nine.")]


def test_pointing_at_a_claim_lights_its_evidence_and_the_other_way_round(table: Table) -> None:
    page = table.page
    for key in ("e", "Enter", "Escape", "n"):
        page.keyboard.press(key)
    page.locator('#answer [data-units="claim:0"]').hover()
    assert table.painted("linked") == ["The shop 😀 opens at nine."]
    page.locator('.step[data-unit="claim:0"]').focus()
    page.mouse.move(0, 0)
    page.locator('.step[data-unit="claim:1"]').hover()
    assert table.painted("linked") == []
    page.locator("#contexts .text").first.hover(position={"x": 30, "y": 12})
    page.wait_for_function("CSS.highlights.get('linked')?.size === 2")
    assert sorted(table.painted("linked")) == ["It opens at nine.", "The shop 😀 opens at nine."]
    page.keyboard.press("p")
    page.locator(".evidence-go").hover()
    assert sorted(table.painted("linked")) == ["It opens at nine.", "The shop 😀 opens at nine."]


def test_two_tabs_that_differ_in_evidence_only_are_asked_about_it(table: Table) -> None:
    page = table.page
    quote = "On Sundays it stays closed."
    elsewhere = {"context": 0, "start": 57, "end": 84, "quote": quote}
    say(table.ana, table.task, "claim:0", "support", None, evidence=[elsewhere])
    for key in ("e", "Enter", "Escape"):
        page.keyboard.press(key)
    page.wait_for_selector("#conflict-dialog[open]")
    assert page.locator("#conflict-mine-evidence").inner_text() == "Context 1 The shop 😀 opens at nine."
    assert page.locator("#conflict-theirs-evidence").inner_text() == f"Context 1 {quote}"
    page.get_by_role("button", name="Use the other version").click()
    assert table.evidence() == [(0, 57, 84, quote)]
    assert table.painted("evidence-0") == [quote]


def test_evidence_survives_a_server_that_is_away(table: Table) -> None:
    page = table.page
    page.route("**/labels/", lambda route: route.abort())
    for key in ("e", "Enter", "Escape"):
        page.keyboard.press(key)
    page.wait_for_selector('#save-state[data-state="waiting"]')
    assert Label.objects.count() == 0
    page.unroute("**/labels/")
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    assert table.evidence() == [NINE]
    assert table.painted("evidence-0") == ["The shop 😀 opens at nine."]


def test_without_shortcuts_a_button_does_it(table: Table) -> None:
    table.page.keyboard.press("?")
    table.page.locator("#shortcuts").uncheck()
    table.page.keyboard.press("Escape")
    table.page.keyboard.press("e")
    assert table.page.locator("#evidence-cursor").is_hidden()
    table.page.get_by_role("button", name="Evidence").focus()
    for key in ("Enter", "ArrowDown", "Enter", "Escape"):
        table.page.keyboard.press(key)
    assert table.evidence() == [FIVE]
    assert table.page.evaluate("document.activeElement.id") == "evidence-start"


def test_by_touch(set_table: SetTable) -> None:
    table = set_table(contexts=[FIRST, SECOND], browser={"viewport": {"width": 320, "height": 640}, "has_touch": True})
    page = table.page
    page.locator("#contexts .text").first.scroll_into_view_if_needed()
    select(page, 0, 0, 8)
    page.locator("#attach").tap()
    assert table.evidence() == [(0, 0, 8, "The shop")]
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == 320


def test_without_highlights_of_the_browser_boxes_lie_over_the_words(table: Table) -> None:
    page = table.page
    page.add_init_script("delete window.Highlight")
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    for key in ("e", "Enter", "Escape"):
        page.keyboard.press(key)
    # Both in one look, and until they meet: the boxes are drawn anew after something moved.
    box, words = page.wait_for_function(
        """() => {
          const found = [".boxes .box-evidence-0", "#contexts .text"].map((one) => document.querySelector(one));
          if (!found.every(Boolean)) return false;
          const [box, words] = found.map((one) => one.getBoundingClientRect().toJSON());
          return Math.abs(box.x - words.x) < 2 && Math.abs(box.y - words.y) < 10 && [box, words];
        }"""
    ).json_value()
    assert 50 < box["width"] <= words["width"]
    page.get_by_role("button", name="Remove").click()
    page.wait_for_selector(".box-evidence-0", state="detached")


def test_in_a_long_context_the_cursor_begins_at_what_is_seen_and_stays_in_sight(set_table: SetTable) -> None:
    lines = "".join(f"Line {n} is one. Line {n} is two.\n" for n in range(3000))
    answer = "It opens at nine."
    table = set_table(contexts=[lines], answer=answer, claims=claims_in(answer, answer))
    page = table.page
    page.evaluate("document.getElementById('contexts-column').scrollTop = 20000")
    page.keyboard.press("e")
    number = int(said(page).split()[4])
    assert number > 100
    for _ in range(60):
        page.keyboard.press("ArrowDown")
    assert said(page) == f"Line {number + 30} is {said(page).split()[-1]}"
    page.wait_for_function(
        """() => {
          const [range] = CSS.highlights.get("cursor");
          const place = range.getBoundingClientRect();
          const column = document.getElementById("contexts-column").getBoundingClientRect();
          return place.top > column.top && place.bottom < column.bottom;
        }"""
    )
    page.keyboard.press("Enter")
    ((context, start, end, quote),) = table.evidence()
    assert (context, quote) == (0, lines[start:end])
    assert quote.startswith(f"Line {number + 30} ")


def test_the_cursor_goes_on_where_it_was_left_unless_one_reads_elsewhere(set_table: SetTable) -> None:
    lines = "".join(f"Line {n} is one.\n" for n in range(2000))
    table = set_table(contexts=[lines])
    page = table.page
    for key in ("e", "ArrowDown", "ArrowDown", "Escape", "n", "e"):
        page.keyboard.press(key)
    assert said(page) == "Context 1 – Line 2 is one."
    page.keyboard.press("Escape")
    page.evaluate("document.getElementById('contexts-column').scrollTop = 20000")
    page.keyboard.press("e")
    assert int(said(page).split()[4]) > 100
