"""Multi-select by keyboard: keys toggle options, Enter goes on, and "none of these" is an answer of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotate.models import Label, Verdict
from annotate.projects.criteria import add_criteria
from tests.annotate.factories import make_batch, say
from tests.annotate.projects.test_multi_select import FAULTS
from tests.browser.conftest import SUPPORT, Desk, Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHECKED = '#options [aria-checked="true"] .option-label'


def faults(table: Table) -> object:
    """What the server has."""
    label = table.labels().get("answer")
    return label.value if label else None


def to_the_faults(table: Table) -> None:
    for key in ("1", "1"):
        table.page.keyboard.press(key)
    table.page.wait_for_selector("#several:not([hidden])")


def test_keys_toggle_and_enter_goes_on(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, FAULTS))
    to_the_faults(table)
    assert table.page.locator("#options [role=checkbox]").count() == 4, "none of these is one of them"
    for key in ("3", "1", "2", "2"):
        table.page.keyboard.press(key)
    assert table.page.locator(CHECKED).all_inner_texts() == ["A fact is wrong", "The tone, is off"]
    assert faults(table) == ["wrong", "tone"], "in the order of the options"
    assert table.page.locator("#steps [data-unit=answer] .step-value").inner_text().startswith("A fact is wrong, The")

    table.page.keyboard.press("0")
    assert table.page.locator(CHECKED).all_inner_texts() == ["None of these"]
    assert faults(table) == []
    table.page.keyboard.press("2")
    assert faults(table) == ["missing"], "an option takes the place of none"
    table.page.keyboard.press("2")
    assert faults(table) is None, "no option is no answer"
    table.page.keyboard.press("Enter")
    assert table.page.locator('[data-stage-box="done"]:not([hidden])').count() == 0, "it is still to be answered"

    table.page.keyboard.press("0")
    table.page.keyboard.press("Control+z")
    assert faults(table) is None
    table.page.keyboard.press("0")
    table.page.keyboard.press("Enter")
    table.page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    table.task.refresh_from_db()
    assert (table.task.status, Label.objects.get(unit="answer").value) == ("submitted", [])


def test_enter_goes_to_the_next_question(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=({**FAULTS, "unit": "claim"},))
    table.page.wait_for_selector("#several:not([hidden])")
    for key in ("1", "3", "Enter"):
        table.page.keyboard.press(key)
    assert table.page.locator("#steps [aria-current]").get_attribute("data-unit") == "claim:1"
    for key in ("2", "Enter"):
        table.page.keyboard.press(key)
    table.page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    found = dict(Label.objects.values_list("unit", "value"))
    assert found == {"claim:0": ["wrong", "tone"], "claim:1": ["missing"]}


def test_all_questions_at_once(set_table: Callable[..., Table]) -> None:
    table = set_table(criteria=(SUPPORT, FAULTS))
    to_the_faults(table)
    table.page.keyboard.press("a")
    boxes = table.page.locator("#form [role=checkbox]")
    assert boxes.count() == 4
    boxes.nth(0).focus()
    table.page.keyboard.press("Space")
    table.page.keyboard.press("Tab")
    table.page.keyboard.press("Space")
    assert faults(table) == ["wrong", "missing"]
    assert [box.get_attribute("aria-checked") for box in boxes.all()] == ["true", "true", "false", "false"]


@pytest.mark.parametrize(
    ("keys", "value"), [(("2", "3"), ["missing", "tone"]), (("1", "0"), []), (("0", "3"), ["tone"])]
)
def test_a_reviewer_decides_by_keyboard(
    desk: Desk, new_page: Callable[..., Page], keys: tuple[str, str], value: list[str]
) -> None:
    from playwright.sync_api import expect

    from annotate.tasks.labelling import submit_task

    criteria = add_criteria(project=desk.project, specs=[FAULTS])
    batch = make_batch(desk.project, [desk.ana, desk.ben], criteria=criteria, samples=["s0"], name="Faults")
    for task, said in zip(batch.tasks.order_by("annotator__username"), (["wrong"], []), strict=True):
        say(task.annotator, task, "answer", "faults", said)
        submit_task(actor=task.annotator, task_id=task.pk)
    verdict = Verdict.objects.get()
    page = new_page(desk.remy)
    page.goto(f"/p/desk/adjudicate/{verdict.pk}/")
    expect(page.locator(".votes")).to_contain_text("A fact is wrong")
    expect(page.locator(".votes")).to_contain_text("None of these")
    page.wait_for_load_state()
    page.keyboard.press("c")
    page.keyboard.type("Looked it up.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".errorlist")).to_contain_text("Select the options that apply, or “None of these”.")
    page.keyboard.press("Escape")
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.locator(".callout-success", has_text="Decided.").wait_for()
    verdict.refresh_from_db()
    assert (verdict.value, verdict.reason, verdict.method) == (value, "Looked it up.", "adjudicated")
    page.goto(f"/p/desk/adjudicate/{verdict.pk}/")
    shown = [FAULTS["options"][["wrong", "missing", "tone"].index(one)]["label"] for one in value] or ["None of these"]
    expect(page.locator(".callout-ok")).to_contain_text(f"Resolved as “{', '.join(shown)}”")
    assert page.locator(".options :checked").count() == max(1, len(value))
