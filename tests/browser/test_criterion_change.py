"""An option goes: the admin sees what it touches, by keyboard, and only that is asked again in the workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import Batch, Label, Verdict
from tests.annotate.factories import say
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def label_everything(desk: Desk) -> None:
    """Ana finds that the second claim of the first sample is in no context; everything else is supported."""
    from annotate.tasks.labelling import submit_task

    first = desk.project.samples.earliest("id")
    for task in desk.batch.tasks.select_related("annotator", "sample"):
        for unit in ("claim:0", "claim:1"):
            odd = task.annotator == desk.ana and task.sample == first and unit == "claim:1"
            say(task.annotator, task, unit, "support", "not in context" if odd else "supported")
        submit_task(actor=task.annotator, task_id=task.pk)


def test_only_what_an_option_took_with_it_is_asked_again(desk: Desk, new_page: Callable[..., Page]) -> None:
    label_everything(desk)
    admin = new_page(desk.alma)
    admin.goto("/p/desk/criteria/edit/support/")
    for name in ("value", "label"):
        admin.locator(f"#id_option-2-{name}").focus()
        admin.keyboard.press("ControlOrMeta+a")
        admin.keyboard.press("Delete")
    admin.keyboard.press("Enter")
    admin.wait_for_selector("text=Nothing is saved yet")
    assert admin.locator(".stat dd").all_inner_texts()[:2] == ["11", "1 of 12"]
    assert not Batch.objects.filter(relabels__isnull=False).exists()
    save = admin.get_by_role("button", name="Save as version 2")
    save.focus()
    admin.keyboard.press("Enter")
    admin.wait_for_url("**/p/desk/batches/2/")

    ana = new_page(desk.ana)
    ana.goto("/p/desk/label/")
    ana.wait_for_selector('html[data-stage="task"]')
    # The first claim is filled in, and the second is in hand.
    assert "1 of 2" in ana.locator("body").inner_text()
    ana.keyboard.press("1")
    ana.wait_for_selector("text=2 of 2")
    ana.keyboard.press("Enter")
    ana.wait_for_selector('html[data-stage="done"]')
    new = desk.project.criteria.get(key="support", version=2)
    assert Label.objects.filter(criterion=new, value="supported", task__status="submitted").count() == 12
    assert Verdict.objects.filter(criterion=new, state="settled", method="unanimous").count() == 6

    ben = new_page(desk.ben)
    ben.goto("/p/desk/label/")
    ben.wait_for_selector('html[data-stage="done"]')
