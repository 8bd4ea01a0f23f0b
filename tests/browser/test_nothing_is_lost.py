"""Two tabs, no network, an expired session, a dead server: can't tell, comments and evidence arrive all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.contrib.sessions.models import Session
from django.core.cache import cache

from annotate.models import Label, LabelEvent, Membership, Task
from tests.annotate.factories import make_batch, make_sample
from tests.browser.conftest import Desk, wait_for_next_task
from tests.browser.test_deciding import SAVED, open_workspace, press, said, task_of, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Page, Route

    from tests.processes import LiveApp

UNSURE = (None, "Not enough information in the contexts")


def come_back(page: Page) -> None:
    page.evaluate("window.dispatchEvent(new Event('online'))")
    page.wait_for_selector(SAVED, timeout=30_000)


def test_two_tabs_disagree_about_cant_tell(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    pages = [open_workspace(new_page(desk.ana), live_app) for _ in range(2)]
    press(pages[0], "1")
    wait_saved(pages[0])
    press(pages[1], "x", "1")
    dialog = pages[1].locator("#conflict-dialog[open]")
    dialog.wait_for()
    assert "Can’t tell: Not enough information in the contexts" in dialog.inner_text()
    assert "Supported" in dialog.inner_text()
    assert Label.objects.get().value == "supported"
    dialog.get_by_role("button", name="Use the other version").click()
    wait_saved(pages[1])
    assert Label.objects.get().value == "supported"
    assert "Supported" in pages[1].locator("#steps").inner_text()
    # Undo has nothing to do with what was said elsewhere.
    press(pages[1], "z")
    assert "Nothing to undo" in pages[1].locator("#hint").inner_text()
    assert LabelEvent.objects.count() == 1


def test_two_tabs_that_say_the_same_do_not_disagree(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    pages = [open_workspace(new_page(desk.ana), live_app) for _ in range(2)]
    for page in pages:
        press(page, "x", "1")
        wait_saved(page)
        assert page.locator("#conflict-dialog[open]").count() == 0
    assert said(task_of(pages[0])) == {"claim:0": UNSURE}


def test_no_network(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    task = task_of(page)
    page.context.set_offline(True)
    press(page, "x", "1", "2", "c")
    page.keyboard.type("Written without a network.")
    press(page, "Escape", "z", "y")
    page.wait_for_selector('#save-state[data-shown="waiting"]')
    assert "stored in this browser" in page.locator("#save-text").inner_text()
    press(page, "Enter")
    wait_for_next_task(page, task)
    assert Label.objects.count() == 0
    page.context.set_offline(False)
    come_back(page)
    assert said(task) == {"claim:0": UNSURE, "claim:1": ("contradicted", "")}
    assert Label.objects.get(task_id=task, unit="claim:1").comment == "Written without a network."
    assert Task.objects.get(pk=task).status == "submitted"


def test_an_expired_session(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    task = task_of(page)
    press(page, "1")
    wait_saved(page)
    Session.objects.all().delete()
    cache.clear()
    press(page, "x", "3", "Enter")
    page.wait_for_selector('#save-state[data-state="logged-out"]')
    press(page, "x", "2")  # in the next task, without waiting
    page.click("#log-in")
    page.fill("input[name=username]", "ana")
    page.fill("input[name=password]", "ana-long-password")
    page.keyboard.press("Enter")
    wait_saved(page)
    assert said(task)["claim:1"] == (None, "Needs another expert")
    assert Task.objects.get(pk=task).status == "submitted"
    assert Label.objects.exclude(task_id=task).get().cant_tell == "The question or this passage is unclear"


def test_a_dead_server(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    """Ana's page stays open until the server is back; Ben closes his, and opens it again."""
    pages = [open_workspace(new_page(user), live_app) for user in (desk.ana, desk.ben)]
    tasks = [task_of(page) for page in pages]
    _stays, closed = pages
    live_app.kill()
    for page in pages:
        press(page, "x", "1", "x", "4")
        page.wait_for_selector('#save-state[data-state="waiting"]')
    closed.goto("about:blank")
    live_app.start()
    open_workspace(closed, live_app)
    for page, task in zip(pages, tasks, strict=True):
        come_back(page)
        assert said(task) == {"claim:0": UNSURE, "claim:1": (None, "Text is broken or missing")}
        assert page.locator("#steps").inner_text().count("Can’t tell") == 2
    assert LabelEvent.objects.count() == 4


def test_a_membership_that_ends(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    """No waiting for a server that will never answer otherwise: it is said, and what was chosen stays until one may."""
    page = open_workspace(new_page(desk.ana), live_app)
    task = task_of(page)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    mine = Membership.objects.filter(project=desk.project, user=desk.ana)
    mine.update(is_active=False)
    press(page, "1")
    box = page.locator('[data-stage-box="ended"]')
    box.wait_for()
    assert "You are no longer a member of this project." in box.inner_text()
    page.wait_for_selector('#save-state[data-shown="ended"]')
    assert "stored in this browser" in page.locator("#save-text").inner_text()
    assert page.locator("#work").is_hidden()
    # The keyboard's next stop is the button, and keys choose nothing that is out of sight.
    press(page, "2")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "ended-again"
    with (
        page.expect_response(lambda reply: reply.url.endswith("/labels/")),
        page.expect_response(lambda reply: reply.url.endswith("/work/")),
    ):
        box.get_by_role("button", name="Try again").click()
    mine.update(is_active=True)
    before = len(sent)
    box.get_by_role("button", name="Try again").click()
    wait_saved(page)
    assert page.locator("#work").is_visible()
    assert said(task) == {"claim:0": ("supported", "")}
    # Once when it was chosen, and once each time that it was asked for.
    assert (before, len(sent)) == (2, 3)


def test_what_quick_hands_choose_meanwhile_goes_with_the_submission(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    task = task_of(page)
    sent: list[str] = []
    held: list[Route] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url.rpartition('/api/')[2]}"))
    # The first choice is on its way until all others are made.
    page.route("**/labels/", lambda route: held.append(route))  # noqa: PLW0108 - Playwright takes no method of a list
    press(page, "1", "2", "Enter")
    wait_for_next_task(page, task)
    assert Label.objects.count() == 0
    held.pop().continue_()
    wait_saved(page)
    assert said(task) == {"claim:0": ("supported", ""), "claim:1": ("contradicted", "")}
    assert Task.objects.get(pk=task).status == "submitted"
    assert [one for one in sent if one.startswith(("PUT", "POST")) and f"tasks/{task}/" in one] == [
        f"PUT tasks/{task}/labels/",
        f"POST tasks/{task}/submit/",
    ]
    assert LabelEvent.objects.count() == 2


def test_a_task_that_was_finished_does_not_come_back(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    """The server gives the same task twice, once with the reply to a submission, and is slow with the other reply."""
    for number in range(3, 6):
        make_sample(desk.project, number)
    batch = make_batch(desk.project, [desk.ana], name="Second")
    page = new_page(desk.ana)
    page.goto(f"{live_app.url}/p/desk/label/?batch={batch.number}")
    page.wait_for_selector("#work:not([hidden])")
    shown = [task_of(page)]
    late: list[tuple[Route, APIResponse]] = []

    def finish_one() -> None:
        press(page, "1", "2", "Enter")
        wait_for_next_task(page, shown[-1])
        shown.append(task_of(page))

    submissions: list[Route] = []
    page.route("**/submit/", lambda route: submissions.append(route))  # noqa: PLW0108 - Playwright takes no method of a list
    with page.expect_request("**/submit/"):
        finish_one()
    press(page, "1", "2", "Enter")  # nothing is held, so the page waits for what comes with the reply
    page.wait_for_selector('html[data-stage="loading"]')
    page.route("**/work/", lambda route: late.append((route, route.fetch())), times=1)
    page.unroute("**/submit/")
    with page.expect_request("**/work/"):
        submissions.pop().continue_()
    wait_for_next_task(page, shown[-1])
    shown.append(task_of(page))
    for _ in range(3):  # up to the last one
        finish_one()
        wait_saved(page)
    (route, reply) = late.pop()
    given = str(reply.json()["task"]["id"])
    assert given in shown[:-1]
    with page.expect_response("**/work/"):
        route.fulfill(response=reply)
    while page.get_attribute("html", "data-stage") == "task":
        finish_one()
    wait_saved(page)
    assert len(set(shown)) == len(shown)
