"""The admin's day in a real browser, by keyboard only: invite, make a batch, watch it, return a task, deactivate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import Batch, Label, Membership, Task, User, Verdict
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import label_all, say
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

MANY = 80


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until it has the focus: what can't be reached so can't be used without a mouse."""
    for _ in range(MANY):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert page.evaluate("document.activeElement.matches(':focus-visible')"), f"{selector}: focus can't be seen"
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector} at {page.url}")


def press(page: Page, selector: str) -> None:
    tab_to(page, selector)
    page.keyboard.press("Enter")


def type_into(page: Page, selector: str, text: str) -> None:
    tab_to(page, selector)
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def test_the_admins_day_by_keyboard(desk: Desk, new_page: Callable[..., Page]) -> None:
    admin = new_page(desk.alma)
    admin.clock.install()
    link = _invite(admin)
    noor = _join(new_page(), link)
    _make_a_batch(admin, noor)
    _watch(admin, desk)
    _return_a_task(admin, desk)
    _deactivate(admin, desk, noor, new_page(noor))


def _invite(page: Page) -> str:
    page.goto("/p/desk/members/")
    type_into(page, "[name=invite-tags]", "hours")
    press(page, "form[action$='/members/invite/'] button")
    page.wait_for_selector("#invite-link:focus")
    return page.input_value("#invite-link")


def _join(page: Page, link: str) -> User:
    page.goto(link)
    type_into(page, "[name=username]", "noor")
    type_into(page, "[name=display_name]", "Noor")
    for field in ("password1", "password2"):
        type_into(page, f"[name={field}]", "blue lamp 77 river")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/desk/")
    assert "Welcome to “Desk”" in page.inner_text("main")
    noor = User.objects.get(username="noor")
    assert Membership.objects.get(user=noor).tags == ["hours"]
    return noor


def _make_a_batch(page: Page, noor: User) -> None:
    page.goto("/p/desk/batches/new/")
    type_into(page, "[name=name]", "Second")
    tab_to(page, f"[name=annotators][value='{noor.pk}']")
    page.keyboard.press("Space")
    type_into(page, "[name=overlap]", "1")
    page.wait_for_selector("#plan:has-text('3 tasks for 1 annotator')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/batches/2/")
    press(page, "form[action$='/open/'] button")
    page.wait_for_selector(".badge:has-text('Open')")
    assert Batch.objects.get(number=2).tasks.filter(annotator=noor).count() == 3


def _watch(page: Page, desk: Desk) -> None:
    """An annotator labels; the page moves by itself, and leaves the focus where it was."""
    page.goto("/p/desk/batches/1/")
    tab_to(page, f"#board-{desk.ana.pk}")
    task = desk.batch.tasks.filter(annotator=desk.ana).select_related("annotator", "sample", "batch").first()
    assert task is not None
    label_all(task, support="supported")
    submit_task(actor=desk.ana, task_id=task.pk, active_seconds=60)
    page.clock.fast_forward(5_000)
    row = f"tr:has(#board-{desk.ana.pk})"
    page.wait_for_selector(f"{row}:has-text('1 / 3')")
    page.wait_for_selector(".outlook:has-text('5 tasks left')")
    assert page.evaluate("document.activeElement.id") == f"board-{desk.ana.pk}"


def _return_a_task(page: Page, desk: Desk) -> None:
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/?person=ana")
    press(page, "a[href$='/return/']")
    page.wait_for_url("**/return/")
    type_into(page, "[name=message]", "Look at the second claim.")
    press(page, "main button[type=submit]")
    page.wait_for_url("**/tasks/")
    assert "Task sent back to ana." in page.inner_text("main")
    returned = Task.objects.get(status="returned")
    assert (returned.annotator, returned.return_message) == (desk.ana, "Look at the second claim.")


def _deactivate(page: Page, desk: Desk, noor: User, theirs: Page) -> None:
    theirs.goto("/p/desk/label/")
    theirs.wait_for_selector("#work:not([hidden])")
    page.goto("/p/desk/members/")
    press(page, "a[href$='/members/noor/deactivate/']")
    page.wait_for_url("**/deactivate/")
    assert "3" in page.inner_text("main table")
    tab_to(page, f"[name=to][value='{desk.remy.pk}']")
    page.keyboard.press("Space")
    press(page, "main button[type=submit]")
    page.wait_for_url("**/members/")
    assert "3 open tasks reassigned" in page.inner_text("main")
    assert Task.objects.filter(annotator=desk.remy, batch__number=2, status="pending").count() == 3
    # Their open page has lost the project as well.
    reply = theirs.request.get("/api/projects/desk/work/")
    assert (reply.status, reply.json()["error"]["code"]) == (403, "not_a_member")


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
    admin.wait_for_selector("text=nothing saved yet")
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
