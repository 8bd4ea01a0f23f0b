"""The decision side of the workspace, by keyboard: can't tell, undo, taking back, flags, all at once, own keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from annotate.models import Flag, Label, LabelEvent, Task, User
from annotate.projects.accounts import change_preferences
from annotate.projects.guidelines import change_guidelines
from tests.browser.conftest import Desk, wait_for_next_task

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

SAVED = '#save-state[data-state="saved"]'


@pytest.fixture
def desk_page(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> Page:
    return open_workspace(new_page(desk.ana), live_app)


def open_workspace(page: Page, live_app: LiveApp) -> Page:
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector("#work:not([hidden])")
    return page


def task_of(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.taskId"))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def wait_saved(page: Page) -> None:
    page.wait_for_selector(SAVED)


def said(task: str) -> dict[str, tuple[Any, str]]:
    return {label.unit: (label.value, label.cant_tell) for label in Label.objects.filter(task_id=task)}


def test_one_key_per_decision_and_one_to_submit(desk: Desk, desk_page: Page) -> None:
    """Counted: a task of n decisions takes n + 1 keys, in either view."""
    pressed = 0

    def key(name: str) -> None:
        nonlocal pressed
        pressed += 1
        desk_page.keyboard.press(name)

    for view in ("one", "all"):
        task = task_of(desk_page)
        decisions = desk_page.locator("#steps button").count()
        assert decisions == 2
        pressed = 0
        for _ in range(decisions):
            key("1")
        key("Enter")
        wait_for_next_task(desk_page, task)
        wait_saved(desk_page)
        assert pressed == decisions + 1
        assert Task.objects.get(pk=task).status == "submitted", view
        assert len(said(task)) == decisions
        desk_page.keyboard.press("a")


def test_cant_tell_takes_a_reason_and_answers_the_question(desk: Desk, desk_page: Page) -> None:
    task = task_of(desk_page)
    press(desk_page, "x", "1")
    assert desk_page.locator('[data-unit="claim:1"][aria-current]').count() == 1, "on to what is open"
    press(desk_page, "x", "5")
    desk_page.keyboard.type("Ask the pharmacist.")
    press(desk_page, "Enter")
    desk_page.wait_for_selector('#cant-tell[aria-pressed="true"]')
    assert "Ask the pharmacist." in desk_page.locator("#cant-tell").inner_text()
    assert desk_page.locator("#steps").inner_text().count("Can’t tell") == 2
    # A value takes its place, and it the value's.
    press(desk_page, "2")
    desk_page.wait_for_selector('#cant-tell[aria-pressed="false"]')
    press(desk_page, "x", "4", "Enter")
    wait_for_next_task(desk_page, task)
    wait_saved(desk_page)
    assert said(task) == {
        "claim:0": (None, "Not enough information in the contexts"),
        "claim:1": (None, "Text is broken or missing"),
    }
    assert Task.objects.get(pk=task).status == "submitted"


def test_undo_and_redo_over_everything_that_was_said(desk: Desk, desk_page: Page) -> None:
    task = task_of(desk_page)
    # One by one: of two changes to a label that wait to be sent, only the last is.
    press(desk_page, "1")
    wait_saved(desk_page)
    press(desk_page, "2")
    wait_saved(desk_page)
    press(desk_page, "c")
    desk_page.keyboard.type("a note")
    press(desk_page, "Escape")
    wait_saved(desk_page)
    press(desk_page, "x", "3")
    wait_saved(desk_page)
    states = [said(task)]
    for key in ("z", "Control+z", "z", "z"):
        press(desk_page, key)
        desk_page.wait_for_selector("#hint:not([hidden])")
        wait_saved(desk_page)
        states.append(said(task))
    support = ("supported", "")
    assert states == [
        {"claim:0": support, "claim:1": (None, "Needs another expert")},
        {"claim:0": support, "claim:1": ("contradicted", "")},
        {"claim:0": support, "claim:1": ("contradicted", "")},  # the note
        {"claim:0": support, "claim:1": (None, "")},
        {"claim:0": (None, ""), "claim:1": (None, "")},
    ]
    assert desk_page.locator('[data-unit="claim:0"][aria-current]').count() == 1, "at the step concerned"
    assert "Undone: Claim 1" in desk_page.locator("#hint").inner_text()
    press(desk_page, "z")
    assert "Nothing to undo" in desk_page.locator("#hint").inner_text()
    for key in ("y", "Control+Shift+Z", "y", "y"):
        press(desk_page, key)
        wait_saved(desk_page)
    assert said(task) == states[0]
    assert Label.objects.get(task_id=task, unit="claim:1").comment == "a note"
    assert "Redone: Claim 2" in desk_page.locator("#announce").inner_text()
    # Each is a revision of its own in the log.
    assert LabelEvent.objects.filter(label__task_id=task).count() == 12


def focused_option(page: Page) -> str:
    return str(page.evaluate("document.activeElement.querySelector('.option-label')?.textContent ?? ''"))


def test_the_focus_goes_along_with_the_keys(desk: Desk, desk_page: Page) -> None:
    options = desk_page.locator("#options button")
    options.nth(1).focus()
    press(desk_page, "3")
    assert desk_page.locator('[data-unit="claim:1"][aria-current]').count() == 1
    assert focused_option(desk_page) == "Supported", "the first one of the question in hand, of which none is chosen"
    # Of the last one: on what was chosen.
    press(desk_page, "2")
    assert focused_option(desk_page) == "Contradicted"
    press(desk_page, "p")
    assert focused_option(desk_page) == "Not in context"
    rows = desk_page.locator("#steps button")
    rows.nth(0).focus()
    press(desk_page, "n")
    assert rows.nth(1).evaluate("(row) => row === document.activeElement")
    press(desk_page, "a", "p")
    cards = desk_page.locator(".form-step")
    cards.nth(0).locator(".option").first.focus()
    press(desk_page, "u", "3")
    assert cards.nth(0).locator(":focus").inner_text().endswith("Not in context")
    press(desk_page, "n")
    assert cards.nth(1).locator(":focus").inner_text().endswith("Contradicted")
    # Who has it nowhere keeps it nowhere.
    desk_page.evaluate("document.activeElement.blur()")
    press(desk_page, "p", "1")
    assert desk_page.evaluate("document.activeElement === document.body")


def test_submitting_says_so_and_how_many_samples_are_left(desk: Desk, desk_page: Page) -> None:
    assert desk_page.locator("#progress-task").inner_text() == "0 of 2 questions answered"
    assert desk_page.locator("#progress-batch").inner_text() == "Samples left: 3"
    task = task_of(desk_page)
    before = desk_page.locator("#options").bounding_box()
    press(desk_page, "1", "1", "Enter")
    wait_for_next_task(desk_page, task)
    told = "Submitted. Samples left: 2."
    assert desk_page.locator("#hint").inner_text() == told
    assert desk_page.locator("#announce").inner_text().startswith(f"{told} Next sample. Question 1")
    assert desk_page.locator("#options").bounding_box() == before
    press(desk_page, "1")
    assert desk_page.locator("#hint").is_hidden()
    task = task_of(desk_page)
    press(desk_page, "s", "1")
    wait_for_next_task(desk_page, task)
    assert desk_page.locator("#hint").inner_text() == "Skipped. Samples left: 1."


def test_the_page_says_in_time_when_evidence_is_attached(desk: Desk, desk_page: Page) -> None:
    note = desk_page.locator("#evidence-when")
    assert note.inner_text() == "optional, before you answer"
    assert desk_page.locator("#evidence-start").get_attribute("aria-describedby") == "evidence-when"
    press(desk_page, "1")
    assert note.is_visible(), "the next claim has no answer yet"
    press(desk_page, "p")
    assert note.is_hidden()


def test_the_last_submission_is_taken_back(desk: Desk, desk_page: Page) -> None:
    task = task_of(desk_page)
    press(desk_page, "1", "x", "2", "Enter")
    wait_for_next_task(desk_page, task)
    second = task_of(desk_page)
    press(desk_page, "3")
    wait_saved(desk_page)
    press(desk_page, "b")
    desk_page.wait_for_selector(f'html[data-task-id="{task}"]')
    assert Task.objects.get(pk=task).status == "in_progress"
    steps = desk_page.locator("#steps").inner_text()
    assert "Supported" in steps
    assert "Can’t tell" in steps
    press(desk_page, "2")
    press(desk_page, "Enter")
    # What was in hand comes next, as it was.
    desk_page.wait_for_selector(f'html[data-task-id="{second}"]')
    wait_saved(desk_page)
    assert "Not in context" in desk_page.locator("#steps").inner_text()
    assert said(task)["claim:0"] == ("contradicted", "")
    assert Task.objects.get(pk=task).status == "submitted"


def test_taking_back_before_the_server_heard_of_it(desk: Desk, desk_page: Page) -> None:
    task = task_of(desk_page)
    press(desk_page, "1")
    wait_saved(desk_page)
    desk_page.context.set_offline(True)
    press(desk_page, "1", "Enter")
    wait_for_next_task(desk_page, task)
    press(desk_page, "b")
    desk_page.wait_for_selector(f'html[data-task-id="{task}"]')
    desk_page.context.set_offline(False)
    desk_page.evaluate("window.dispatchEvent(new Event('online'))")
    wait_saved(desk_page)
    assert Task.objects.get(pk=task).status == "in_progress"
    assert len(said(task)) == 2


def test_from_the_last_page_back_and_through_my_work(desk: Desk, live_app: LiveApp, desk_page: Page) -> None:
    tasks = []
    for _ in range(3):
        tasks.append(task_of(desk_page))
        press(desk_page, "1", "1", "Enter")
        wait_for_next_task(desk_page, tasks[-1])
    desk_page.wait_for_selector('html[data-stage="done"]')
    wait_saved(desk_page)
    press(desk_page, "b")
    desk_page.wait_for_selector(f'html[data-task-id="{tasks[-1]}"]')
    press(desk_page, "Enter")
    desk_page.wait_for_selector('html[data-stage="done"]')
    wait_saved(desk_page)
    # Nothing in hand, a page of its own for what was done earlier.
    desk_page.goto(f"{live_app.url}/p/desk/label/done/?q=Question 0")
    assert desk_page.locator("tbody tr").count() == 1
    desk_page.get_by_role("button", name="Change").focus()
    desk_page.keyboard.press("Enter")
    desk_page.wait_for_selector("#work:not([hidden])")
    task = task_of(desk_page)
    assert Task.objects.get(pk=task).sample.external_id == "s0"
    assert f"task={task}" in desk_page.url
    press(desk_page, "p", "2", "Enter")
    desk_page.wait_for_selector('html[data-stage="done"]')
    wait_saved(desk_page)
    assert Task.objects.get(pk=task).status == "submitted"
    # Loaded again, the address leads to what is open, not to an error.
    desk_page.reload()
    desk_page.wait_for_url("**/label/done/**")


def test_a_flag_reaches_the_admin(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page], desk_page: Page
) -> None:
    task = task_of(desk_page)
    press(desk_page, "f", "5")
    desk_page.keyboard.type("The answer is cut off.")
    press(desk_page, "Enter")
    desk_page.wait_for_selector("#hint:not([hidden])")
    flag = Flag.objects.get()
    assert (flag.reason, str(flag.task_id), flag.raised_by) == ("The answer is cut off.", task, desk.ana)
    assert task_of(desk_page) == task

    admin = new_page(desk.alma)
    admin.goto(f"{live_app.url}/p/desk/")
    admin.get_by_role("link", name="1 open flag").click()
    admin.get_by_label("Resolution").fill("Imported anew.")
    admin.keyboard.press("Enter")
    admin.wait_for_selector(".callout-success")
    flag.refresh_from_db()
    assert (flag.resolution, flag.resolved_by) == ("Imported anew.", desk.alma)


def test_a_flag_that_was_not_sent_can_be_sent_again(desk: Desk, desk_page: Page) -> None:
    desk_page.context.set_offline(True)
    press(desk_page, "f", "1")
    notice = desk_page.locator(".notice")
    notice.wait_for()
    assert "Text is broken or missing" in notice.inner_text()
    desk_page.context.set_offline(False)
    notice.get_by_role("button", name="Try again").click()
    desk_page.wait_for_selector("#hint:not([hidden])")
    assert Flag.objects.count() == 1


def test_all_questions_at_once(desk: Desk, live_app: LiveApp, desk_page: Page) -> None:
    task = task_of(desk_page)
    press(desk_page, "a")
    cards = desk_page.locator(".form-step")
    assert cards.count() == 2
    assert cards.nth(0).get_attribute("aria-current") == "step"
    press(desk_page, "2")
    assert cards.nth(0).locator('[aria-checked="true"]').inner_text().strip().endswith("Contradicted")
    assert cards.nth(1).get_attribute("aria-current") == "step"
    press(desk_page, "x", "2")
    assert "unclear" in cards.nth(1).inner_text()
    # With the mouse, and by Tab and Space, as any form.
    cards.nth(0).get_by_role("radio", name="Supported").click()
    assert cards.nth(0).locator('[aria-checked="true"]').inner_text().strip().endswith("Supported")
    press(desk_page, "z")
    wait_saved(desk_page)
    assert said(task)["claim:0"] == ("contradicted", "")
    # Remembered with the person.
    open_workspace(desk_page, live_app)
    assert desk_page.locator(".form-step").count() == 2
    assert User.objects.get(pk=desk.ana.pk).preferences == {"introduced": True, "view": "all"}
    press(desk_page, "a")
    assert desk_page.locator("#options").is_visible()


def test_sixty_questions_at_once_stay_light(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    from annotate.models import Sample

    claims = [{"text": f"Claim number {n}.", "start": None, "end": None} for n in range(60)]
    Sample.objects.filter(project=desk.project).update(claims=claims)
    change_preferences(user=desk.ana, changes={"view": "all"})
    page = open_workspace(new_page(desk.ana), live_app)
    assert page.locator(".form-step").count() == 60
    for _ in range(60):
        page.keyboard.press("1")
    wait_saved(page)
    assert len(said(task_of(page))) == 60
    assert page.locator('.form-step:last-child [aria-checked="true"]').count() == 1
    assert page.evaluate("document.querySelectorAll('#work *').length") < 2_500


def test_guidelines_stay_open_beside_the_work(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    text = "# Read this\n\n<script>alert(1)</script>\n\n" + "Long. " * 2000
    change_guidelines(actor=desk.alma, project=desk.project, text=text)
    page = open_workspace(new_page(desk.ana), live_app)
    press(page, "g")
    panel = page.get_by_role("complementary", name="Guidelines")
    assert "<script>alert(1)</script>" in panel.inner_text()
    before = page.evaluate("document.querySelector('#guidelines-panel .prose').scrollTop")
    press(page, "PageDown")
    page.wait_for_function("top => document.querySelector('#guidelines-panel .prose').scrollTop > top", arg=before)
    task = task_of(page)
    press(page, "1", "1", "Enter")
    wait_for_next_task(page, task)
    assert panel.is_visible()
    press(page, "g")
    assert panel.is_hidden()
    # Back where it was before they were opened: Enter submits again.
    assert page.evaluate("document.activeElement === document.body")


def test_help_can_be_hidden_and_shown(desk: Desk, desk_page: Page) -> None:
    from annotate.models import Criterion

    Criterion.objects.update(help="Judge only what the contexts say. " * 20)
    desk_page.reload()
    desk_page.wait_for_selector("#work:not([hidden])")
    helped = desk_page.locator("#criterion-help")
    assert helped.is_hidden(), "too long to stand above the options"
    press(desk_page, "h")
    assert helped.is_visible()
    press(desk_page, "n")
    assert helped.is_visible(), "as one left it"
    press(desk_page, "h")
    assert helped.is_hidden()


def test_keys_of_ones_own(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    page = new_page(desk.ana)
    page.goto(f"{live_app.url}/account/keys/")
    field = page.get_by_label("Undo", exact=True)
    field.focus()
    press(page, "n")
    page.get_by_role("button", name="Save").click()
    assert "is already in use" in page.locator(".errorlist").inner_text()
    field = page.get_by_label("Undo", exact=True)
    field.focus()
    press(page, "i")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector(".callout-success")

    open_workspace(page, live_app)
    task = task_of(page)
    press(page, "?")
    assert page.locator("#help-dialog dt:has(kbd:text-is('i')) + dd").inner_text() == "undo"
    press(page, "Escape", "1", "z")
    wait_saved(page)
    assert said(task)["claim:0"] == ("supported", "")
    press(page, "i")
    wait_saved(page)
    page.wait_for_selector("#hint:not([hidden])")
    wait_saved(page)
    assert said(task)["claim:0"] == (None, "")
    # Keys that are no characters always work.
    press(page, "1")
    wait_saved(page)
    press(page, "Control+z")
    wait_saved(page)
    assert said(task)["claim:0"] == (None, "")
    assert page.locator('[data-unit="claim:0"][aria-current]').count() == 1
    press(page, "ArrowRight")
    assert page.locator('[data-unit="claim:1"][aria-current]').count() == 1

    page.goto(f"{live_app.url}/account/keys/")
    page.get_by_role("button", name="Reset to defaults").click()
    page.wait_for_selector(".callout-success")
    assert User.objects.get(pk=desk.ana.pk).preferences == {"introduced": True}


def test_single_keys_can_be_switched_off_for_good(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    press(page, "?")
    page.get_by_label("Single-key shortcuts").uncheck()
    press(page, "Escape")
    page.wait_for_function("document.documentElement.dataset.singleKeys === 'off'")
    there = open_workspace(new_page(desk.ana), live_app)
    for one in (page, there):
        press(one, "1", "x", "s", "f")
        assert one.locator("dialog[open]").count() == 0
    assert Label.objects.count() == 0
    # Arrows, Space, Tab and Enter do.
    there.locator("#options button").first.focus()
    press(there, "ArrowDown", "Space")
    wait_saved(there)
    assert Label.objects.get().value == "contradicted"


def test_what_a_reviewer_asks_for_stands_above_the_sample(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    task = Task.objects.filter(annotator=desk.ana).order_by("-position")[0]
    Task.objects.filter(pk=task.pk).update(
        status="returned", return_message="Look at <b>claim 2</b> again.", returned_by=desk.remy
    )
    page = open_workspace(new_page(desk.ana), live_app)
    assert task_of(page) == str(task.pk), "first of all"
    box = page.locator("#returned")
    assert "A reviewer sent this sample back" in box.inner_text()
    assert "Look at <b>claim 2</b> again." in box.inner_text()
    assert "remy" not in page.content()
    press(page, "1")
    wait_saved(page)
    assert box.is_visible()
    press(page, "1", "Enter")
    wait_for_next_task(page, str(task.pk))
    assert box.is_hidden()


def test_time_is_measured_per_question(desk: Desk, desk_page: Page) -> None:
    task = task_of(desk_page)
    for unit in ("claim:0", "claim:1"):
        begun = desk_page.evaluate("performance.now()")
        desk_page.wait_for_function("begun => performance.now() - begun > 400", arg=begun)
        press(desk_page, "1")
        wait_saved(desk_page)
        measured = Label.objects.get(task_id=task, unit=unit).active_ms
        assert measured is not None
        assert 400 <= measured < 10_000, unit
