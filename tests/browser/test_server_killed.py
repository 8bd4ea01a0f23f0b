"""The web process dies in the middle of labelling: every choice that was shown as made is there afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import Label, LabelEvent, Task
from tests.browser.conftest import Desk, wait_for_next_task

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp


def test_choices_made_while_the_server_is_away_are_sent_when_it_is_back(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.ana)
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector("#work:not([hidden])")
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-state="saved"]')
    first_task = page.evaluate("document.documentElement.dataset.taskId")

    live_app.kill()
    page.keyboard.press("2")
    page.wait_for_selector('#save-state[data-state="waiting"]')
    # The task is complete and the next one was prefetched: work goes on without the server.
    page.keyboard.press("Enter")
    wait_for_next_task(page, first_task)
    page.keyboard.press("3")
    assert Label.objects.count() == 1

    live_app.start()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    page.wait_for_selector('#save-state[data-state="saved"]', timeout=30_000)

    values = dict(Label.objects.filter(task_id=first_task).values_list("unit", "value"))
    assert values == {"claim:0": "supported", "claim:1": "contradicted"}
    assert Task.objects.get(pk=first_task).status == "submitted"
    assert Label.objects.exclude(task_id=first_task).get().value == "not in context"
    assert LabelEvent.objects.count() == 3


def test_choices_survive_a_closed_page_and_an_expired_session(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    from django.contrib.sessions.models import Session
    from django.core.cache import cache

    page = new_page(desk.ana)
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector("#work:not([hidden])")
    Session.objects.all().delete()
    cache.clear()
    page.keyboard.press("2")
    page.wait_for_selector('#save-state[data-state="logged-out"]')
    assert Label.objects.count() == 0

    page.click("#log-in")
    page.fill("input[name=username]", "ana")
    page.fill("input[name=password]", "ana-long-password")
    page.keyboard.press("Enter")
    page.wait_for_selector('#save-state[data-state="saved"]')
    assert Label.objects.get().value == "contradicted"
    # And one is where one was: the choice is shown, the next open unit is in hand.
    assert page.locator('[data-unit="claim:1"][aria-current]').count() >= 1


def test_another_machine_continues_where_one_was(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    here = new_page(desk.ana)
    here.goto(f"{live_app.url}/p/desk/label/")
    here.wait_for_selector("#work:not([hidden])")
    here.keyboard.press("1")
    here.wait_for_selector('#save-state[data-state="saved"]')

    there = new_page(desk.ana)
    there.goto(f"{live_app.url}/p/desk/label/")
    there.wait_for_selector("#work:not([hidden])")
    assert there.evaluate("document.documentElement.dataset.taskId") == here.evaluate(
        "document.documentElement.dataset.taskId"
    )
    assert there.locator('[data-unit="claim:1"][aria-current]').count() >= 1


def test_two_windows_on_one_label_end_in_a_choice_and_not_in_an_overwrite(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    pages = [new_page(desk.ana), new_page(desk.ana)]
    for page in pages:
        page.goto(f"{live_app.url}/p/desk/label/")
        page.wait_for_selector("#work:not([hidden])")
    pages[0].keyboard.press("1")
    pages[0].wait_for_selector('#save-state[data-state="saved"]')
    pages[1].keyboard.press("2")
    dialog = pages[1].locator("#conflict-dialog[open]")
    dialog.wait_for()
    assert "Contradicted" in dialog.inner_text()
    assert "Supported" in dialog.inner_text()
    assert Label.objects.get().value == "supported"

    # It came unasked: no button has the focus until one goes there.
    pages[1].wait_for_selector("#conflict-dialog:not([data-unseen])")
    pages[1].keyboard.press("Enter")
    assert dialog.is_visible()
    pages[1].keyboard.press("Tab")
    pages[1].keyboard.press("Enter")
    pages[1].wait_for_selector('#save-state[data-state="saved"]')
    assert Label.objects.get().value == "contradicted"
    assert Label.objects.get().revision == 2
