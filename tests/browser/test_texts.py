"""Reading in the workspace: citations, search in the contexts, invisible characters, right-to-left text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import RELEVANCE, SUPPORT, Table, claims_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

SetTable = Callable[..., Table]

CITED = "It opens at nine [1]. 😀 It closes at five [2, 7]. All of it [1-2]."
HOURS = "The Cafe\u0301 opens at nine.\nＣＡＦÉ again, and café once more."
WEEK = "营业时间：九点。"
LONG = "".join(f"Line {n} says little.\n" for n in range(4000))


@pytest.fixture
def cited(set_table: SetTable) -> Table:
    claims = claims_in(CITED, "It opens at nine [1].", "It closes at five [2")
    return set_table(answer=CITED, claims=claims, contexts=[LONG, WEEK])


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


# --- citations ---


def test_a_citation_leads_to_its_context_and_not_to_the_claim_around_it(cited: Table) -> None:
    page = cited.page
    page.keyboard.press("n")
    page.get_by_role("link", name="2 cites context 2", exact=True).click()
    assert page.locator("#context-2").get_attribute("class") == "context cited"
    assert focused(page) == "context-2"
    assert page.evaluate("document.getElementById('contexts-column').scrollTop") > 10_000
    assert page.locator("#unit-name").inner_text().startswith("Claim 2")
    page.wait_for_selector("#context-2:not(.cited)")
    # By keyboard, and the keys of the workspace go on.
    page.get_by_role("link", name="[1] cites context 1", exact=True).focus()
    page.keyboard.press("Enter")
    assert focused(page) == "context-1"
    assert page.evaluate("document.documentElement.dataset.stage") == "task"
    page.keyboard.press("1")
    assert cited.labels()["claim:1"].value == "supported"


def test_a_range_shows_all_it_cites(cited: Table) -> None:
    cited.page.get_by_role("link", name="[1-2] cites contexts 1 to 2").click()
    assert cited.page.locator(".context.cited").count() == 2


def test_a_citation_of_no_context_says_so_and_leads_nowhere(cited: Table) -> None:
    page = cited.page
    broken = page.get_by_role("link", name="7 cites context 7, but there are only 2")
    assert broken.get_attribute("aria-disabled") == "true"
    assert broken.get_attribute("href") is None
    # Not by colour alone.
    assert "?" in broken.evaluate("(link) => getComputedStyle(link, '::after').content")
    broken.click(force=True)
    assert page.locator("#announce").inner_text() == "7 cites context 7, but there are only 2"
    broken.focus()
    page.keyboard.press("Enter")
    assert page.locator(".cited").count() == 0
    assert page.locator("#complete").inner_text() == "Unanswered: 4"  # and not an attempt to submit


def test_claims_and_citations_overlap_and_the_answer_stays_what_it_is(cited: Table) -> None:
    page = cited.page
    assert page.evaluate("document.getElementById('answer').textContent") == CITED
    marked = (
        "(unit) => [...document.querySelectorAll(`#answer [data-units~='${unit}']`)].map((m) => m.textContent).join('')"
    )
    assert page.evaluate(marked, "claim:0") == "It opens at nine [1]."
    assert page.evaluate(marked, "claim:1") == "It closes at five [2"
    assert page.locator("#answer mark .cite").all_inner_texts() == ["[1]", "2"]


# --- search ---


@pytest.fixture
def searched(set_table: SetTable) -> Table:
    return set_table(contexts=[HOURS, WEEK, "Nothing of the kind."])


def count(page: Page) -> str:
    return page.locator("#search-count").inner_text()


def test_search_finds_what_is_written_alike_and_goes_round(searched: Table) -> None:
    page = searched.page
    page.locator("#submit").focus()
    page.keyboard.press("/")
    page.keyboard.type("cafe")
    assert count(page) == "1 of 3"
    assert searched.painted("search") == ["Cafe\u0301", "ＣＡＦÉ", "café"]
    assert searched.painted("search-current") == ["Cafe\u0301"]
    for key, shown in (
        ("Enter", "2 of 3"),
        ("F3", "3 of 3"),
        ("Enter", "1 of 3"),
        ("Shift+Enter", "3 of 3"),
        ("Shift+F3", "2 of 3"),
    ):
        page.keyboard.press(key)
        assert count(page) == shown
    assert searched.painted("search-current") == ["ＣＡＦÉ"]
    page.keyboard.press("Escape")
    assert page.locator("#search").is_hidden()
    assert focused(page) == "submit"
    assert searched.painted("search") == searched.painted("search-current") == []
    assert searched.labels() == {}


def test_a_search_without_a_hit_says_so(searched: Table) -> None:
    searched.page.keyboard.press("/")
    searched.page.keyboard.type("九点")
    assert count(searched.page) == "1 of 1"
    searched.page.keyboard.type("半")
    assert count(searched.page) == "No matches"
    assert searched.page.locator("#search-count").get_attribute("role") == "status"
    assert searched.painted("search") == []


def test_keys_in_the_search_field_are_letters_only(searched: Table) -> None:
    searched.page.keyboard.press("/")
    searched.page.keyboard.type("1evs?")
    assert searched.page.locator("#search-words").input_value() == "1evs?"
    assert searched.labels() == {}


def test_what_was_searched_is_where_the_evidence_cursor_begins(searched: Table) -> None:
    page = searched.page
    page.keyboard.press("/")
    page.keyboard.type("once")
    for key in ("Escape", "e", "Enter", "Escape"):
        page.keyboard.press(key)
    start = HOURS.index("Ｃ")
    assert searched.evidence() == [(0, start, len(HOURS), HOURS[start:])]


def test_in_a_long_context_all_hits_are_counted_and_those_near_are_coloured(set_table: SetTable) -> None:
    table = set_table(contexts=[LONG, WEEK])
    page = table.page
    page.keyboard.press("/")
    page.keyboard.type("LITTLE")
    assert count(page) == "1 of 4000"
    assert 20 < len(table.painted("search")) < 2000
    page.keyboard.press("Shift+Enter")
    assert count(page) == "4000 of 4000"
    page.wait_for_function(
        """() => {
          const [range] = CSS.highlights.get("search-current");
          const place = range.getBoundingClientRect();
          const column = document.getElementById("contexts-column").getBoundingClientRect();
          return place.top > column.top && place.bottom < column.bottom;
        }"""
    )
    # Scrolled elsewhere, the hits there are coloured.
    page.evaluate("document.getElementById('contexts-column').scrollTop = 30000")
    page.wait_for_function(
        """() => [...(CSS.highlights.get("search") ?? [])].some((range) => {
          const place = range.getBoundingClientRect();
          return place.top > 100 && place.bottom < innerHeight;
        })"""
    )


def test_another_sample_closes_the_search(set_table: SetTable) -> None:
    from annotate.models import Task
    from tests.annotate.factories import make_batch, make_sample

    table = set_table(contexts=[HOURS])
    project = table.sample.project
    make_sample(project, 2, contexts=[{"id": None, "text": "Other words.", "score": None}])
    make_batch(project, [table.ana], name="Second")
    assert Task.objects.count() > 1
    page = table.page
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    page.keyboard.press("/")
    page.keyboard.type("cafe")
    page.locator("#unit-name").click()
    task = page.evaluate("document.documentElement.dataset.taskId")
    for key in ("1", "1", "1", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("(task) => document.documentElement.dataset.taskId !== task", arg=task)
    assert page.locator("#search").is_hidden()
    assert table.painted("search") == []


# --- invisible characters ---


UNSEEN = "Pay\u200b now\u00a0to \u202eevil\u202c. Then rest."


@pytest.fixture
def tricky(set_table: SetTable) -> Table:
    answer = "It\u200b opens."
    return set_table(contexts=[UNSEEN], answer=answer, claims=claims_in(answer, answer))


def names(page: Page, where: str) -> list[str]:
    return page.locator(f"{where} .unseen").evaluate_all("(marks) => marks.map((mark) => mark.dataset.name)")


def test_a_hint_names_what_deceives_and_a_key_shows_it(tricky: Table) -> None:
    page = tricky.page
    assert page.locator("#unseen-names").inner_text() == "ZWSP ×2, RLO, PDF"
    assert names(page, "#work") == []
    with page.expect_response("**/api/me/"):
        page.keyboard.press("v")
    assert names(page, "#contexts") == ["ZWSP", "NBSP", "RLO", "PDF"]
    assert names(page, "#answer") == names(page, "#unit-text") == ["ZWSP"]
    drawn = page.locator("#contexts .unseen").first.evaluate("(mark) => getComputedStyle(mark, '::before').content")
    assert drawn in ("attr(data-name)", '"ZWSP"')
    # Copied, the text is what it was.
    assert page.evaluate("document.querySelector('#contexts .text').textContent") == UNSEEN
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#contexts .text'))")
    assert "ZWSP" not in page.evaluate("getSelection().toString()")
    page.evaluate("getSelection().removeAllRanges()")
    # Remembered by the browser.
    page.reload()
    page.wait_for_selector("#contexts .unseen")
    assert page.locator("#show-unseen").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Show invisible characters").click()
    assert names(page, "#work") == []
    assert page.evaluate("document.querySelector('#contexts .piece').childNodes.length") == 1


def test_offsets_are_right_while_marks_are_shown(tricky: Table) -> None:
    page = tricky.page
    page.keyboard.press("v")
    page.evaluate(
        """() => {
          const words = document.querySelector("#contexts .piece").childNodes;
          getSelection().setBaseAndExtent(words[2], 1, words[6], 4);
        }"""
    )
    page.keyboard.press("e")
    start, end = UNSEEN.index("now"), UNSEEN.index("evil") + 4
    assert tricky.evidence() == [(0, start, end, UNSEEN[start:end])]
    assert tricky.painted("evidence-0") == [UNSEEN[start:end]]
    page.keyboard.press("v")
    assert tricky.painted("evidence-0") == [UNSEEN[start:end]]


def test_a_sample_that_hides_nothing_has_no_hint(searched: Table) -> None:
    assert searched.page.locator("#unseen-hint").is_hidden()


# --- right to left ---


HEBREW = "המחיר הוא 30 יורו [1]. 5 ימים למשלוח."
ARABIC = "السعر 30 يورو فقط.\nShipping is free."


@pytest.fixture
def rtl(set_table: SetTable) -> Table:
    claims = claims_in(HEBREW, "המחיר הוא 30 יורו [1].", "5 ימים למשלוח.")
    return set_table(
        question="מה המחיר של Premium?", answer=HEBREW, claims=claims, contexts=[ARABIC, "The price is 30."]
    )


LEFT = """([selector, start, end]) => {
  const nodes = [...document.querySelectorAll(selector)].flatMap((root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    return found;
  });
  const at = (offset) => {
    for (const node of nodes) {
      if (offset < node.length) return [node, offset];
      offset -= node.length;
    }
  };
  const range = new Range();
  range.setStart(...at(start));
  range.setEnd(...at(end - 1));
  return Math.min(...Array.from(range.getClientRects(), (place) => place.left));
}"""


def test_right_to_left_text_begins_at_the_right_also_where_claims_cut_it(rtl: Table) -> None:
    page = rtl.page

    def left(selector: str, start: int, end: int) -> float:
        return float(page.evaluate(LEFT, [selector, start, end]))

    # The first word stands right of the second one, the first claim right of the second one.
    assert left("#answer", 0, 5) > left("#answer", 6, 9)
    second = HEBREW.index("5 ימים")
    assert left("#answer", 0, 5) > left("#answer", second + 2, second + 6)
    assert left("#question", 0, 2) > left("#question", 3, 8)
    assert left("#unit-text", 0, 5) > left("#unit-text", 6, 9)
    # Each paragraph in its own direction.
    assert left("#contexts .text", 0, 5) > left("#contexts .text", 8, 12)
    line = ARABIC.index("Shipping")
    assert left("#contexts .text", line, line + 8) < left("#contexts .text", line + 9, line + 11)
    # A claim that begins with a figure: its number is not part of that figure, and stands before it, at the right.
    places = page.evaluate(
        """() => {
          const claim = document.querySelector("#answer [data-units='claim:1']");
          const whole = claim.getBoundingClientRect();
          const range = new Range();
          range.setStart(claim.firstChild, 0);
          range.setEnd(claim.firstChild, 1);
          return [whole.right, range.getBoundingClientRect().right];
        }"""
    )
    assert places[0] - places[1] > 10


def test_right_to_left_evidence_is_stored_by_code_points(rtl: Table) -> None:
    for key in ("e", "Enter", "Escape"):
        rtl.page.keyboard.press(key)
    assert rtl.evidence() == [(0, 0, 18, "السعر 30 يورو فقط.")]


# --- help ---


def test_the_list_of_keys_has_them_all(searched: Table) -> None:
    searched.page.keyboard.press("?")
    keys = searched.page.locator("#help-dialog kbd").all_inner_texts()
    assert {"e", "v", "/"} <= set(keys)


# --- what scrolls when another question is in hand ---

PARAGRAPH = "It opens at nine and closes at five, on every day but Sunday. " * 6
FACT = {
    "key": "fact_in_answer",
    "unit": "fact",
    "scale": "nominal",
    "prompt": "Is it in the answer?",
    "options": [{"value": "yes"}, {"value": "no"}],
    "pass": ["yes"],
}
RELEVANCY = {**FACT, "key": "relevancy", "unit": "answer", "prompt": "Does it answer the question?"}
SMALL = {"viewport": {"width": 800, "height": 600}}


def top(page: Page) -> float:
    """How far the texts are scrolled, once they stay where they are."""
    script = """() => new Promise((done) => {
      const texts = document.querySelector(".ws-texts");
      let last = -1, still = 0;
      const look = () => {
        still = texts.scrollTop === last ? still + 1 : 0;
        last = texts.scrollTop;
        if (still > 12) done(last);
        else requestAnimationFrame(look);
      };
      look();
    })"""
    return float(page.evaluate(script))


def is_in_sight(page: Page, selector: str) -> bool:
    script = """(selector) => {
      const view = document.querySelector(".ws-texts").getBoundingClientRect();
      const place = document.querySelector(selector).getBoundingClientRect();
      return place.top >= view.top && place.bottom <= view.bottom;
    }"""
    return bool(page.evaluate(script, selector))


def test_what_is_asked_about_comes_into_sight_and_nothing_scrolls_without_need(set_table: SetTable) -> None:
    answer = "It opens at nine. It closes at five."
    table = set_table(
        criteria=(SUPPORT, RELEVANCE, FACT, RELEVANCY),
        browser=SMALL,
        answer=answer,
        claims=claims_in(answer, "It opens at nine.", "It closes at five."),
        contexts=[PARAGRAPH, PARAGRAPH, PARAGRAPH],
        key_facts=["It opens at nine."],
    )
    page = table.page
    page.keyboard.press("PageDown")
    reading = top(page)
    assert reading > 0
    # The next claim stands beside its question: the contexts that it is compared with stay.
    page.keyboard.press("1")
    assert page.locator("#unit-name").inner_text().startswith("Claim 2")
    assert top(page) == reading
    for number in (1, 2, 3):
        page.keyboard.press("1")
        assert page.locator("#unit-name").inner_text().startswith(f"Context {number}")
        before, now = reading, top(page)
        reading = now
        assert is_in_sight(page, f"#context-{number}")
        # No further than it has to.
        assert number == 1 or 0 < now - before < 600
    page.keyboard.press("1")
    assert page.locator("#unit-name").inner_text().startswith("Key fact 1")
    top(page)
    assert is_in_sight(page, "#facts .current")
    assert is_in_sight(page, "#answer")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert top(page) > 0
    page.keyboard.press("1")
    assert page.locator("#unit-name").inner_text().startswith("Answer")
    top(page)
    assert is_in_sight(page, "#answer")
    assert is_in_sight(page, "#question")


def test_two_answers_without_contexts_stand_side_by_side(set_table: Callable[..., Table]) -> None:
    """With citations that point nowhere here; decided and submitted by keyboard, however much is pressed besides."""
    table = set_table(
        criteria=("preference",),
        answer="At nine [1]. At noon.",
        answer_b="It never opens [2].",
        contexts=[],
        claims=[],
        browser={"viewport": {"width": 1280, "height": 800}},
    )
    page = table.page
    first, second = (page.locator(at).bounding_box() for at in ("#answer", "#answer-b"))
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] < second["x"]
    assert not page.locator("#contexts-column").is_visible()
    assert page.locator(".cite").count() == 0
    for key in ("/", "v", "v", "Space", "3"):
        page.keyboard.press(key)
    assert {unit: label.value for unit, label in table.labels().items()} == {"sample": "B"}
    page.set_viewport_size({"width": 390, "height": 800})
    first, second = (page.locator(at).bounding_box() for at in ("#answer", "#answer-b"))
    assert first is not None
    assert second is not None
    assert first["y"] + first["height"] < second["y"]
