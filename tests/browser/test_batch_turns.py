"""What happens to a batch or a task while an annotator is at it: known answers, a pause, a task that was handed on."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from django.utils import timezone

from annotate.batches.gold import import_gold
from annotate.batches.steps import close_batch, pause_batch, resume_batch
from annotate.models import Label, Task
from annotate.models.batch import OPEN_TASK_STATUSES
from tests.annotate.factories import make_batch, make_sample, must_take, run_out
from tests.browser.conftest import Desk, wait_for_next_task
from tests.browser.test_deciding import open_workspace, press, task_of, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

REASON = "The notice at the door says so."


def test_known_answers_are_shown_where_the_batch_shows_them(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    close_batch(batch=desk.batch)
    known = {"criterion": desk.project.criteria.get().key, "reason": REASON}
    rows = [
        {**known, "sample_id": sample.external_id, "unit": unit, "value": value}
        for sample in [make_sample(desk.project, number) for number in (8, 9)]
        for unit, value in (("claim:0", "supported"), ("claim:1", "contradicted"))
    ]
    import_gold(actor=desk.alma, project=desk.project, rows=rows)
    page = new_page(desk.ana)
    dialog = page.locator("#feedback-dialog")
    for sample, shown in (("s0", False), ("s1", True)):
        gold = make_batch(desk.project, [desk.ana], samples=[sample], gold_share=1, gold_feedback=shown).tasks.get(
            purpose="gold"
        )
        page.goto(f"{live_app.url}/p/desk/label/?task={gold.pk}")
        page.wait_for_selector(f'html[data-task-id="{gold.pk}"]')
        with page.expect_response("**/submit/") as reply:
            press(page, "1", "1", "Enter")
        assert bool(reply.value.json()["feedback"]) is shown
        wait_for_next_task(page, str(gold.pk))
        wait_saved(page)
        assert shown or dialog.is_hidden()
    dialog.wait_for()
    # The first was right; what differs is shown.
    (row,) = dialog.locator("li").all_inner_texts()
    for words in ("Claim 2", "Yours: Supported", "known answer: Contradicted", REASON):
        assert words in row
    # Pressed for the next task before it could be read: nothing closes, and nothing is chosen.
    press(page, "Enter", "1")
    assert dialog.is_visible()
    dialog.get_by_role("button", name="Continue").focus()
    page.wait_for_selector("#feedback-dialog:not([data-unseen])")
    press(page, "Enter")
    dialog.wait_for(state="hidden")


def test_a_choice_that_meets_a_pause_is_kept_and_sent_when_the_batch_goes_on(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    task = task_of(page)
    press(page, "1")
    wait_saved(page)
    pause_batch(actor=desk.alma, batch=desk.batch)
    press(page, "2")
    page.wait_for_selector('#save-state[data-shown="waiting"]')
    assert "stored in this browser" in page.locator("#save-text").inner_text()
    press(page, "Enter")
    wait_for_next_task(page, task)
    assert Label.objects.count() == 1
    resume_batch(actor=desk.alma, batch=desk.batch)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    page.wait_for_selector('#save-state[data-state="saved"]', timeout=30_000)
    assert Label.objects.get(task_id=task, unit="claim:1").value == "contradicted"
    assert Task.objects.get(pk=task).status == "submitted"


def test_a_task_that_another_annotator_has_now(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    """The page learns it from its heartbeat: says so, with what was chosen and written, and goes on to the next one."""
    close_batch(batch=desk.batch)
    batch = make_batch(desk.project, [desk.ana, desk.ben], samples=["s0", "s1", "s2"], overlap=1, strategy="pull")
    page = new_page(desk.ana)
    page.clock.install(time=0)
    open_workspace(page, live_app)
    first = task_of(page)
    press(page, "1")
    wait_saved(page)
    press(page, "1", "Enter")
    wait_for_next_task(page, first)
    wait_saved(page)
    lost = task_of(page)
    press(page, "c")
    page.keyboard.type("As the notice says.")
    press(page, "Escape", "1")
    wait_saved(page)

    # From here on time goes by only where the test says so.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)
    # One is in hand and one was fetched ahead: both are kept.
    held = set(batch.tasks.filter(annotator=desk.ana, status__in=OPEN_TASK_STATUSES).values_list("pk", flat=True))
    (ahead,) = held - {int(lost)}
    run_out(*Task.objects.filter(pk__in=held))
    _work_on(page, *held)
    assert not batch.tasks.filter(pk__in=held, lease_expires_at__lt=timezone.now()).exists()

    run_out(Task.objects.get(pk=lost))
    assert must_take(desk.ben, batch).sample_id == Task.objects.get(pk=lost).sample_id
    _work_on(page, int(lost))
    notice = page.locator(".notice").last
    notice.wait_for()
    for words in ("reassigned to another annotator", "Claim 1 · Support: Supported", "As the notice says."):
        assert words in notice.inner_text()
    page.wait_for_selector(f'html[data-task-id="{ahead}"]')


def _work_on(page: Page, *tasks: int) -> None:
    """For a minute, in which there is one heartbeat of each of these tasks."""
    with ExitStack() as beats:
        for task in tasks:
            beats.enter_context(page.expect_response(re.compile(rf"/{task}/heartbeat/")))
        page.clock.run_for(30_000)
        press(page, "ArrowRight")
        page.clock.run_for(30_000)
