"""An audit schedule, set up by keyboard; the worker's look then makes its first batch with its tasks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from annotate.batches.audits_make import look_for_audits
from annotate.batches.steps import close_batch
from annotate.models import AuditSchedule, Task
from tests.annotate.factories import make_sample
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.name || document.activeElement.innerText.trim()"))


def tab_to(page: Page, name: str, *, most: int = 40) -> None:
    """By the Tab key alone."""
    for _ in range(most):
        if focused(page) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {name}, but to {focused(page)}")


def test_one_is_set_up_by_keyboard(desk: Desk, new_page: Callable[..., Page]) -> None:
    close_batch(batch=desk.batch, actor=desk.alma)
    for number in range(10, 15):
        make_sample(desk.project, number)
    page = new_page(desk.alma)
    page.goto("/p/desk/batches/")
    tab_to(page, "Scheduled audits")
    page.keyboard.press("Enter")
    page.wait_for_url("**/batches/audits/")
    tab_to(page, "New schedule")
    page.keyboard.press("Enter")
    page.wait_for_url("**/batches/audits/new/")

    tab_to(page, "name")
    page.keyboard.type("Weekly audit")
    tab_to(page, "weekday")
    page.keyboard.type("Fri")
    tab_to(page, "samples")
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    tab_to(page, "annotators")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    # What it would do is said while the form is filled in.
    page.locator("#plan", has_text="drawn from 8 new samples").wait_for()
    tab_to(page, "Create schedule")
    page.keyboard.press("Enter")
    page.get_by_text("The audit schedule is set up.").wait_for()

    schedule = AuditSchedule.objects.get()
    assert (schedule.name, schedule.weekday, schedule.samples, schedule.status) == ("Weekly audit", 4, 3, "active")
    assert schedule.annotators.count() == 2
    look_for_audits(today=schedule.next_on - timedelta(days=1))
    assert not schedule.audits.exists()
    look_for_audits(today=schedule.next_on)
    page.reload()
    batch = schedule.audits.get().batch
    assert batch is not None
    assert Task.objects.filter(batch=batch).count() == 6
    tab_to(page, str(batch.number))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/batches/{batch.number}/")
    page.get_by_role("heading", name=batch.name).wait_for()
