"""Claims edited by keyboard alone in a real browser: split, merge, bounds, words, drop, undo; and conflicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from annotate.batches.steps import open_batch
from annotate.core.units import reading_order
from annotate.models import Batch, Project, Sample, User
from annotate.samples.claims_write import edit_claims
from tests.annotate.factories import make_batch

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

NewPage = Callable[..., "Page"]
ANSWER = "It opens at nine 😀 and closes at five. 周六不开门。The desk is on the left."


@pytest.fixture
def draft(project: Project, samples: list[Sample], ben: User) -> Batch:
    Sample.objects.filter(pk=samples[0].pk).update(
        answer=ANSWER,
        claims=[
            {"text": text, "start": ANSWER.find(text), "end": ANSWER.find(text) + len(text)}
            for text in ("It opens at nine 😀 and closes at five.", "周六不开门。", "The desk is on the left.")
        ],
    )
    return make_batch(project, [ben], name="Next", opened=False)


@pytest.fixture
def address(draft: Batch, samples: list[Sample]) -> str:
    return f"/p/help/samples/{samples[0].pk}/claims/"


def go(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("html[data-ready]").wait_for()


def expect_claims(page: Page, *texts: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#claims .text bdi")).to_have_text(list(texts))


def stored(sample: Sample) -> list[str]:
    sample.refresh_from_db()
    return [sample.claims[index]["text"] for index in reading_order(sample.claims)]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


FIRST, SECOND, THIRD = "It opens at nine 😀 and closes at five.", "周六不开门。", "The desk is on the left."


def test_a_sample_is_put_right_without_a_mouse(
    rita: User, samples: list[Sample], address: str, new_page: NewPage
) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    go(page, address)
    expect_claims(page, FIRST, SECOND, THIRD)

    # The cut begins in the middle, before "and", and goes from word to word.
    press(page, "s")
    expect(page.get_by_role("button", name="Split here")).to_be_visible()
    press(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    expect_claims(page, "It opens at nine 😀", "and closes at five.", SECOND, THIRD)

    press(page, "j", "e")
    page.keyboard.press("Control+a")
    page.keyboard.type("It closes at five; j d m are letters here.")
    press(page, "Enter")
    edited = "It closes at five; j d m are letters here."
    expect_claims(page, "It opens at nine 😀", SECOND, THIRD, edited)
    expect(page.locator("#claims .ce-claim").nth(3)).to_contain_text("Not a verbatim passage of the answer")

    press(page, "k", "m")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect_claims(page, "It opens at nine 😀", SECOND, f"{THIRD} {edited}")
    press(page, "z")
    expect_claims(page, "It opens at nine 😀", SECOND, THIRD, edited)
    press(page, "y")
    expect_claims(page, "It opens at nine 😀", SECOND, f"{THIRD} {edited}")
    press(page, "z", "z")
    expect_claims(page, "It opens at nine 😀", "and closes at five.", SECOND, THIRD)

    # Drops the second, then takes its passage in again: two words less at the beginning, one at the end.
    press(page, "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "d")
    expect_claims(page, "It opens at nine 😀", SECOND, THIRD)
    press(page, "a")
    expect(page.get_by_role("button", name="Use this passage")).to_be_visible()
    press(page, "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
    expect_claims(page, "It opens at nine 😀", "and closes at five.", SECOND, THIRD)

    press(page, "b", "ArrowLeft", "ArrowLeft", "Shift+ArrowRight", "Enter")
    expect_claims(page, "It opens at nine 😀", "closes", SECOND, THIRD)

    press(page, "d")
    expect_claims(page, "It opens at nine 😀", SECOND, THIRD)
    press(page, "r")
    expect(page.locator("#dropped button").first).to_be_focused()
    press(page, "Enter")
    expect_claims(page, "It opens at nine 😀", "closes", SECOND, THIRD)

    press(page, "a", "w")
    page.keyboard.type("There is one desk.")
    press(page, "Enter")
    expect_claims(page, "It opens at nine 😀", "closes", SECOND, THIRD, "There is one desk.")
    expect(page.locator("#save-text")).to_have_text("Saved")
    assert stored(samples[0]) == ["It opens at nine 😀", "closes", SECOND, THIRD, "There is one desk."]
    assert samples[0].answer == ANSWER


def test_what_is_selected_in_the_answer_becomes_a_claim(
    rita: User, samples: list[Sample], address: str, new_page: NewPage
) -> None:
    page = new_page(rita)
    go(page, address)
    select = """([from, to]) => {
      const text = [...document.querySelectorAll("#answer mark")];
      const range = document.createRange();
      range.setStart(text[0].firstChild, from);
      range.setEnd(text[0].firstChild, to);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }"""
    at = FIRST.encode("utf-16-le").find("and closes".encode("utf-16-le")) // 2
    page.evaluate(select, [at, at + len("and closes")])
    press(page, "a")
    expect_claims(page, FIRST, "and closes", SECOND, THIRD)
    sample = samples[0]
    assert "and closes" in stored(sample)
    assert sample.claims[3]["start"] == ANSWER.find("and closes")


def test_enter_checks_and_goes_on_to_the_end(
    rita: User, draft: Batch, samples: list[Sample], new_page: NewPage
) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    page.goto(f"/p/help/batches/{draft.number}/")
    page.get_by_role("link", name="Check claims").press("Enter")
    page.get_by_role("link", name="Start").press("Enter")
    for at in range(4):
        expect(page.get_by_text(f"Sample {at + 1} of 4, {at} checked")).to_be_visible()
        page.locator("html[data-ready]").wait_for()
        press(page, "Enter")
    expect(page.get_by_text("All claims of this batch are checked.")).to_be_visible()


def test_another_reviewer_was_faster(
    rita: User, alice: User, project: Project, samples: list[Sample], address: str, new_page: NewPage
) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    go(page, address)
    edit_claims(
        actor=alice, project=project, sample_id=samples[0].pk, change={"op": "drop", "claim": 2}, expected_revision=1
    )
    press(page, "d")
    expect(page.get_by_role("alert")).to_contain_text("Alice changed these claims.")
    expect_claims(page, FIRST, SECOND)
    press(page, "d")
    expect_claims(page, SECOND)
    assert stored(samples[0]) == [SECOND]


def test_words_stay_in_their_field_until_they_are_saved(
    rita: User, alice: User, project: Project, samples: list[Sample], address: str, new_page: NewPage
) -> None:
    """Refused, with no server, or about a claim that is gone: what was typed is there, and the reason beside it."""
    from playwright.sync_api import expect

    def meanwhile(change: dict[str, Any], revision: int) -> None:
        edit_claims(
            actor=alice, project=project, sample_id=samples[0].pk, change=change, expected_revision=revision
        )  # fmt: skip

    page = new_page(rita)
    go(page, address)
    field = page.get_by_label("Text of the claim")
    problem = page.locator("#claim-problem")
    press(page, "j", "j", "e", "Control+a", "Delete", "Enter")
    expect(problem).to_have_text("A claim needs at least one word.")

    page.keyboard.type("These are my words.")
    meanwhile({"op": "edit", "claim": 2, "text": "The desk is on the right."}, 1)
    press(page, "Enter")
    expect(problem).to_contain_text("Alice changed these claims.")
    expect(problem).to_contain_text("Current text: “The desk is on the right.”")
    expect(field).to_have_value("These are my words.")
    expect(field).to_be_focused()
    press(page, "Enter")
    expect_claims(page, FIRST, SECOND, "These are my words.")

    press(page, "e")
    page.keyboard.type(" And more.")
    page.route("**/api/**", lambda route: route.abort())
    press(page, "Enter", "Escape")
    expect(page.locator("#save-state")).to_contain_text("Not saved yet")
    expect(field).to_have_value("These are my words. And more.")
    expect(field).not_to_be_editable()
    page.unroute("**/api/**")
    meanwhile({"op": "drop", "claim": 2}, 3)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(problem).to_contain_text("Alice changed these claims.")
    expect(field).to_have_value("These are my words. And more.")
    press(page, "Enter")
    expect_claims(page, FIRST, SECOND, "These are my words. And more.")


def test_a_batch_that_was_opened_meanwhile_ends_the_editing(
    rita: User, draft: Batch, samples: list[Sample], address: str, new_page: NewPage
) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    go(page, address)
    open_batch(batch=draft)
    press(page, "d")
    expect(page.get_by_role("alert")).to_contain_text("A batch uses these claims")
    expect(page.locator("#fixed")).to_be_visible()
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    assert len(stored(samples[0])) == 3


def test_a_change_waits_for_the_server_and_is_made_once(
    rita: User, samples: list[Sample], address: str, new_page: NewPage
) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    go(page, address)
    lost: list[str] = []

    def lose_the_reply(route: Route) -> None:
        lost.append(route.request.post_data or "")
        if len(lost) == 1:
            route.fetch()
        route.abort()

    page.route("**/api/**", lose_the_reply)
    press(page, "d", "d")
    expect(page.locator("#save-state")).to_contain_text("Not saved yet: the server can’t be reached")
    page.unroute("**/api/**")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect_claims(page, THIRD)
    expect(page.locator("#save-text")).to_have_text("Saved")
    samples[0].refresh_from_db()
    assert samples[0].claims_revision == 3, "two changes, though one was sent more than once"


def test_with_a_pointer(rita: User, samples: list[Sample], address: str, new_page: NewPage) -> None:
    from playwright.sync_api import expect

    page = new_page(rita, viewport={"width": 320, "height": 700})
    go(page, address)
    page.locator("#answer mark").nth(1).hover()
    expect(page.locator("#claims .ce-claim").nth(1)).to_have_class("ce-claim linked")
    page.locator("#answer mark").nth(0).click()
    page.get_by_role("button", name="Split", exact=True).click()
    page.get_by_text("closes").locator("visible=true").last.click()
    page.get_by_role("button", name="Split here").click()
    expect_claims(page, "It opens at nine 😀 and", "closes at five.", SECOND, THIRD)
    page.get_by_role("button", name="Undo").click()
    expect_claims(page, FIRST, SECOND, THIRD)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_without_javascript_it_says_so(rita: User, address: str, new_page: NewPage) -> None:
    from playwright.sync_api import expect

    page = new_page(rita, java_script_enabled=False)
    page.goto(address)
    # Playwright's own words for elements leave out what stands in <noscript>.
    expect(page.locator("noscript p")).to_contain_text("Editing claims requires JavaScript")
    page.locator("noscript a").click()
    expect(page.get_by_role("link", name="Edit the claims")).to_be_visible()
