"""A judge's proposals by keyboard: accepted, changed, and withheld; nothing is a label before the annotator acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotate.models import Label, Task, User
from annotate.projects.write import create_project, set_member
from tests.annotate.factories import make_batch, make_samples
from tests.browser.conftest import SUPPORT
from tests.judges.building import add_judge

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

PROPOSED = "#proposed:not([hidden])"


@pytest.fixture
def open_arm(transactional_db: None, live_app: LiveApp, new_page: Callable[..., Page]) -> Callable[..., Page]:
    """`open_arm(shown=…)`: Ana's workspace at a sample of this arm, of a batch of two."""

    def make(*, shown: bool) -> Page:
        ana = User.objects.create_user("ana", preferences={"introduced": True})
        project = create_project(slug="desk", spec={"name": "Desk", "criteria": [SUPPORT]})
        set_member(project=project, user=ana, role="annotator")
        named = {sample.external_id: sample for sample in make_samples(project, 2)}
        values = [
            (name, f"claim:{n}", value) for name in named for n, value in enumerate(("supported", "contradicted"))
        ]
        add_judge(project, "claim-checker", named, values)
        batch = make_batch(project, [ana], proposals={"support": "claim-checker"}, withheld_share=0.5)
        at = batch.tasks.get(sample__in=batch.proposed.filter(shown=shown).values("sample"))
        other = batch.tasks.exclude(pk=at.pk)
        other.update(status="skipped", skip_reason="the other arm")
        page = new_page(ana)
        page.goto(f"{live_app.url}/p/desk/label/")
        page.wait_for_selector("#work:not([hidden])")
        return page

    return make


def stored() -> dict[str, str | None]:
    return dict(Label.objects.values_list("unit", "value"))


def saved(page: Page) -> dict[str, str | None]:
    page.wait_for_selector('#save-state[data-state="saved"]')
    return stored()


def chosen(page: Page) -> list[str]:
    return page.locator('#options [aria-checked="true"] .option-label').all_inner_texts()


def test_enter_accepts_and_a_key_changes(open_arm: Callable[..., Page]) -> None:
    page = open_arm(shown=True)
    assert page.locator(PROPOSED).inner_text().startswith("Proposed by claim-checker: Supported")
    assert chosen(page) == [], "nothing is chosen for the annotator"
    assert Label.objects.count() == 0
    page.keyboard.press("Enter")
    page.wait_for_selector('#steps [data-unit="claim:1"][aria-current]')
    assert saved(page) == {"claim:0": "supported"}
    assert "Contradicted" in page.locator(PROPOSED).inner_text()
    page.keyboard.press("3")
    assert saved(page) == {"claim:0": "supported", "claim:1": "not in context"}
    assert chosen(page) == ["Not in context"]
    assert not page.locator("#proposed button").is_visible(), "it is decided"
    page.keyboard.press("Control+z")
    assert saved(page)["claim:1"] is None
    page.locator("#proposed button").click()
    assert saved(page)["claim:1"] == "contradicted"
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    assert Task.objects.filter(status="submitted").count() == 1


def test_where_it_is_withheld_all_is_as_without(open_arm: Callable[..., Page]) -> None:
    page = open_arm(shown=False)
    assert not page.locator("#proposed").is_visible()
    assert "claim-checker" not in page.content()
    page.keyboard.press("Enter")
    assert page.locator("#complete").inner_text() != ""
    assert Label.objects.count() == 0
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    assert stored() == {"claim:0": "supported", "claim:1": "contradicted"}


def test_all_questions_at_once(open_arm: Callable[..., Page]) -> None:
    page = open_arm(shown=True)
    page.keyboard.press("a")
    lines = page.locator("#form .ws-proposed").all_inner_texts()
    assert lines == ["Proposed by claim-checker: Supported", "Proposed by claim-checker: Contradicted"]
    assert not page.locator("#proposed").is_visible()
    for _ in range(3):
        page.keyboard.press("Enter")
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    assert stored() == {"claim:0": "supported", "claim:1": "contradicted"}
