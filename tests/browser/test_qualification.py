"""Two annotators are trained and tested by keyboard: one passes and gets work, the other doesn't and gets none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.batches.gold import import_gold
from annotate.batches.qualifications import Asked, create_qualification
from annotate.batches.steps import close_batch
from annotate.models import Qualification, Sample, Task
from annotate.qualification.read import own_standing
from tests.annotate.factories import make_batch, make_sample
from tests.browser.conftest import SUPPORT, Desk, wait_for_next_task

if TYPE_CHECKING:
    from playwright.sync_api import Page

VALUES = [option["value"] for option in SUPPORT["options"]]


def truth(sample: Sample) -> int:
    return sample.pk % len(VALUES)


def wrong(sample: Sample) -> int:
    return (sample.pk + 1) % len(VALUES)


def newcomers(desk: Desk) -> Qualification:
    samples = [make_sample(desk.project, number) for number in range(10, 20)]
    rows = [
        {
            "sample_id": one.external_id,
            "unit": unit,
            "criterion": "support",
            "value": VALUES[truth(one)],
            "reason": "So.",
        }
        for one in samples
        for unit in ("claim:0", "claim:1")
    ]
    import_gold(actor=desk.alma, project=desk.project, rows=rows)
    asked = Asked(criteria=list(desk.project.criteria.all()), training=2, test=4, tries=1)
    made = create_qualification(
        actor=desk.alma, project=desk.project, name="Newcomers", asked=asked, annotators=[desk.ana, desk.ben], seed=1
    )
    work = [make_sample(desk.project, number).external_id for number in range(20, 22)]
    make_batch(desk.project, [desk.ana, desk.ben], samples=work, overlap=1, strategy="pull", requires=made, name="Work")
    return made


def label(page: Page, choose: Callable[[Sample], int], *, with_feedback: bool) -> int:
    """Everything that the workspace has, by keys alone. Returns how many samples these were."""
    done = 0
    while True:
        page.wait_for_selector('html[data-stage="done"], html[data-stage="task"]')
        if page.get_attribute("html", "data-stage") == "done":
            return done
        task = str(page.get_attribute("html", "data-task-id"))
        key = str(choose(Task.objects.select_related("sample").get(pk=task).sample) + 1)
        for _claim in range(2):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        done += 1
        if with_feedback:
            page.wait_for_selector("#feedback-dialog[open]:not([data-unseen])")
            assert page.locator("#feedback-rows li").count() == 2
            page.keyboard.press("Escape")
        else:
            assert page.locator("#feedback-dialog[open]").count() == 0
        wait_for_next_task(page, task)


def press(page: Page, name: str) -> None:
    """The link or button of this name, reached by Tab alone."""
    for _ in range(40):
        if page.evaluate("document.activeElement.innerText.trim()") == name:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {name}")


def go_through(page: Page, choose: Callable[[Sample], int]) -> None:
    page.goto("/")
    press(page, "Start training")
    page.get_by_text("0 of 2 samples").wait_for()
    press(page, "Start training")
    assert label(page, truth, with_feedback=True) == 2
    press(page, "Back to your qualification")
    page.get_by_text("2 of 2 samples").wait_for()
    press(page, "Start the test")
    assert label(page, choose, with_feedback=False) == 4
    press(page, "Back to your qualification")


def test_one_passes_and_works_and_the_other_does_not(desk: Desk, new_page: Callable[..., Page]) -> None:
    close_batch(batch=desk.batch, actor=desk.alma)
    made = newcomers(desk)
    page = new_page(desk.ana)
    go_through(page, truth)
    page.get_by_text("You are qualified").first.wait_for()
    press(page, "Go to your tasks")
    assert label(page, truth, with_feedback=False) == 2

    page = new_page(desk.ben)
    go_through(page, wrong)
    page.get_by_text("Not passed, and no tries left").wait_for()
    page.goto("/p/desk/label/")
    page.wait_for_selector('html[data-stage="done"]')
    assert own_standing(made, desk.ben).state == "failed"
    assert not Task.objects.filter(batch__requires=made, annotator=desk.ben).exists()
