"""An annotator's first visit: a practice sample in the real panel, of which nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from annotate.models import Label, User
from tests.browser.conftest import Desk, Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

PRACTICE = 'html[data-task-id="-1"]'
REAL = 'html[data-stage="task"]:not([data-task-id="-1"])'


@pytest.fixture
def newcomer(desk: Desk) -> User:
    desk.ana.preferences = {}
    desk.ana.save()
    return desk.ana


@pytest.fixture
def open_desk(newcomer: User, live_app: LiveApp, new_page: Callable[..., Page]) -> Callable[..., Page]:
    def make(until: str = PRACTICE, **options: object) -> Page:
        page = new_page(newcomer, **options)
        page.goto(f"{live_app.url}/p/desk/label/")
        page.wait_for_selector(until)
        return page

    return make


def _remembered(page: Page, act: Callable[[], object]) -> None:
    with page.expect_response(lambda reply: reply.url.endswith("/api/me/")) as reply:
        act()
    assert reply.value.ok


def test_three_steps_by_keyboard_with_known_answers_at_the_end(
    newcomer: User, open_desk: Callable[..., Page], live_app: LiveApp
) -> None:
    page = open_desk()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    step = page.locator("#introduction-steps [aria-current=step]")
    expect(step).to_contain_text("1. Read")
    expect(page.locator("#announce")).to_contain_text("Introduction")
    panel = page.locator("#decision").bounding_box()

    for key in ("e", "Enter", "Escape", "1"):
        page.keyboard.press(key)
    expect(step).to_contain_text("2. Choose")
    expect(page.locator(".step.has-evidence")).to_have_count(1)
    page.keyboard.press("1")
    expect(step).to_contain_text("3. Submit")
    page.keyboard.press("z")
    expect(step).to_contain_text("2. Choose")
    page.keyboard.press("1")
    assert page.locator("#decision").bounding_box() == panel

    page.keyboard.press("Enter")
    rows = page.locator("#feedback-rows li")
    expect(rows.nth(0)).to_contain_text("correct")
    expect(rows.nth(1)).to_contain_text("Contradicted")
    page.wait_for_selector("#feedback-dialog:not([data-unseen])")
    assert sent == []
    _remembered(page, lambda: page.keyboard.press("Escape"))

    page.wait_for_selector(REAL)
    expect(page.locator("#introduction")).to_be_hidden()
    assert not Label.objects.exists()
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-state="saved"]')
    assert Label.objects.get().task.annotator == newcomer
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector(REAL)


@pytest.mark.parametrize("way", ["Escape", "button"])
def test_skipped_it_is_not_shown_again(
    newcomer: User, open_desk: Callable[..., Page], live_app: LiveApp, way: str
) -> None:
    page = open_desk()
    page.keyboard.press("1")
    if way == "Escape":
        # In a dialog and in a field it leaves these.
        page.keyboard.press("s")
        page.keyboard.press("Escape")
        page.keyboard.press("c")
        page.keyboard.press("Escape")
        expect(page.locator("#introduction")).to_be_visible()
        _remembered(page, lambda: page.keyboard.press("Escape"))
    else:
        _remembered(page, page.get_by_role("button", name="Skip introduction").click)
    page.wait_for_selector(REAL)
    newcomer.refresh_from_db()
    assert newcomer.preferences == {"introduced": True}
    assert not Label.objects.exists()
    # What was chosen there is not undone here.
    page.keyboard.press("z")
    expect(page.locator("#hint")).to_have_text("Nothing to undo.")

    page.reload()
    page.wait_for_selector(REAL)
    page.get_by_role("button", name="Help", exact=True).click()
    page.get_by_role("link", name="Introduction to labelling").click()
    page.wait_for_selector(PRACTICE)
    page.keyboard.press("Escape")
    page.wait_for_selector(REAL)
    assert page.url == f"{live_app.url}/p/desk/label/"


def test_work_that_waits_in_the_browser_comes_first(open_desk: Callable[..., Page], newcomer: User) -> None:
    page = open_desk()
    # Before the connection is back: the page sends what waits at that very moment.
    page.route("**/labels/", lambda route: route.abort())
    page.context.set_offline(True)
    page.keyboard.press("Escape")
    page.wait_for_selector(REAL)
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-shown="waiting"]')
    page.context.set_offline(False)
    page.reload()
    page.wait_for_selector(REAL)
    expect(page.locator("#introduction")).to_be_hidden()
    newcomer.refresh_from_db()
    assert newcomer.preferences == {}


def test_nothing_of_it_is_in_the_page_of_those_who_have_labelled(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.ana)
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector(REAL)
    assert page.locator("#introduction").count() == 0
    assert "introduction" not in page.evaluate("JSON.parse(document.getElementById('workspace-data').textContent)")


GRADED = {
    "key": "help",
    "unit": "context",
    "scale": "ordinal",
    "prompt": "How much does this context help?",
    "options": [{"value": 0, "label": "Not at all"}, {"value": 1, "label": "Partly"}, {"value": 2, "label": "Fully"}],
    "pass": [2],
}


@pytest.mark.parametrize("view", ["one", "all"])
def test_key_1_is_the_best_option_and_each_says_what_it_means(set_table: Callable[..., Table], view: str) -> None:
    table = set_table(criteria=[GRADED], contexts=["It opens at nine."])
    if view == "all":
        table.page.keyboard.press("a")
    options = table.page.locator("#options .option" if view == "one" else "#form .option")
    expect(options.locator(".option-label")).to_have_text(["Fully", "Partly", "Not at all"])
    signs = options.evaluate_all("all => all.map(one => getComputedStyle(one, '::after').content[1])")
    assert signs == ["+", "−", "−"]
    table.page.keyboard.press("1")
    assert table.labels()["context:0"].value == 2
