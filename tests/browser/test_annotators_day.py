"""An annotator's day in a real browser, by keyboard only: from logging in to logging out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.batches.steps import start_adjudication
from annotate.models import Flag, Label, Task, Verdict
from tests.annotate.factories import decide_unit, finish, make_batch, make_sample
from tests.browser.conftest import Desk, wait_for_next_task
from tests.browser.test_admin_day import press, tab_to
from tests.browser.test_deciding import task_of, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

REASON = "The context says six."


def test_the_annotators_day_by_keyboard(desk: Desk, new_page: Callable[..., Page]) -> None:
    _a_reviewer_decided_otherwise(desk)
    page = new_page()
    _log_in(page)
    first = _label(page)
    second = _skip(page)
    third = _take_back(page)
    _learn(page)
    _look_at_own_work(page)
    _log_out(page)

    said = {label.unit: label for label in Label.objects.filter(task_id=first)}
    assert {unit: (label.value, label.cant_tell) for unit, label in said.items()} == {
        "claim:0": ("supported", ""),
        "claim:1": (None, "Not enough information in the contexts"),
    }
    assert said["claim:0"].comment == "Said in so many words."
    assert len(said["claim:0"].evidence) == 1
    assert Flag.objects.get().task_id == int(first)
    assert Task.objects.get(pk=second).skip_reason == "Outside my expertise"
    assert Label.objects.get(task_id=third, unit="claim:0").value == "not in context"
    statuses = dict(desk.batch.tasks.filter(annotator=desk.ana).values_list("pk", "status"))
    assert statuses == {int(first): "submitted", int(second): "skipped", int(third): "submitted"}


def _a_reviewer_decided_otherwise(desk: Desk) -> None:
    """In an earlier batch, whose labelling has ended."""
    make_sample(desk.project, 9, question="When does it close?")
    earlier = make_batch(desk.project, [desk.ana, desk.ben], name="Earlier", samples=["s9"])
    for task, value in zip(earlier.tasks.order_by("annotator_id"), ("supported", "contradicted"), strict=True):
        finish(task, support=value)
    start_adjudication(batch=earlier)
    verdict = Verdict.objects.get(sample__external_id="s9", unit="claim:1")
    decide_unit(desk.remy, verdict, "contradicted", REASON)


def _log_in(page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("[name=username]:focus")
    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.type("ana-long-password")
    page.keyboard.press("Enter")
    page.wait_for_selector("a[href$='/p/desk/label/']")
    press(page, "main a[href$='/p/desk/label/']")
    page.wait_for_selector("#work:not([hidden])")


def _announced(page: Page, words: str) -> None:
    page.wait_for_function("words => document.getElementById('announce').textContent.includes(words)", arg=words)


def _label(page: Page) -> str:
    task = task_of(page)
    keys = page.keyboard
    keys.press("e")
    page.wait_for_selector("#evidence-cursor:focus")
    keys.press("Enter")
    keys.press("Escape")
    keys.press("c")
    keys.type("Said in so many words.")
    keys.press("Escape")
    keys.press("1")
    _announced(page, "Supported. Claim 2 of 2: It closes at five. Do the contexts support this claim?")
    keys.press("2")
    _announced(page, "Contradicted. All answered.")
    keys.press("z")
    page.wait_for_selector("#hint:has-text('Undone')")
    keys.press("x")
    page.wait_for_selector("#cant-tell-dialog[open]")
    keys.press("1")
    keys.press("f")
    page.wait_for_selector("#flag-dialog[open]")
    keys.press("1")
    page.wait_for_selector("#hint:has-text('Flag sent to the admin.')")
    keys.press("Enter")
    wait_for_next_task(page, task)
    _announced(page, "Next sample. Question")
    return task


def _skip(page: Page) -> str:
    task = task_of(page)
    page.keyboard.press("s")
    page.wait_for_selector("#skip-dialog[open]")
    page.keyboard.press("1")
    wait_for_next_task(page, task)
    return task


def _take_back(page: Page) -> str:
    task = task_of(page)
    for key in ("1", "1", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector('html[data-stage="done"]')
    wait_saved(page)
    # Twice, as an annotator does who sees nothing happen: the last one comes back, and not the one before as well.
    asked: list[Route] = []
    page.route("**/reopen/", lambda route: asked.append(route))  # noqa: PLW0108 (no built-in method will do)
    with page.expect_request("**/reopen/"):
        page.keyboard.press("b")
    page.keyboard.press("b")
    asked[0].continue_()
    page.wait_for_selector(f'html[data-task-id="{task}"]')
    assert len(asked) == 1
    page.unroute("**/reopen/")
    for key in ("3", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector('html[data-stage="done"]')
    wait_saved(page)
    return task


def _learn(page: Page) -> None:
    press(page, "main a[href$='/label/lessons/']")
    page.wait_for_url("**/label/lessons/")
    assert REASON in page.inner_text("main")
    with page.expect_navigation():
        press(page, "main form button[type=submit]")
    assert page.locator(".badge:has-text('New')").count() == 0


def _look_at_own_work(page: Page) -> None:
    page.goto("/p/desk/label/done/")
    tab_to(page, "[name=q]")
    page.keyboard.type("Question")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=Question**")
    rows = page.locator("tbody tr")
    assert rows.count() == 3
    assert rows.locator(".badge:has-text('Skipped')").count() == 1


def _log_out(page: Page) -> None:
    press(page, ".user-menu-button")
    page.wait_for_selector("#user-menu:popover-open")
    press(page, "form[action$='/logout/'] button")
    page.wait_for_selector("[name=username]")
    page.goto("/p/desk/label/")
    page.wait_for_url("**/login/**")
