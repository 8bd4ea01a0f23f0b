"""Guidelines that change while an annotator works: told once, and each label keeps the version that was on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from annotate.models import GuidelineVersion, Label, Membership, Verdict
from annotate.projects.guidelines import change_guidelines
from tests.browser.conftest import Desk
from tests.frontend.building import label_task

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp


def _finish(page: Page) -> None:
    """By keyboard: both claims, and the next sample is there."""
    task = page.locator("html").get_attribute("data-task-id")
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_function("task => document.documentElement.dataset.taskId !== task", arg=task)
    page.wait_for_selector('#save-state[data-state="saved"]')


def test_an_annotator_is_told_once_and_labels_keep_the_version_on_the_page(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.ana)
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector('html[data-stage="task"]')
    news, newer = page.locator("#guidelines-news"), page.locator("#guidelines-newer")
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-state="saved"]')
    change_guidelines(
        actor=desk.alma, project=desk.project, text="Only what is written.\n", note="Only what is <i>there</i>."
    )
    expect(news).to_be_hidden()
    _finish(page)
    # The page still shows the old text, says so, and its labels say so too.
    expect(newer).to_be_visible()
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-state="saved"]')
    assert set(Label.objects.values_list("guideline_version", flat=True)) == {1}

    newer.get_by_role("button", name="Show changes").focus()
    page.keyboard.press("Enter")
    expect(news).to_contain_text("Only what is <i>there</i>.")
    news.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(news.locator("ins")).to_contain_text("Only what is written.")
    news.get_by_role("button", name="Got it").focus()
    with page.expect_response(lambda reply: reply.url.endswith("/guidelines/seen/")) as reply:
        page.keyboard.press("Enter")
    assert reply.value.ok
    expect(news).to_be_hidden()
    assert Membership.objects.get(user=desk.ana).guidelines_seen == 2
    page.reload()
    page.wait_for_selector('html[data-stage="task"]')
    expect(news).to_be_hidden()
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-state="saved"]')
    assert Label.objects.latest("id").guideline_version == 2


def test_a_reviewer_changes_them_beside_a_dispute_by_keyboard(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    sample = desk.project.samples.order_by("id")[0]
    for task in desk.batch.tasks.filter(sample=sample):
        label_task(task, {"support": "supported" if task.annotator == desk.ana else "contradicted"})
    Label.objects.update(guideline_version=1)
    dispute = Verdict.objects.filter(state="disputed").order_by("id")[0]
    page = new_page(desk.remy)
    page.goto(f"{live_app.url}/p/desk/adjudicate/{dispute.pk}/")
    page.get_by_role("link", name="Edit guidelines").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Edit guidelines")).to_be_visible()
    expect(page.locator("section", has_text="Contradicted").last).to_be_visible()
    page.get_by_label("Guidelines").focus()
    page.keyboard.type("Opening hours count.")
    # Past the button that inserts an image.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.type("opening hours.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("Version 2 of the guidelines saved.")
    page.get_by_role("link", name="version 2 of the guidelines").focus()
    page.keyboard.press("Enter")
    version = page.locator("#version-2")
    expect(version).to_contain_text("Opening hours count.")
    expect(version.get_by_role("link")).to_have_attribute("href", f"/p/desk/adjudicate/{dispute.pk}/")
    made = GuidelineVersion.objects.get(number=2)
    assert (made.author, made.dispute) == (desk.remy, dispute)
    assert made.note == "Support: opening hours."
